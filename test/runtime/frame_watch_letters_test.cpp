// What a rank that watches its frames asks and answers, over an endpoint whose messages move when the test says so.
#include "dice/runtime/control/frame_watch.hpp"
#include "dice/runtime/paths.hpp"

#include "manual_endpoint.hpp"
#include "toy.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

using namespace dice;

namespace {

using questions = std::vector<std::pair<std::int64_t, std::int64_t>>;  ///< number and frame of each

/// A rank of a plan, which watches. The test is the other ranks.
struct watching {
  using kind = runtime::letter::kind;
  static constexpr std::int64_t limit = 400'000'000;
  const toy::program toy;
  const schedule::plan_view plan = toy.view().plan;
  const int ranks = static_cast<int>(plan.ranks.size());
  test::manual end;
  runtime::mailbox box;
  runtime::frame_watch watch;

  explicit watching(const std::vector<int>& owner, int rank = 0)
      : toy(toy::diamond(), owner, 4), box(runtime::letter_paths(plan, 4), 0, rank, end), watch(box, plan, rank) {
    box.advance();
    watch.begin(limit, 10);
  }
  /// A time so long ago that a frame which entered then is late.
  static std::int64_t long_ago() { return runtime::now() - limit; }
  static void sleep(std::int64_t more = 0) { std::this_thread::sleep_for(std::chrono::nanoseconds(limit + more)); }

  void advance(std::int64_t frame, std::int64_t since, bool entered) {
    box.advance();
    watch.advance(frame, since, entered, [](std::int64_t) { return runtime::standing{runtime::standing::at::done, 1}; });
  }
  /// The questions that reach the other ranks now.
  questions asked() {
    questions out;
    while (!end.sends.empty()) {
      const auto question = end.take();
      EXPECT_EQ(question.is, kind::question);
      out.emplace_back(question.says[0], question.says[1]);
    }
    return out;
  }
  /// Rank `from` answers question `number`: there, segment `segment` of the frame comes next.
  void answer(int from, std::int64_t number, std::int64_t segment) {
    const auto turn = static_cast<std::int64_t>(runtime::standing::at::turn);
    end.give(from * (ranks - 1), kind::answer, {number, turn, segment, -1});
  }
};
const std::vector<int> on_two{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, on_three{0, 0, 0, 1, 1, 1, 2, 2, 2, 2};

}  // namespace

TEST(frame_watch, a_rank_that_waits_asks_again_when_it_has_waited_as_long) {
  watching w(on_two);
  const auto before = watching::long_ago();
  w.advance(12, before, false);
  EXPECT_EQ(w.asked(), questions{}) << "of this run it has not waited so long";
  watching::sleep();
  for (const auto& expected : {questions{{1, 12}}, questions{}}) {
    w.advance(12, before, false);
    EXPECT_EQ(w.asked(), expected);
  }
  w.answer(1, 1, 0);
  for (int i = 0; i < 2; ++i) {
    w.advance(12, before, false);
    EXPECT_EQ(w.asked(), questions{}) << "all have just answered";
  }
  watching::sleep();
  w.advance(12, before, false);
  EXPECT_EQ(w.asked(), (questions{{2, 12}}));
  // Now a frame has entered, and that long ago: the answer is not about it.
  w.advance(13, watching::long_ago(), true);
  EXPECT_EQ(w.asked(), questions{}) << "a rank is asked one question at a time";
  w.answer(1, 2, 0);
  w.advance(13, watching::long_ago(), true);
  EXPECT_EQ(w.asked(), (questions{{3, 13}}));
  // It has left when the answer comes, but another one is late.
  w.answer(1, 3, 1);
  try {
    w.advance(14, watching::long_ago(), true);
    FAIL() << "asks again about a frame that has left";
  } catch (const runtime::late_frame& late) {
    EXPECT_EQ(late.frame, 3);
    EXPECT_EQ(late.ranks[1].segment, 1);
  }
}

TEST(frame_watch, asks_again_when_all_have_answered_and_some_time_has_passed) {
  watching w(on_three);
  w.advance(12, watching::long_ago(), true);
  EXPECT_EQ(w.asked(), (questions{{1, 12}, {1, 12}}));
  w.answer(2, 1, 0);
  for (int i = 0; i < 2; ++i) {
    w.advance(12, watching::long_ago(), true);
    EXPECT_EQ(w.asked(), questions{}) << "rank 1 has not answered";
    watching::sleep();
  }
  w.answer(1, 1, 1);
  for (int i = 0; i < 2; ++i) {
    w.advance(12, watching::long_ago(), true);
    EXPECT_EQ(w.asked(), questions{}) << "at once";
  }
  watching::sleep();
  w.advance(12, watching::long_ago(), true);
  EXPECT_EQ(w.asked(), (questions{{2, 12}, {2, 12}}));
  // The run ends here: the frame was late, and the first answers are what is known of it.
  try {
    w.watch.finish();
    FAIL() << "forgets a late frame";
  } catch (const runtime::late_frame& late) {
    EXPECT_EQ(late.frame, 2);
    EXPECT_EQ(late.ranks[1].segment, 1);
  }
  EXPECT_TRUE(w.end.sends.empty());
}

TEST(frame_watch, a_rank_that_does_not_answer) {
  watching waits(on_two), asks(on_two), asks_again(on_two);
  asks.advance(12, watching::long_ago(), true);
  asks_again.advance(12, watching::long_ago(), true);
  asks_again.answer(1, 1, 1);
  asks_again.advance(12, watching::long_ago(), true);
  watching::sleep();
  waits.advance(12, 0, false);
  asks_again.advance(12, watching::long_ago(), true);
  EXPECT_EQ(asks_again.asked(), (questions{{1, 12}})) << "there is no room for another question";
  asks_again.advance(12, watching::long_ago(), true);
  EXPECT_EQ(asks_again.asked(), (questions{{2, 12}}));
  watching::sleep(2'000'000'000);
  const auto fails = [](watching& w, bool entered) {
    try {
      w.advance(12, entered ? watching::long_ago() : 0, entered);
    } catch (const runtime::late_frame& late) {
      EXPECT_EQ(late.frame, entered ? 2 : -1);
      EXPECT_EQ(late.ranks[1].is, runtime::standing::at::no_answer);
      return late.ranks[1].before;
    }
    ADD_FAILURE() << "goes on waiting";
    return std::int64_t{-1};
  };
  EXPECT_EQ(fails(waits, false), 0);
  EXPECT_EQ(fails(asks, true), 0);
  EXPECT_EQ(fails(asks_again, true), 1);
}

// What it has of the frame is done then.
TEST(frame_watch, a_rank_whose_run_is_over_need_not_answer) {
  for (const int other : {0, 1}) {
    watching w(on_two, 1 - other);
    w.end.give(other, watching::kind::answer, {-1});
    w.advance(12, watching::long_ago(), true);
    watching::sleep();
    try {
      w.advance(12, watching::long_ago(), true);
      FAIL() << "goes on waiting";
    } catch (const runtime::late_frame& late) {
      const auto& said = late.ranks[static_cast<std::size_t>(other)];
      const auto& program = w.plan.ranks[static_cast<std::size_t>(other)];
      EXPECT_EQ(said.is, runtime::standing::at::done);
      EXPECT_EQ(said.segment, program.last_segment - program.first_segment);
      EXPECT_EQ(said.before, said.segment);
    }
  }
}

TEST(frame_watch, a_rank_says_when_its_run_is_over) {
  watching w(on_two);
  w.watch.begin(watching::limit, 20);
  w.advance(22, watching::long_ago(), true);
  EXPECT_EQ(w.asked(), (questions{{1, 22}}));
  EXPECT_NO_THROW(w.watch.finish()) << "the frame may have left by now";
  ASSERT_EQ(w.end.sends.size(), 1u);
  const auto said = w.end.take();
  EXPECT_TRUE(said.is == watching::kind::answer && said.says[0] == -2);
  w.watch.begin(0, 30);
  w.watch.finish();
  EXPECT_TRUE(w.end.sends.empty()) << "nobody watches";
}
