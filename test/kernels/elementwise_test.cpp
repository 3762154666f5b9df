// Activations, binary operators, Sum, BatchNormalization.
#include "kernels/expected.hpp"

#include <bit>
#include <cstdint>
#include <iterator>

namespace {

using namespace harness;

template <class Backend> struct elementwise : ::testing::Test {};
TYPED_TEST_SUITE(elementwise, backends);

TYPED_TEST(elementwise, activations_equal_pytorch) {
  check<TypeParam, ops::relu>("relu", 2);
  check<TypeParam, ops::leaky_relu>("leaky_relu", 2);
  check<TypeParam, ops::elu>("elu", 2);
  check<TypeParam, ops::clip>("clip", 4);
  check<TypeParam, ops::sigmoid>("sigmoid", 2);
  check<TypeParam, ops::tanh>("tanh", 2);
  check<TypeParam, ops::hard_sigmoid>("hard_sigmoid", 2);
  check<TypeParam, ops::hard_swish>("hard_swish", 2);
  check<TypeParam, ops::elementwise>("elementwise", 2 * static_cast<int>(std::size(graph::elementwise_names)));
}
TYPED_TEST(elementwise, add_equals_pytorch) { check<TypeParam, ops::add>("add", 23); }
TYPED_TEST(elementwise, sub_equals_pytorch) { check<TypeParam, ops::sub>("sub", 23); }
TYPED_TEST(elementwise, mul_equals_pytorch) { check<TypeParam, ops::mul>("mul", 23); }
TYPED_TEST(elementwise, div_equals_pytorch) { check<TypeParam, ops::div>("div", 23); }
TYPED_TEST(elementwise, max_equals_pytorch) { check<TypeParam, ops::max>("max", 23); }
TYPED_TEST(elementwise, min_equals_pytorch) { check<TypeParam, ops::min>("min", 23); }
TYPED_TEST(elementwise, p_relu_equals_pytorch) { check<TypeParam, ops::p_relu>("p_relu", 23); }
TYPED_TEST(elementwise, pow_equals_pytorch) { check<TypeParam, ops::pow>("pow", 18); }
TYPED_TEST(elementwise, where_equals_pytorch) { check<TypeParam, ops::where>("where", 16); }
// Where the second operand is NaN, the first stays.
TYPED_TEST(elementwise, where_takes_what_is_not_nan) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  auto p = make(ops::where{.which = ops::constant::second, .fixed = {3}}, {{2, 3}}, {{3}});
  p.parameters[0] = {nan, -infinity, 7};
  const auto y = compute<TypeParam>(p);
  for (std::size_t row = 0; row < 2; ++row) {
    EXPECT_EQ(y[row * 3], p.inputs[0][row * 3]);
    EXPECT_EQ(y[row * 3 + 1], -infinity);
    EXPECT_EQ(y[row * 3 + 2], 7);
  }
}
TYPED_TEST(elementwise, sum_equals_pytorch) { check<TypeParam, ops::sum>("sum", 4); }
TYPED_TEST(elementwise, batch_normalization_equals_pytorch) {
  check<TypeParam, ops::batch_normalization>("batch_normalization", 4);
}

template <class Backend, class Op> std::vector<float> of(const Op& op, std::vector<float> x) {
  problem<Op> p{.op = op, .in = {{static_cast<std::int64_t>(x.size())}}, .inputs = {x}, .parameters = {}, .residual = {}};
  return compute<Backend>(p);
}

// Relative error of each element, over the whole range: the tests above check only the largest values.
TYPED_TEST(elementwise, exponentials_are_accurate) {
  std::vector<float> x;
  for (float v = 1e-20f; v < 90; v *= 1.01f) {
    x.push_back(v);
    x.push_back(-v);
  }
  const auto sigmoid = of<TypeParam>(ops::sigmoid{}, x), tanh = of<TypeParam>(ops::tanh{}, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double s = 1 / (1 + std::exp(-static_cast<double>(x[i]))), t = std::tanh(static_cast<double>(x[i]));
    if (s > 1e-37) {
      EXPECT_LE(std::abs(sigmoid[i] - s), 1e-6 * s) << x[i];
    }
    EXPECT_LE(std::abs(tanh[i] - t), 1e-6 * std::abs(t)) << x[i];
  }
}

TYPED_TEST(elementwise, functions_are_accurate) {
  using kind = graph::activation::kind;
  std::vector<float> x;
  for (float v = 1e-30f; v < 1e30f; v *= 1.01f) {
    x.push_back(v);
    x.push_back(-v);
  }
  for (float v = 0.25f; v < 40; v += 0.25f) {
    x.push_back(v);
    x.push_back(-v);
  }  // halves
  const auto check = [&](kind is, auto f, double most) {
    const auto y = of<TypeParam>(ops::elementwise{.function = {is, 1, 1}}, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = f(static_cast<double>(x[i]));
      if (std::isnan(expected) || std::abs(expected) > 3e38) continue;
      EXPECT_LE(std::abs(y[i] - expected), most * std::abs(expected) + 1e-37) << static_cast<int>(is) << " of " << x[i];
    }
  };
  for (float v = 86; v < 90; v += 0.01f) {
    x.push_back(v);
    x.push_back(-v);
  }  // around the limits of exp
  check(
      kind::exp, [](double v) { return std::exp(v); }, 1e-6);
  check(
      kind::erf, [](double v) { return std::erf(v); }, 1e-6);
  check(
      kind::log, [](double v) { return v < 0 ? std::nan("") : std::log(v); }, 1e-6);
  check(
      kind::floor, [](double v) { return std::floor(v); }, 0);
  check(
      kind::ceil, [](double v) { return std::ceil(v); }, 0);
  check(
      kind::round, [](double v) { return std::nearbyint(v); }, 0);
  check(
      kind::sqrt, [](double v) { return std::sqrt(v); }, 1e-7);
  check(
      kind::softplus, [](double v) { return v > 700 ? v : std::log1p(std::exp(v)); }, 2e-6);
  check(
      kind::softsign, [](double v) { return v / (1 + std::abs(v)); }, 1e-6);
}

TYPED_TEST(elementwise, of_nan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto check = [&](auto op) {
    problem<decltype(op)> p{
        .op = op, .in = {{4}, {4}}, .inputs = {{nan, 1, 2, -3}, {1, nan, -2, 3}}, .parameters = {}, .residual = {}};
    return compute<TypeParam>(p);
  };
  const auto larger = check(ops::max{}), smaller = check(ops::min{});
  EXPECT_TRUE(std::isnan(larger[0]) && std::isnan(larger[1]) && std::isnan(smaller[0]) && std::isnan(smaller[1]));
  EXPECT_EQ((std::vector{larger[2], larger[3], smaller[2], smaller[3]}), (std::vector<float>{2, 3, -2, -3}));
  const auto taken = check(ops::where{});
  EXPECT_EQ((std::vector{taken[0], taken[1], taken[2], taken[3]}), (std::vector<float>{1, 1, -2, 3}));
  problem<ops::where> fixed{.op = ops::where{.which = ops::constant::first, .fixed = {}},
                            .in = {{4}},
                            .inputs = {{nan, 1, -2, nan}},
                            .parameters = {{7}},
                            .residual = {}};
  const auto replaced = compute<TypeParam>(fixed);
  EXPECT_EQ((std::vector{replaced[0], replaced[1], replaced[2], replaced[3]}), (std::vector<float>{7, 1, -2, 7}));
}

// Also with digits that arithmetic on its bits would take for an exponent.
TYPED_TEST(elementwise, nan_stays_nan) {
  using kind = graph::activation::kind;
  std::vector<float> x;
  for (std::uint32_t digits = 1; digits < 512; digits = 2 * digits + digits % 3 / 2)
    for (const auto sign : {0x7fc00000u, 0xffc00000u}) x.push_back(std::bit_cast<float>(sign + digits));
  for (const kind is :
       {kind::celu, kind::exp, kind::gelu_tanh, kind::mish, kind::sigmoid, kind::softplus, kind::swish, kind::tanh})
    for (const float y : of<TypeParam>(ops::elementwise{.function = {is, 1, 1}}, x))
      EXPECT_TRUE(std::isnan(y)) << static_cast<int>(is) << " is " << y;
}

TYPED_TEST(elementwise, special_values) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x{inf, -inf, nan, 0, 1000, -1000};
  const auto check_all = [&](auto op, std::vector<float> expected) {
    const auto y = of<TypeParam>(op, x);
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (std::isnan(expected[i])) EXPECT_TRUE(std::isnan(y[i])) << op.onnx << " of " << x[i] << " is " << y[i];
      else if (std::isinf(expected[i])) EXPECT_EQ(y[i], expected[i]) << op.onnx << " of " << x[i];
      else EXPECT_NEAR(y[i], expected[i], 1e-6) << op.onnx << " of " << x[i];
    }
  };
  check_all(ops::relu{}, {inf, 0, nan, 0, 1000, 0});
  check_all(ops::leaky_relu{.alpha = 0.5f}, {inf, -inf, nan, 0, 1000, -500});
  check_all(ops::elu{.alpha = 2}, {inf, -2, nan, 0, 1000, -2});
  check_all(ops::clip{.low = -1, .high = 2}, {2, -1, nan, 0, 2, -1});
  check_all(ops::clip{}, {inf, -inf, nan, 0, 1000, -1000});
  check_all(ops::sigmoid{}, {1, 0, nan, 0.5f, 1, 0});
  check_all(ops::tanh{}, {1, -1, nan, 0, 1, -1});
  check_all(ops::hard_sigmoid{}, {1, 0, nan, 0.5f, 1, 0});
  using kind = graph::activation::kind;
  const auto check_function = [&](kind is, std::vector<float> expected, float a = 1) {
    check_all(ops::elementwise{.function = {is, a, 1}}, std::move(expected));
  };
  check_function(kind::abs, {inf, inf, nan, 0, 1000, 1000});
  check_function(kind::ceil, {inf, -inf, nan, 0, 1000, -1000});
  check_function(kind::celu, {inf, -1, nan, 0, 1000, -1});
  check_function(kind::erf, {1, -1, nan, 0, 1, -1});
  check_function(kind::exp, {inf, 0, nan, 1, inf, 0});
  check_function(kind::floor, {inf, -inf, nan, 0, 1000, -1000});
  check_function(kind::log, {inf, nan, nan, -inf, std::log(1000.0f), nan});
  check_function(kind::neg, {-inf, inf, nan, 0, -1000, 1000});
  check_function(kind::reciprocal, {0, 0, nan, inf, 1e-3f, -1e-3f});
  check_function(kind::round, {inf, -inf, nan, 0, 1000, -1000});
  check_function(kind::selu, {inf, -1, nan, 0, 1000, -1});
  check_function(kind::sign, {1, -1, nan, 0, 1, -1});
  check_function(kind::softplus, {inf, 0, nan, std::log(2.0f), 1000, 0});
  check_function(kind::sqrt, {inf, nan, nan, 0, std::sqrt(1000.0f), nan});
  check_function(kind::thresholded_relu, {inf, 0, nan, 0, 1000, 0});
  for (const kind is : {kind::gelu, kind::gelu_tanh, kind::mish, kind::softsign, kind::swish}) {
    const auto y = of<TypeParam>(ops::elementwise{.function = {is, 1}}, {nan, 0, 1000, -1000});
    EXPECT_TRUE(std::isnan(y[0])) << static_cast<int>(is);
    EXPECT_EQ(y[1], 0) << static_cast<int>(is);
    EXPECT_EQ(y[2], is == kind::softsign ? 1000.0f / 1001 : 1000) << static_cast<int>(is);
    EXPECT_NEAR(y[3], is == kind::softsign ? -1000.0f / 1001 : 0, 1e-6) << static_cast<int>(is);
  }
}

#ifdef DICE_COMPARES

TEST(elementwise_compared, activations_equal_the_reference) {
  for (const std::int64_t n : {1, 3, 16, 17, 100, 70001}) {
    const auto all = [&](auto... op) { (compare(make(op, {{1, n}}, {}, -6, 6), std::string(op.onnx)), ...); };
    all(ops::relu{}, ops::leaky_relu{}, ops::elu{}, ops::clip{.low = -1, .high = 3}, ops::sigmoid{}, ops::tanh{},
        ops::hard_sigmoid{}, ops::hard_swish{});
#define DICE_KIND(name, ...) graph::activation::kind::name,
    for (const auto is : {DICE_ELEMENTWISE_FUNCTIONS(DICE_KIND)}) {
#undef DICE_KIND
      const ops::elementwise op{.function = {is, 0.5f, 0.75f}};
      compare(make(op, {{1, n}}, {}, 0.125f, 6), std::string(op.onnx));
    }
  }
  for (const shape& s : {shape{2, 37, 5, 7}, {1, 64, 30, 30}, {2, 24, 9}})
    compare(make(ops::leaky_relu{.alpha = 0.25f}, {s}), "leaky_relu of channels");
}

template <class Op> void compare_binary(const Op& op, const char* name) {
  const shape pairs[][2] = {{{2, 64, 30, 31}, {2, 64, 30, 31}},
                            {{1, 64, 30, 31}, {1, 64, 1, 1}},
                            {{1, 64, 1, 1}, {1, 64, 30, 31}},
                            {{2, 5, 7, 1}, {2, 1, 7, 9}},
                            {{3, 40000}, {1}},
                            {{13, 1, 17, 1}, {1, 5, 1, 33}},
                            {{2, 3, 4, 5, 6}, {3, 1, 5, 1}},
                            {{1, 1, 1}, {1}},
                            {{1, 96, 7, 7}, {96, 1, 1}},
                            {{2, 37, 5, 7}, {37, 1, 1}},
                            {{2, 37, 5, 7}, {1, 37, 1, 1}},
                            {{2, 24, 5, 7}, {2, 24, 1, 1}},
                            {{1, 24, 1, 1}, {2, 24, 1, 1}},
                            {{2, 24, 31, 33}, {1, 1, 1, 1}},
                            {{1, 1, 1, 1}, {1, 24, 9, 1}},
                            {{2, 24, 50}, {24, 1}},
                            {{2, 24, 5, 7}, {2, 1, 5, 7}},
                            {{2, 24, 5, 7}, {24, 5, 7}},
                            {{2, 40, 61, 50}, {40, 1, 1}},
                            {{1, 40, 9000}, {40, 1}},
                            {{37, 53}, {53}}};
  for (const auto& [a, b] : pairs) {
    auto p = make(op, {a, b}, {}, 0.5f, 2);
    compare(p, name);
    compare(p, name, ops::relu{});
    Op fixed = op;
    fixed.fixed = b;
    for (const auto which : {ops::constant::first, ops::constant::second}) {
      fixed.which = which;
      auto q = make(fixed, {a}, {b}, 0.5f, 2);
      for (float& x : q.parameters[0]) x += 2;
      compare(q, name, ops::sigmoid{});
    }
  }
}

TEST(elementwise_compared, add_equals_the_reference) { compare_binary(ops::add{}, "add"); }
TEST(elementwise_compared, sub_equals_the_reference) { compare_binary(ops::sub{}, "sub"); }
TEST(elementwise_compared, mul_equals_the_reference) { compare_binary(ops::mul{}, "mul"); }
TEST(elementwise_compared, div_equals_the_reference) { compare_binary(ops::div{}, "div"); }

TEST(elementwise_compared, sum_equals_the_reference) {
  const shape s{2, 17, 40, 41};
  compare(make(ops::sum{}, {s}), "sum of 1", ops::relu{});
  compare(make(ops::sum{}, {s, s}), "sum of 2", ops::relu{});
  compare(make(ops::sum{}, {s, s, s, s, s}), "sum of 5", ops::relu{});
  compare(make(ops::sum{}, {{17, 1, 1}, s, {41}, {2, 1, 40, 1}}), "broadcast sum");
  compare(make(ops::sum{}, {{1, 41}, {40, 1}, s}), "sum that grows");
  compare(make(ops::sum{}, {{1, 24, 1, 1}, {2, 24, 1, 1}, {2, 24, 5, 6}, {1, 1, 1}}), "sum of channels", ops::relu{});
}

TEST(elementwise_compared, batch_normalization_equals_the_reference) {
  for (const shape& s : {shape{2, 5, 7, 7}, {1, 64, 33, 35}, {3, 17}, {2, 3, 100}, {2, 37, 5, 9}, {1, 24, 50}}) {
    compare(make(ops::batch_normalization{}, {s}, {{s[1]}, {s[1]}}), "batch_normalization");
    compare(make(ops::batch_normalization{}, {s}, {{s[1]}, {s[1]}}), "batch_normalization", ops::relu{});
  }
}

#endif

}  // namespace
