#pragma once

#include <cstddef>
#include <string_view>

namespace dice::graph {

/// A function of two elements, as a value. kernels/detail/arithmetic.hpp has the formulas.
enum class arithmetic : unsigned char { add, sub, mul, div, max, min, p_relu, pow, where };

/// ONNX names of the functions.
inline constexpr std::string_view arithmetic_names[] = {"Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu", "Pow", "Where"};
constexpr std::string_view name_of(arithmetic f) { return arithmetic_names[static_cast<std::size_t>(f)]; }

}  // namespace dice::graph
