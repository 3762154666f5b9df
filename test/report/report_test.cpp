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
#include <vector>

using namespace dice;

TEST(plan, text) {
  const auto text = report::plan_table(one().view());
  EXPECT_NE(text.find("rank 0: l0 … l2, l5, l6, l8, l9"), std::string::npos) << text;
  EXPECT_NE(text.find("2 ranks, 6 frames in flight"), std::string::npos) << text;
}

TEST(report, latency_and_speed) {
  runtime::figures in, out;
  in.entered = {1'000'000, 2'000'000, 3'000'000};
  out.left = {4'000'000, 4'500'000, 9'000'000};
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
  EXPECT_NE(report::summary_table(r).find("rank 0 on GPU X: 30.0 MiB of its memory, 500.0 MiB more for CUDA's libraries; "
                                          "2048.0 KiB of pinned host memory\n"),
            std::string::npos);
  EXPECT_EQ(report::summary_table(r).find("rank 1 on"), std::string::npos);
  EXPECT_NE(report::summary_json(r).json().find(
                "\"gpu\": {\"name\": \"GPU X\", \"memory_bytes\": 31457280, \"pinned_bytes\": 2097152, "
                "\"libraries_bytes\": 524288000}}"),
            std::string::npos);
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
      ranks[static_cast<std::size_t>(about.from)].add({sent, sent, f, static_cast<int>(m), kind::send});
      ranks[static_cast<std::size_t>(about.to)].add({arrived, arrived, f, static_cast<int>(m), kind::receive});
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
