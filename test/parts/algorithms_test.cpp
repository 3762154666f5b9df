// How layers of a network of parts are computed: every method has its say.
#include "dice/parts/algorithms.hpp"

#include "dice/graph/ops.hpp"

#include <gtest/gtest.h>
#include <array>

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
