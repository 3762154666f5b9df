#pragma once

#include "dice/graph/network.hpp"
#include "dice/graph/ops.hpp"

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace dice::graph {

/// Any operator of graph/ops.hpp as a value, even in constant expressions.
class any_operator {
 public:
  /// An Identity.
  constexpr any_operator() : any_operator(ops::identity{}) {}
#define DICE_MAKES(name) \
  constexpr any_operator(const ops::name& op) : is_(kind::name), as_{.name = {op, true}} {}
  DICE_OPERATORS(DICE_MAKES)
#undef DICE_MAKES

  /// f(operator), whose type must be the same for all operators.
  template <class F> constexpr auto visit(F&& f) const {
    switch (is_) {
#define DICE_VISITS(name) \
  case kind::name:        \
    return f(as_.name.op);
      DICE_OPERATORS(DICE_VISITS)
#undef DICE_VISITS
    }
    __builtin_unreachable();
  }
  template <class Op> constexpr bool is() const {
    return visit([]<class T>(const T&) { return std::same_as<T, Op>; });
  }
  /// Requires is<Op>(). A copy, since g++ with -fsanitize=undefined does not compare addresses in constant expressions.
  template <class Op> constexpr Op as() const {
    return visit([]<class T>(const T& op) -> Op {
      if constexpr (std::same_as<T, Op>) return op;
      else throw model_error("the operator is another one");
    });
  }
  /// The operator's ONNX name.
  constexpr std::string_view onnx() const {
    return visit([](const auto& op) { return op.onnx; });
  }
  /// Address of the operator in this object, for kernels::task::op.
  constexpr const void* address() const { return &as_; }

 private:
#define DICE_NAMES(name) name,
  enum class kind : unsigned char { DICE_OPERATORS(DICE_NAMES) };
#undef DICE_NAMES
// In constant expressions g++ 13 and newer forget that a member of a union is active if its class is empty, as relu's is.
// With a byte beside the operator, no member's class is empty.
#define DICE_HOLDS(name) \
  struct {               \
    ops::name op;        \
    bool held;           \
  } name;
  union values {
    DICE_OPERATORS(DICE_HOLDS)
  };
#undef DICE_HOLDS
  static_assert(std::is_standard_layout_v<values>, "address() is that of the operator");

  kind is_;
  values as_;
};

// The functions of graph/operator.hpp for such values. Templates, so that only those that are used are compiled for all
// operators.
template <class Any>
concept operator_value = std::same_as<Any, any_operator>;

template <operator_value Any> constexpr tensor::shape infer(const Any& any, shapes in) {
  return any.visit([&](const auto& op) { return infer(op, in); });
}
template <operator_value Any>
constexpr tensor::region input_region(const Any& any, int k, const tensor::region& out, shapes in,
                                      const tensor::shape& result) {
  return any.visit([&](const auto& op) { return input_region(op, k, out, in, result); });
}
template <operator_value Any>
constexpr std::int64_t cut_step(const Any& any, int axis, shapes in, const tensor::shape& result) {
  return any.visit([&](const auto& op) { return cut_step(op, axis, in, result); });
}
template <operator_value Any>
constexpr Any restrict(const Any& any, const tensor::region& out, shapes in, const tensor::shape& result) {
  return any.visit([&](const auto& op) -> Any { return restrict(op, out, in, result); });
}
template <operator_value Any>
constexpr tensor::region parameter_region(const Any& any, int p, const tensor::region& out, shapes in,
                                          const tensor::shape& result, const tensor::shape& extents) {
  return any.visit([&](const auto& op) { return parameter_region(op, p, out, in, result, extents); });
}
template <operator_value Any> constexpr int depth_axis(const Any& any, shapes in) {
  return any.visit([&](const auto& op) { return depth_axis(op, in); });
}
template <operator_value Any>
constexpr Any partial(const Any& any, std::int64_t from, std::int64_t to, bool first, shapes in) {
  return any.visit([&](const auto& op) -> Any { return partial(op, from, to, first, in); });
}
/// Of graph/network.hpp.
template <operator_value Any>
constexpr bool describe(const Any& any, shapes in, layer_info& layer, edge* edges, bool is_part = false) {
  return any.visit([&](const auto& op) { return describe(op, in, layer, edges, is_part); });
}

}  // namespace dice::graph
