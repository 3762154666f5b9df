// The cases of expected.json: operators' outputs as PyTorch computes them (make_expected.py).
#pragma once

#include "kernels/harness.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string_view>

namespace harness {

inline const nlohmann::json& cases() {
  static const nlohmann::json all = [] {
    const char* const moved = std::getenv("DICE_EXPECTED_JSON");  // for a program that was built elsewhere
    std::ifstream file(moved ? moved : DICE_EXPECTED_JSON);
    return nlohmann::json::parse(file);
  }();
  return all;
}

template <class T, std::size_t N, std::size_t M>
void read(const nlohmann::json& from, std::string_view name, std::array<std::array<T, N>, M>& to) {
  if (const auto it = from.find(name); it != from.end())
    for (std::size_t i = 0; i < it->size(); ++i)
      for (std::size_t k = 0; k < (*it)[i].size(); ++k) to[i][k] = (*it)[i][k].get<T>();
}
template <class T, std::size_t N> void read(const nlohmann::json& from, std::string_view name, std::array<T, N>& to) {
  if (const auto it = from.find(name); it != from.end())
    for (std::size_t i = 0; i < it->size(); ++i) to[i] = (*it)[i].get<T>();
}
inline void read(const nlohmann::json& from, std::string_view name, shape& to) {
  if (const auto it = from.find(name); it != from.end()) {
    to = {};
    for (const auto& extent : *it) to.push_back(extent.get<std::int64_t>());
  }
}
template <class T> void read(const nlohmann::json& from, std::string_view name, T& to) {
  if (const auto it = from.find(name); it != from.end()) to = it->get<T>();
}
inline void read(const nlohmann::json& from, std::string_view name, ops::constant& to) {
  if (const auto it = from.find(name); it != from.end())
    to = *it == "first" ? ops::constant::first : *it == "second" ? ops::constant::second : ops::constant::none;
}
inline void read(const nlohmann::json& from, std::string_view name, ops::padding& to) {
  if (const auto it = from.find(name); it != from.end())
    to = *it == "reflect" ? ops::padding::reflect
         : *it == "edge"  ? ops::padding::edge
         : *it == "wrap"  ? ops::padding::wrap
                          : ops::padding::constant;
}

/// A list of its name and numbers.
inline void read(const nlohmann::json& from, std::string_view name, graph::activation& to) {
  // The kinds from `abs` on.
  static constexpr std::string_view names[] = {
      "abs", "ceil",       "celu",  "erf",  "exp",  "floor",    "gelu",     "gelu_tanh", "log",   "mish",
      "neg", "reciprocal", "round", "selu", "sign", "softplus", "softsign", "sqrt",      "swish", "thresholded_relu"};
  const auto& list = from.at(std::string(name));
  const auto at = std::ranges::find(names, list[0].get<std::string>());
  ASSERT_NE(at, std::end(names)) << list;
  to.is = static_cast<graph::activation::kind>(static_cast<int>(graph::activation::kind::abs) + (at - names));
  if (list.size() > 1) to.a = list[1].get<float>();
  if (list.size() > 2) to.b = list[2].get<float>();
}

inline void read(const nlohmann::json& from, std::string_view name, ops::resizing& to) {
  if (const auto it = from.find(name); it != from.end())
    to = *it == "nearest" ? ops::resizing::nearest : *it == "linear" ? ops::resizing::linear : ops::resizing::cubic;
}
inline void read(const nlohmann::json& from, std::string_view name, ops::coordinates& to) {
  static constexpr std::string_view names[] = {"asymmetric", "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                               "align_corners"};
  if (const auto it = from.find(name); it != from.end())
    to = static_cast<ops::coordinates>(std::ranges::find(names, it->get<std::string>()) - names);
}
inline void read(const nlohmann::json& from, std::string_view name, ops::rounding& to) {
  if (const auto it = from.find(name); it != from.end())
    to = *it == "floor" ? ops::rounding::floor : ops::rounding::round_prefer_ceil;
}

/// One of the names of an enum's values, in their order.
template <class Enum, std::size_t N>
void read_name(const nlohmann::json& from, std::string_view name, Enum& to, const std::string_view (&names)[N]) {
  if (const auto it = from.find(name); it != from.end())
    to = static_cast<Enum>(std::ranges::find(names, it->get<std::string>()) - names);
}
inline void read(const nlohmann::json& from, std::string_view name, ops::reduction& to) {
  read_name(from, name, to, {"mean", "total", "total_square", "product", "largest", "smallest", "arg_max", "arg_min"});
}
inline void read(const nlohmann::json& from, std::string_view name, ops::normalizing& to) {
  read_name(from, name, to, {"layer", "instance", "group", "rms", "l1", "l2"});
}

/// The operator with those of its attributes that are in `json`.
template <class Op> Op attributes(const nlohmann::json& json) {
  Op op;
#define DICE_READ(name) \
  if constexpr (requires { op.name; }) read(json, #name, op.name)
  DICE_READ(channels);
  DICE_READ(kernel);
  DICE_READ(strides);
  DICE_READ(dilations);
  DICE_READ(pads);
  DICE_READ(group);
  DICE_READ(bias);
  DICE_READ(columns);
  DICE_READ(depth);
  DICE_READ(ceil_mode);
  DICE_READ(count_include_pad);
  DICE_READ(alpha);
  DICE_READ(beta);
  DICE_READ(low);
  DICE_READ(high);
  DICE_READ(which);
  DICE_READ(fixed);
  DICE_READ(axis);
  DICE_READ(before);
  DICE_READ(after);
  DICE_READ(mode);
  DICE_READ(value);
  DICE_READ(perm);
  DICE_READ(starts);
  DICE_READ(steps);
  DICE_READ(extents);
  DICE_READ(first);
  DICE_READ(last);
  DICE_READ(size);
  DICE_READ(over);
  DICE_READ(keep);
  DICE_READ(factor);
  DICE_READ(factors);
  DICE_READ(function);
  DICE_READ(to);
  DICE_READ(scales);
  DICE_READ(from);
  DICE_READ(nearest);
  DICE_READ(how);
  DICE_READ(log);
  DICE_READ(epsilon);
  DICE_READ(scale);
  DICE_READ(scale_shape);
  DICE_READ(bias_shape);
  DICE_READ(of);
  DICE_READ(rank);
  DICE_READ(repeats);
  DICE_READ(crop);
  DICE_READ(groups);
  DICE_READ(exclude_outside);
  DICE_READ(cubic_a);
  DICE_READ(count);
  DICE_READ(exclusive);
  DICE_READ(reverse);
#undef DICE_READ
  return op;
}

inline std::vector<float> values(const nlohmann::json& tensor) {
  shape s;
  read(tensor, "shape", s);
  return values(s.elements(), tensor["seed"].get<std::uint32_t>(), tensor["low"].get<float>(), tensor["high"].get<float>());
}

/// The activation of this name; "" is none.
inline ending ending_of(const std::string& activation) {
  if (activation == "relu") return ops::relu{};
  if (activation == "leaky_relu") return ops::leaky_relu{.alpha = 0.1f};
  if (activation == "clip") return ops::clip{.low = -0.5f, .high = 0.75f};
  if (activation == "sigmoid") return ops::sigmoid{};
  if (activation == "tanh") return ops::tanh{};
  if (activation == "hard_swish") return ops::hard_swish{};
  EXPECT_EQ(activation, "") << "no such activation";
  return {};
}

/// Checks all cases of the operator of this name on Backend, and that there are at least `least`.
template <class Backend, class Op> void check(std::string_view name, int least) {
  int count = 0;
  for (const auto& c : cases()) {
    if (c["op"].get<std::string>() != name) continue;
    ++count;
    problem<Op> p{.op = attributes<Op>(c["attributes"]), .in = {}, .inputs = {}, .parameters = {}, .residual = {}};
    for (const auto& t : c["inputs"]) {
      read(t, "shape", p.in.emplace_back());
      p.inputs.push_back(values(t));
    }
    for (const auto& t : c["parameters"]) p.parameters.push_back(values(t));
    if (c.contains("residual")) p.residual = values(c["residual"][0]);
    shape expected;
    read(c, "shape", expected);
    const std::string what = std::string(name) + " " + c["attributes"].dump() + c["inputs"].dump();
    ASSERT_EQ(p.result(), expected) << what;
    const auto outputs = c["expected"].get<std::vector<float>>();
    const auto end = ending_of(c.value("activation", ""));
    EXPECT_LE(error(compute<Backend>(p, end), outputs), tolerance) << what;
    if (graph::in_place(p.op)) {
      p.in_place = true;
      EXPECT_LE(error(compute<Backend>(p, end), outputs), tolerance) << what << " in place";
    }
  }
  EXPECT_GE(count, least) << name;
}

}  // namespace harness
