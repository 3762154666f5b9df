// expect: dice::error::layer_without_kernel<strange::middle, dice::remedy::run_it_on_a_unit_whose_backend_has_this_operator>
#include <prelude.hpp>

namespace strange {
#ifdef MISTAKE
struct op {
  static constexpr std::string_view onnx = "Strange";
};
#else
using op = ops::tanh;
#endif

template <int Id, class Op> struct layer_of {
  static constexpr int id = Id;
  static constexpr std::string_view name = Op::onnx, onnx_name = name;
  static constexpr std::array<int, (Id > 0)> operands = [] {
    if constexpr (Id > 0) return std::array{Id - 1};
    else return std::array<int, 0>{};
  }();
  static constexpr std::array<graph::parameter, 0> parameters{};
  static constexpr tensor::shape result{1, 4};
};
struct first final : layer_of<0, ops::input> {
  static constexpr ops::input op{.extents = {1, 4}};
};
struct middle final : layer_of<1, op> {
  static constexpr strange::op op{};
};
struct last final : layer_of<2, ops::output> {
  static constexpr ops::output op{};
};
template <int Id> struct layer_at;
template <> struct layer_at<0> { using type = first; };
template <> struct layer_at<1> { using type = middle; };
template <> struct layer_at<2> { using type = last; };
struct network final {
  static constexpr int size = 3;
  static constexpr std::string_view name = "strange";
  static constexpr graph::weights_file weights{.file = "strange.safetensors", .structure = "", .bytes = 0};
  template <int Id> using layer = typename layer_at<Id>::type;
};
}  // namespace strange

int main(int argc, char** argv) { return dice::main<strange::network, mapping<dev<0, cpu>, layers<all>>>(argc, argv); }
