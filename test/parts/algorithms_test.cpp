// How layers of a network of parts are computed: every method has its say.
#include "dice/parts/algorithms.hpp"

#include "dice/graph/ops.hpp"

#include <gtest/gtest.h>
#include <array>
#include <vector>

namespace {

using namespace dice;

using enum algorithm::backend;
using algorithm::bit;
// Another backend may be as any of these.
constexpr unsigned known = bit(reference) | bit(openmp) | bit(cudnn);

bool same(const algorithm::choice& a, const algorithm::choice& b) {
  return a.packed_bytes == b.packed_bytes && a.scratch_bytes == b.scratch_bytes && a.works == b.works &&
         a.variant == b.variant;
}

TEST(Algorithms, EachMethodChoosesForParts) {
  constexpr ops::conv op{.channels = 64, .kernel = {3, 3}, .pads = {1, 1, 1, 1}};
  constexpr std::array image{tensor::shape{{1, 64, 28, 28}}};
  constexpr tensor::shape result{{1, 64, 28, 28}};
  const graph::any_operator any(op);
  unsigned asked = 0, plain = 0;
  algorithm::for_each_method([&]<algorithm::method M>() {
    SCOPED_TRACE(algorithm::place_of(M));
    asked |= bit(M.by);
    EXPECT_TRUE(same(parts::choice_of(M, any, image, result), algorithm::choose<M>(op, image, result)));
    EXPECT_TRUE(same(parts::choice_of(M, any, image, result, 0), algorithm::variant<M>(op, image, result, 0)));
    if (same(parts::choice_of(M, any, image, result), {})) plain |= bit(M.by);
  });
  EXPECT_EQ(asked, (1u << algorithm::backends) - 1);
  EXPECT_EQ(plain & known, bit(reference));
}

/// Weights of more than 1 MiB that the largest part uses too seldom for them to be read.
TEST(Algorithms, SmallPartsOfLargeWeights) {
  using placement::geometry;
  const std::vector<int> ranks{0, 1, 2, 3, 4, 5, 6, 7}, shares{5, 1};
  const auto how = [&](int channels, placement::work_item w, algorithm::method by = openmp) {
    w.shares = w.ranks == 2 && w.cut != geometry::grid ? 2 : 0;
    const ops::conv op{.channels = channels, .kernel = {3, 3}, .pads = {1, 1, 1, 1}};
    const std::array image{tensor::shape{{1, channels, 14, 14}}};
    const graph::any_operator any(op);
    const auto whole = parts::choice_of(by, any, image, image[0]);
    const placement::assignment where{{}, {}, {&w, 1}, ranks, shares};
    return parts::for_parts(by, any, image, image[0], whole, where, w).variant;
  };
  EXPECT_EQ(how(512, {}), 2);  // tiles of 4 x 4
  EXPECT_EQ(how(512, {.cut = geometry::grid, .ranks = 4, .down = 2, .across = 2}), 1);
  EXPECT_EQ(how(512, {.cut = geometry::grid, .ranks = 8, .down = 4, .across = 2}), 0);  // direct
  EXPECT_EQ(how(512, {.cut = geometry::rows, .ranks = 8}), 0);
  EXPECT_EQ(how(512, {.cut = geometry::columns, .ranks = 8}), 0);
  EXPECT_EQ(how(512, {.cut = geometry::rows, .ranks = 2}), 2);  // the larger share, 12 rows
  EXPECT_EQ(how(512, {.cut = geometry::output_channels, .ranks = 8}), 2);
  EXPECT_EQ(how(64, {.cut = geometry::rows, .ranks = 8}), how(64, {}));
  EXPECT_EQ(how(512, {.cut = geometry::rows, .ranks = 8}, reference), 0);
}

TEST(Algorithms, EachBackendComputesOnOneKindOfProcessor) {
  const auto cpu = algorithm::backends_on(platform::processor::cpu), gpu = algorithm::backends_on(platform::processor::gpu);
  EXPECT_EQ(cpu + gpu, (1u << algorithm::backends) - 1);
  EXPECT_EQ(cpu & known, bit(reference) | bit(openmp));
  EXPECT_EQ(gpu & known, bit(cudnn));
}

TEST(Algorithms, PrecisionBelongsToTheUnit) {
  using platform::numbers;
  const auto method = [](numbers n) { return algorithm::method_of({.what = platform::unit::kind::gpu, .precision = n}); };
  const ops::conv conv{.channels = 16, .kernel = {3, 3}}, grouped{.channels = 16, .kernel = {3, 3}, .group = 2};
  const std::array image{tensor::shape{{1, 16, 28, 28}}};
  const auto packed = [&](const ops::conv& op, numbers n) {
    return parts::choice_of(method(n), graph::any_operator(op), image, {1, 16, 26, 26}).packed_bytes;
  };
  EXPECT_EQ(method(numbers::float32), algorithm::backend::cudnn);
  EXPECT_EQ(method(numbers::tf32), algorithm::backend::cudnn);
  EXPECT_NE(method(numbers::fp16), method(numbers::bf16));
  for (const auto n : {numbers::fp16, numbers::bf16}) {
    EXPECT_EQ(method(n), (algorithm::method{algorithm::backend::cudnn, n}));
    EXPECT_EQ(packed(conv, n), 2 * 16 * 9 * 16 + 4 * 16);
    EXPECT_EQ(packed(grouped, n), 0);  // in float32
  }
  EXPECT_EQ(packed(conv, numbers::tf32), 0);
  const std::array gemm_in{tensor::shape{{1, 10}}};
  const auto how = [&](numbers n) {
    return parts::choice_of(method(n), graph::any_operator(ops::gemm{.columns = 4, .depth = 10}), gemm_in, {1, 4});
  };
  EXPECT_EQ(how(numbers::float32).variant, 0);
  EXPECT_NE(how(numbers::fp16).variant, how(numbers::bf16).variant);
}

}  // namespace
