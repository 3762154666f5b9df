// Networks of parts against the networks that they divide: every element the same, by the kernels of the backends.
#include "divided.hpp"

#include "dice/parts/proofs.hpp"
#include "dice/schedule/proofs.hpp"

#include "schedule/simulate.hpp"

#include <gtest/gtest.h>

namespace {

using namespace dice;

TEST(Expand, PartsAreTheWholeBitForBit) {
  for (unsigned seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE(seed);
    const test::divided d(seed, 4 + static_cast<int>(seed) % 20, 5, false);
    ASSERT_TRUE(parts::parts_match(d.net.view(), d.net.all_operators(), d.parts()));
    d.compare<kernels::reference::backend>(true);
    if (testing::Test::HasFatalFailure()) return;
    d.compare<kernels::openmp::backend>(true);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Expand, SumsOfInputChannels) {
  for (unsigned seed = 1000; seed < 1015; ++seed) {
    SCOPED_TRACE(seed);
    const test::divided d(seed, 4 + static_cast<int>(seed) % 20, 5, true);
    ASSERT_TRUE(parts::parts_match(d.net.view(), d.net.all_operators(), d.parts()));
    d.compare<kernels::openmp::backend>(false);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Expand, PlansAreSound) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const test::divided d(seed, 4 + static_cast<int>(seed) % 20, 8, seed % 3 == 0);
    const auto all = d.parts();
    ASSERT_TRUE(schedule::sound(d.is.plan.view(), all.net));
    const std::span<const algorithm::choice> how(d.is.algorithms.data(), static_cast<std::size_t>(d.is.algorithms.size()));
    ASSERT_EQ(test::simulation(all.net, d.is.plan.view(), how, 5, seed, all.parts, d.net.view()).run(), "");
  }
}

}  // namespace
