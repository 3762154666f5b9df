#pragma once

#include "dice/algorithm/cudnn.hpp"
#include "dice/algorithm/openmp.hpp"
#include "dice/algorithm/tuned.hpp"
#include "dice/graph/graph.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

namespace dice::algorithm {

/// How method M computes `op` on inputs of shapes `in` with an output of shape `result`.
template <method M, class Op> constexpr choice choose(const Op& op, graph::shapes in, const tensor::shape& result) {
  return chooser<M.by>::choose(op, in, result, M.in);
}

/// Variants of backend B for `op`, 0 … n - 1, of which 0 has the smallest weights; and one of them, in method M.
template <backend B, class Op> constexpr int variants(const Op& op, graph::shapes in) {
  if constexpr (requires { chooser<B>::variants(op, in); }) return chooser<B>::variants(op, in);
  else return 1;
}
template <method M, class Op>
constexpr choice variant(const Op& op, graph::shapes in, const tensor::shape& result, int number) {
  if constexpr (requires { chooser<M.by>::variant(op, in, result, number); })
    return chooser<M.by>::variant(op, in, result, number);
  else return choose<M>(op, in, result);
}

namespace detail {

/// Whether Net has a table that --tune made for it.
template <class Net> consteval bool has_table() {
  if constexpr (is_tuned<Net>) {
    using table = tuned<Net>;
    constexpr bool fits = table::digest == Net::weights.structure && table::variants.size() == Net::size;
    static_assert(fits,
                  "the table that --tune made is for another network: delete the file that TUNED names, build, and run "
                  "the program with --tune FILE");
    return fits;
  }
  return false;
}

/// With variant `number`, which --tune measured, or as choose() says if `number` is negative.
template <method M, class Op>
constexpr choice measured(const Op& op, graph::shapes in, const tensor::shape& result, int number) {
  return number >= 0 ? variant<M>(op, in, result, number) : choose<M>(op, in, result);
}

/// Whether --tune chooses among the variants of method M.
template <method M>
concept is_tunable = requires {
  requires chooser<M.by>::tunes;
};

template <method M, class Op> constexpr choice smallest(const Op& op, graph::shapes in, const tensor::shape& result) {
  if constexpr (requires { chooser<M.by>::smallest(op, in, result, M.in); })
    return chooser<M.by>::smallest(op, in, result, M.in);
  else return variant<M>(op, in, result, 0);
}

}  // namespace detail

/// How method M computes each layer of Net as the anchor of a group, by id.
template <class Net, method M>
inline constexpr std::array<choice, Net::size> choices = []<int... Id>(std::integer_sequence<int, Id...>) {
  constexpr auto& net = graph::view_of<Net>;
  if constexpr (detail::is_tunable<M> && detail::has_table<Net>()) {
    constexpr auto& numbers = tuned<Net>::variants;
    constexpr bool fits[]{numbers[Id] < variants<M.by>(Net::template layer<Id>::op, net.operands(Id))...};
    static_assert(std::find(std::begin(fits), std::end(fits), false) == std::end(fits),
                  "the table that --tune made has a variant that its layer does not have: delete the file that TUNED names, "
                  "build, and run the program with --tune FILE");
    return std::array<choice, Net::size>{
        detail::measured<M>(Net::template layer<Id>::op, net.operands(Id), Net::template layer<Id>::result, numbers[Id])...};
  } else {
    return std::array<choice, Net::size>{
        choose<M>(Net::template layer<Id>::op, net.operands(Id), Net::template layer<Id>::result)...};
  }
}
(std::make_integer_sequence<int, Net::size>{});

/// The same with the smallest weights or working memory, for devices without room for those.
template <class Net, method M>
inline constexpr std::array<choice, Net::size> smallest_choices = []<int... Id>(std::integer_sequence<int, Id...>) {
  return std::array<choice, Net::size>{detail::smallest<M>(Net::template layer<Id>::op, graph::view_of<Net>.operands(Id),
                                                           Net::template layer<Id>::result)...};
}
(std::make_integer_sequence<int, Net::size>{});

namespace detail {

template <class Net, method M> constexpr const auto& direct() {
  if constexpr (is_tunable<M>) return smallest_choices<Net, M>;  // variant 0
  else return choices<Net, M>;                                   // one way, or the choice is made when a program starts
}

}  // namespace detail

/// The same for devices with direct_convolutions.
template <class Net, method M> inline constexpr const auto& direct_choices = detail::direct<Net, M>();

/// The same as plain values: of a method, and of a unit.
template <class Net, method M> inline constexpr std::span<const choice> choices_of = choices<Net, M>;
template <class Net, platform::unit On>
inline constexpr std::span<const choice> choices_on = []() -> std::span<const choice> {
  if constexpr (On.direct) return direct_choices<Net, method_of(On)>;
  else return choices_of<Net, method_of(On)>;
}();

namespace detail {

template <class Net, unsigned Set, method M> constexpr void add_tables(tables& to) {
  if constexpr ((Set & bit(M.by)) != 0) {
    to.chosen[M] = choices<Net, M>;
    to.smallest[M] = smallest_choices<Net, M>;
    to.direct[M] = direct_choices<Net, M>;
  }
}

}  // namespace detail

/// The tables of a set of backends.
template <class Net, unsigned Set>
inline constexpr tables tables_of = [] {
  tables out;
  for_each_method([&]<method M>() { detail::add_tables<Net, Set, M>(out); });
  return out;
}();

}  // namespace dice::algorithm
