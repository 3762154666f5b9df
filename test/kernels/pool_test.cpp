// MaxPool, AveragePool, GlobalAveragePool.
#include "kernels/expected.hpp"

namespace {

using namespace harness;

template <class Backend> struct pool : ::testing::Test {};
TYPED_TEST_SUITE(pool, backends);

TYPED_TEST(pool, max_pool_equals_pytorch) { check<TypeParam, ops::max_pool>("max_pool", 8); }
TYPED_TEST(pool, average_pool_equals_pytorch) { check<TypeParam, ops::average_pool>("average_pool", 11); }
TYPED_TEST(pool, global_average_pool_equals_pytorch) {
  check<TypeParam, ops::global_average_pool>("global_average_pool", 4);
}

TYPED_TEST(pool, max_pool_keeps_nan_and_infinities) {
  auto p = make(ops::max_pool{.kernel = {1, 2}, .strides = {1, 2}}, {{1, 1, 1, 6}});
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  p.inputs[0] = {-inf, -inf, 1, nan, nan, 1};
  const auto y = compute<TypeParam>(p);
  EXPECT_EQ(y[0], -inf);
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_TRUE(std::isnan(y[2]));

  // Each element in turn, in windows at the border and inside.
  auto q = make(ops::max_pool{.kernel = {3, 3}, .pads = {1, 1, 1, 1}}, {{1, 17, 3, 12}});
  const auto without = compute<TypeParam>(q);
  for (std::size_t at = 0; at < q.inputs[0].size(); at += 7) {
    auto with = q;
    with.inputs[0][at] = nan;
    const auto z = compute<TypeParam>(with);
    for (std::size_t i = 0; i < z.size(); ++i) {
      const auto near = [&](std::size_t a, std::size_t b) { return a + 1 >= b && b + 1 >= a; };
      const bool under = at / 36 == i / 36 && near(at / 12 % 3, i / 12 % 3) && near(at % 12, i % 12);
      ASSERT_TRUE(under ? std::isnan(z[i]) : z[i] == without[i]) << at << ' ' << i;
    }
  }
}

#ifdef DICE_COMPARES

TEST(pool_compared, equals_the_reference) {
  int turn = 0;
  for (const std::array<int, 2>& size : {std::array{7, 7}, {13, 17}, {1, 40}, {35, 34}, {56, 70}})
    for (const int kernel : {1, 2, 3, 5})
      for (const int stride : {1, 2, 3})
        for (const bool ceil : {false, true}) {
          const int pad = kernel / 2, dilation = turn % 5 == 4 && size[0] > 8 ? 2 : 1;
          ++turn;
          const shape in{1 + turn % 2, std::array{3, 16, 24, 37}[static_cast<std::size_t>(turn) % 4], size[0], size[1]};
          const std::array<int, 2> window{size[0] == 1 ? 1 : kernel, kernel};
          const std::array<int, 4> pads{size[0] == 1 ? 0 : pad, pad, size[0] == 1 ? 0 : (turn % 3 ? pad : 0), pad};
          const std::string what = "pool kernel " + std::to_string(kernel) + " stride " + std::to_string(stride) + " on " +
                                   std::to_string(size[0]) + "x" + std::to_string(size[1]);
          const ops::max_pool max{.kernel = window,
                                  .strides = {stride, stride},
                                  .dilations = {dilation, dilation},
                                  .pads = pads,
                                  .ceil_mode = ceil};
          compare(make(max, {in}), "max " + what);
          for (const bool all : {false, true})
            compare(make(ops::average_pool{window, {stride, stride}, {dilation, dilation}, pads, ceil, all}, {in}),
                    "average " + what);
        }
}

TEST(pool_compared, long_rows_and_wide_windows) {
  compare(make(ops::max_pool{.kernel = {1, 3}, .strides = {1, 2}, .pads = {0, 1, 0, 1}}, {{1, 2, 9001}}), "max of 9001");
  compare(make(ops::average_pool{.kernel = {2, 3}, .strides = {2, 1}}, {{1, 1, 4, 5000}}), "average of 5000");
  compare(make(ops::average_pool{.kernel = {1, 4000}, .strides = {1, 3}, .pads = {0, 7, 0, 0}}, {{1, 1, 4100}}),
          "wide average");
  compare(make(ops::max_pool{.kernel = {1, 2000}, .strides = {1, 100}}, {{1, 1, 4100}}), "wide max");
  compare(make(ops::average_pool{.kernel = {8, 8}}, {{2, 40, 8, 8}}), "average of all");
  compare(make(ops::max_pool{.kernel = {3, 3}, .strides = {2, 2}}, {{2, 40, 61, 50}}), "max of a large map", ops::relu{});
  compare(make(ops::max_pool{.kernel = {13, 13}, .pads = {6, 6, 6, 6}}, {{1, 64, 13, 13}}), "wider than the row");
}

TEST(pool_compared, global_average_pool) {
  for (const int size : {1, 3, 7, 8, 13, 32}) compare(make(ops::global_average_pool{}, {{2, 65, size, size}}), "global");
}

#endif

}  // namespace
