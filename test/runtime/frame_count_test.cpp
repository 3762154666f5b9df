// Notices of the number of frames, over an endpoint whose messages move when the test says so.
#include "dice/runtime/control/frame_count.hpp"

#include "error_of.hpp"
#include "manual_endpoint.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

namespace {

using namespace dice;

constexpr auto notice = runtime::letter::kind::notice;
const std::vector<runtime::letter_path> both_ways{test::letters(1, 0, notice, 3, 2), test::letters(0, 1, notice, 3, 2)};

/// A rank of two, or one alone.
struct counting {
  test::manual end;
  runtime::mailbox box;
  runtime::frame_count count;
  int rank;

  counting(int r, const std::vector<int>& inputs, bool alone = false)
      : box(alone ? std::vector<runtime::letter_path>{} : both_ways, 0, r, end), count(box, r, inputs), rank(r) {
    box.advance();
    count.begin();
  }
  /// The other rank announces that.
  void hear(std::int64_t word) { end.give(rank, notice, {word}); }
  template <class Total> std::optional<std::int64_t> advance(const Total& own, std::int64_t entered, bool stops) {
    box.advance();
    return count.advance(own, entered, stops);
  }
};

const auto never = [] { return std::int64_t{-1}; };
const auto five = [] { return std::int64_t{5}; };

}  // namespace

// Or the text of the failure would be hidden by that of a source which fails because the stream ends.
TEST(frame_count, a_failure_elsewhere_comes_before_this_rank_s_own) {
  counting c(0, {0});
  c.hear(-1);
  EXPECT_THROW(c.advance([]() -> std::int64_t { throw std::logic_error("own"); }, 0, false), channels::stopped);
}

TEST(frame_count, without_inputs_there_is_none) {
  counting none(0, {}, true);
  EXPECT_EQ(none.advance(never, 0, false), std::nullopt);
  counting one(0, {0}, true);
  EXPECT_EQ(one.advance(five, 0, false), 5);
  counting empty(0, {0}, true);
  EXPECT_EQ(empty.advance([] { return std::int64_t{0}; }, 0, false), 0);
}

TEST(frame_count, is_announced_once_in_each_run) {
  counting c(0, {0});
  EXPECT_EQ(c.advance(never, 0, false), std::nullopt);
  EXPECT_TRUE(c.end.sends.empty());
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(c.advance(five, 0, false), 5);
    EXPECT_EQ(c.advance(five, 0, false), 5);
    ASSERT_EQ(c.end.sends.size(), static_cast<std::size_t>(run) + 1);
    c.count.begin();
  }
  c.count.fail();  // the other rank has taken none of them
  for (const int word : {5, 5, -1}) EXPECT_EQ(c.end.take().says[0], word);
}

// Two ranks with inputs are asked to stop, one after 3 frames, the other by the first one's notice, after 5.
TEST(frame_count, of_a_stop_is_the_largest_that_has_entered) {
  for (auto [word, expected] : {std::pair{-2 - 5, 5}, {9, 9}}) {
    counting c(0, {0, 1});
    c.hear(word);
    EXPECT_EQ(c.advance(never, 3, true), expected);
    EXPECT_EQ(c.count.may_enter(), expected);
    EXPECT_EQ(c.end.take().says[0], -2 - 3);
  }
  counting first(0, {0, 1});
  EXPECT_EQ(first.advance(never, 3, true), std::nullopt);
  EXPECT_EQ(first.count.may_enter(), 3) << "a frame enters after the stop";
  first.hear(9);
  EXPECT_EQ(first.advance(never, 3, false), 9) << "the stop is forgotten";
  EXPECT_EQ(first.end.sends.size(), 1u) << "it is announced once";
  // A rank without inputs asks: it does not count.
  counting c(0, {0});
  c.hear(-2);
  EXPECT_EQ(c.advance(never, 4, false), 4);
  EXPECT_EQ(c.count.may_enter(), 4);
}

// Ctrl-C ends the program that writes the frames, too: its last frame may be cut short.
TEST(frame_count, of_a_stop_does_not_depend_on_the_source) {
  const auto broken = []() -> std::int64_t { throw std::runtime_error("the source ends within a frame"); };
  counting own(0, {0}, true);
  EXPECT_THROW(own.advance(broken, 3, false), std::runtime_error);
  EXPECT_EQ(own.advance(broken, 3, true), 3);
  EXPECT_EQ(own.advance(broken, 3, true), 3);
  EXPECT_TRUE(own.count.cut_short());
  counting other(0, {0});
  other.hear(-2);
  EXPECT_EQ(other.advance(broken, 4, false), 4);
  EXPECT_TRUE(other.count.cut_short());
}

TEST(frame_count, of_a_source_that_has_ended_is_not_changed_by_a_stop) {
  counting own(0, {0}, true);
  EXPECT_EQ(own.advance(five, 4, false), 5);
  EXPECT_EQ(own.advance(five, 5, true), 5);
  EXPECT_FALSE(own.count.cut_short());
  // Another rank may hear of the end only after it was asked to stop.
  counting other(1, {0});
  EXPECT_EQ(other.advance(never, 0, true), std::nullopt);
  other.hear(5);
  EXPECT_EQ(other.advance(never, 0, true), 5);
  EXPECT_FALSE(other.count.cut_short());
  // The rank that asks has no inputs.
  counting asked(0, {0});
  EXPECT_EQ(asked.advance(five, 4, false), 5);
  asked.hear(-2);
  EXPECT_EQ(asked.advance(five, 5, false), 5);
  EXPECT_FALSE(asked.count.cut_short());
}

TEST(frame_count, of_two_inputs_is_the_same) {
  counting c(0, {0, 1});
  EXPECT_EQ(c.advance(five, 0, false), std::nullopt);
  c.hear(6);
  EXPECT_EQ(test::error_of([&] { c.advance(five, 0, false); }),
            "the graph inputs got different numbers of frames, 5 and 6; push the same number to each");
}

// A run may have fewer frames than the one before.
TEST(frame_count, begins_anew_in_each_run) {
  counting c(0, {0}, true);
  EXPECT_EQ(c.advance(five, 0, false), 5);
  EXPECT_EQ(c.count.may_enter(), 5);
  c.count.begin();
  EXPECT_GT(c.count.may_enter(), 5);
  EXPECT_EQ(c.advance(never, 0, false), std::nullopt);
  EXPECT_EQ(c.advance([] { return std::int64_t{2}; }, 0, false), 2);
  counting stopped(0, {0}, true);
  EXPECT_EQ(stopped.advance(never, 0, true), 0);
  EXPECT_TRUE(stopped.count.cut_short()) << "before its first frame";
  stopped.count.begin();
  EXPECT_FALSE(stopped.count.cut_short());
}

// A rank may end a run, whose number of frames it was given, before it reads the announcement.
TEST(frame_count, of_a_former_run_does_not_count) {
  counting c(1, {0});
  c.count.begin();
  c.hear(5);
  c.hear(7);
  EXPECT_EQ(c.advance(never, 0, false), 7);
}

// The other rank is one run ahead, and then fails.
TEST(frame_count, of_the_next_run_waits_for_it) {
  counting c(1, {0});
  c.hear(5);
  c.hear(7);
  EXPECT_EQ(c.advance(never, 0, false), 5);
  c.hear(-1);
  EXPECT_EQ(c.advance(never, 0, false), 5);
  c.count.begin();
  EXPECT_THROW(c.advance(never, 0, false), channels::stopped);
  EXPECT_EQ(c.end.receives.size(), 2u);  // all are read
}

// What another rank says before its words are used is not lost: the third one waits for room.
TEST(frame_count, keeps_two_words) {
  counting c(1, {0});
  for (const int word : {5, 7, -1}) {
    c.hear(word);
    c.box.advance();
  }
  EXPECT_EQ(c.advance(never, 0, false), 5);
  c.count.begin();
  EXPECT_THROW(c.advance(never, 0, false), channels::stopped);
}
