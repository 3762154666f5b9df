// Turns of replicas, over an endpoint whose messages move when the test says so.
#include "dice/runtime/control/turns.hpp"

#include "manual_endpoint.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using namespace dice;
using parts::turn;
using runtime::letter;

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
    out.ranks = ranks;
    out.segments = segments;
    out.replicas = replicas;
    out.members = members;
    return out;
  }
};

std::vector<int> members(const runtime::turns& t, std::int64_t from, std::int64_t to) {
  std::vector<int> out;
  for (auto f = from; f < to; ++f) out.push_back(t.includes({0, 1}, f) ? 1 : t.includes({0, 0}, f) ? 0 : -1);
  return out;
}

using list = std::vector<int>;

/// One rank's turns.
struct turns_of {
  schedule::plan_view view;
  std::vector<runtime::letter_path> paths;
  test::manual end;
  runtime::mailbox box;
  runtime::turns t;

  turns_of(const plan& p, int rank, int in_flight)
      : view(p.view()),
        paths(runtime::letter_paths(view, in_flight)),
        box(paths, 0, rank, end),
        t(box, view, rank, in_flight) {
    box.advance();
  }
  /// What executor::advance does.
  void advance(std::int64_t oldest, std::int64_t until) {
    t.pass(oldest);
    box.advance();
    t.decide(until);
  }
  int path(int from, int to) const {
    for (int i = 0; i < static_cast<int>(paths.size()); ++i)
      if (paths[i].from == from && paths[i].to == to) return i;
    throw std::logic_error("there is no such path");
  }
  void tell(int from, int to, std::int64_t member) { end.give(path(from, to), letter::kind::turn, {0, member}); }
  void tell_time(int from, int to, std::int64_t time) { end.give(path(from, to), letter::kind::time, {0, time}); }
};

TEST(turns, follow_the_shares) {
  const plan p(-1);
  turns_of r(p, 1, 4);
  auto& t = r.t;
  EXPECT_TRUE(t.known(1'000'000'000'000));
  EXPECT_EQ(members(t, 3'000'000'000'000, 3'000'000'000'006), (list{0, 0, 1, 0, 0, 1}));
  EXPECT_TRUE(t.includes({}, 5));
  const schedule::message from{.made = {0, 0}}, to{.read = {0, 0}};
  for (const auto* m : {&from, &to}) EXPECT_TRUE(t.carries(*m, 3) && t.carries(*m, 4) && !t.carries(*m, 5));
  r.advance(0, 4);
  t.finish({0, 0}, 0);
  EXPECT_TRUE(r.end.sends.empty() && t.idle());
}

TEST(turns, each_member_gets_its_share) {
  for (const auto& shares :
       std::vector<list>{{1, 1}, {1, 1, 1}, {7, 1}, {5, 3, 3, 1}, {1, 9, 1}, {2147483647, 2147483646, 5}}) {
    const parts::replica_set set{0, static_cast<int>(shares.size()), -1};
    std::int64_t sum = 0;
    std::vector<parts::replica> all;
    for (const int s : shares) {
      sum += s;
      all.push_back({0, s});
    }
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

/// Rank 0 decides; ranks 1 and 2 are slow and fast.
struct deciding {
  plan p{0};
  turns_of r{p, 0, 30};
  runtime::turns& t = r.t;

  void slow(std::int64_t time) { r.tell_time(1, 0, time); }
  void fast(std::int64_t time) { r.tell_time(2, 0, time); }
  void advance(std::int64_t until) {
    r.advance(0, until);
    r.end.sends.clear();
  }
  /// Four frames, two for each; the first ones take long.
  void warm_up(std::int64_t slow_time, std::int64_t fast_time) {
    advance(2);
    slow(1'000'000);
    fast(1'000'000);
    advance(4);
    slow(slow_time);
    fast(fast_time);
  }
};

TEST(turns, the_first_free_replica_takes_the_next_frame) {
  deciding d;
  EXPECT_FALSE(d.t.known(0));
  d.r.advance(0, 1);
  EXPECT_TRUE(d.t.known(0) && !d.t.known(1));  // no later frame may enter
  d.r.advance(0, 12);
  EXPECT_TRUE(d.t.known(1) && !d.t.known(2));  // each has one until it says how long that takes
  EXPECT_EQ(members(d.t, 0, 2), (list{0, 1}));
  EXPECT_EQ(d.r.end.sends.size(), 4u);  // to ranks 1 and 2
  EXPECT_FALSE(d.t.idle());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(d.r.end.take().says, (letter::words{0, i / 2}));
  EXPECT_TRUE(d.t.idle());
  d.fast(1'000'000);
  d.advance(12);
  EXPECT_EQ(members(d.t, 2, 3), list{1});
  EXPECT_FALSE(d.t.known(3));
  d.fast(1000);
  d.advance(12);
  EXPECT_EQ(members(d.t, 3, 8), (list{1, 1, 1, 1, 1}));
  EXPECT_FALSE(d.t.known(8));
  for (int f = 8; f < 11; ++f) {  // rank 1 hangs
    d.fast(1000);
    d.advance(12);
    EXPECT_TRUE(d.t.known(f) && !d.t.known(f + 1));
    EXPECT_EQ(members(d.t, f, f + 1), list{1});
  }
}

TEST(turns, a_frame_goes_where_it_ends_first) {
  // The fast one's time is a mean over several frames: 3000 after one of 9000, 1200 after one of 1800, so that three of its
  // frames end before two of the slow one.
  for (const auto& [last, next] : {std::pair{9000, 0}, {1800, 1}}) {
    deciding d;
    d.warm_up(2500, 1000);
    d.advance(8);  // the fast one ends a second frame before the slow one its first
    EXPECT_EQ(members(d.t, 4, 8), (list{1, 1, 0, 1}));
    d.fast(last);
    d.advance(9);
    EXPECT_EQ(members(d.t, 8, 9), list{next}) << last;
  }
}

/// Only one that has nothing to do may have become faster meanwhile.
TEST(turns, a_replica_that_computes_is_not_tried_again) {
  deciding d;
  d.warm_up(2500, 1000);
  d.advance(8);
  for (int f = 8; f < 30; ++f) {
    d.fast(1000);
    d.advance(f + 1);
    EXPECT_EQ(members(d.t, f, f + 1), (list{1})) << f;
  }
}

TEST(turns, wait_for_room_to_tell_them) {
  const plan p(0);
  turns_of r(p, 0, 1);
  const auto slots = static_cast<std::int64_t>(runtime::turn_slots(1));
  std::int64_t done = 0, known = 0;
  for (int i = 0; i < 3 * slots; ++i) {
    r.advance(known, 3 * slots);
    while (r.t.known(known)) ++known;
    for (; done < known; ++done) {
      r.tell_time(done == 0 ? 1 : 2, 0, done == 0 ? 1'000'000 : 1000);
      r.box.advance();
    }
  }
  EXPECT_EQ(known, slots);
  r.end.take();
  r.advance(known, 3 * slots);
  EXPECT_FALSE(r.t.known(known)) << "the other replica has no room";
  r.end.take();
  r.advance(known, 3 * slots);
  EXPECT_TRUE(r.t.known(known) && !r.t.known(known + 1));
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
    d.fast(1000);
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
  turns_of r(p, 2, 2);
  auto& t = r.t;
  r.advance(0, 2);
  EXPECT_FALSE(t.known(0));
  for (const int member : {1, 0, 0, 1, 1, 0}) r.tell(0, 2, member);
  r.advance(0, 2);
  EXPECT_TRUE(t.known(3) && !t.known(4));  // it keeps no more until frames are done
  EXPECT_EQ(members(t, 0, 4), (list{1, 0, 0, 1}));
  r.advance(1, 3);
  EXPECT_TRUE(t.known(4) && !t.known(5));
  EXPECT_EQ(members(t, 1, 5), (list{0, 0, 1, 1}));
  t.finish({0, 1}, 700);
  EXPECT_FALSE(t.idle());
  EXPECT_EQ(r.end.take().says, (letter::words{0, 700}));
  EXPECT_TRUE(t.idle() && r.end.sends.empty());
}

TEST(turns, of_no_replica_or_from_a_rank_that_does_not_decide_are_refused) {
  const plan p(0);
  const auto refuses = [&](int rank, int from, letter::kind k, const letter::words& says) {
    turns_of r(p, rank, 2);
    r.end.give(r.path(from, rank), k, says);
    EXPECT_THROW(r.advance(0, 2), std::runtime_error);
  };
  for (const int member : {-1, 2}) refuses(2, 0, letter::kind::turn, {0, member});
  for (const int set : {-1, 1}) refuses(2, 0, letter::kind::turn, {set, 0});
  refuses(2, 1, letter::kind::turn, {0, 0});
  refuses(1, 2, letter::kind::time, {0, 700});
  const plan other(1);
  turns_of r(other, 1, 2);  // of rank 0, which is no replica
  r.tell_time(0, 1, 700);
  EXPECT_THROW(r.advance(0, 2), std::runtime_error);
}

/// The rank that decides may be a replica itself.
TEST(turns, a_replica_may_decide) {
  const plan p(1);
  turns_of r(p, 1, 12);
  auto& t = r.t;
  r.advance(0, 12);
  EXPECT_EQ(members(t, 0, 2), (list{0, 1}));
  for (int f = 2; f < 4; ++f) {
    EXPECT_FALSE(t.known(f));
    t.finish({0, 0}, 1000);
    r.advance(0, 12);
  }
  EXPECT_EQ(members(t, 2, 8), (list{0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(t.known(8));
}

}  // namespace
