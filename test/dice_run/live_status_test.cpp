// What a running job says of itself, as dice-run reads and shows it.
#include "live_status.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace dice_run;

namespace {

/// A host that is up for 1000 s and has the status of job `number`.
host_state with(const std::string& host, long number, const std::string& status) {
  host_state out;
  out.host = host;
  out.now = 1000;
  out.status_number = number;
  out.status = status;
  return out;
}

const std::string good =
    R"({"phase": "running", "uptime_s": 999, "running_s": 60, "entered": 1203, "answered": 1200, "read": 1210, "dropped": 7, "source_restarts": 1,
        "frames_per_second": 19.96, "latency_ms": {"median": 41.23, "p95": 55}, "last_frame_s": 0.25,
        "ranks": [{"host": "pc", "stage_ms": 12.5, "busy": 0.5, "temperature_c": 50.1, "silent_s": 0.4},
                  {"host": "pi", "stage_ms": null, "busy": null, "temperature_c": null, "silent_s": 12}]})";

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    out.push_back(text.substr(begin, end - begin));
  return out;
}

}  // namespace

TEST(LiveStatus, IsOfTheJobThatRuns) {
  EXPECT_FALSE(live_status_of({}, 3));
  EXPECT_FALSE(live_status_of({with("a", 2, good)}, 3)) << "of an earlier job, which was killed";
  for (const char* damaged : {"", "{", "[1]", "7", R"({"phase": 7})", R"({"ranks": [{"host": 1}]})"})
    EXPECT_FALSE(live_status_of({with("a", 3, damaged)}, 3)) << damaged;
  auto older = good;
  older.replace(older.find("999"), 3, "900");
  const auto s = live_status_of({with("a", 3, older), with("b", 3, good), with("c", 3, "x")}, 3);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->age_s, 1);
  EXPECT_EQ(s->phase, "running");
  EXPECT_EQ(s->answered, 1200);
  EXPECT_EQ(s->dropped, 7);
  ASSERT_EQ(s->ranks.size(), 2u);
  EXPECT_EQ(s->ranks[0].stage_ms, 12.5);
  EXPECT_EQ(s->ranks[1].stage_ms, -1);
  const auto odd = live_status_of({with("a", 3, R"({"answered": 1e300, "entered": -5, "ranks": 3, "latency_ms": []})")}, 3);
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->entered, 0);
  EXPECT_EQ(odd->answered, 9'000'000'000'000'000);
}

TEST(LiveStatus, TheNewestCounts) {
  auto older = good, later = good;
  older.replace(older.find("999"), 3, "900");
  EXPECT_EQ(live_status_of({with("b", 3, good), with("a", 3, older)}, 3)->age_s, 1);
  later.replace(later.find("999"), 3, "1001");  // while the host was asked
  EXPECT_EQ(live_status_of({with("a", 3, later)}, 3)->age_s, 0);
}

TEST(LiveStatus, NamesOfHostsDoNotChangeTheTerminal) {
  const auto s = live_status_of({with("a", 3, R"({"ranks": [{"host": "a\u001b[2J\nb", "silent_s": 20}]})")}, 3);
  ASSERT_TRUE(s && s->ranks.size() == 1);
  EXPECT_EQ(s->ranks[0].host.find_first_of("\x1b\n"), std::string::npos) << s->ranks[0].host;
}

TEST(LiveStatus, AsText) {
  auto s = *live_status_of({with("b", 3, good)}, 3);
  auto said = lines(live_text(s));
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0],
            "frames: 1200 answered, 7 dropped; 20 frames/s now; latency median 41.2 ms, p95 55.0 ms; the last one 1.2 s "
            "ago; 1 restart of the source");
  EXPECT_EQ(said[1], "rank 1 (pi) has said nothing for 13 s: it is stuck, stopped or lost, or a kernel takes so long");
  s.ranks[1].silent_s = 4.5;  // when rank 0 said so, a second ago
  EXPECT_NE(live_text(s).find("rank 1 (pi) has said nothing for 5.5 s"), std::string::npos);
  s.phase = "ending";
  EXPECT_EQ(lines(live_text(s)).size(), 1u);
  s.age_s = 5.5;
  EXPECT_EQ(lines(live_text(s)).back(), "rank 0 (pc) has said nothing for 5.5 s: it is stuck, stopped or lost");
  s.age_s = 30;  // then nothing is known of the others
  said = lines(live_text(s));
  EXPECT_EQ(said.back(), "rank 0 (pc) has said nothing for 30 s: it is stuck, stopped or lost");
  EXPECT_EQ(live_text({.phase = "joining", .age_s = 1, .running_s = 8}),
            "frames: none yet; the ranks have not met for 9.0 s\n");
  EXPECT_EQ(live_text({.phase = "preparing"}), "frames: none yet; the ranks have met, and read weights and files\n");
  EXPECT_EQ(live_text({.phase = "waiting"}), "frames: 0 answered; none has entered\n");
  EXPECT_EQ(live_text({.phase = "waiting", .entered = 2}), "frames: 0 answered; 2 frames entered, but none has come out\n");
}

TEST(LiveStatus, WhyNoFrameHasComeOut) {
  using texts = std::vector<std::string>;
  EXPECT_EQ(why_no_frame({}, {"pi", "far"}, 60),
            (texts{"pi: its ranks do not run; look at dice-run logs", "far: its ranks do not run; look at dice-run logs"}));
  EXPECT_EQ(why_no_frame({}, {}, 60), (texts{"all ranks run, but rank 0 has said nothing for 60 s; look at dice-run logs"}));
  EXPECT_NE(why_no_frame(live_status{.phase = "joining"}, {}, 60)
                .at(0)
                .find("all ranks run, but do not meet: a firewall, or networks"),
            std::string::npos);
  EXPECT_NE(why_no_frame(live_status{.phase = "preparing"}, {}, 60).at(0).find("still read weights and files"),
            std::string::npos);
  live_status s{.phase = "waiting", .ranks = {{.host = "pc", .silent_s = 1}, {.host = "pi", .silent_s = -1}}};
  EXPECT_EQ(why_no_frame(s, {}, 60),
            (texts{"no frame has entered: does the source of the frames give any?", "rank 1 (pi) has said nothing yet"}));
  s.entered = 4;
  s.ranks[1].silent_s = 20;
  EXPECT_EQ(why_no_frame(s, {}, 60),
            (texts{"4 frames entered, and none has come out",
                   "rank 1 (pi) has said nothing for 20 s: it is stuck, stopped or lost, or a kernel takes so long"}));
}
