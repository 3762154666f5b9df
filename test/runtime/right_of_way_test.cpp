// Which of a rank's segments goes first; times are given, so that no machine changes them.
#include "dice/runtime/right_of_way.hpp"

#include <gtest/gtest.h>

namespace {

using dice::runtime::right_of_way;

TEST(right_of_way, what_has_not_run_yet_gives_way_for_ever) {
  right_of_way way(2);
  way.ran(0, 5);
  EXPECT_TRUE(way.gives_way(1, 0, 100));
  EXPECT_TRUE(way.gives_way(1, 0, 1'000'000'000'000));
}

TEST(right_of_way, gives_way_for_as_long_as_the_shortest_run) {
  right_of_way way(2);
  way.ran(1, 50);
  way.ran(1, 40);
  way.ran(1, 60);
  EXPECT_TRUE(way.gives_way(1, 0, 1000));
  EXPECT_TRUE(way.gives_way(1, 0, 1039));
  EXPECT_FALSE(way.gives_way(1, 0, 1040));
  EXPECT_FALSE(way.gives_way(1, 0, 2000));
}

TEST(right_of_way, each_frame_and_segment_waits_for_itself) {
  right_of_way way(3);
  way.ran(1, 40);
  way.ran(2, 40);
  EXPECT_TRUE(way.gives_way(1, 0, 0));
  EXPECT_FALSE(way.gives_way(1, 0, 40));
  EXPECT_TRUE(way.gives_way(1, 2, 40));  // the next frame of this replica
  EXPECT_FALSE(way.gives_way(1, 2, 80));
  EXPECT_TRUE(way.gives_way(2, 2, 80));
  EXPECT_TRUE(way.gives_way(2, 2, 119));
  EXPECT_FALSE(way.gives_way(2, 2, 120));
}

}  // namespace
