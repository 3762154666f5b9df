// The printed plan and figures, and the figures derived from a run, without running anything.
#include "report/one.hpp"

#include "dice/job/clock_shift.hpp"
#include "dice/report/plan.hpp"
#include "dice/report/seen.hpp"
#include "dice/report/summary.hpp"
#include "dice/runtime/recorder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace dice;

TEST(plan, text) {
  const auto text = report::plan_table(one().view());
  EXPECT_NE(text.find("rank 0: l0 … l2, l5, l6, l8, l9"), std::string::npos) << text;
  EXPECT_NE(text.find("2 ranks, 6 frames in flight"), std::string::npos) << text;
}

// Of a long run only some frames' times are kept: figures have bounded memory, and the speed remains exact.
TEST(report, of_a_long_run) {
  runtime::figures in, out;
  const std::int64_t frames = 1'000'003;
  for (std::int64_t f = 0; f < frames; ++f) {
    in.entered.add(1000 * f);
    out.left.add(1000 * f + 5'000'000 + f % 2);
  }
  EXPECT_LE(in.entered.kept().size(), runtime::frame_times::most);
  EXPECT_EQ(in.entered.kept()[1], 1000 * in.entered.step());
  runtime::figures few;  // of a rank whose outputs left earlier
  for (std::int64_t f = 0; f < frames; ++f) few.left.add(1000 * f);
  const auto r =
      report::merge({report::summary_part("a", in, steady(0), 0, {}), report::summary_part("b", out, steady(0), 0, {}),
                     report::summary_part("c", few, steady(0), 0, {})},
                    frames);
  EXPECT_GT(r.latency_ms.size(), runtime::frame_times::most / 4);
  EXPECT_DOUBLE_EQ(r.latency(0), 5.0);
  EXPECT_DOUBLE_EQ(r.seconds, 1e-9 * (1000.0 * (frames - 1) + 5'000'000 + (frames - 1) % 2));
  EXPECT_EQ(r.frames, frames);
}

TEST(report, latency_and_speed) {
  runtime::figures in, out;
  for (const std::int64_t t : {1'000'000, 2'000'000, 3'000'000}) in.entered.add(t);
  for (const std::int64_t t : {4'000'000, 4'500'000, 9'000'000}) out.left.add(t);
  in.computing = 6'000'000;
  out.bytes_sent = 42;
  // Rank 1's clock is 0.5 ms behind rank 0's.
  const auto r = report::merge({report::summary_part("a", in, steady(0), 7, {"GPU X", 30 << 20, 2 << 20, 500 << 20}),
                                report::summary_part("b", out, steady(500'000), 8, {})},
                               3);
  ASSERT_EQ(r.latency_ms.size(), 3u);
  EXPECT_DOUBLE_EQ(r.latency(0), 3.0);
  EXPECT_DOUBLE_EQ(r.latency(0.5), 3.5);
  EXPECT_DOUBLE_EQ(r.latency(0.75), 5.0);
  EXPECT_DOUBLE_EQ(r.latency(1), 6.5);
  EXPECT_NEAR(r.frames_per_second(), 3 / 8.5e-3, 1e-9);
  EXPECT_DOUBLE_EQ(r.ranks[0].compute_ms, 2.0);
  EXPECT_EQ(r.ranks[1].bytes_sent, 42);
  EXPECT_EQ(r.ranks[1].planned_bytes, 8);
  EXPECT_EQ(r.ranks[1].host, "b");
  EXPECT_EQ(r.ranks[0].kernels, "");  // its layers are computed by a GPU
  EXPECT_EQ(r.ranks[1].kernels, kernels::cpu_level_name());
  EXPECT_NE(report::summary_table(r).find("rank 0 on GPU X: 30.0 MiB of its memory, 500.0 MiB more for CUDA's libraries; "
                                          "2048.0 KiB of pinned host memory\n"),
            std::string::npos);
  EXPECT_EQ(report::summary_table(r).find("rank 1 on"), std::string::npos);
  for (const auto& [seconds, text] : {std::pair{8.5e-3, "3 frames in 8.5 ms, 352.94 "},
                                      {1.6e-4, "3 frames in 160 µs, "},
                                      {0.25, "3 frames in 0.250 s, "}}) {
    auto other = r;
    other.seconds = seconds;
    EXPECT_EQ(report::summary_table(other).find(text), 0u) << report::summary_table(other);
  }
  EXPECT_EQ(report::summary_table(r).find("came"), std::string::npos);
  for (const auto& [restarts, text] :
       {std::pair{0, "\n300 frames came, 0 dropped\n"}, {1, "\n300 frames came, 0 dropped; 1 restart of the source\n"}}) {
    auto stream = r;
    stream.streams = {300, 0, restarts};
    EXPECT_NE(report::summary_table(stream).find(text), std::string::npos) << report::summary_table(stream);
  }
  EXPECT_NE(report::summary_json(r).json().find(
                "\"gpu\": {\"name\": \"GPU X\", \"memory_bytes\": 31457280, \"pinned_bytes\": 2097152, "
                "\"libraries_bytes\": 524288000}}"),
            std::string::npos);
}

TEST(report, cores_of_ranks_and_of_others) {
  constexpr std::int64_t s = 1'000'000'000;
  runtime::figures f[4];
  f[0].cores = {.time = s, .waited = s / 2, .busy = 2 * s, .used = s / 2, .process = 1, .threads = 2, .cores = {0, 1}};
  f[1].cores = {.time = s, .busy = s, .used = s / 4, .process = 2, .threads = 1, .cores = {1}};
  f[2].cores = {.time = s, .busy = s, .used = s, .process = 1, .threads = 1, .cores = {0}};  // of host b: another process 1
  f[3].cores = f[2].cores;
  std::vector<std::string> parts;
  for (int r = 0; r < 4; ++r) parts.push_back(report::summary_part(r < 2 ? "a" : "b", f[r], steady(0), 0, {}));
  auto r = report::merge(parts, 1);
  EXPECT_EQ(r.ranks[0].of_others, 2 * s - s / 2 - s / 4);
  EXPECT_EQ(r.ranks[1].of_others, s - s / 4 - s / 4);  // rank 0 uses its two cores alike
  EXPECT_EQ(r.ranks[2].of_others, 0);                  // the process of both ranks counts once
  EXPECT_NE(report::summary_json(r).json().find("\"cores\": {\"count\": 2, \"threads\": 2, \"waited_ms\": 500, "
                                                "\"stolen_ms\": 0, \"throttled_ms\": 0, \"other_programs_ms\": 1250}"),
            std::string::npos)
      << report::summary_json(r).json();
  // A rank that only waits for messages loses nothing while it waits for a core.
  r.seconds = 1;
  const auto p = one().view();
  r.ranks.resize(2);
  r.ranks[0].wait_ms = 900;
  r.ranks[1].wait_ms = 0;
  auto seen = report::seen(p, r, {}, {}, 1);
  EXPECT_NEAR(seen.lost[0].waited, 0.1, 1e-9);
  EXPECT_NEAR(seen.lost[0].others, 1.25, 1e-9);
  EXPECT_EQ(seen.lost[0].threads, 3);
  EXPECT_EQ(seen.lost[1].threads, 3);
  EXPECT_EQ(seen.lost[1].cores, 1);
  // No rank computes and waits for more than the whole time, even if its waits before the first frame count.
  r.ranks[0].wait_ms = 2000;
  r.ranks[0].compute_ms = 170;
  r.ranks[1].wait_ms = 500;
  r.ranks[1].compute_ms = 1100;
  seen = report::seen(p, r, {}, {}, 1);
  EXPECT_NEAR(seen.idle[0], 0.83, 1e-9);
  EXPECT_EQ(seen.idle[1], 0);
}

// A frame enters with the first of its inputs and leaves with the last of its outputs, on whichever ranks.
TEST(report, latency_of_several_inputs_and_outputs) {
  const auto times = [](std::int64_t first, std::int64_t second) {
    runtime::frame_times out;
    out.add(first * 1'000'000);
    out.add(second * 1'000'000);
    return out;
  };
  for (const bool swapped : {false, true}) {
    runtime::figures a, b;
    a.entered = times(1, 5);
    b.entered = times(2, 4);
    a.left = times(7, 8);
    b.left = times(6, 9);
    if (swapped) std::swap(a, b);
    const auto r =
        report::merge({report::summary_part("a", a, steady(0), 0, {}), report::summary_part("b", b, steady(0), 0, {})}, 2);
    EXPECT_DOUBLE_EQ(r.latency(0), 5.0);
    EXPECT_DOUBLE_EQ(r.latency(1), 6.0);
    EXPECT_DOUBLE_EQ(r.seconds, 8e-3);
  }
}

TEST(seen, links_of_clocks_that_drift) {
  const auto p = one().view();
  using kind = runtime::recorder::kind;
  // Each message takes 300 µs; the receiver's clock is 20 ppm too slow, so that after 100 s it is 2 ms behind.
  constexpr std::int64_t us = 1000, s = 1'000'000 * us;
  const auto other = [](std::int64_t t) { return t - t / 50000 + 77 * s; };
  std::vector<runtime::recorder> ranks(2, runtime::recorder(p.plan.groups.size(), 1, false, false, true));
  for (int f = 0; f < 100; ++f)
    for (std::size_t m = 0; m < p.plan.messages.size(); ++m) {
      const auto& about = p.plan.messages[m];
      const auto here = [&](int rank, std::int64_t t) { return rank == 0 ? t : other(t); };
      const auto sent = here(about.from, f * s), arrived = here(about.to, f * s + 300 * us);
      ranks[about.from].add({sent, sent, f, static_cast<int>(m), kind::send});
      ranks[about.to].add({arrived, arrived, f, static_cast<int>(m), kind::receive});
    }
  const job::clock_shift clock({other(0), 0 - other(0)}, {other(100 * s), 100 * s - other(100 * s)});
  const auto links = report::detail::links_of(
      p, {report::message_events_part(ranks[0], steady(0)), report::message_events_part(ranks[1], clock)});
  ASSERT_EQ(links.size(), 2u);
  for (const auto& l : links) {
    EXPECT_NEAR(l.seconds, 300e-6, 1e-7) << l.from;
    EXPECT_EQ(l.frames, 100);
  }
}
