// What --explain advises after a run whose figures are all known.
#include "runtime/toy.hpp"

#include "dice/advice/advice.hpp"
#include "dice/advice/measured_search.hpp"
#include "dice/app/main.hpp"
#include "dice/partition/partition.hpp"
#include "dice/runtime/other_mapping.hpp"

#include "sample.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace dice;

namespace {

using slow = board<"slow", ram<1_GiB>, processor<threads<1>, gflops<1>, gbytes_per_s<1>>>;
using quick = board<"quick", ram<1_GiB>, processor<threads<1>, gflops<3>, gbytes_per_s<3>>>;
using lab = cluster<host<"s", slow>, host<"q", quick>, connection<gbytes_per_s<50>, us<0.01>>>;
using on_slow = mapping<dev<0, threads<1>, on<"s">>, layers<all>>;
using on_quick = mapping<dev<0, threads<1>, on<"q">>, layers<all>>;
using best = best_mapping<sample::network, lab, throughput, whole_layers>;

/// A run of Map in which computing took `times` × the predicted time, and messages `link_times` ×.
template <class Map, class Cluster = lab> report::seen_run run_of(double times, double link_times = 1) {
  const auto& f = app::cluster_model_of<sample::network, Map, Cluster>;
  const auto& p = assembly::program_of<sample::network, Map>;
  report::summary figures;
  figures.frames = 10;
  const auto expected = advice::predicted(f, p);
  std::vector<report::rank_profile> profiles(p.plan.ranks.size());
  figures.ranks.resize(profiles.size());
  std::vector<double> sums(profiles.size());
  for (std::size_t g = 0; g < p.plan.groups.size(); ++g) sums[p.plan.groups[g].rank] += expected.group_seconds[g];
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
  auto out = report::seen(p, figures, profiles, {}, p.plan.in_flight);
  for (auto& l : out.links) l.seconds = link_times * expected.links[l.from * p.ranks() + l.to].time(l.bytes, l.messages);
  return out;
}

/// `mixes`: whether the program knows other mappings than stages. Programs for one kind of board do not.
template <class Map> advice::assessment assessment_of(const report::seen_run& run, bool mixes = false) {
  auto program = assembly::program_of<sample::network, Map>;
  if (!mixes) program.tables = nullptr;
  return advice::advised(app::cluster_model_of<sample::network, Map, lab>, program, run);
}
template <class Map> std::string advice(const report::seen_run& run, bool json = false) {
  const auto all = assessment_of<Map>(run);
  return json ? all.better.value : all.advice;
}

TEST(explain, what_was_predicted_sums_up) {
  const auto run = run_of<on_slow>(1);
  ASSERT_EQ(run.stages.size(), 1u);
  EXPECT_NEAR(run.stages[0].seconds, (predicted<sample::network, on_slow, lab>.latency), 1e-12);
  const auto ahead = assessment_of<on_slow>(run);
  const auto text = advice::explained_text(assembly::program_of<sample::network, on_slow>, run, &ahead);
  EXPECT_NE(text.find("rank 0 on h0"), std::string::npos) << text;
  EXPECT_NE(text.find("Bottleneck: rank 0 on h0, which computes 100 % of the time."), std::string::npos) << text;
}

TEST(explain, advises_the_best_mapping_with_times_as_seen) {
  constexpr double best_fps = predicted<sample::network, best, lab>.throughput;
  constexpr double slow_fps = predicted<sample::network, on_slow, lab>.throughput;
  // Everything took twice as long as predicted: the best mapping is half as fast as predicted, and the gain is the same.
  const auto text = advice<on_slow>(run_of<on_slow>(2));
  EXPECT_NE(text.find("This mapping would reach " + text::number_text(best_fps / 2, "%.4g frames/s, ") +
                      advice::detail::gain_text(best_fps / slow_fps - 1) + " the " +
                      text::number_text(slow_fps / 2, "%.4g of the present one")),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("using deployment = dice::mapping<"), std::string::npos);
  const auto json = advice<on_slow>(run_of<on_slow>(2), true);
  EXPECT_EQ(json.find("{\"frames_per_s\": " + text::json_number(best_fps / 2)), 0u) << json;
}

TEST(explain, large_gains_are_times) {
  EXPECT_EQ(advice::detail::gain_text(0.153), "15 % more than");
  EXPECT_EQ(advice::detail::gain_text(1), "100 % more than");
  EXPECT_EQ(advice::detail::gain_text(1.34), "2.3 times");
  EXPECT_EQ(advice::detail::gain_text(15.93), "17 times");
}

/// A run whose ranks wait for one another, on hosts that others share.
template <class Map> report::seen_run run_on_shared_cores(const report::core_loss& lost) {
  auto run = run_of<Map>(1);
  for (auto& idle : run.idle) idle = 0.5;
  run.lost.assign(run.idle.size(), lost);
  return run;
}

TEST(explain, cores_that_others_took_come_first) {
  using loss = report::core_loss;
  const auto& p = assembly::program_of<sample::network, best>;
  const auto page = [&](const loss& l) { return advice::explained_text(p, run_on_shared_cores<best>(l), nullptr); };
  EXPECT_NE(page({}).find("--in-flight"), page({}).find("dice::in_flight<"));  // one of them is advised
  EXPECT_EQ(page({.waited = 0.04, .others = 1, .threads = 1, .cores = 2}), page({}));
  struct {
    loss of;
    const char *says, *does_not_say;
  } const cases[] = {
      {{.waited = 0.21, .others = 0.98, .threads = 1, .cores = 1}, "Other programs on h0 used 1.0 of 1 core: ", "own ranks"},
      {{.waited = 0.21, .threads = 4, .cores = 2},
       "This job's own ranks have 4 threads on 2 cores of h0: ",
       "Other programs"},
      {{.waited = 0.21, .others = 0.9, .threads = 4, .cores = 2},
       "This job's own ranks have 4 threads on 2 cores of h0: ",
       "quota"},
      {{.waited = 0.21, .throttled = 0.4, .threads = 1, .cores = 2},
       "A CPU quota on h0 stopped the threads: ",
       "Other programs"},
      {{.stolen = 0.21, .threads = 1, .cores = 2}, "The hypervisor of h0 gave 21 % ", "quota"},
      {{.waited = 0.21, .threads = 1, .cores = 2}, "What took the cores on h0 is not known", "Other programs"},
  };
  for (const auto& c : cases) {
    const auto text = page(c.of);
    EXPECT_EQ(text.find("Cores were taken: rank 0 on h0 could have run, but had no core for 21 % of the time"), 0u) << text;
    EXPECT_NE(text.find(c.says), std::string::npos) << text;
    EXPECT_EQ(text.find(c.does_not_say), std::string::npos) << text;
    EXPECT_EQ(text.find("in_flight"), std::string::npos) << text;
    EXPECT_EQ(text.find("--in-flight"), std::string::npos) << text;
    EXPECT_NE(text.find("No rank or link is busy all the time: they wait for cores."), std::string::npos) << text;
    const auto json = advice::explained_json(p, run_on_shared_cores<best>(c.of), nullptr).json();
    EXPECT_NE(json.find("\"lost_cores\": \"Cores were taken: "), std::string::npos) << json;
  }
}

TEST(explain, nothing_is_advised_if_too_much_was_taken) {
  const auto& f = app::cluster_model_of<sample::network, on_slow, lab>;
  const auto& p = assembly::program_of<sample::network, on_slow>;
  auto run = run_of<on_slow>(2);
  const auto page = [&](double waited, double stolen) {
    run.lost.assign(1, {.waited = waited, .stolen = stolen, .others = 1.5, .threads = 1, .cores = 2});
    const auto all = advice::advised(f, p, run);
    EXPECT_EQ(all.better.value == "null", waited + stolen > 0.25);
    EXPECT_EQ(all.alone.value == "null", waited + stolen > 0.25);
    return advice::explained_text(p, run, &all);
  };
  const auto some = page(0.12, 0.12);
  EXPECT_NE(some.find(". The times below include this.\n"), std::string::npos) << some;
  EXPECT_NE(some.find("\nThis mapping would reach "), std::string::npos) << some;
  EXPECT_NE(some.find("\nBottleneck: rank 0 "), std::string::npos) << some;
  for (const auto& much : {page(0.14, 0.12), page(0.88, 0)}) {
    EXPECT_NE(much.find(" of the time. So the times below say little about the mapping; run it again"), std::string::npos);
    EXPECT_NE(much.find("\nNo mapping is advised: a rank had no core for "), std::string::npos) << much;
    EXPECT_NE(much.find("\nWhat limits the speed is not known: "), std::string::npos) << much;
    for (const auto* not_known : {"would reach", "alone", "Bottleneck"})
      EXPECT_EQ(much.find(not_known), std::string::npos) << much;
  }
}

TEST(explain, who_took_cores_is_said_once_for_each_host) {
  auto run = run_on_shared_cores<best>({.waited = 0.3, .stolen = 0.2, .others = 0.7, .threads = 1, .cores = 2});
  run.lost[1].others = 1.3;
  run.lost[1].stolen = 0.1;  // the same programs, at another time
  const auto text = [&] { return advice::explained_text(assembly::program_of<sample::network, best>, run, nullptr); };
  run.hosts = {"h", "h"};
  auto page = text();
  EXPECT_EQ(page.find("Other programs"), page.rfind("Other programs")) << page;
  EXPECT_NE(page.find("Other programs on h used 1.3 of 2 cores: "), std::string::npos) << page;
  EXPECT_EQ(page.find("The hypervisor"), page.rfind("The hypervisor")) << page;
  EXPECT_NE(page.find("The hypervisor of h gave 20 % "), std::string::npos) << page;
  run.hosts = {"h", "i"};
  page = text();
  EXPECT_NE(page.find("Other programs on h used 0.7 "), std::string::npos) << page;
  EXPECT_NE(page.find("Other programs on i used 1.3 "), std::string::npos) << page;
}

TEST(explain, the_best_mapping_has_none_better) {
  const auto fps = []<class Map>(Map) {
    return advice::predicted(app::cluster_model_of<sample::network, Map, lab>, assembly::program_of<sample::network, Map>)
        .expected.throughput;
  };
  const double alone = fps(on_quick{}), present = fps(best{});
  EXPECT_EQ(advice<best>(run_of<best>(1)),
            "No other mapping on this cluster is predicted to gain more than 3 %.\nThe present mapping's throughput is " +
                text::number_text((present / alone - 1) * 100, "%.3g") + " % higher than the " +
                text::number_text(alone, "%.4g") + " frames/s of the best device alone (threads<1> on q).\n");
  EXPECT_EQ(assessment_of<best>(run_of<best>(1)).alone.value.find("{\"frames_per_s\": " + text::json_number(alone)), 0u);
  EXPECT_EQ(advice<best>(run_of<best>(1), true), "null");
  auto run = run_of<best>(1);
  run.period *= 1.5;  // frames that wait for one another do not make another mapping better
  EXPECT_EQ(advice<best>(run, true), "null");
}

TEST(explain, a_mix_may_be_better) {
  using three = cluster<host<"a", slow>, host<"b", slow>, host<"c", slow>, connection<gbytes_per_s<50>, us<0.01>>>;
  using alone = mapping<dev<0, threads<1>, on<"a">>, layers<all>>;
  const auto run = run_of<alone, three>(2);  // twice as slow as predicted
  const auto advised = [&](bool mixes) {
    auto program = assembly::program_of<sample::network, alone>;
    if (!mixes) program.tables = nullptr;
    return advice::advised(app::cluster_model_of<sample::network, alone, three>, program, run).advice;
  };
  const auto text = advised(true), stages = advised(false);
  const auto reached = [](const std::string& page) {
    const std::string words = "This mapping would reach ";
    return page.find(words) == 0 ? std::stod(page.substr(words.size())) : 0.0;
  };
  EXPECT_GT(reached(stages), 0) << stages;
  EXPECT_GT(reached(text), reached(stages) * 1.03) << text << stages;
  EXPECT_NE(text.find("dice::replicas<"), std::string::npos) << text;
  // The ways to use the cluster, with the times as they were measured: half as fast as predicted.
  for (const auto* words : {"\nBest for one frame: ", "\nBest for many:      ", "Of the first, "})
    EXPECT_NE(text.find(words), std::string::npos) << text;
  const auto many = text.substr(text.find("Best for many:"));
  const auto first = many.substr(many.find("devices ") + 8);
  EXPECT_NEAR(std::stod(first) / reached(text), 1, 0.03) << text;
  EXPECT_EQ(stages.find("Best for one frame"), std::string::npos) << stages;
}

// The best one, the best of one kind, those unlike both, and then those with other borders or shares.
TEST(measured_search, mappings_worth_measuring) {
  const auto with_latency = [](double s) {
    cost::prediction out{};
    out.latency = s;
    return out;
  };
  const auto on = [](int word, int device, int border) {
    partition::mixed out{{{}, 0, border}, {{}, border, 9}};
    out[0].by.devices.push_back(0);
    out[1].by.word = word;
    for (const int d : {0, device}) out[1].by.devices.push_back(d);
    return out;
  };
  const auto pure = on(4, 1, 1);
  partition::mix_result found;
  for (const auto& m : {on(1, 1, 2), on(1, 1, 3), on(1, 2, 2), on(1, 1, 4), on(2, 1, 2)})
    found.best.emplace_back(m, with_latency(1 + 0.01 * static_cast<double>(found.best.size())));
  found.pure.push_back({pure[1].by, on(3, 1, 1), with_latency(3)});
  found.pure.push_back({pure[1].by, pure, with_latency(2)});
  const partition::mixed wanted[]{on(1, 1, 2), pure, on(1, 2, 2), on(2, 1, 2), on(1, 1, 3), on(1, 1, 4)};
  for (const std::size_t count : {1u, 2u, 4u, 6u, 9u}) {
    const auto told = partition::worth_measuring(found, partition::objective::latency, static_cast<int>(count));
    ASSERT_EQ(told.size(), std::min<std::size_t>(count, 6));
    for (std::size_t k = 0; k < told.size(); ++k)
      EXPECT_TRUE(partition::are_same(told[k].first, wanted[k])) << count << ' ' << k;
    EXPECT_EQ(told.back().second.latency, count == 1 ? 1 : count == 2 ? 2 : count == 4 ? 1.04 : 1.03);
  }
}

TEST(measured_search, runs_that_hang_have_failed) {
  EXPECT_EQ(advice::detail::output_of("echo done", std::chrono::seconds(30)), "done\n");
  const auto begin = std::chrono::steady_clock::now();
  try {
    advice::detail::output_of("sleep 30", std::chrono::milliseconds(250));
    ADD_FAILURE() << "it has ended";
  } catch (const std::runtime_error& e) {
    EXPECT_EQ(std::string(e.what()), "not done within 0.25 s");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_DOUBLE_EQ(advice::detail::measured_frames(1e-3, false).most().count(), 60 + 10 * 2.012);
  EXPECT_DOUBLE_EQ(advice::detail::measured_frames(1, true).most().count(), 60 + 10 * 8);
}

TEST(measured_search, rank_correlations) {
  using advice::rank_correlation;
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 10}, {5, 6, 7, 8}), 1);
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {8, 7, 6, 5}), -1);
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4, 5}, {2, 1, 4, 3, 5}), 0.8);  // 1 - 6 * 4 / (5 * 24)
  EXPECT_NEAR(rank_correlation({1, 1, 2}, {1, 2, 3}), 0.8660254, 1e-6);       // ties have the mean of their ranks
  EXPECT_DOUBLE_EQ(rank_correlation({1, 1}, {1, 2}), 0);
}

TEST(explain, one_device_may_be_the_best) {
  ASSERT_EQ((assembly::program_of<sample::network, best>.ranks()), 2);
  auto run = run_of<best>(1, 1e6);  // messages took a million times as long as predicted, and the ranks waited for them
  run.period = run.links[0].seconds;
  run.idle.assign(2, 0.99);
  const auto text = advice<best>(run);
  EXPECT_EQ(text.find("No mapping on several devices is better than a single device, which would reach "), 0u) << text;
  EXPECT_NE(text.find("dice::on<\"q\">"), std::string::npos);
  run.idle.assign(2, 0.01);  // they never waited, so messages only seem slow
  EXPECT_EQ(advice<best>(run).find("No other mapping"), 0u);
}

/// The words after `beginning` of the line of `text` that begins with it.
std::vector<std::string> words_after(const std::string& text, const std::string& beginning) {
  const auto at = text.find("\n" + beginning);
  if (at == std::string::npos) return {};
  std::istringstream line(text.substr(at + 1 + beginning.size(), text.find('\n', at + 1) - at - 1 - beginning.size()));
  return {std::istream_iterator<std::string>(line), {}};
}

TEST(explain, layers_that_take_longer_than_predicted_are_known_by_their_stage) {
  using twins = cluster<host<"a", slow>, host<"b", slow>, connection<gbytes_per_s<50>, us<0.01>>>;
  using halves = best_mapping<sample::network, twins, throughput, whole_layers>;
  const auto& f = app::cluster_model_of<sample::network, halves, twins>;
  auto p = assembly::program_of<sample::network, halves>;
  p.tables = nullptr;
  const auto expected = advice::predicted(f, p);
  const auto page = advice::predicted_text(f, p, false);
  const auto present = page.substr(page.find("using deployment"));
  for (const double times : {0.5, 0.9, 1.1, 3.0}) {
    auto run = run_of<halves, twins>(1);
    ASSERT_EQ(run.stages.size(), 2u);
    run.stages[1].seconds *= times;
    run.busy[1] *= times;
    const auto seen = advice::detail::as_seen(f, p, run, expected);
    const int cut = seen.cut_unit_of[p.plan.groups[run.stages[1].groups[0]].anchor];
    EXPECT_NEAR(seen.time(0, 0, cut), run.busy[0], 1e-12);
    EXPECT_NEAR(seen.time(0, cut, seen.cut_units), run.busy[1], 1e-12);
    const auto found = advice::advised(f, p, run).advice;
    EXPECT_EQ(found.find(present), std::string::npos) << found;  // no gain over itself
  }
}

TEST(explain, time_that_messages_take) {
  using one = board<"one", ram<1_GiB>,
                    processor<threads<1>, gflops<1>, gbytes_per_s<1>, sending<us<200>, gbytes_per_s<0.01>>,
                              receiving<us<300>, gbytes_per_s<0.02>>>>;
  using two = cluster<host<"a", one>, host<"b", one>, connection<gbytes_per_s<50>, us<0.01>>>;
  using halves =
      mapping<dev<0, threads<1>>, layers<range<sample::network::layer<0>, sample::network::layer<2>>>, dev<1, threads<1>>,
              layers<range<sample::network::layer<3>, sample::network::layer<sample::network::size - 1>>>>;
  auto run = run_of<halves>(1);
  const auto ahead = advice::advised(app::cluster_model_of<sample::network, halves, two>,
                                     assembly::program_of<sample::network, halves>, run);
  ASSERT_EQ(ahead.expected.message_seconds.size(), 2u);
  ASSERT_EQ(run.links.size(), 1u);
  const auto bytes = static_cast<double>(run.links[0].bytes);
  const double sends = 200e-6 * run.links[0].messages + bytes / 1e7;
  EXPECT_NEAR(ahead.expected.message_seconds[0], sends, 1e-12);
  EXPECT_NEAR(ahead.expected.message_seconds[1], 300e-6 * run.links[0].messages + bytes / 2e7, 1e-12);
  run.period = 10e-3;
  run.busy = {6e-3, 2e-3};
  run.idle = {0.3, 0.8};  // rank 0 has 1 ms left, rank 1 nothing
  const auto& p = assembly::program_of<sample::network, halves>;
  const auto text = advice::explained_text(p, run, &ahead);
  EXPECT_EQ(words_after(text, "  handling messages and frames"),
            (std::vector<std::string>{text::number_text(sends * 1e3, "%.3f"), "1.000", "10", "%"}))
      << text;
  const auto json = advice::explained_json(p, run, &ahead).json();
  EXPECT_NE(json.find("\"predicted_message_s\": [" + text::json_number(sends) + ", "), std::string::npos) << json;
}

struct zeros {
  static constexpr std::string_view digest = sample::network::weights.structure;
  static constexpr std::array<double, sample::network::size> ms{};
};

TEST(explain, programs_without_other_mappings_do_not_hear_of_the_option) {
  const auto run = run_of<on_slow>(1);
  auto p = assembly::program_of<sample::network, on_slow>;
  for (const bool can : {false, true}) {
    p.remap = nullptr;
    if (can) p.remap = [](const runtime::program&, std::string_view) { return runtime::owned_mapping{}; };
    const auto text = advice::advised(app::cluster_model_of<sample::network, on_slow, lab>, p, run).advice;
    EXPECT_EQ(text.find("--mapping") != std::string::npos, can) << text;
    EXPECT_EQ(text.find("the plan's header") == std::string::npos, can) << text;
  }
}

TEST(explain, nothing_is_better_than_no_time) {
  using still = cluster<host<"s", board<"still", ram<1_GiB>, processor<threads<1>, profile<zeros>>>>>;
  report::seen_run run;
  run.busy = {0};
  run.idle = {0};
  run.hosts = {"h"};
  run.period = 1e-6;
  const auto ahead = advice::advised(app::cluster_model_of<sample::network, on_slow, still>,
                                     assembly::program_of<sample::network, on_slow>, run);
  EXPECT_EQ(ahead.advice.find("No other mapping on this cluster"), 0u) << ahead.advice;
  EXPECT_EQ(ahead.better.value, "null");
}

struct scratch {
  scratch() { std::filesystem::create_directory(path); }
  ~scratch() { std::filesystem::remove_all(path); }
  std::string read(const char* name) const {
    std::stringstream out;
    out << std::ifstream(path / name).rdbuf();
    return out.str();
  }
  const std::filesystem::path path = std::filesystem::temp_directory_path() / ("dice_explain_" + std::to_string(::getpid()));
};

/// The files and the page come from a single search.
TEST(explain, looks_for_better_mappings_once) {
  const scratch folder;
  const toy::program toy(toy::diamond(), {0, 0, 0, 1, 1, 0, 0, 1, 0, 0}, 6);
  const std::string weights = folder.path / "toy.safetensors", json = folder.path / "x.json";
  toy.write_weights(weights);
  static int asked = 0;
  auto f = app::cluster_model_of<sample::network, on_slow, lab>;
  f.advise = [](const advice::cluster_model&, const runtime::program& p, const report::seen_run&) {
    ++asked;
    advice::assessment out{{}, "It would be better.\n", {"\"better\": 7"}};
    out.expected.group_seconds.resize(p.plan.groups.size(), 1e-3);
    out.expected.links.resize(static_cast<std::size_t>(p.ranks() * p.ranks()), {1e9, 1e-6});
    out.expected.message_seconds.resize(static_cast<std::size_t>(p.ranks()));
    return out;
  };
  const std::vector<const char*> words{"x",         "--explain",     "--transport", "in-process",
                                       "--weights", weights.c_str(), "--json",      json.c_str()};
  testing::internal::CaptureStdout();
  const int code = app::run(toy.view(), &f, static_cast<int>(words.size()), const_cast<char**>(words.data()));
  const auto page = testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, 0);
  EXPECT_EQ(asked, 1);
  EXPECT_NE(page.find("It would be better."), std::string::npos) << page;
  EXPECT_NE(folder.read("x.json").find("\"better\": 7"), std::string::npos);
}

}  // namespace
