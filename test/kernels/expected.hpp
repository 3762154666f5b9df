// The cases of expected.json: operators' outputs as PyTorch computes them (make_expected.py).
#pragma once

#include "kernels/harness.hpp"

#include "dice/meta/enum_name.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <type_traits>

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
/// The name of a value, such as "edge" of ops::padding.
template <class Enum>
requires std::is_enum_v<Enum>
void read(const nlohmann::json& from, std::string_view name, Enum& to) {
  const auto it = from.find(name);
  if (it == from.end()) return;
  const auto value = meta::enum_value<Enum>(it->template get<std::string>());
  ASSERT_TRUE(value) << name << ": " << *it;
  to = *value;
}
/// A list of its name and numbers.
inline void read(const nlohmann::json& from, std::string_view name, graph::activation& to) {
  const auto& list = from.at(std::string(name));
  read({{"is", list[0]}}, "is", to.is);
  if (list.size() > 1) to.a = list[1].get<float>();
  if (list.size() > 2) to.b = list[2].get<float>();
}

/// The operator with the attributes that are in `json`, which has no others.
template <class Op> Op attributes(const nlohmann::json& json) {
  Op op;
  std::string_view all;
  if constexpr (requires { Op::member_names; }) {
    all = Op::member_names;
    meta::for_each_member(op, [&](std::string_view name, auto& member) { read(json, name, member); });
  }
  for (const auto& [name, value] : json.items()) EXPECT_TRUE(meta::has_name(all, name)) << name;
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
