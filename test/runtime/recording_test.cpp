// What ranks record of their frames, and where they find numbers that are not finite: on CPUs and on accelerators.
#include "fake_accelerator.hpp"
#include "toy.hpp"

#include "dice/channels/in_process/hub.hpp"
#include "dice/runtime/executor.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace {

using namespace dice;
using event = runtime::recorder::event;
using was = runtime::recorder::kind;

/// Frames of toy::frame, some of them changed.
struct changed_frames final : frames::source {
  std::function<void(std::int64_t frame, toy::values&)> change = [](auto, auto&) {};
  void fill(int layer, std::int64_t frame, std::byte* to, const tensor::type& as) override {
    auto x = toy::frame(layer, frame);
    change(frame, x);
    std::memcpy(to, x.data(), static_cast<std::size_t>(as.bytes()));
  }
  bool ready(int, std::int64_t frame) override {
    asked.push_back(frame);
    return true;
  }
  std::vector<std::int64_t> asked;  ///< about which frames
};
struct no_results final : frames::sink {
  void take(int, std::int64_t, const std::byte*, const tensor::type&) override {}
  bool ready(int, std::int64_t frame) override {
    asked.push_back(frame);
    return true;
  }
  std::vector<std::int64_t> asked;
};
/// Whether these are frames of a run of `frames`.
bool are_of_run(const std::vector<std::int64_t>& asked, std::int64_t frames) {
  return std::all_of(asked.begin(), asked.end(), [&](std::int64_t f) { return f >= 0 && f < frames; });
}

/// What a rank has done.
struct done_by_rank {
  std::optional<runtime::recorder> recorded;
  std::string error;  ///< of its own
  std::int64_t frame = -1, arena = 0, began = 0, ended = 0;
  int layer = -1, jobs = 0;
};
/// How ranks run.
struct way {
  bool accelerates = false, direct = false;
};
constexpr way ways[]{{}, {true}, {true, true}};

/// Runs `frames` frames and records them, after five others.
std::vector<done_by_rank> run(const toy::program& toy, std::int64_t frames, way how, bool checks,
                              const changed_frames& from) {
  const auto p = toy.view();
  const auto file = ::testing::TempDir() + "dice_recording_" + std::to_string(::getpid());
  toy.write_weights(file);
  channels::in_process::hub hub(p.ranks());
  std::vector<done_by_rank> out(static_cast<std::size_t>(p.ranks()));
  std::vector<std::thread> threads;
  for (int r = 0; r < p.ranks(); ++r)
    threads.emplace_back([&, r] {
      auto& mine = out[r];
      channels::in_process::communicator ranks(hub, r);
      const weights::file w(file, p.network, p.weights);
      const runtime::needed_weights needed(p, r);
      const weights::store store(w, needed.items());
      const auto end = ranks.connect(runtime::paths_of(p.plan, p.plan.in_flight));
      std::optional<toy::fake_accelerator> other;
      if (how.accelerates) other.emplace();
      runtime::executor e(p, r, {store, needed.of_plan(0)}, *end, p.plan.in_flight, other ? &*other : nullptr, how.direct,
                          checks);
      mine.arena = e.arena_bytes();
      mine.jobs = other ? other->recorded() : 0;
      changed_frames in;
      no_results results;
      runtime::figures f;
      try {
        e.run(5, &in, nullptr, f);
        mine.recorded.emplace(p.plan.groups.size(), std::size_t{2}, true, true, true);
        e.record(&*mine.recorded);
        in.change = from.change;
        in.asked.clear();
        mine.began = runtime::now();
        e.run(frames, &in, &results, f);
        mine.ended = runtime::now();
        EXPECT_TRUE(are_of_run(in.asked, frames) && are_of_run(results.asked, frames));
        EXPECT_EQ(e.layer(), -1);
        EXPECT_EQ(e.frames(), frames);
        e.record(nullptr);
        end->settle();
      } catch (const channels::stopped&) {
      } catch (const std::exception& error) {
        mine.error = error.what();
        mine.frame = e.frame();
        mine.layer = e.layer();
        hub.stop();
      }
    });
  for (auto& t : threads) t.join();
  ::unlink(file.c_str());
  return out;
}

// Each step of each frame once, with its layer, its group, its segment or its message.
TEST(recording, has_every_step_of_every_frame) {
  const toy::program toy(toy::diamond(), {0, 0, 0, 1, 1, 0, 0, 1, 0, 0}, 3);
  const auto p = toy.view();
  constexpr std::int64_t frames = 1000;  // so many that some message comes and is used at once
  std::vector<std::int64_t> each(frames);
  for (std::int64_t f = 0; f < frames; ++f) each[f] = f;
  for (const auto how : ways) {
    const auto all = run(toy, frames, how, false, {});
    std::map<std::pair<int, std::int64_t>, std::int64_t> sent;  // when, by message and frame
    for (const auto& one : all)
      for (const auto& e : one.recorded->events())
        if (e.is == was::send) sent[{e.what, e.frame}] = e.begin;
    for (int r = 0; r < p.ranks(); ++r) {
      const auto& me = p.plan.ranks[r];
      EXPECT_EQ(all[r].error, "");
      EXPECT_EQ(all[r].arena, me.arena_bytes);
      using what = std::tuple<was, int, int>;  // of which layer etc., by which thread
      std::map<what, std::vector<std::int64_t>> expected, found;
      for (int s = me.first_step; s < me.last_step; ++s) {
        const auto& step = p.plan.steps[s];
        using schedule::action;
        if (step.what == action::enter) expected[{was::enter, step.layer, 0}] = each;
        if (step.what == action::leave) expected[{was::leave, step.layer, 0}] = each;
        if (step.what == action::send) expected[{was::send, step.message, 0}] = each;
        if (step.what == action::receive)
          for (const auto is : {was::post, was::receive}) expected[{is, step.message, 0}] = each;
        if (step.what == action::compute && !how.accelerates)
          for (const int thread : {0, 1}) expected[{was::compute, step.group, thread}] = each;
      }
      // One job for the kernels of a segment, in each slot.
      int segments = 0;
      for (int g = me.first_segment; g < me.last_segment; ++g)
        segments += std::any_of(p.plan.steps.begin() + p.plan.segments[g].first_step,
                                p.plan.steps.begin() + p.plan.segments[g].last_step,
                                [](const auto& s) { return s.what == schedule::action::compute; });
      EXPECT_EQ(all[r].jobs, how.accelerates ? segments * std::min(me.slots, 3) : 0);
      for (int g = 0; how.accelerates && g < me.last_segment - me.first_segment; ++g) expected[{was::job, g, 0}] = each;
      const auto& recorded = *all[r].recorded;
      std::vector<event> of_messages;
      std::map<std::pair<int, std::int64_t>, event> calls;  // by group and frame
      for (const auto& e : recorded.events()) {
        EXPECT_LE(e.begin, e.end);
        EXPECT_GE(e.begin, all[r].began) << static_cast<int>(e.is);
        EXPECT_LE(e.end, all[r].ended);
        if (e.is == was::compute && e.thread == 0) {
          calls[{e.what, e.frame}] = e;
          EXPECT_EQ(recorded.samples()[e.what][e.frame], e.end - e.begin);
        } else if (e.is == was::compute) {  // within the call
          const auto& call = calls.at({e.what, e.frame});
          EXPECT_TRUE(call.begin <= e.begin && e.begin < e.end && e.end <= call.end);
        }
        if (e.is == was::wait) {
          EXPECT_EQ(e.frame, -1);
          continue;
        }
        found[{e.is, e.what, e.thread}].push_back(e.frame);
        if (e.is == was::post || e.is == was::receive || e.is == was::send) of_messages.push_back(e);
        if (e.is == was::receive) {
          EXPECT_GE(e.end, (sent.at({e.what, e.frame})));
        }
      }
      for (auto& [_, list] : found) std::sort(list.begin(), list.end());
      EXPECT_EQ(found, expected) << "rank " << r;
      EXPECT_EQ(recorded.message_events().size(), of_messages.size());
      // An accelerator's kernels are timed before, one at a time.
      for (std::size_t g = 0; g < p.plan.groups.size(); ++g)
        EXPECT_EQ(std::ssize(recorded.samples()[g]), p.plan.groups[g].rank != r ? 0 : how.accelerates ? 1 : frames);
    }
  }
}

TEST(recording, says_which_numbers_are_not_finite) {
  using toy::op;
  // Each sum has three times its operand, or one operand and twice the other: toy::sum.
  const toy::program toy({{op::input, {}}, {op::sum, {0, 0}}, {op::sum, {1, 0}}, {op::output, {2}}}, {0, 0, 1, 1}, 3);
  changed_frames infinite, large;
  infinite.change = [](std::int64_t frame, toy::values& x) {
    if (frame == 7) x[37] = -std::numeric_limits<float>::infinity();
  };
  large.change = [](std::int64_t frame, toy::values& x) {
    if (frame == 6) x[2] = 8e37F;  // 2.4e38 after the first sum, and more than 3.4e38 after the second
  };
  for (const auto how : ways) {
    for (const auto* source : {&infinite, &large})
      for (const auto& one : run(toy, 12, how, false, *source)) EXPECT_EQ(one.error, "");
    auto all = run(toy, 12, how, true, infinite);
    EXPECT_EQ(all[0].error.find("the input itself holds -inf at [1, 5]; "), 0u) << all[0].error;
    EXPECT_EQ(all[0].frame, 7);
    EXPECT_EQ(all[0].layer, 0);
    EXPECT_EQ(all[1].error, "");
    all = run(toy, 12, how, true, large);
    EXPECT_EQ(all[0].error, "");
    EXPECT_EQ(all[1].error.find("its result holds inf at [0, 2]; "), 0u) << all[1].error;
    EXPECT_EQ(all[1].frame, 6);
    EXPECT_EQ(all[1].layer, 2);
  }
}

}  // namespace
