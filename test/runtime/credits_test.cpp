// Credits over an endpoint whose messages move when the test says so.
#include "dice/runtime/control/credits.hpp"

#include "manual_endpoint.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

using namespace dice;

constexpr auto credit = runtime::letter::kind::credit;
/// Rank 1's credits for ranks 0 and 2, then those of rank 2 for rank 0.
const std::vector<runtime::letter_path> credit_paths{test::letters(1, 0, credit, 2, 2), test::letters(1, 2, credit, 2, 2),
                                                     test::letters(2, 0, credit, 2, 2)};

/// A rank's credits; its letters have the endpoint's paths from 1 on.
struct credit_rank {
  test::manual end;
  runtime::mailbox box;
  runtime::credits c{box};

  credit_rank(int rank, std::size_t known) : box({credit_paths.data(), known}, 1, rank, end) { box.advance(); }
  void give(int path) { end.give(path, credit, {}); }
};

}  // namespace

TEST(credits, at_most_in_flight_are_on_their_way) {
  credit_rank r(1, 1);
  EXPECT_FALSE(r.c.idle(4));
  r.c.advance(0);
  EXPECT_TRUE(r.end.sends.empty() && r.end.receives.empty());
  r.c.advance(4);  // four frames have left
  ASSERT_EQ(r.end.sends.size(), 2u);
  r.c.advance(4);
  ASSERT_EQ(r.end.sends.size(), 2u);
  EXPECT_EQ(r.end.take().number, 0);
  r.c.advance(4);
  ASSERT_EQ(r.end.sends.size(), 2u);
  EXPECT_EQ(r.end.take().number, 1);
  EXPECT_EQ(r.end.take().number, 2);
  EXPECT_FALSE(r.c.idle(4)) << "one is still to be sent";
  r.c.advance(4);
  ASSERT_EQ(r.end.sends.size(), 1u);
  EXPECT_FALSE(r.c.idle(4)) << "one is on its way";
  EXPECT_EQ(r.end.take().number, 3);
  EXPECT_TRUE(r.c.idle(4));
  EXPECT_FALSE(r.c.idle(5));
}

TEST(credits, go_to_all_ranks_with_inputs) {
  credit_rank r(1, credit_paths.size());
  r.c.advance(1);
  ASSERT_EQ(r.end.sends.size(), 2u);
  EXPECT_EQ(r.end.sends[0].path, 1);
  EXPECT_EQ(r.end.sends[1].path, 2);
  r.end.take();
  EXPECT_FALSE(r.c.idle(1));
  r.end.take();
  EXPECT_TRUE(r.c.idle(1));
}

TEST(credits, count_what_has_left_all_other_ranks) {
  credit_rank r(0, credit_paths.size());
  EXPECT_EQ(r.c.left(9), 0);
  r.give(1);
  r.give(1);
  r.give(3);
  r.box.advance();
  EXPECT_EQ(r.c.left(9), 1);
  EXPECT_EQ(r.c.left(0), 0);
  r.give(1);
  r.give(3);
  r.box.advance();
  EXPECT_EQ(r.c.left(9), 2);
  EXPECT_FALSE(r.c.idle(3));
  r.give(3);
  r.box.advance();
  EXPECT_EQ(r.c.left(9), 3);
  EXPECT_TRUE(r.c.idle(3));
}

// Where two ranks have inputs, one may begin the next run while the other still ends this one.
TEST(credits, of_the_next_run_may_come_early) {
  credit_rank r(0, 1);
  for (int i = 0; i < 4; ++i) {
    r.give(1);
    r.box.advance();
  }
  EXPECT_TRUE(r.c.idle(3));
  EXPECT_EQ(r.c.left(3), 3);
}

TEST(credits, without_paths_nothing_is_awaited) {
  credit_rank r(0, 0);
  r.c.advance(3);
  EXPECT_TRUE(r.c.idle(3));
  EXPECT_EQ(r.c.left(3), 3);
}
