// Today's kernels compute on float32: a network with other tensors has no kernels for them, and does not compile.
#include "dice/assembly/verdict.hpp"
#include "dice/placement/placement.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace {

using namespace dice;
using tensor::number;

constexpr float scale = 0.5f;
constexpr tensor::quantization halves{.scales = {&scale, 1}};

/// Input, Tanh, Output, which give numbers In, Out and Last. Tanh has a parameter of type Parameter, and its result is
/// quantised as By says.
template <number In, number Out, number Last = Out, number Parameter = number::float32,
          const tensor::quantization* By = nullptr>
struct chain {
  template <int Id, number Of> struct layer_of {
    static constexpr int id = Id;
    static constexpr std::string_view name = "layer", onnx_name = name;
    static constexpr std::array<int, (Id > 0)> operands = [] {
      std::array<int, (Id > 0)> out{};
      for (int& o : out) o = Id - 1;
      return out;
    }();
    static constexpr std::array<graph::parameter, 0> parameters{};
    static constexpr tensor::type result{{1, 4}, Of};
  };
  struct first final : layer_of<0, In> {
    static constexpr ops::input op{.extents = {1, 4}};
  };
  struct middle final : layer_of<1, Out> {
    static constexpr ops::tanh op{};
    static constexpr std::array<graph::parameter, 1> parameters{{{.extents = {4}, .element = Parameter}}};
    static constexpr tensor::type result{{1, 4}, Out, By};
  };
  struct last final : layer_of<2, Last> {
    static constexpr ops::output op{};
  };
  template <int Id, class = void> struct at { using type = last; };
  template <class X> struct at<0, X> { using type = first; };
  template <class X> struct at<1, X> { using type = middle; };

  static constexpr int size = 3;
  static constexpr std::string_view name = "chain";
  static constexpr graph::weights_file weights{};
  template <int Id> using layer = typename at<Id>::type;
};

using everywhere = mapping<dev<0, cpu>, layers<all>>;
template <auto... Of> constexpr bool valid = assembly::valid<chain<Of...>, everywhere>;

TEST(elements, kernels_take_float32) {
  using enum number;
  EXPECT_TRUE((valid<float32, float32>));
  EXPECT_FALSE((valid<int8, float32>));
  EXPECT_FALSE((valid<float32, float16>));
  EXPECT_FALSE((valid<uint8, uint8>));
  EXPECT_FALSE((valid<float32, float32, int8>)) << "a source or sink has no other numbers either";
  EXPECT_FALSE((valid<float32, float32, float32, float16>)) << "nor have parameters";
  EXPECT_FALSE((valid<float32, float32, float32, float32, &halves>)) << "no kernel knows scales";
}

TEST(elements, tables_for_other_mappings_know_it) {
  using enum number;
  constexpr auto by = algorithm::backend_of({});
  const auto computes = [](const runtime::layer_tables& t) {
    return t.computes(by, 0) && t.computes(by, 1) && t.computes(by, 2);
  };
  EXPECT_TRUE(computes(assembly::layer_tables_of<chain<float32, float32>, algorithm::bit(by)>));
  EXPECT_FALSE(computes(assembly::layer_tables_of<chain<float32, int8>, algorithm::bit(by)>));
  EXPECT_FALSE(computes(assembly::layer_tables_of<chain<int32, float32>, algorithm::bit(by)>));
  EXPECT_FALSE(computes(assembly::layer_tables_of<chain<float32, float32, int64>, algorithm::bit(by)>));
}

}  // namespace
