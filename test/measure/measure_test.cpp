// Figures of measurements, without measuring.
#include "runtime/toy.hpp"

#include "dice/measure/measure.hpp"
#include "dice/measure/run_time.hpp"
#include "dice/measure/trial.hpp"
#include "dice/measure/tune.hpp"
#include "dice/meta/clock.hpp"
#include "dice/runtime/slower_kernels.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

using namespace dice;

TEST(measure, a_run_takes_the_median_where_nothing_pauses) {
  measure::detail::run_time timer;
  std::int64_t runs = 0;
  const auto time = timer.median_of([&](bool) { return ++runs % 5 == 0 ? 1'000'000 : 5'000'000; });
  EXPECT_EQ(time.ms, 5);
  EXPECT_GE(runs, 9);
  EXPECT_EQ(timer.lasting({7, false}), 7);
}

TEST(measure, pauses_count_as_a_share_of_all_runs) {
  measure::detail::run_time timer;
  const auto time = timer.median_of([](bool processor_time) {  // sleeps for three times as long as it works
    const auto from = meta::now(), had = meta::thread_time();
    while (meta::thread_time() - had < 2'000'000) {
    }
    const auto worked = meta::thread_time() - had;
    ::usleep(6'000);
    return processor_time ? worked : meta::now() - from;
  });
  EXPECT_TRUE(time.paused);
  EXPECT_NEAR(time.ms, 2, 0.2);
  EXPECT_GT(timer.lasting(time), 7);
  EXPECT_EQ(timer.lasting({7, false}), 7);
}

TEST(measure, latency_and_bandwidth) {
  const std::vector<double> bytes{1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6};
  std::vector<double> seconds;
  for (const double b : bytes) seconds.push_back(150e-6 + b / 12e6);
  auto link = measure::detail::fitted(bytes, seconds);
  EXPECT_NEAR(link.seconds, 150e-6, 1e-9);
  EXPECT_NEAR(link.bytes_per_s, 12e6, 1);
  seconds[0] = 20e-6;
  seconds[1] = 40e-6;
  seconds[5] *= 1.5;  // a burst, and a disturbance
  link = measure::detail::fitted(bytes, seconds);
  EXPECT_NEAR(link.seconds, 150e-6, 80e-6);
  EXPECT_NEAR(link.bytes_per_s, 12e6, 0.6e6);
  link = measure::detail::fitted({1e3}, {1e-3});  // a link so slow that a single size is measured
  EXPECT_NEAR(link.bytes_per_s, 1e6, 1);
  EXPECT_NEAR(link.seconds, 0, 1e-12);
  link = measure::detail::fitted({1e3, 4e3}, {2e-3, 1e-3});  // even nonsensical times give no negative speed
  EXPECT_GT(link.bytes_per_s, 0);
  EXPECT_GE(link.seconds, 0);
}

TEST(trial, processor_time) {
  const toy::program toy(toy::diamond(), std::vector<int>(10, 0), 1);
  const auto p = toy.view();
  const auto step = std::find_if(p.plan.steps.begin(), p.plan.steps.end(),
                                 [](const auto& s) { return s.what == schedule::action::compute; });
  ASSERT_NE(step, p.plan.steps.end());
  const measure::detail::trial t(p, *step, {p.algorithm(step->group)});
  const weights::block others(4096);
  constexpr double much = 1e6;  // a clock that shows it, so that the test sees which clock was asked
  auto elapsed = std::numeric_limits<std::int64_t>::max();
  std::int64_t shown = 0;
  p.threads.run([&] {
    runtime::slower_kernels clock(p.threads, much);
    for (int k = 0; k < 20; ++k) elapsed = std::min(elapsed, t.time(0, others));
    shown = t.time(0, others, &clock);
  });
  EXPECT_GT(static_cast<double>(shown), much / 1e3 * static_cast<double>(elapsed));
}

TEST(measure, names) {
  EXPECT_EQ(measure::detail::word("pi-a.local"), "pi_a_local");
  EXPECT_EQ(measure::detail::word("cores<0, 1>"), "cores_0_1");
  EXPECT_EQ(measure::detail::word("--"), "");
}

TEST(tune, a_network_without_choices) {
  const toy::program toy(toy::diamond(), std::vector<int>(10, 0), 1);
  const auto folder = std::filesystem::temp_directory_path() / ("dice_tune_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string header = folder / "tuned.hpp", json = folder / "tuned.json";
  const auto read = [](const std::string& file) {
    std::stringstream out;
    out << std::ifstream(file).rdbuf();
    return out.str();
  };
  testing::internal::CaptureStdout();
  measure::tune(toy.view(), header, json);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "Nothing to tune: no layer of a CPU rank can be computed in several ways.\n'" + header +
                "' is written all the same, so that builds find it.\n");
  const auto text = read(header);
  EXPECT_NE(text.find("//   Nothing to tune: "), std::string::npos) << text;
  EXPECT_NE(text.find("variants{\n      -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};"), std::string::npos) << text;
  EXPECT_NE(read(json).find("\"layers\": []"), std::string::npos) << read(json);
  std::filesystem::remove_all(folder);
}
