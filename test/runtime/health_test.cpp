// What ranks say of themselves, over an endpoint whose messages move when the test says so.
#include "dice/runtime/control/health.hpp"

#include "manual_endpoint.hpp"

#include "dice/this_host/temperature.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace dice;
using kind = runtime::letter::kind;
constexpr std::int64_t a_second = 1'000'000'000;

const std::vector<runtime::letter_path> health_paths{test::letters(1, 0, kind::health, 3, 3)};

struct healthy_rank {
  test::manual end;
  runtime::mailbox box;
  runtime::health h;
  explicit healthy_rank(int rank, const std::vector<runtime::letter_path>& paths = health_paths)
      : box(paths, 0, rank, end), h(box, rank, 2) {
    box.advance();
  }
};

runtime::rank_health busy(bool enters, bool leaves) {
  return {
      .frames = 7, .computing = 70, .waiting = 30, .enters = enters, .leaves = leaves, .entered = 9, .streams = {12, 3, 1}};
}

}  // namespace

TEST(recent_latencies, of_a_minute) {
  runtime::recent_latencies l;
  EXPECT_EQ(l.median_and_p95(0), (std::pair<std::int64_t, std::int64_t>{}));
  EXPECT_EQ(l.age(5), 0);
  for (std::int64_t i = 1; i <= 100; ++i) l.add(i, 100 * a_second);
  EXPECT_EQ(l.median_and_p95(101 * a_second), (std::pair<std::int64_t, std::int64_t>{50, 95}));
  EXPECT_EQ(l.age(101 * a_second), a_second);
  l.add(7, 161 * a_second);
  EXPECT_EQ(l.median_and_p95(161 * a_second), (std::pair<std::int64_t, std::int64_t>{7, 7})) << "the others are too old";
  for (std::int64_t i = 0; i < 600; ++i) l.add(1000 + i, 162 * a_second);
  EXPECT_EQ(l.median_and_p95(162 * a_second).first, 1088 + 255) << "of the last 512";
  EXPECT_EQ(l.count(), 701);
  EXPECT_EQ(l.sum(), 5050 + 7 + 600 * 1000 + 599 * 300);
  runtime::recent_latencies full;
  for (std::int64_t i = 0; i < 512; ++i) full.add(i, a_second);
  EXPECT_EQ(full.median_and_p95(a_second), (std::pair<std::int64_t, std::int64_t>{255, 485}));
}

TEST(health, is_told_once_a_second) {
  healthy_rank r(1);
  r.h.advance([] { return busy(true, true); });
  EXPECT_TRUE(r.end.sends.empty()) << "it is off";
  r.h.left(5);
  r.h.turn(true);
  EXPECT_TRUE(r.h.due());
  r.h.left(40);
  r.h.advance([] { return busy(true, true); });
  ASSERT_EQ(r.end.sends.size(), 3u);
  EXPECT_FALSE(r.h.due());
  r.h.advance([] { return busy(true, true); });
  ASSERT_EQ(r.end.sends.size(), 3u);
  const auto work = r.end.take(), in = r.end.take(), out = r.end.take();
  EXPECT_TRUE(work.says[0] == 0 && work.says[1] == 7 && work.says[2] == 70 && work.says[3] == 30);
  EXPECT_TRUE(in.says[0] == 1 && in.says[1] == 9 && in.says[2] == 12 && in.says[3] == 3 && in.says[4] == 1);
  EXPECT_TRUE(out.says[0] == 2 && out.says[1] == 1 && out.says[2] == 40 && out.says[3] == 40)
      << "only what left while it was on";
}

TEST(health, says_only_what_a_rank_knows) {
  healthy_rank r(1);
  r.h.turn(true);
  r.h.advance([] { return busy(false, false); });
  EXPECT_EQ(r.end.sends.size(), 1u);
}

TEST(health, waits_for_no_room) {
  healthy_rank r(1, {test::letters(1, 0, kind::health, 2, 2)});
  r.h.turn(true);
  r.h.advance([] { return busy(true, true); });
  EXPECT_EQ(r.end.sends.size(), 2u) << "the third is left out";
}

TEST(health, is_known_in_rank_0) {
  healthy_rank r(0);
  r.h.turn(true);
  EXPECT_EQ(r.h.ranks()[1].heard, 0);
  r.h.advance([] { return busy(true, false); });
  r.end.give(0, kind::health, {0, 3, 30, 20, 51'000});
  r.end.give(0, kind::health, {2, 2, 90, 44, 46, a_second});
  r.box.advance();
  const auto all = r.h.ranks();
  EXPECT_TRUE(all[0].enters && !all[0].leaves && all[0].streams.dropped == 3 && all[0].heard > 0);
  EXPECT_TRUE(!all[1].enters && all[1].leaves && all[1].frames == 3 && all[1].computing == 30 &&
              all[1].temperature == 51'000);
  EXPECT_TRUE(all[1].left == 2 && all[1].latency_sum == 90 && all[1].median == 44 && all[1].p95 == 46);
  EXPECT_NEAR(static_cast<double>(meta::now() - all[1].last_left), 1e9, 2e8);
  EXPECT_TRUE(r.end.sends.empty());
}

TEST(temperature, is_the_highest_of_the_zones) {
  const auto zones = std::filesystem::path(testing::TempDir()) / ("dice_zones_" + std::to_string(::getpid()));
  const auto prefix = (zones / "zone").string();
  EXPECT_EQ(this_host::temperature(prefix), this_host::no_temperature);
  const char* values[] = {"45123\n", "61000\n", "-274000\n", "x\n"};
  for (int i = 0; i < 4; ++i) {
    std::filesystem::create_directories(prefix + std::to_string(i));
    std::ofstream(prefix + std::to_string(i) + "/temp") << values[i];
  }
  EXPECT_EQ(this_host::temperature(prefix), 61'000);
  for (int i = 0; i < 2; ++i) std::ofstream(prefix + std::to_string(i) + "/temp") << "0\n";
  EXPECT_EQ(this_host::temperature(prefix), this_host::no_temperature) << "all are off";
  std::filesystem::remove_all(zones);
}
