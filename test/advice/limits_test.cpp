// The bottleneck of a run, from its measured figures.
#include "report/one.hpp"

#include "dice/advice/explanation.hpp"
#include "dice/job/clock_shift.hpp"
#include "dice/report/seen.hpp"
#include "dice/report/summary.hpp"
#include "dice/runtime/recorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace dice;

/// A run of one()'s plan: two ranks with messages both ways.
TEST(explain, links_and_limits) {
  const auto p = one().view();
  using kind = runtime::recorder::kind;
  runtime::recorder recorder(p.plan.groups.size(), 1, false, false, true);
  const auto& messages = p.plan.messages;
  ASSERT_GE(messages.size(), 2u);
  // A frame every 1000 ns: sent at once, room from 200 on, each message arrives at least 300 after the one before.
  for (int f = 0; f < 5; ++f)
    for (std::size_t m = 0; m < messages.size(); ++m) {
      const auto id = static_cast<int>(m);
      recorder.add({f * 1000, f * 1000, f, id, kind::send});
      recorder.add({f * 1000 + 200, f * 1000 + 200, f, id, kind::post});
      recorder.add({f * 1000 + 500, f * 1000 + 500, f, id, kind::receive});
    }
  const auto links = report::detail::links_of(p, {report::message_events_part(recorder, steady(7))});
  ASSERT_FALSE(links.empty());
  int counted = 0;
  for (const auto& l : links) {
    EXPECT_NE(l.from, l.to);
    EXPECT_NEAR(l.seconds, 300e-9, 1e-12);  // from room to arrival; the link's other messages arrive at the same time
    counted += l.messages;
  }
  EXPECT_EQ(counted, static_cast<int>(messages.size()));

  report::seen_run run;
  run.links = links;
  run.hosts = {"a", "b"};
  run.period = 1e-3;
  run.in_flight = p.plan.in_flight;
  const auto limit = [&](std::vector<double> busy, std::vector<double> idle, double link) {
    run.busy = std::move(busy);
    run.idle = std::move(idle);
    run.links[0].seconds = link;
    return advice::detail::limit_text(p, run);
  };
  EXPECT_EQ(limit({0.3e-3, 0.95e-3}, {0.6, 0.02}, 0.2e-3), "Bottleneck: rank 1 on b, which computes 95 % of the time.");
  EXPECT_EQ(
      limit({0.3e-3, 0.5e-3}, {0.6, 0.02}, 0.2e-3),
      "Bottleneck: rank 1 on b, which computes 50 % of the time, and handles messages and frames for most of the rest.");
  run.input = {0.1e-3, 0.6e-3};
  EXPECT_EQ(
      limit({0.3e-3, 0.3e-3}, {0.6, 0.02}, 0.2e-3),
      "Bottleneck: rank 1 on b, which reads and converts frames 60 % of the time: give it smaller pictures, or frames that "
      "another program has converted.");
  run.input = {};
  EXPECT_EQ(limit({0.3e-3, 0.5e-3}, {0.6, 0.4}, 0.97e-3),
            "Bottleneck: messages from " + advice::detail::rank_at(run, links[0].from) + " to " +
                advice::detail::rank_at(run, links[0].to) + ", which are under way 97 % of the time.");
  EXPECT_NE(limit({0.3e-3, 0.5e-3}, {0.6, 0.4}, 0.2e-3).find("allow more with dice::in_flight<12> in the mapping"),
            std::string::npos);
  run.in_flight = 2;
  EXPECT_NE(limit({0.3e-3, 0.5e-3}, {0.6, 0.4}, 0.2e-3).find("2 may be in flight; allow more with --in-flight,"),
            std::string::npos);
}

/// Frames are ignored unless all their messages are known; the page says how many are.
TEST(explain, tells_how_many_frames_it_knows) {
  const auto p = one().view();
  using kind = runtime::recorder::kind;
  runtime::recorder recorder(p.plan.groups.size(), 1, false, false, true);
  for (int f = 0; f < 10; ++f)
    for (std::size_t m = 0; m < p.plan.messages.size(); ++m) {
      const auto id = static_cast<int>(m);
      recorder.add({f * 1000, f * 1000, f, id, kind::send});
      if (f < 4 || (f == 4 && m == 0)) recorder.add({f * 1000 + 100, f * 1000 + 100, f, id, kind::receive});
    }
  report::summary figures;
  figures.frames = 10;
  figures.seconds = 1;
  figures.ranks.resize(2);
  const auto run = report::seen(p, figures, {}, {report::message_events_part(recorder, steady(0))}, 6);
  std::int64_t least = 10;
  for (const auto& l : run.links) least = std::min(least, l.frames);
  EXPECT_EQ(least, 4);
  EXPECT_NE(advice::explained_text(p, run, nullptr).find("Message times cover 4 of the 10 frames"), std::string::npos);
  EXPECT_NE(advice::explained_json(p, run, nullptr).json().find("\"frames\": 4"), std::string::npos);
}
