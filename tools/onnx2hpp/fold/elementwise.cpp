// Arithmetic on constants, element by element with broadcasting. Integers are exact, reals are computed in double and
// rounded to their type.
#include "fold/broadcast.hpp"
#include "fold/whole.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace onnx2hpp {
namespace {

void same_types(node_context& n) {
  n.require(n.data(0, "operand").type == n.data(1, "operand").type, "its operands have different types");
}

/// The same as require_order() for all operands.
void require_order(node_context& n) {
  for (int k = 0; k < n.inputs(); ++k)
    if (n.given(k)) require_order(n.data(k, "operand"));
}

template <class T, class Function>
constant combine(node_context& n, element type, const std::vector<T>& a, const std::vector<T>& b, Function f) {
  const auto &ca = n.data(0, "operand"), &cb = n.data(1, "operand");
  auto dims = broadcast({ca.dims, cb.dims});
  const auto ia = broadcast_indices(ca.dims, dims), ib = broadcast_indices(cb.dims, dims);
  std::vector<T> out(ia.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(f(a[ia[i]], b[ib[i]]));
  return make_constant(type, std::move(dims), std::span<const T>(out));
}

/// Result of an operator with one rule for integers and one for reals; its type is `type` or the operands' type.
template <class OfWhole, class OfReal>
void fold_binary(node_context& n, OfWhole of_whole, OfReal of_real, element type = element::none) {
  const auto &a = n.data(0, "operand"), &b = n.data(1, "operand");
  folded_size(a.dims);
  folded_size(b.dims);
  if (type == element::none) type = a.type;
  if (is_real(a.type) || is_real(b.type)) n.result(combine(n, type, reals(a), reals(b), of_real));
  else n.result(combine(n, type, integers(a), integers(b), of_whole));
}

void fold_add(node_context& n) {
  same_types(n);
  fold_binary(
      n, [](whole a, whole b) { return plus(a, b); }, [](double a, double b) { return a + b; });
}

void fold_sub(node_context& n) {
  same_types(n);
  fold_binary(
      n, [](whole a, whole b) { return wrap(bits(a) - bits(b)); }, [](double a, double b) { return a - b; });
}

void fold_mul(node_context& n) {
  same_types(n);
  fold_binary(
      n, [](whole a, whole b) { return times(a, b); }, [](double a, double b) { return a * b; });
}

void fold_div(node_context& n) {
  same_types(n);
  require_order(n);
  fold_binary(
      n,
      [](whole a, whole b) {
        if (b == 0) node_context::refuse("it divides an integer by 0");
        return b == -1 ? wrap(-bits(a)) : a / b;
      },
      [](double a, double b) { return a / b; });
}

/// The remainder has the sign of the divisor, unless the quotient is truncated (fmod).
void fold_mod(node_context& n) {
  same_types(n);
  require_order(n);
  const bool truncated = n.integer("fmod", 0) != 0;
  fold_binary(
      n,
      [=](whole a, whole b) {
        if (b == 0) node_context::refuse("it divides an integer by 0");
        const whole r = b == -1 ? 0 : a % b;
        return !truncated && r != 0 && (r < 0) != (b < 0) ? r + b : r;
      },
      [=](double a, double b) {
        const double r = std::fmod(a, b);
        if (truncated) return r;
        return r == 0 ? std::copysign(r, b) : (r < 0) != (b < 0) ? r + b : r;
      });
}

whole whole_power(whole base, whole exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  std::uint64_t out = 1, factor = bits(base);
  for (; exponent > 0; exponent >>= 1, factor *= factor)
    if (exponent & 1) out *= factor;
  return wrap(out);
}

void fold_pow(node_context& n) {
  fold_binary(n, whole_power, [](double a, double b) { return std::pow(a, b); });
}

template <class Compare> void fold_compare(node_context& n, Compare c) { fold_binary(n, c, c, element::boolean); }
template <class Compare> void fold_order(node_context& n, Compare c) {
  require_order(n);
  fold_compare(n, c);
}

/// Max, Min and Sum take any number of operands, combined pairwise from the left.
template <class OfWhole, class OfReal> void fold_variadic(node_context& n, OfWhole of_whole, OfReal of_real) {
  n.require(n.inputs() > 0, "it has no input");
  constant out = n.data(0, "operand");
  for (int k = 1; k < n.inputs(); ++k) {
    const auto& next = n.data(k, "operand");
    n.require(next.type == out.type, "its operands have different types");
    auto dims = broadcast({out.dims, next.dims});
    const auto ia = broadcast_indices(out.dims, dims), ib = broadcast_indices(next.dims, dims);
    const auto join = [&](const auto& a, const auto& b, auto f) {
      auto joined = a;
      joined.resize(ia.size());
      for (std::size_t i = 0; i < ia.size(); ++i) joined[i] = f(a[ia[i]], b[ib[i]]);
      return make_constant(out.type, dims, std::span<const typename std::decay_t<decltype(a)>::value_type>(joined));
    };
    out = is_real(out.type) ? join(reals(out), reals(next), of_real) : join(integers(out), integers(next), of_whole);
  }
  n.result(std::move(out));
}

template <class Function> void fold_unary(node_context& n, Function f) {
  const auto& c = n.data(0, "input");
  folded_size(c.dims);
  n.require(is_real(c.type), "its constant is not real");
  auto values = reals(c);
  for (double& v : values) v = f(v);
  n.result(make_constant(c.type, c.dims, std::span<const double>(values)));
}

template <class OfWhole, class OfReal> void fold_unary(node_context& n, OfWhole of_whole, OfReal of_real) {
  const auto& c = n.data(0, "input");
  if (is_real(c.type)) return fold_unary(n, of_real);
  folded_size(c.dims);
  auto values = integers(c);
  for (whole& v : values) v = of_whole(v);
  n.result(make_constant(c.type, c.dims, std::span<const whole>(values)));
}

void fold_neg(node_context& n) {
  fold_unary(
      n, [](whole a) { return wrap(-bits(a)); }, [](double a) { return -a; });
}

void fold_abs(node_context& n) {
  fold_unary(
      n, [](whole a) { return a < 0 ? wrap(-bits(a)) : a; }, [](double a) { return std::abs(a); });
}

void fold_not(node_context& n) {
  fold_unary(
      n, [](whole a) { return whole{a == 0}; }, [](double a) { return a; });
}

void fold_where(node_context& n) {
  const auto &condition = n.data(0, "condition"), &a = n.data(1, "operand"), &b = n.data(2, "operand");
  n.require(a.type == b.type, "its operands have different types");
  auto dims = broadcast({condition.dims, a.dims, b.dims});
  const auto ic = broadcast_indices(condition.dims, dims), ia = broadcast_indices(a.dims, dims),
             ib = broadcast_indices(b.dims, dims);
  const auto chosen = integers(condition);
  const auto width = size_of(a.type);
  std::vector<std::byte> bytes;
  bytes.reserve(ic.size() * width);
  for (std::size_t i = 0; i < ic.size(); ++i) {
    const auto from = chosen[ic[i]] ? a.bytes.subspan(ia[i] * width, width) : b.bytes.subspan(ib[i] * width, width);
    bytes.insert(bytes.end(), from.begin(), from.end());
  }
  n.result(make_constant(a.type, std::move(dims), std::move(bytes)));
}

void fold_clip(node_context& n) {
  require_order(n);
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  whole lowest = std::numeric_limits<whole>::min(), highest = std::numeric_limits<whole>::max();
  if (n.opset() < 11) {
    low = n.real("min", static_cast<float>(low));
    high = n.real("max", static_cast<float>(high));
  } else {
    if (n.given(1)) {
      low = n.real(1, "lower bound");
      lowest = integers(n.data(1, "lower bound"))[0];
    }
    if (n.given(2)) {
      high = n.real(2, "upper bound");
      highest = integers(n.data(2, "upper bound"))[0];
    }
  }
  fold_unary(
      n, [=](whole a) { return std::min(std::max(a, lowest), highest); },
      [=](double a) { return std::min(std::max(a, low), high); });
}

const folder folds_elementwise[] = {
    {"Add", fold_add},
    {"Sub", fold_sub},
    {"Mul", fold_mul},
    {"Div", fold_div},
    {"Mod", fold_mod, 10, "fmod"},
    {"Pow", fold_pow},
    {"Neg", fold_neg},
    {"Abs", fold_abs},
    {"Not", fold_not},
    {"Where", fold_where},
    {"Clip", fold_clip},
    {"Equal", [](node_context& n) { fold_compare(n, [](auto a, auto b) { return a == b; }); }},
    {"Less", [](node_context& n) { fold_order(n, [](auto a, auto b) { return a < b; }); }},
    {"LessOrEqual", [](node_context& n) { fold_order(n, [](auto a, auto b) { return a <= b; }); }},
    {"Greater", [](node_context& n) { fold_order(n, [](auto a, auto b) { return a > b; }); }},
    {"GreaterOrEqual", [](node_context& n) { fold_order(n, [](auto a, auto b) { return a >= b; }); }},
    {"And", [](node_context& n) { fold_compare(n, [](auto a, auto b) { return a != 0 && b != 0; }); }},
    {"Or", [](node_context& n) { fold_compare(n, [](auto a, auto b) { return a != 0 || b != 0; }); }},
    {"Xor", [](node_context& n) { fold_compare(n, [](auto a, auto b) { return (a != 0) != (b != 0); }); }},
    {"Max",
     [](node_context& n) {
       require_order(n);
       fold_variadic(
           n, [](whole a, whole b) { return larger(a, b); }, [](double a, double b) { return larger(a, b); });
     }},
    {"Min",
     [](node_context& n) {
       require_order(n);
       fold_variadic(
           n, [](whole a, whole b) { return smaller(a, b); }, [](double a, double b) { return smaller(a, b); });
     }},
    {"Sum",
     [](node_context& n) {
       fold_variadic(
           n, [](whole a, whole b) { return plus(a, b); }, [](double a, double b) { return a + b; });
     }},
    {"Sqrt", [](node_context& n) { fold_unary(n, [](double a) { return std::sqrt(a); }); }},
    {"Reciprocal", [](node_context& n) { fold_unary(n, [](double a) { return 1 / a; }); }},
    {"Exp", [](node_context& n) { fold_unary(n, [](double a) { return std::exp(a); }); }},
    {"Log", [](node_context& n) { fold_unary(n, [](double a) { return std::log(a); }); }},
    {"Floor", [](node_context& n) { fold_unary(n, [](double a) { return std::floor(a); }); }},
    {"Ceil", [](node_context& n) { fold_unary(n, [](double a) { return std::ceil(a); }); }},
    {"Round", [](node_context& n) { fold_unary(n, [](double a) { return std::nearbyint(a); }); }},
    {"Relu",
     [](node_context& n) {
       require_order(n);
       fold_unary(
           n, [](whole a) { return std::max<whole>(a, 0); }, [](double a) { return std::max(a, 0.0); });
     }},
    {"Sigmoid", [](node_context& n) { fold_unary(n, [](double a) { return 1 / (1 + std::exp(-a)); }); }},
    {"Tanh", [](node_context& n) { fold_unary(n, [](double a) { return std::tanh(a); }); }},
    {"Sin", [](node_context& n) { fold_unary(n, [](double a) { return std::sin(a); }); }, 7, ""},
    {"Cos", [](node_context& n) { fold_unary(n, [](double a) { return std::cos(a); }); }, 7, ""},
    {"Tan", [](node_context& n) { fold_unary(n, [](double a) { return std::tan(a); }); }, 7, ""},
    {"Asin", [](node_context& n) { fold_unary(n, [](double a) { return std::asin(a); }); }, 7, ""},
    {"Acos", [](node_context& n) { fold_unary(n, [](double a) { return std::acos(a); }); }, 7, ""},
    {"Atan", [](node_context& n) { fold_unary(n, [](double a) { return std::atan(a); }); }, 7, ""},
    {"Sinh", [](node_context& n) { fold_unary(n, [](double a) { return std::sinh(a); }); }, 9, ""},
    {"Cosh", [](node_context& n) { fold_unary(n, [](double a) { return std::cosh(a); }); }, 9, ""},
};

}  // namespace
}  // namespace onnx2hpp
