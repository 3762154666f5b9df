// expect: dice::error::damaged_header<damaged::second, dice::remedy::regenerate_the_header_with_onnx2hpp>
#include <prelude.hpp>

namespace damaged {
struct first final {
  static constexpr int id = 0;
  static constexpr std::string_view name = "first", onnx_name = name;
  static constexpr ops::input op{.extents = {1, 4}};
  static constexpr std::array<int, 0> operands{};
  static constexpr std::array<graph::parameter, 0> parameters{};
  static constexpr tensor::shape result{1, 4};
};
struct second final {
  static constexpr int id = 1;
  static constexpr std::string_view name = "second", onnx_name = name;
  static constexpr ops::output op{};
  static constexpr std::array<graph::parameter, 0> parameters{};
#ifdef MISTAKE
  static constexpr std::array<int, 1> operands{9};
#else
  static constexpr std::array<int, 1> operands{0};
#endif
  static constexpr tensor::shape result{1, 4};
};
template <int Id> struct layer_at;
template <> struct layer_at<0> { using type = first; };
template <> struct layer_at<1> { using type = second; };
struct network final {
  static constexpr int size = 2;
  static constexpr std::string_view name = "damaged";
  static constexpr graph::weights_file weights{};
  template <int Id> using layer = typename layer_at<Id>::type;
};
}  // namespace damaged

int main(int argc, char** argv) { return dice::main<damaged::network, mapping<dev<0, cpu>, layers<all>>>(argc, argv); }
