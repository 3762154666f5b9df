// How layers of a network of parts are computed: every backend has its say.
#include "dice/parts/algorithms.hpp"

#include "dice/graph/ops.hpp"

#include <gtest/gtest.h>
#include <array>

namespace {

using namespace dice;

bool same(const algorithm::choice& a, const algorithm::choice& b) {
  return a.packed_bytes == b.packed_bytes && a.scratch_bytes == b.scratch_bytes && a.works == b.works &&
         a.variant == b.variant;
}

TEST(Algorithms, EachBackendChoosesForParts) {
  constexpr ops::conv op{.channels = 64, .kernel = {3, 3}, .pads = {1, 1, 1, 1}};
  constexpr std::array image{tensor::shape{{1, 64, 28, 28}}};
  constexpr tensor::shape result{{1, 64, 28, 28}};
  const graph::any_operator any(op);
  unsigned asked = 0;
  algorithm::for_each_backend([&]<algorithm::backend B>() {
    SCOPED_TRACE(static_cast<int>(B));
    asked |= algorithm::bit(B);
    EXPECT_TRUE(same(parts::choice_of(B, any, image, result), algorithm::choose<B>(op, image, result)));
    EXPECT_TRUE(same(parts::choice_of(B, any, image, result, 0), algorithm::variant<B>(op, image, result, 0)));
    EXPECT_EQ(same(parts::choice_of(B, any, image, result), {}), B == algorithm::backend::reference);
  });
  EXPECT_EQ(asked, (1u << algorithm::backends) - 1);
}

TEST(Algorithms, EachBackendComputesOnOneKindOfProcessor) {
  using enum algorithm::backend;
  using algorithm::bit;
  EXPECT_EQ(algorithm::backends_on(platform::processor::cpu), bit(reference) | bit(openmp));
  EXPECT_EQ(algorithm::backends_on(platform::processor::gpu), bit(cudnn) | bit(cudnn_fp16) | bit(cudnn_bf16));
}

}  // namespace
