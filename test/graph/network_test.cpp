// Values from generated headers, and damaged headers.
#include "dice/graph/graph.hpp"

#include <array>
#include <string_view>
#include <tuple>

namespace {

using namespace dice;

/// A convolution of 8 channels on an image that is one pixel larger than the window on each side: 8 × 3 × 3. The header says
/// 8 × 3 × `Width`, and that it reads layer `From`.
template <int Width, int From> struct small {
  static constexpr int size = 3;
  struct image {
    static constexpr int id = 0;
    static constexpr std::string_view name = "image", onnx_name = "in/image";
    static constexpr ops::input op{.extents = {1, 3, 5, 5}};
    static constexpr std::array<int, 0> operands{};
    static constexpr std::array<graph::parameter, 0> parameters{};
    static constexpr tensor::shape result{1, 3, 5, 5};
  };
  struct conv {
    static constexpr int id = 1;
    static constexpr std::string_view name = "conv", onnx_name = "conv.1";
    static constexpr ops::conv op{.channels = 8, .kernel = {3, 3}, .bias = true};
    static constexpr std::array<int, 1> operands{From};
    static constexpr std::array<graph::parameter, 2> parameters{{{0, {8, 3, 3, 3}}, {896, {8}}}};
    static constexpr tensor::shape result{1, 8, 3, Width};
  };
  struct sum {
    static constexpr int id = 2;
    static constexpr std::string_view name = "sum", onnx_name = "sum";
    static constexpr ops::add op{};
    static constexpr std::array<int, 2> operands{1, 1};
    static constexpr std::array<graph::parameter, 0> parameters{};
    static constexpr tensor::shape result = conv::result;
  };
  template <int Id> using layer = std::tuple_element_t<Id, std::tuple<image, conv, sum>>;
};

constexpr const auto& right = graph::detail::table<small<3, 0>>;
static_assert(right.damaged < 0);
static_assert(right.layers[1].name == "conv" && right.layers[1].onnx_name == "conv.1" && right.layers[1].op == "Conv");
static_assert(right.layers[1].cut_steps == std::array{16, 1, 1} && right.layers[1].depth_step == 16);
static_assert(right.layers[0].cut_steps == std::array{0, 0, 0} && right.layers[2].depth_step == 0);
static_assert(right.layers[0].is_input && !right.layers[1].is_input && !right.layers[2].is_output);
static_assert(right.layers[1].macs == 8 * 9 * 27 && right.layers[1].parameter_bytes == (8 * 27 + 8) * 4);
static_assert(right.layers[1].first_edge == 0 && right.layers[1].edges == 1 && right.layers[2].first_edge == 1);
static_assert(right.edges.size() == 3 && right.edges[0].from == 0 && right.edges[2].from == 1 && right.edges[2].to == 2);
static_assert(right.carried[0] == tensor::shape{1, 3, 5, 5} && right.carried[2] == right.layers[1].output);

static_assert(graph::detail::table<small<4, 0>>.damaged == 1, "the operator makes another shape");
static_assert(graph::detail::table<small<3, 1>>.damaged == 1, "a layer reads itself");
static_assert(graph::detail::table<small<3, 2>>.damaged == 1, "a layer reads a later one");
static_assert(graph::detail::table<small<3, -1>>.damaged == 1, "a layer reads what is not there");

}  // namespace
