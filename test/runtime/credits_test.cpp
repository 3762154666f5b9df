// Credits over an endpoint whose messages move when the test says so.
#include "dice/runtime/credits.hpp"

#include "manual_endpoint.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace {

using namespace dice;

using test::manual;

constexpr std::int64_t word = sizeof(std::int64_t);
/// A message, then rank 1's credits for ranks 0 and 2, then those of rank 2 for rank 0.
const std::vector<channels::path> paths{{0, 1, 1, 256, 1, 1},
                                        {1, 0, runtime::credit_tag, word, 2, 2},
                                        {1, 2, runtime::credit_tag, word, 2, 2},
                                        {2, 0, runtime::credit_tag, word, 2, 2}};

}  // namespace

TEST(credits, at_most_in_flight_are_on_their_way) {
  manual end;
  runtime::credits c({paths.data(), 2}, 1, end, 2);
  c.advance(0, 4);
  EXPECT_TRUE(end.sends.empty() && end.receives.empty());
  EXPECT_FALSE(c.idle(4));
  c.advance(4, 4);  // four frames have left
  ASSERT_EQ(end.sends.size(), 2u);
  c.advance(4, 4);
  ASSERT_EQ(end.sends.size(), 2u);
  EXPECT_EQ(end.take(), 0);
  c.advance(4, 4);
  ASSERT_EQ(end.sends.size(), 2u);
  EXPECT_EQ(end.take(), 1);
  EXPECT_EQ(end.take(), 2);
  EXPECT_FALSE(c.idle(4)) << "one is still to be sent";
  c.advance(4, 4);
  ASSERT_EQ(end.sends.size(), 1u);
  EXPECT_FALSE(c.idle(4)) << "one is on its way";
  EXPECT_EQ(end.take(), 3);
  EXPECT_TRUE(c.idle(4));
  EXPECT_FALSE(c.idle(5));
}

TEST(credits, count_what_has_left_all_other_ranks) {
  manual end;
  runtime::credits c(paths, 0, end, 2);
  EXPECT_EQ(c.left(9), 0);
  c.advance(0, 3);
  ASSERT_EQ(end.receives.size(), 4u);  // two on each path
  end.give(1, 0), end.give(1, 1), end.give(3, 0);
  c.advance(0, 3);
  EXPECT_EQ(c.left(9), 1);
  EXPECT_EQ(c.left(0), 0);
  EXPECT_EQ(end.receives.size(), 3u);  // one more on each path, for the third and last frame
  end.give(1, 2), end.give(3, 1);
  c.advance(0, 3);
  EXPECT_EQ(c.left(9), 2);
  EXPECT_FALSE(c.idle(3));
  end.give(3, 2);
  c.advance(0, 3);
  EXPECT_EQ(c.left(9), 3);
  EXPECT_TRUE(c.idle(3));
  EXPECT_TRUE(end.receives.empty());
}

TEST(credits, that_come_in_another_order_are_noticed) {
  manual end;
  runtime::credits c(paths, 0, end, 2);
  c.advance(0, 3);
  end.give(1, 1);
  EXPECT_THROW(c.advance(0, 3), std::runtime_error);
}

TEST(credits, without_paths_nothing_is_awaited) {
  manual end;
  runtime::credits c({}, 0, end, 2);
  c.advance(3, 3);
  EXPECT_TRUE(c.idle(3));
  EXPECT_EQ(c.left(3), 3);
}
