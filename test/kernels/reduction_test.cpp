// Softmax, LRN, reductions, normalizations, products of two inputs.
#include "kernels/expected.hpp"

#include <algorithm>
#include <cstdint>

namespace {

using namespace harness;

template <class Backend> struct reduction : ::testing::Test {};
TYPED_TEST_SUITE(reduction, backends);

TYPED_TEST(reduction, softmax_equals_pytorch) { check<TypeParam, ops::softmax>("softmax", 13); }
TYPED_TEST(reduction, lrn_equals_pytorch) { check<TypeParam, ops::lrn>("lrn", 5); }
TYPED_TEST(reduction, reduce_equals_pytorch) { check<TypeParam, ops::reduce>("reduce", 48); }
TYPED_TEST(reduction, normalization_equals_pytorch) { check<TypeParam, ops::normalization>("normalization", 11); }
TYPED_TEST(reduction, einsum_equals_pytorch) { check<TypeParam, ops::einsum>("einsum", 17); }
TYPED_TEST(reduction, cum_sum_equals_pytorch) { check<TypeParam, ops::cum_sum>("cum_sum", 5); }

// No element that a sum does not have touches it, as 0 · ∞ would; sums of nothing are 0.
TYPED_TEST(reduction, cum_sum_of_infinity_and_nan) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  auto p = make(ops::cum_sum{.axis = 1}, {{2, 4}});
  p.inputs[0] = {1, infinity, 2, nan, -0.0f, 1, -infinity, 2};
  EXPECT_EQ(error(compute<TypeParam>(p), {1, infinity, infinity, nan, 0, 1, -infinity, -infinity}), 0);
  p.op.exclusive = true;
  EXPECT_EQ(error(compute<TypeParam>(p), {0, 1, infinity, infinity, 0, 0, 1, -infinity}), 0);
  p.op.reverse = true;
  EXPECT_EQ(error(compute<TypeParam>(p), {nan, nan, nan, 0, -infinity, -infinity, 2, 0}), 0);
}

// The index of the first of equal elements, or of the last; NaN wins, the first of several.
TYPED_TEST(reduction, index_of_equal_elements_and_nan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto index = [](ops::reduction how, bool last, std::vector<float> x) {
    auto p = make(ops::reduce{.over = {true}, .keep = false, .how = how, .last_index = last},
                  {{static_cast<std::int64_t>(x.size())}});
    p.inputs[0].assign(x.begin(), x.end());
    return compute<TypeParam>(p)[0];
  };
  EXPECT_EQ(index(ops::reduction::arg_max, false, {1, 3, 2, 3}), 1);
  EXPECT_EQ(index(ops::reduction::arg_max, true, {1, 3, 2, 3}), 3);
  EXPECT_EQ(index(ops::reduction::arg_min, false, {2, 1, 1, 5}), 1);
  EXPECT_EQ(index(ops::reduction::arg_min, true, {2, 1, 1, 5}), 2);
  EXPECT_EQ(index(ops::reduction::arg_max, false, {1, nan, 7, nan}), 1);
  EXPECT_EQ(index(ops::reduction::arg_min, false, {nan, -9, nan}), 0);
}
TYPED_TEST(reduction, largest_of_nan_is_nan) {
  for (const std::int64_t n : {3, 37}) {
    auto p = make(ops::reduce{.over = {false, true}, .how = ops::reduction::largest}, {{2, n}});
    p.inputs[0][n - 2] = std::numeric_limits<float>::quiet_NaN();
    const auto y = compute<TypeParam>(p);
    EXPECT_TRUE(y[0] != y[0]) << n;
    EXPECT_TRUE(y[1] == y[1]) << n;
  }
}

// What ONNX defines for LpNormalization: zeros stay zeros. Here 2s otherwise, of 37 elements.
TYPED_TEST(reduction, zeros_divided_by_their_norm_are_zero) {
  for (const auto how : {ops::normalizing::l1, ops::normalizing::l2})
    for (const std::int64_t inner : {1, 3, 19}) {  // along memory, and across
      auto p = make(ops::normalization{.how = how, .first = 1, .last = 2}, {{2, 37, inner}});
      for (std::int64_t i = 0; i < 2 * 37 * inner; ++i)
        p.inputs[0][i] = i / (37 * inner) == 1 && i % inner == inner - 1 ? 0.0f : 2.0f;
      const auto y = compute<TypeParam>(p);
      const float wanted = how == ops::normalizing::l1 ? 1.0f / 37 : 1 / std::sqrt(37.0f);
      for (std::size_t i = 0; i < y.size(); ++i) {
        if (p.inputs[0][i] == 0) EXPECT_EQ(y[i], 0) << inner << " " << i;
        else EXPECT_NEAR(y[i], wanted, 1e-6) << inner << " " << i;
      }
    }
}

// Each of two queries of three numbers with the only key: 1 - 3 and 4 - 6, by the factor.
TYPED_TEST(reduction, a_product_with_one_key_has_its_factor) {
  auto p = make(ops::einsum{.of = {{{0, 1, 2, -1}, {0, 1, -1, 2}}}, .rank = 4, .depth = {3, 3}, .factor = 0.25f},
                {{1, 1, 2, 3}, {1, 1, 1, 3}});
  p.inputs = {{1, 2, 3, 4, 5, 6}, {1, 0, -1}};
  EXPECT_EQ(compute<TypeParam>(p), (std::vector<float>{-0.5f, -0.5f}));
}

TYPED_TEST(reduction, softmax_of_large_numbers) {
  auto p = make(ops::softmax{.first = 0, .last = 1}, {{3}});
  p.inputs[0] = {1000, 1000, -std::numeric_limits<float>::infinity()};
  const auto y = compute<TypeParam>(p);
  EXPECT_FLOAT_EQ(y[0], 0.5f);
  EXPECT_FLOAT_EQ(y[1], 0.5f);
  EXPECT_EQ(y[2], 0);
}

// The largest number is found wherever it is: along memory and across.
TYPED_TEST(reduction, softmax_of_one_large_number) {
  for (const std::int64_t n : {3, 16, 37})
    for (const std::int64_t inner : {1, 5})
      for (std::int64_t at = 0; at < n; ++at) {
        auto p = make(ops::softmax{.first = 0, .last = 1}, {{n, inner}});
        std::fill(p.inputs[0].begin(), p.inputs[0].end(), 0.0f);
        const auto large = static_cast<std::size_t>(at * inner + inner - 1);
        p.inputs[0][large] = 1000;
        const auto y = compute<TypeParam>(p);
        EXPECT_EQ(y[large], 1) << n << " " << inner << " " << at;
        EXPECT_EQ(std::count(y.begin(), y.end(), 0.0f), n - 1) << n << " " << inner << " " << at;
      }
}

#ifdef DICE_COMPARES

#ifdef DICE_TESTS_GPU  // an emulated one needs microseconds for each element
const shape normalized[] = {{2, 300}, {5, 3, 7}, {2, 21, 10, 11}, {1, 12, 33, 33}};
#else
const shape normalized[] = {{2, 1000}, {5, 3, 7}, {2, 21, 40, 41}, {1, 12, 65, 65}};
#endif

TEST(reduction_compared, softmax_equals_the_reference) {
  for (const shape& s : normalized)
    for (int first = 0; first < s.rank; ++first)
      for (int last = first + 1; last <= s.rank; ++last)
        compare(make(ops::softmax{.first = first, .last = last}, {s}, {}, -9, 9), "softmax");
}

TEST(reduction_compared, lrn_equals_the_reference) {
  for (const int size : {1, 2, 3, 5, 6, 40})
    for (const float beta : {0.75f, 0.5f, 1.2f})
      compare(make(ops::lrn{.alpha = 0.3f, .beta = beta, .bias = 1.5f, .size = size}, {{2, 17, 13, 15}}, {}, -2, 2), "lrn");
}

TEST(reduction_compared, normalization_equals_the_reference) {
  for (const shape& s : normalized)
    for (int first = 0; first < s.rank; ++first)
      for (int last = first + 1; last <= s.rank; ++last)
        for (int how = 0; how < 6; ++how)
          compare(make(ops::normalization{.how = static_cast<ops::normalizing>(how), .first = first, .last = last}, {s}),
                  "normalization");
  // Over the channels of blocked pixels, with scale and bias.
  for (const shape& s : {shape{2, 48, 5, 7}, {1, 16, 3}})
    for (const shape& of : {shape{1}, s.rank == 3 ? shape{s[1], 1} : shape{s[1], 1, 1}})
      compare(
          make(ops::normalization{.first = 1, .last = 2, .scale = true, .bias = true, .scale_shape = of, .bias_shape = of},
               {s}, {of, of}),
          "channels", ops::relu{});
}

TEST(reduction_compared, zeros_in_blocks_divided_by_their_norm_are_zero) {
  for (const auto how : {ops::normalizing::l1, ops::normalizing::l2}) {
    auto p = make(ops::normalization{.how = how, .first = 1, .last = 2}, {{1, 32, 3, 5}});
    for (std::size_t i = 0; i < p.inputs[0].size(); ++i)
      if (i % 15 % 4 == 0) p.inputs[0][i] = 0;  // some pixels
    compare(p, "channels");
  }
}

TEST(reduction_compared, products_equal_the_reference) {
  for (const std::int64_t m : {1, 5, 6, 13})
    for (const std::int64_t n : {1, 7, 16, 70})
      for (const std::int64_t k : {1, 9, 64}) {
        const std::array<int, 2> rows{3, 2};
        for (const int depth : rows)  // b's elements along the result's last axis are neighbours, or not
          compare(make(ops::einsum{.of = {{{0, 1, 2, -1}, {0, 1, -1, 5 - depth}}}, .rank = 4, .depth = {3, depth}},
                       {{2, 3, m, k}, depth == 3 ? shape{2, 1, n, k} : shape{2, 1, k, n}}),
                  "einsum");
      }
}

// Results that share elements of b lie apart, with others between them: each row is finished once (mk, bkn -> mbn).
TEST(reduction_compared, einsum_of_rows_that_lie_apart_equals_the_reference) {
  for (const std::int64_t rows : {1, 4, 13})
    compare(make(ops::einsum{.of = {{{0, -1, -1}, {-1, 0, 2}}}, .rank = 3, .depth = {1, 1}}, {{rows, 9}, {3, 9, 21}}),
            "rows apart", ops::sigmoid{});
}

TEST(reduction_compared, einsum_with_a_constant_equals_the_reference) {
  for (const auto which : {ops::constant::first, ops::constant::second})
    for (const std::int64_t n : {5, 70}) {
      const shape a{3, 13, 19}, b{3, 19, n};
      const bool first = which == ops::constant::first;
      const ops::einsum op{
          .of = {{{0, 1, -1}, {0, -1, 2}}}, .rank = 3, .depth = {2, 1}, .which = which, .fixed = first ? a : b};
      compare(make(op, {first ? b : a}, {op.fixed}), "einsum with a constant", ops::relu{});
    }
}

TEST(reduction_compared, cum_sum_equals_the_reference) {
  for (const auto& in : {shape{2, 24, 30, 17}, shape{1, 19, 40}, shape{2, 5, 3, 4, 6}})
    for (int axis = 0; axis < in.rank; ++axis)
      for (const bool exclusive : {false, true})
        compare(make(ops::cum_sum{.axis = axis, .exclusive = exclusive, .reverse = axis % 2 == 0}, {in}),
                "cum_sum of axis " + std::to_string(axis), ops::relu{});
}

TEST(reduction_compared, reductions_equal_the_reference) {
  for (int how = 0; how < 8; ++how)
    for (unsigned axes = 1; axes < 16; ++axes) {
      ops::reduce op{.how = static_cast<ops::reduction>(how)};
      for (std::size_t a = 0; a < 4; ++a) op.over[a] = axes >> a & 1;
      if (op.finds_index() && (axes & (axes - 1)) != 0) continue;
      compare(make(op, {{2, 24, 5, 3}}, {}, 0.5, 1.5), std::string(op.onnx) + " over axes " + std::to_string(axes));
    }
}

TEST(reduction_compared, reduce_mean_equals_the_reference) {
  const shape s{3, 5, 34, 19};
  for (unsigned axes = 1; axes < 16; ++axes)
    for (const bool keep : {false, true}) {
      ops::reduce op{.over = {}, .keep = keep};
      for (std::size_t a = 0; a < 4; ++a) op.over[a] = axes >> a & 1;
      compare(make(op, {s}), "reduce_mean over axes " + std::to_string(axes));
      for (const std::int64_t channels : {24, 32})
        compare(make(op, {{2, channels, 5, 3}}), "reduce_mean of blocks over axes " + std::to_string(axes));
    }
  compare(make(ops::reduce{.over = {false, true, true}}, {{2, 300, 200}}), "reduce_mean of 60000");
}

#endif

}  // namespace
