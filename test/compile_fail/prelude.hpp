// What every case includes: dice, the network `sample`, and layers that are not its own.
#ifndef DICE_TEST_COMPILE_FAIL_PRELUDE  // it is compiled as a main file too, where `#pragma once` is a warning
#define DICE_TEST_COMPILE_FAIL_PRELUDE

#include <dice/dice.hpp>

#include "../sample.hpp"

namespace other {
struct conv1 final {
  static constexpr int id = 1;
  static constexpr ::std::string_view name = "conv1", onnx_name = "conv1";
  static constexpr ::dice::ops::relu op{};
  static constexpr ::std::array<int, 0> operands{};
  static constexpr ::std::array<::dice::graph::parameter, 0> parameters{};
  static constexpr ::dice::tensor::shape result{1};
};
struct network final {};
}  // namespace other

using namespace dice;

#endif
