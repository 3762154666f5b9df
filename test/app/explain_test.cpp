// What --explain advises after a run of which all figures are known.
#include "dice/app/main.hpp"

#include "sample.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace dice;

namespace {

using slow = board<"slow", ram<1_GiB>, processor<threads<1>, gflops<1>, gbytes_per_s<1>>>;
using quick = board<"quick", ram<1_GiB>, processor<threads<1>, gflops<3>, gbytes_per_s<3>>>;
using lab = cluster<host<"s", slow>, host<"q", quick>, connection<gbytes_per_s<50>, us<0.01>>>;
using on_slow = mapping<dev<0, threads<1>, on<"s">>, layers<all>>;
using on_quick = mapping<dev<0, threads<1>, on<"q">>, layers<all>>;
using best = best_mapping<sample::network, lab, throughput>;

/// A run of Map in which all took `times` what was predicted, and messages `link_times`.
template <class Map> app::seen_run run_of(double times, double link_times = 1) {
  const auto& f = app::forecast_of<sample::network, Map, lab>;
  const auto& p = app::program_of<sample::network, Map>;
  app::report figures;
  figures.frames = 10;
  const auto expected = app::foreseen(f, p);
  std::vector<app::rank_profile> profiles(p.plan.ranks.size());
  figures.ranks.resize(profiles.size());
  std::vector<double> sums(profiles.size());
  for (std::size_t g = 0; g < p.plan.groups.size(); ++g)
    sums[static_cast<std::size_t>(p.plan.groups[g].rank)] += expected.group_seconds[g];
  for (std::size_t g = 0; g < p.plan.groups.size(); ++g) {
    const auto r = static_cast<std::size_t>(p.plan.groups[g].rank);
    profiles[r].groups.push_back({static_cast<int>(g), 0, 0, expected.group_seconds[g] / sums[r]});
  }
  const double period = expected.expected.period * times;
  figures.seconds = 10 * period;
  for (std::size_t r = 0; r < sums.size(); ++r) {
    figures.ranks[r].host = "h" + std::to_string(r);
    figures.ranks[r].compute_ms = sums[r] * times * 1e3;
    figures.ranks[r].wait_ms = (period - sums[r] * times) * 1e3;
  }
  auto out = app::seen(p, figures, profiles, {}, p.plan.in_flight);
  for (auto& l : out.links)
    l.seconds = link_times * expected.links[static_cast<std::size_t>(l.from * p.ranks() + l.to)].time(l.bytes, l.messages);
  return out;
}

template <class Map> std::string advice(const app::seen_run& run, bool json = false) {
  return app::advised(app::forecast_of<sample::network, Map, lab>, app::program_of<sample::network, Map>, run, json);
}

TEST(explain, what_was_foreseen_sums_up) {
  const auto run = run_of<on_slow>(1);
  ASSERT_EQ(run.stages.size(), 1u);
  EXPECT_NEAR(run.stages[0].seconds, (predicted<sample::network, on_slow, lab>.latency), 1e-12);
  const auto text =
      app::explained_text(app::program_of<sample::network, on_slow>, run, &app::forecast_of<sample::network, on_slow, lab>);
  EXPECT_NE(text.find("rank 0 on h0"), std::string::npos) << text;
  EXPECT_NE(text.find("What limits: rank 0 on h0, which computes 100 % of the time."), std::string::npos) << text;
}

TEST(explain, advises_the_best_mapping_with_times_as_seen) {
  constexpr double best_fps = predicted<sample::network, best, lab>.throughput;
  constexpr double slow_fps = predicted<sample::network, on_slow, lab>.throughput;
  // All took twice what was predicted: what would be best is half as fast as predicted, and the gain is the same.
  const auto text = advice<on_slow>(run_of<on_slow>(2));
  EXPECT_NE(text.find("This mapping would do " + app::detail::number_text(best_fps / 2, "%.4g frames/s") +
                      app::detail::number_text((best_fps / slow_fps - 1) * 100, " (%.0f %% more)")),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("using plan = dice::mapping<"), std::string::npos);
  const auto json = advice<on_slow>(run_of<on_slow>(2), true);
  EXPECT_EQ(json.find("\"better\": {\"frames_per_s\": " + app::json_number(best_fps / 2)), 0u) << json;
}

TEST(explain, the_best_mapping_has_none_better) {
  EXPECT_EQ(advice<best>(run_of<best>(1)), "No other mapping on this cluster is predicted to gain more than 3 %.\n");
  EXPECT_EQ(advice<best>(run_of<best>(1), true), "\"better\": null");
  auto run = run_of<best>(1);
  run.period *= 1.5;  // frames that wait for one another do not make another mapping better
  EXPECT_EQ(advice<best>(run, true), "\"better\": null");
}

TEST(explain, one_device_may_be_the_best) {
  ASSERT_EQ((app::program_of<sample::network, best>.ranks()), 2);
  auto run = run_of<best>(1, 1e6);  // messages took a million times what was predicted, and the ranks waited for them
  run.period = run.links[0].seconds, run.idle.assign(2, 0.99);
  const auto text = advice<best>(run);
  EXPECT_EQ(text.find("No mapping on several devices is better than one device alone, which would do "), 0u) << text;
  EXPECT_NE(text.find("dice::on<\"q\">"), std::string::npos);
  run.idle.assign(2, 0.01);  // they never waited: messages only seem slow
  EXPECT_EQ(advice<best>(run).find("No other mapping"), 0u);
}

}  // namespace
