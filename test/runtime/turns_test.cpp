// Turns of replicas, over an endpoint whose messages move when the test says so.
#include "dice/runtime/turns.hpp"

#include "manual_endpoint.hpp"

#include <gtest/gtest.h>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace {

using namespace dice;
using parts::turn;

/// Ranks 1 and 2 are the replicas of ranks 0's frames.
struct plan {
  std::array<schedule::rank_program, 3> ranks{{{.rank = 0, .first_segment = 0, .last_segment = 1},
                                               {.rank = 1, .first_segment = 1, .last_segment = 2},
                                               {.rank = 2, .first_segment = 2, .last_segment = 3}}};
  std::array<schedule::segment, 3> segments{{{}, {0, 0, {0, 0}}, {0, 0, {0, 1}}}};
  std::array<parts::replica_set, 1> replicas{};
  std::array<parts::replica, 2> members{{{1, 2}, {2, 1}}};

  explicit plan(int decides) { replicas[0] = {0, 2, decides}; }
  schedule::plan_view view() const {
    schedule::plan_view out;
    out.ranks = ranks, out.segments = segments, out.replicas = replicas, out.members = members;
    return out;
  }
};

std::vector<int> members(const runtime::turns& t, std::int64_t from, std::int64_t to) {
  std::vector<int> out;
  for (auto f = from; f < to; ++f) out.push_back(t.includes({0, 1}, f) ? 1 : t.includes({0, 0}, f) ? 0 : -1);
  return out;
}

/// The path from one rank to another that belongs to the replicas.
int path(const std::vector<channels::path>& all, const schedule::plan_view& p, int from, int to) {
  for (int i = 0; i < static_cast<int>(all.size()); ++i)
    if (const auto& one = all[i]; one.from == from && one.to == to && one.tag == runtime::turn_tag(p, 0)) return i;
  throw std::logic_error("there is no such path");
}

using list = std::vector<int>;

TEST(turns, follow_the_shares) {
  const plan p(-1);
  const auto view = p.view();
  test::manual end;
  runtime::turns t(runtime::paths_of(view, 4), view, 1, end, 4);
  EXPECT_TRUE(t.known(1'000'000'000'000));
  EXPECT_EQ(members(t, 3'000'000'000'000, 3'000'000'000'006), (list{0, 0, 1, 0, 0, 1}));
  EXPECT_TRUE(t.includes({}, 5));
  t.advance(0, 4), t.finish({0, 0}, 0);
  EXPECT_TRUE(end.sends.empty() && end.receives.empty() && t.idle());
}

TEST(turns, each_member_gets_its_share) {
  for (const auto& shares :
       std::vector<list>{{1, 1}, {1, 1, 1}, {7, 1}, {5, 3, 3, 1}, {1, 9, 1}, {2147483647, 2147483646, 5}}) {
    const parts::replica_set set{0, static_cast<int>(shares.size()), -1};
    std::int64_t sum = 0;
    std::vector<parts::replica> all;
    for (const int s : shares) sum += s, all.push_back({0, s});
    if (sum > 1000) {  // too many to count
      const int member = parts::member_of(set, all.data(), sum - 1);
      EXPECT_TRUE(member >= 0 && member < 3);
      continue;
    }
    list count(shares.size());
    for (std::int64_t f = 7 * sum; f < 8 * sum; ++f) ++count[parts::member_of(set, all.data(), f)];
    EXPECT_EQ(count, shares);
  }
}

/// Rank 0 decides; `slow` and `fast` are the paths from the replicas to it.
struct deciding {
  plan p{0};
  schedule::plan_view view = p.view();
  std::vector<channels::path> paths = runtime::paths_of(view, 30);
  int slow = path(paths, view, 1, 0), fast = path(paths, view, 2, 0);
  test::manual end;
  runtime::turns t{paths, view, 0, end, 30};

  void advance(std::int64_t until) {
    t.advance(0, until);
    end.sends.clear();
  }
  /// Four frames, two for each; the first ones take long.
  void warm_up(std::int64_t slow_time, std::int64_t fast_time) {
    advance(2);
    end.give(slow, 1'000'000), end.give(fast, 1'000'000);
    advance(4);
    end.give(slow, slow_time), end.give(fast, fast_time);
  }
};

TEST(turns, the_first_free_replica_takes_the_next_frame) {
  deciding d;
  EXPECT_FALSE(d.t.known(0));
  d.t.advance(0, 1);
  EXPECT_TRUE(d.t.known(0) && !d.t.known(1));  // no later frame may enter
  d.t.advance(0, 12);
  EXPECT_TRUE(d.t.known(1) && !d.t.known(2));  // each has one until it says how long that takes
  EXPECT_EQ(members(d.t, 0, 2), (list{0, 1}));
  EXPECT_EQ(d.end.sends.size(), 4u);  // to ranks 1 and 2
  EXPECT_FALSE(d.t.idle());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(d.end.take(), i / 2);
  EXPECT_TRUE(d.t.idle());
  d.end.give(d.fast, 1'000'000);
  d.advance(12);
  EXPECT_EQ(members(d.t, 2, 3), list{1});
  EXPECT_FALSE(d.t.known(3));
  d.end.give(d.fast, 1000);
  d.advance(12);
  EXPECT_EQ(members(d.t, 3, 8), (list{1, 1, 1, 1, 1}));
  EXPECT_FALSE(d.t.known(8));
  for (int f = 8; f < 11; ++f) {  // rank 1 hangs
    d.end.give(d.fast, 1000);
    d.advance(12);
    EXPECT_TRUE(d.t.known(f) && !d.t.known(f + 1));
    EXPECT_EQ(members(d.t, f, f + 1), list{1});
  }
}

TEST(turns, a_frame_goes_where_it_ends_first) {
  deciding d;
  d.warm_up(2500, 1000);
  d.advance(8);  // the fast one ends a second frame before the slow one its first
  EXPECT_EQ(members(d.t, 4, 8), (list{1, 1, 0, 1}));
  d.end.give(d.fast, 9000);  // a mean over several frames: 3000 now
  d.advance(9);
  EXPECT_EQ(members(d.t, 8, 9), (list{0}));
}

/// A replica that would take longer than all that waits elsewhere gets a frame now and then: it may have become faster.
TEST(turns, a_slow_replica_is_tried_again) {
  deciding d;
  d.warm_up(7000, 1000);
  d.advance(30);
  EXPECT_EQ(members(d.t, 4, 9), (list{1, 1, 1, 1, 1}));
  EXPECT_FALSE(d.t.known(9));
  int f = 9;
  for (; f < 30; ++f) {
    d.end.give(d.fast, 1000);
    d.advance(30);
    if (members(d.t, f, f + 1) == list{0}) break;
  }
  EXPECT_TRUE(f > 11 && f < 20) << f;
}

/// A replica's words may all be under way while it computes its next frames.
TEST(turns, there_is_room_for_all_words) {
  for (const int in_flight : {1, 2, 3, 16}) EXPECT_GT(runtime::turn_slots(in_flight), runtime::most_unfinished);
}

TEST(turns, replicas_are_told_and_tell) {
  const plan p(0);
  const auto view = p.view();
  const auto links = runtime::paths_of(view, 2);
  test::manual end;
  runtime::turns t(links, view, 2, end, 2);
  const int from = path(links, view, 0, 2);
  t.advance(0, 2);
  EXPECT_FALSE(t.known(0));
  for (const int member : {1, 0, 0, 1}) end.give(from, member);
  t.advance(0, 2);
  EXPECT_TRUE(t.known(3) && !t.known(4));
  EXPECT_EQ(members(t, 0, 4), (list{1, 0, 0, 1}));
  EXPECT_TRUE(end.receives.empty());  // it keeps no more until frames are done
  t.advance(1, 3);
  EXPECT_EQ(end.receives.size(), 1u);
  t.finish({0, 1}, 700);
  EXPECT_FALSE(t.idle());
  EXPECT_EQ(end.take(), 700);
  EXPECT_TRUE(t.idle() && end.sends.empty());
  end.give(from, 2);
  EXPECT_THROW(t.advance(1, 3), std::runtime_error);
}

/// The rank that decides may be a replica itself.
TEST(turns, a_replica_may_decide) {
  plan p(1);
  const auto view = p.view();
  test::manual end;
  runtime::turns t(runtime::paths_of(view, 12), view, 1, end, 12);
  t.advance(0, 12);
  EXPECT_EQ(members(t, 0, 2), (list{0, 1}));
  for (int f = 2; f < 4; ++f) {
    EXPECT_FALSE(t.known(f));
    t.finish({0, 0}, 1000);
    t.advance(0, 12);
  }
  EXPECT_EQ(members(t, 2, 8), (list{0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(t.known(8));
}

}  // namespace
