// Frames that take too long, in ranks that are threads: where they stand, and what must not be taken for it.
#include "fake_accelerator.hpp"
#include "manual_endpoint.hpp"
#include "toy.hpp"

#include "dice/channels/in_process/hub.hpp"
#include "dice/job/late_frame.hpp"
#include "dice/runtime/executor.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace dice;

namespace {

constexpr std::int64_t ms = 1'000'000;

/// Gives frames before frame `until`, each some time after the last.
struct slow_source final : frames::source {
  std::int64_t until = INT64_MAX, pause = 0, last = 0;
  bool ready(int, std::int64_t frame) override { return frame < until && runtime::now() - last >= pause; }
  void fill(int layer, std::int64_t frame, std::byte* to, const tensor::type& as) override {
    const auto x = toy::frame(layer, frame);
    std::copy(x.begin(), x.end(), frames::floats(to, as));
    last = runtime::now();
  }
};
/// Takes results before frame `until`.
struct short_sink final : frames::sink {
  std::int64_t until = INT64_MAX;
  bool ready(int, std::int64_t frame) override { return frame < until; }
  void take(int, std::int64_t, const std::byte*, const tensor::type&) override {}
};
/// Loses the messages of path `lost` from the `first`-th on.
struct bad_link final : channels::endpoint {
  bad_link(std::unique_ptr<channels::endpoint> e, int path, int from) : end(std::move(e)), lost(path), first(from) {}
  void start_send(int path, int slot, const std::byte* from) override {
    if (path != lost || first-- > 0) end->start_send(path, slot, from);
  }
  void start_receive(int path, int slot, std::byte* to) override { end->start_receive(path, slot, to); }
  bool sent(int path, int slot) const override { return end->sent(path, slot); }
  bool received(int path, int slot) const override { return end->received(path, slot); }
  void progress() override { end->progress(); }
  void wait() override {
    std::this_thread::sleep_for(std::chrono::nanoseconds(waits_for));
    end->wait();
  }
  void wake() override { end->wake(); }
  void settle() override { end->settle(); }
  void quit() override { end->quit(); }
  std::unique_ptr<channels::endpoint> end;
  int lost, first;
  std::int64_t waits_for = 0;
};

std::atomic<bool> released{false};
/// A kernel of an accelerator that hangs.
void wait_for_release(const kernels::task&, const kernels::buffers&) {
  while (!released) std::this_thread::yield();
}

std::atomic<int> nap_ms{0};
/// A kernel of a slow rank.
void slow_kernel(const kernels::task&, const kernels::buffers&) {
  std::this_thread::sleep_for(std::chrono::milliseconds(nap_ms));
}

/// A run of a toy network, and what holds it up.
struct trial {
  trial(const toy::network& net, const std::vector<int>& owner) : toy(net, owner, 4) {}
  toy::program toy;
  std::array<slow_source, 3> in;  ///< by rank
  std::array<short_sink, 3> out;
  int lost_message = -1, lost_from = 0;
  int accelerator = -1;        ///< the rank whose accelerator hangs
  int slow = -1;               ///< the rank with slow kernels
  std::int64_t waits_for = 0;  ///< how long each rank waits at least, whatever happens
  std::int64_t frames = 20, warmup = 0;
  std::int64_t limit = 150 * ms;

  /// Runs it. Returns the message of the first rank that noticed a late frame, or "".
  std::string run() {
    auto p = toy.view();
    released = false;
    std::vector<kernels::entry> kernels(p.kernels.begin(), p.kernels.end());
    for (std::size_t g = 0; g < kernels.size(); ++g)
      if (p.plan.groups[g].rank == accelerator) kernels[g].by.run = wait_for_release;
      else if (p.plan.groups[g].rank == slow) kernels[g].by.run = slow_kernel;
    p.kernels = kernels;
    const std::string file = "/tmp/dice_late_" + std::to_string(::getpid()) + ".safetensors";
    toy.write_weights(file);
    channels::in_process::hub hub(p.ranks());
    std::mutex mutex;
    std::string first;
    std::vector<std::thread> threads;
    for (int r = 0; r < p.ranks(); ++r)
      threads.emplace_back([&, r] {
        channels::in_process::communicator ranks(hub, r);
        try {
          const runtime::needed_weights needed(p, r);
          const weights::store store(weights::file(file, p.network, p.weights), needed.items());
          bad_link end(ranks.connect(runtime::paths_of(p.plan, p.plan.in_flight)), lost_message, lost_from);
          end.waits_for = waits_for;
          std::optional<toy::fake_accelerator> other;
          if (r == accelerator) other.emplace();
          runtime::executor e(p, r, {store, needed.of_plan(0)}, end, p.plan.in_flight, other ? &*other : nullptr);
          runtime::figures f;
          const auto at = static_cast<std::size_t>(r);
          const runtime::frame_limit allowed{limit, [&](std::int64_t, int) { ADD_FAILURE() << "no rank hangs"; }};
          try {
            if (warmup > 0) e.stream(&in[at], nullptr, f, warmup, nullptr, allowed);
            e.stream(&in[at], &out[at], f, frames, nullptr, allowed);
          } catch (...) {
            end.quit();  // before the executor goes
            throw;
          }
          EXPECT_EQ(e.frames(), frames);
          end.settle();
        } catch (const channels::stopped&) {
        } catch (const runtime::late_frame& late) {
          const std::lock_guard lock(mutex);
          if (first.empty())
            first =
                job::late_text(p, late, static_cast<double>(limit) / 1e9, [](int k) { return "rank " + std::to_string(k); });
          hub.stop();
          released = true;
        }
      });
    for (auto& t : threads) t.join();
    ::unlink(file.c_str());
    return first;
  }
};

int message_of(const toy::program& toy, int from, int to) {
  const auto p = toy.view();
  for (std::size_t m = 0; m < p.plan.messages.size(); ++m)
    if (p.plan.messages[m].from == from && p.plan.messages[m].to == to) return static_cast<int>(m);
  return -1;
}

const std::vector<int> three{0, 0, 0, 1, 1, 1, 2, 2, 2, 2};

}  // namespace

TEST(frame_watch, without_late_frames_nothing_is_said) {
  for (const auto limit : {std::int64_t{0}, 10'000 * ms}) {
    trial t(toy::diamond(), three);
    t.limit = limit;
    t.frames = 300;
    t.warmup = 50;
    EXPECT_EQ(t.run(), "");
  }
}

// All ranks wait longer than the limit, again and again, and ask each other; but no frame takes that long.
TEST(frame_watch, a_slow_source_makes_no_late_frame) {
  trial t(toy::diamond(), three);
  t.limit = 20 * ms;
  t.frames = 3;
  t.warmup = 2;
  t.in[0].pause = 100 * ms;
  EXPECT_EQ(t.run(), "");
}

TEST(frame_watch, a_result_that_is_not_taken) {
  trial t(toy::diamond(), three);
  t.out[2].until = 7;
  EXPECT_EQ(t.run(),
            "frame 7 has taken more than 0.15 s (--frame-timeout): rank 2 waits until the result 'out.9' is taken; "
            "all ranks: rank 0 is done with it; rank 1 is done with it; rank 2 waits for its output");
}

TEST(frame_watch, an_input_that_does_not_come) {
  trial t(toy::two_by_two(), {0, 1, 0, 1, 0, 0, 1, 1});
  t.in[1].until = 3;
  EXPECT_EQ(t.run(),
            "frame 3 has taken more than 0.15 s (--frame-timeout): rank 1 waits for the numbers of input 'in.1'; all ranks: "
            "rank 0 waits for layer '/node/3' from rank 1; rank 1 waits for its input");
}

TEST(frame_watch, a_message_that_is_lost) {
  trial t(toy::diamond(), three);
  t.lost_message = message_of(t.toy, 1, 2);
  t.lost_from = 5;
  t.warmup = 2;
  EXPECT_EQ(
      t.run(),
      "frame 3 has taken more than 0.15 s (--frame-timeout): the message with layer '/node/5' (256 bytes) has left rank 1 "
      "and not reached rank 2; all ranks: rank 0 is done with it; rank 1 is done with it; rank 2 waits for layer "
      "'/node/5' from rank 1");
}

TEST(frame_watch, an_accelerator_that_hangs) {
  trial t(toy::diamond(), three);
  t.accelerator = 1;
  EXPECT_EQ(
      t.run(),
      "frame 0 has taken more than 0.15 s (--frame-timeout): rank 1 has not finished the kernels from layer '/node/3' on; "
      "all ranks: rank 0 is done with it; rank 1 computes; rank 2 waits for layer '/node/5' from rank 1");
}

// The rank has ended its part of the run when the frame is late.
TEST(frame_watch, a_last_message_that_is_lost) {
  trial t(toy::diamond(), three);
  t.frames = 3;
  t.lost_message = message_of(t.toy, 1, 2);
  t.lost_from = 2;
  EXPECT_EQ(
      t.run(),
      "frame 2 has taken more than 0.15 s (--frame-timeout): the message with layer '/node/5' (256 bytes) has left rank 1 "
      "and not reached rank 2; all ranks: rank 0 is done with it; rank 1 is done with it; rank 2 waits for layer "
      "'/node/5' from rank 1");
}

// Each frame is late, and they go on leaving while the ranks are asked. All kernels of a segment together take longer than
// the limit.
TEST(frame_watch, a_slow_rank_does_not_hang_and_loses_nothing) {
  for (const int nap : {100, 50}) {
    trial t(toy::diamond(), three);
    t.slow = 1;
    nap_ms = nap;
    t.limit = 250 * ms;
    const auto said = t.run();
    EXPECT_NE(said.find(" has taken more than 0.25 s (--frame-timeout): "), std::string::npos) << said;
    for (const char* wrong : {"has left", "does not answer", "hangs:"})
      EXPECT_EQ(said.find(wrong), std::string::npos) << said;
  }
}

TEST(frame_watch, a_rank_that_waits_does_not_hang) {
  trial t(toy::diamond(), three);
  t.frames = 2;
  t.waits_for = 250 * ms;
  t.limit = 100 * ms;
  t.run();  // fails if a rank is taken to hang; frames may be late
}

// A rank may compute for the whole limit before it answers. What it says first and what it says then are told apart, and
// both are about the frame that was late, whichever entered since.
TEST(frame_watch, asks_twice_about_the_same_frame) {
  const toy::program toy(toy::diamond(), {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 4);
  const auto p = toy.view();
  using runtime::letter;
  using at = runtime::standing::at;
  test::manual end;
  runtime::mailbox box(runtime::letter_paths(p.plan, 4), 0, 0, end);  // 0 to 1, 1 to 0
  runtime::frame_watch watch(box, p.plan, 0);
  box.advance();
  watch.begin(300 * ms, 10);
  const auto began = runtime::now();
  const auto where = [](std::int64_t frame) {
    EXPECT_EQ(frame, 12);
    return runtime::standing{at::done, 1};
  };
  int asked = 0;
  // Rank 1 says first that segment 1 comes next, then that it is done.
  const auto answer = [&] {
    while (!end.sends.empty()) {
      const auto question = end.take();
      EXPECT_EQ(question.says[1], 12);
      ++asked;
      const auto is = question.says[0] == 1 ? at::turn : at::done;
      end.give(1, letter::kind::answer, {question.says[0], static_cast<std::int64_t>(is), question.says[0], -1});
      box.advance();
    }
  };
  try {
    for (;;) {
      if (runtime::now() - began > 2150 * ms) answer();
      watch.advance(12, began - 300 * ms, true, where);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (const runtime::late_frame& late) {
    EXPECT_EQ(late.frame, 2);
    EXPECT_EQ(late.ranks[1].is, at::done);
    EXPECT_EQ(late.ranks[1].before, 1);
    EXPECT_EQ(late.ranks[1].segment, 2);
    EXPECT_EQ(asked, 2);
  }
  // A frame that leaves while the ranks are asked again was late all the same; and if no frame is late now, none was.
  for (const bool first : {true, false}) {
    watch.begin(300 * ms, 10);
    const auto late = runtime::now() - 300 * ms;
    watch.advance(12, late, true, where);
    answer();
    if (!first) watch.advance(12, late, true, where);  // takes the answer
    const auto next = [&] { watch.advance(13, runtime::now(), true, where); };
    if (first) EXPECT_NO_THROW(next());
    else EXPECT_THROW(next(), runtime::late_frame);
  }
}

// A question waits until there is room for its answer.
TEST(frame_watch, answers_each_question_once) {
  const toy::program toy(toy::diamond(), {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 4);
  const auto p = toy.view();
  using runtime::letter;
  test::manual end;
  runtime::mailbox box(runtime::letter_paths(p.plan, 4), 0, 0, end);
  runtime::frame_watch watch(box, p.plan, 0);
  box.advance();
  const auto where = [](std::int64_t frame) { return runtime::standing{runtime::standing::at::message, frame, 7}; };
  for (int i = 1; i <= 4; ++i) {
    end.give(1, letter::kind::question, {i, 10 * i});
    box.advance();
    watch.listen(where);
    watch.listen(where);
  }
  EXPECT_EQ(end.sends.size(), 2u);
  for (int i = 1; i <= 4; ++i) {
    const auto said = end.take();
    EXPECT_EQ(said.is, letter::kind::answer);
    EXPECT_EQ(said.says, (runtime::letter::words{i, static_cast<int>(runtime::standing::at::message), 10 * i, 7}));
    box.advance();  // the fourth question is read when the third is answered
    watch.listen(where);
  }
  EXPECT_TRUE(end.sends.empty());
}

// The sender's answer may be younger than the receiver's.
TEST(frame_watch, a_message_is_missed_only_if_it_was_sent_before) {
  const toy::program toy(toy::diamond(), three, 4);
  const auto p = toy.view();
  using at = runtime::standing::at;
  const auto said = [&](std::int64_t before) {
    const runtime::late_frame late(
        0, {{at::done, 1, -1, 1}, {at::done, 1, -1, before}, {at::message, 0, message_of(toy, 1, 2), 0}});
    return job::late_text(p, late, 1, [](int k) { return "rank " + std::to_string(k); });
  };
  const auto& sender = p.plan.ranks[1];
  EXPECT_NE(said(sender.last_segment - sender.first_segment)
                .find(": the message with layer '/node/5' (256 bytes) has left rank 1 and not"),
            std::string::npos);
  const std::string slow = ": nothing hangs, the ranks are slow; allow more time";
  EXPECT_NE(said(0).find(slow), std::string::npos);
  EXPECT_NE(said(job::detail::sending_segment(p.plan, message_of(toy, 1, 2))).find(slow), std::string::npos)
      << "the segment that sends it has not ended";
}

TEST(frame_watch, ranks_that_do_not_answer_are_named) {
  const toy::program toy(toy::diamond(), three, 4);
  const auto p = toy.view();
  using at = runtime::standing::at;
  const runtime::standing silent{at::no_answer, 0, -1, 0}, done{at::done, 1, -1, 1};
  const auto said = [&](std::int64_t frame, const std::vector<runtime::standing>& ranks) {
    return job::late_text(p, runtime::late_frame(frame, ranks), 1, [](int k) { return "rank " + std::to_string(k); });
  };
  EXPECT_EQ(
      said(7, {done, silent, done}).find("frame 7 has taken more than 1 s (--frame-timeout), and rank 1 does not answer: "),
      0u);
  EXPECT_EQ(said(-1, {silent, done, silent})
                .find("no frame has come for 1 s (--frame-timeout), and rank 0 and rank 2 do not answer: "),
            0u);
  EXPECT_EQ(said(0, {done}),
            "frame 0 has taken more than 1 s (--frame-timeout): nothing hangs, the ranks are slow; allow more time");
}
