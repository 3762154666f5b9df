// How operators are written in C++, after the members that their structs list.
#include "graph/operation.hpp"

#include "graph/initialiser.hpp"

#include "dice/graph/ops.hpp"
#include "dice/meta/member_count.hpp"

#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <type_traits>

namespace onnx2hpp {

namespace {

namespace ops = dice::ops;

template <class Op> std::string attributes_of(const Op& op) {
  if constexpr (requires { Op::always_written; }) return literal(op, Op::always_written);
  else if constexpr (requires { Op::member_names; }) return literal(op);
  else return "{}";
}
/// An operand has a place and a shape (which may be that of a number), or neither.
template <dice::graph::arithmetic F> std::string attributes_of(const ops::binary<F>& op) {
  return op.which == ops::constant::none ? "{}" : literal(op, ops::binary<F>::member_names);
}
/// Only the axes that the result has.
std::string attributes_of(const ops::einsum& op) {
  const auto axes = [&](std::size_t k) {
    std::string text;
    for (int o = 0; o < op.rank; ++o) text += (o ? ", " : "") + literal(op.of[k][o]);
    return "{" + text + "}";
  };
  initialiser out;
  out.add("of", "{{" + axes(0) + ", " + axes(1) + "}}");
  auto rest = op;
  rest.of = {};
  out.add_members(rest, op.which == ops::constant::none ? "rank, depth" : "rank, depth, which, fixed");
  return out.text();
}
/// Repetitions have factors and nothing else.
std::string attributes_of(const ops::resize& op) {
  return op.mode == ops::resizing::repeat ? literal(ops::resize{.factors = op.factors}) : literal(op, "to");
}

/// Whether DICE_MEMBERS of Op has all members of the struct, but for a name that follows from them.
template <class Op> constexpr bool lists_all() {
  std::size_t listed = std::is_member_object_pointer_v<decltype(&Op::onnx)>;
  if constexpr (requires { Op::member_names; }) listed += dice::meta::count_names(Op::member_names);
  return listed == dice::meta::member_count<Op>;
}

/// f(the operator, its name in dice::ops).
template <class F> std::string with_operator(const operation& op, const F& f) {
#define DICE_TRIES(name)                                                             \
  static_assert(lists_all<ops::name>(), "DICE_MEMBERS of " #name " lacks a member"); \
  if (const auto* found = op.get_if<ops::name>()) return f(*found, #name);
  DICE_OPERATORS(DICE_TRIES)
#undef DICE_TRIES
  throw std::logic_error("an operator that dice/graph/ops.hpp does not list");
}

}  // namespace

std::string operation::struct_name() const {
  return with_operator(*this, [](const auto&, const char* name) { return std::string(name); });
}
std::string operation::attributes() const {
  return with_operator(*this, [](const auto& op, const char*) { return attributes_of(op); });
}

}  // namespace onnx2hpp
