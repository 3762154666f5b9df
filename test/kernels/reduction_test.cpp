// Softmax, LRN, ReduceMean.
#include "kernels/expected.hpp"

#include <algorithm>
#include <cstdint>

namespace {

using namespace harness;

template <class Backend> struct reduction : ::testing::Test {};
TYPED_TEST_SUITE(reduction, backends);

TYPED_TEST(reduction, softmax_equals_pytorch) { check<TypeParam, ops::softmax>("softmax", 9); }
TYPED_TEST(reduction, lrn_equals_pytorch) { check<TypeParam, ops::lrn>("lrn", 5); }
TYPED_TEST(reduction, reduce_mean_equals_pytorch) { check<TypeParam, ops::reduce_mean>("reduce_mean", 10); }

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

TEST(reduction_compared, softmax_equals_the_reference) {
  for (const shape& s : {shape{2, 1000}, {5, 3, 7}, {2, 21, 40, 41}, {1, 12, 65, 65}})
    for (int first = 0; first < s.rank; ++first)
      for (int last = first + 1; last <= s.rank; ++last)
        compare(make(ops::softmax{.first = first, .last = last}, {s}, {}, -9, 9), "softmax");
}

TEST(reduction_compared, lrn_equals_the_reference) {
  for (const int size : {1, 2, 3, 5, 6, 40})
    for (const float beta : {0.75f, 0.5f, 1.2f})
      compare(make(ops::lrn{.alpha = 0.3f, .beta = beta, .bias = 1.5f, .size = size}, {{2, 17, 13, 15}}, {}, -2, 2), "lrn");
}

TEST(reduction_compared, reduce_mean_equals_the_reference) {
  const shape s{3, 5, 34, 19};
  for (unsigned axes = 1; axes < 16; ++axes)
    for (const bool keep : {false, true}) {
      ops::reduce_mean op{.over = {}, .keep = keep};
      for (std::size_t a = 0; a < 4; ++a) op.over[a] = axes >> a & 1;
      compare(make(op, {s}), "reduce_mean over axes " + std::to_string(axes));
      for (const std::int64_t channels : {24, 32})
        compare(make(op, {{2, channels, 5, 3}}), "reduce_mean of blocks over axes " + std::to_string(axes));
    }
  compare(make(ops::reduce_mean{.over = {false, true, true}}, {{2, 300, 200}}), "reduce_mean of 60000");
}

#endif

}  // namespace
