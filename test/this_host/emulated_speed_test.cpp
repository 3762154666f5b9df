#include "dice/this_host/emulated_speed.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

using namespace dice;

TEST(emulated_speed, is_a_factor_above_one) {
  ::unsetenv("DICE_COMPUTE_SLOWER");
  EXPECT_EQ(this_host::compute_slower(), 1);
  for (const auto& [given, factor] :
       {std::pair{"2.5", 2.5}, {"1", 1.0}, {"0.5", 1.0}, {"-3", 1.0}, {"x", 1.0}, {"1e6", 1.0}}) {
    ::setenv("DICE_COMPUTE_SLOWER", given, 1);
    EXPECT_EQ(this_host::compute_slower(), factor) << given;
  }
  ::unsetenv("DICE_COMPUTE_SLOWER");
}
