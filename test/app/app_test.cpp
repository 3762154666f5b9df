// The command line, the printed plan, figures and comparisons, without running anything.
#include "runtime/toy.hpp"

#include "convolutions.hpp"
#include "dice/app/clock_shift.hpp"
#include "dice/app/command_line.hpp"
#include "dice/app/measure.hpp"
#include "dice/app/output/explanation.hpp"
#include "dice/app/output/plan.hpp"
#include "dice/app/output/report.hpp"
#include "dice/app/output/results.hpp"
#include "dice/app/program.hpp"
#include "dice/app/record.hpp"
#include "dice/runtime/other_mapping.hpp"
#include "dice/runtime/recorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace dice;

namespace {

app::options parse(const toy::program& p, std::vector<const char*> words) { return app::parse(p.view(), words); }

std::string error_of(const toy::program& p, std::vector<const char*> words) {
  try {
    parse(p, std::move(words));
    return {};
  } catch (const app::usage_error& e) {
    return e.what();
  }
}

const toy::program& one() {
  static const toy::program p(toy::diamond(), {0, 0, 0, 1, 1, 0, 0, 1, 0, 0}, 6);
  return p;
}
const toy::program& two() {
  static const toy::program p(toy::two_by_two(), {0, 0, 0, 0, 0, 0, 0, 0}, 1);
  return p;
}

}  // namespace

#ifdef DICE_WITH_OPENMP
// What a program computes is what its plan keeps within the device's memory limit.
template <class... Limit>
constexpr auto& programs = app::program_of<convolutions::network, mapping<dev<0, cpu, Limit...>, layers<all>>>;
constexpr std::int64_t peak = programs<>.plan.ranks[0].peak_bytes;
static_assert(programs<>.algorithm(1).variant > 0 && programs<memory<peak - 1>>.algorithm(1).variant == 0);
#endif

TEST(version, is_the_same_in_identifiers) {
#define DICE_TEXT_OF(x) #x
#define DICE_TEXT(x) DICE_TEXT_OF(x)
  std::string identifier = DICE_TEXT(DICE_VERSION);
  std::replace(identifier.begin(), identifier.end(), '_', '.');
  EXPECT_EQ(identifier, version);
}

TEST(command_line, options) {
  const auto o = parse(one(), {"--input",     "a.npy",      "--input=in.0=b=c.npy",
                               "--output",    "l9=o.npy",   "--frames",
                               "12",          "--warmup=3", "--in-flight",
                               "6",           "--expect",   "e.npy",
                               "--tolerance", "2e-3",       "--top",
                               "5",           "--labels",   "names",
                               "--json",      "j",          "--transport",
                               "in-process",  "--gather",   "--weights",
                               "w",           "--random",   "18446744073709551615"});
  ASSERT_EQ(o.inputs.size(), 2u);
  EXPECT_EQ(o.inputs[0].file, "a.npy");
  EXPECT_EQ(o.inputs[1].file, "b=c.npy");
  EXPECT_EQ(o.outputs[0].layer, 9);
  EXPECT_EQ(o.outputs[0].file, "o.npy");
  EXPECT_EQ(o.frames, 12);
  EXPECT_EQ(o.warmup, 3);
  EXPECT_EQ(o.in_flight, 6);
  EXPECT_EQ(o.tolerance, 2e-3);
  EXPECT_EQ(o.top, 5);
  EXPECT_EQ(o.random, std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(o.gather);
  EXPECT_EQ(o.by, app::transport::in_process);
  EXPECT_EQ(parse(one(), {"--input", "./x=y.npy"}).inputs[0].file, "./x=y.npy");
  EXPECT_EQ(parse(one(), {"--plan=json"}).plan, app::plan_form::json);
  EXPECT_EQ(parse(one(), {"--plan"}).plan, app::plan_form::text);
}

TEST(command_line, names) {
  const auto o = parse(two(), {"--input", "in.1=a", "--input", "l0=b", "--input", "in.1=c", "--output", "out.7=d"});
  EXPECT_EQ(o.inputs[0].layer, 1);
  EXPECT_EQ(o.inputs[1].layer, 0);
  EXPECT_EQ(o.inputs[2].layer, 1);
  EXPECT_EQ(o.outputs[0].layer, 7);
  EXPECT_NE(error_of(two(), {"--random", "1", "--output", "x"}).find("out.5, out.7"), std::string::npos);
  EXPECT_NE(error_of(two(), {"--random", "1", "--output", "out.5="}).find("missing"), std::string::npos);
  EXPECT_NE(error_of(two(), {"--random", "1", "--output", "out.5=x", "--output", "out.7=x"}).find("written twice"),
            std::string::npos);
  EXPECT_EQ(error_of(two(), {"--random", "1", "--input", "in.1=a"}), "");
}

TEST(command_line, refusals_name_the_option) {
  for (const char* option : {"--frames", "--warmup", "--in-flight", "--top", "--tolerance", "--random"})
    for (const char* value : {"x", "", "1x", " 1", "-1", "99999999999999999999999999", "0x10"}) {
      if (option == std::string("--tolerance") && value[0] == '9') continue;  // a number
      const auto text = error_of(one(), {option, value, "--input", "a", "--expect", "b"});
      EXPECT_NE(text.find(option), std::string::npos) << option << " '" << value << "': " << text;
    }
  EXPECT_NE(error_of(one(), {"--input", "a", "--in-flight", "7"}).find("allows, 6"), std::string::npos);
  EXPECT_NE(error_of(one(), {"--input"}).find("missing"), std::string::npos);
  EXPECT_NE(error_of(one(), {"--input="}).find("missing"), std::string::npos);
  EXPECT_NE(error_of(one(), {"--framse", "1"}).find("--frames?"), std::string::npos);
  EXPECT_NE(error_of(one(), {"-x"}).find("--help"), std::string::npos);
  EXPECT_NE(error_of(one(), {"--input", "x=y.npy"}).find("no input 'x', its input is in.0"), std::string::npos);
  EXPECT_NE(error_of(one(), {}).find("--random SEED"), std::string::npos);
}

TEST(command_line, help_names_all_options_and_tensors) {
  auto program = one().view();
  EXPECT_EQ(app::help(program, "program").find("--mapping"), std::string::npos);  // it knows no others
  program.remap = [](const runtime::program&, std::string_view) { return runtime::owned_mapping{}; };
  const auto text = app::help(program, "/a/b/program");
  for (const auto& o : app::detail::option_table())
    EXPECT_NE(text.find("  " + std::string(o.name)), std::string::npos) << o.name;
  EXPECT_NE(text.find("mpirun -n 2 ./program"), std::string::npos);
  EXPECT_NE(text.find("in.0  float32 2×32"), std::string::npos);
}

TEST(plan, text) {
  const auto text = app::plan_text(one().view(), false);
  EXPECT_NE(text.find("rank 0: l0 … l2, l5, l6, l8, l9"), std::string::npos) << text;
  EXPECT_NE(text.find("2 ranks, 6 frames in flight"), std::string::npos) << text;
}

/// A clock that keeps its distance to rank 0's.
app::clock_shift steady(std::int64_t offset) { return {{0, offset}, {1'000'000'000, offset}}; }

TEST(clock_shift, changes_evenly_between_two_samples) {
  // A clock that was started long after rank 0's and is 20 ppm too fast: 1 ms more in 50 s.
  constexpr std::int64_t s = 1'000'000'000, far = 4'000'000 * s;
  const app::clock_shift clock({10 * s, far}, {60 * s, far - s / 1000});
  EXPECT_EQ(clock(10 * s), far + 10 * s);
  EXPECT_EQ(clock(60 * s), far + 60 * s - 1'000'000);
  EXPECT_EQ(clock(35 * s), far + 35 * s - 500'000);
  EXPECT_EQ(clock(12 * s), far + 12 * s - 40'000);
  EXPECT_EQ(clock(9 * s), far + 9 * s);  // nothing is known of before and after
  EXPECT_EQ(clock(99 * s), far + 99 * s - 1'000'000);
  EXPECT_EQ(app::clock_shift({5, 7}, {5, 9})(5), 12);
  EXPECT_EQ(steady(-3)(5), 2);
}

TEST(report, latency_and_speed) {
  runtime::figures in, out;
  in.entered = {1'000'000, 2'000'000, 3'000'000};
  out.left = {4'000'000, 4'500'000, 9'000'000};
  in.computing = 6'000'000;
  out.bytes_sent = 42;
  // Rank 1's clock is 0.5 ms behind rank 0's.
  const auto r = app::merge({app::report_part("a", in, steady(0), 7, {"GPU X", 30 << 20, 2 << 20, 500 << 20}),
                             app::report_part("b", out, steady(500'000), 8, {})},
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
  EXPECT_NE(
      app::report_table(r).find(
          "rank 0 on GPU X: 30.0 MiB of its memory, 500.0 MiB more for CUDA's libraries; 2048.0 KiB of the host's pinned\n"),
      std::string::npos);
  EXPECT_EQ(app::report_table(r).find("rank 1 on"), std::string::npos);
  EXPECT_NE(app::report_json(r).find("\"gpu\": {\"name\": \"GPU X\", \"memory_bytes\": 31457280, \"pinned_bytes\": 2097152, "
                                     "\"libraries_bytes\": 524288000}}"),
            std::string::npos);
}

TEST(record, keeps_any_bytes_and_refuses_damage) {
  app::record a;
  a.put("x:1\n");
  a.put(std::int64_t{-5});
  a.put(std::string_view("\0y", 2));
  a.put(std::vector<std::int64_t>{1, -2});
  app::record b(a.text());
  EXPECT_EQ(b.get(), "x:1\n");
  EXPECT_EQ(b.get_number(), -5);
  EXPECT_EQ(b.get(), std::string("\0y", 2));
  EXPECT_EQ(b.get_numbers(), (std::vector<std::int64_t>{1, -2}));
  EXPECT_FALSE(b.more());
  EXPECT_THROW(b.get(), std::runtime_error);
  for (const char* bad : {"5:abc", "x:abc", "99999999999999999999:a", ""})
    EXPECT_THROW(app::record(bad).get(), std::runtime_error);
}

TEST(measure, typical_time) {
  EXPECT_EQ(app::detail::typical({5}, true), 5);
  EXPECT_EQ(app::detail::typical({5, 1000, 6, 4, 5}, true), 5);
  // Without a core for most of the time each tenth run waits.
  std::vector<std::int64_t> cut;
  for (int k = 0; k < 1000; ++k) cut.push_back(k % 10 == 9 ? 9'100'000 : 100'000);
  EXPECT_EQ(app::detail::typical(cut, true), 100'000);
  EXPECT_NEAR(app::detail::typical(cut, false), 1'000'000, 1);
}

TEST(measure, latency_and_bandwidth) {
  const std::vector<double> bytes{1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6};
  std::vector<double> seconds;
  for (const double b : bytes) seconds.push_back(150e-6 + b / 12e6);
  auto link = app::detail::fitted(bytes, seconds);
  EXPECT_NEAR(link.seconds, 150e-6, 1e-9);
  EXPECT_NEAR(link.bytes_per_s, 12e6, 1);
  seconds[0] = 20e-6, seconds[1] = 40e-6, seconds[5] *= 1.5;  // a burst, and a disturbance
  link = app::detail::fitted(bytes, seconds);
  EXPECT_NEAR(link.seconds, 150e-6, 80e-6);
  EXPECT_NEAR(link.bytes_per_s, 12e6, 0.6e6);
  link = app::detail::fitted({1e3}, {1e-3});  // a link that is so slow that one size is enough
  EXPECT_NEAR(link.bytes_per_s, 1e6, 1);
  EXPECT_NEAR(link.seconds, 0, 1e-12);
  link = app::detail::fitted({1e3, 4e3}, {2e-3, 1e-3});  // nonsense has no negative speed
  EXPECT_GT(link.bytes_per_s, 0);
  EXPECT_GE(link.seconds, 0);
}

TEST(measure, names) {
  EXPECT_EQ(app::detail::word("pi-a.local"), "pi_a_local");
  EXPECT_EQ(app::detail::word("cores<0, 1>"), "cores_0_1");
  EXPECT_EQ(app::detail::word("--"), "");
}

/// A run of one()'s plan: two ranks with messages both ways.
TEST(explain, links_and_limits) {
  const auto p = one().view();
  using kind = runtime::recorder::kind;
  runtime::recorder recorder(p.plan.groups.size(), 1, false, false, true);
  const auto& messages = p.plan.messages;
  ASSERT_GE(messages.size(), 2u);
  // Frames every 1000 ns: sent at once; there is room from 200 on; each is there 300 after the one before at the earliest.
  for (int f = 0; f < 5; ++f)
    for (std::size_t m = 0; m < messages.size(); ++m) {
      const auto id = static_cast<int>(m);
      recorder.add({f * 1000, f * 1000, f, id, kind::send});
      recorder.add({f * 1000 + 200, f * 1000 + 200, f, id, kind::post});
      recorder.add({f * 1000 + 500, f * 1000 + 500, f, id, kind::receive});
    }
  const auto links = app::detail::links_of(p, {app::passages_part(recorder, steady(7))});
  ASSERT_FALSE(links.empty());
  int counted = 0;
  for (const auto& l : links) {
    EXPECT_NE(l.from, l.to);
    EXPECT_NEAR(l.seconds, 300e-9, 1e-12);  // from the room to the arrival; others of the link arrive at the same time
    counted += l.messages;
  }
  EXPECT_EQ(counted, static_cast<int>(messages.size()));

  app::seen_run run;
  run.links = links, run.hosts = {"a", "b"}, run.period = 1e-3, run.in_flight = p.plan.in_flight;
  const auto limit = [&](std::vector<double> busy, std::vector<double> idle, double link) {
    run.busy = std::move(busy), run.idle = std::move(idle), run.links[0].seconds = link;
    return app::detail::limit_text(p, run);
  };
  EXPECT_EQ(limit({0.3e-3, 0.95e-3}, {0.6, 0.02}, 0.2e-3), "What limits: rank 1 on b, which computes 95 % of the time.");
  EXPECT_EQ(
      limit({0.3e-3, 0.5e-3}, {0.6, 0.02}, 0.2e-3),
      "What limits: rank 1 on b, which computes 50 % of the time, and hands on frames and messages for most of the rest.");
  EXPECT_EQ(limit({0.3e-3, 0.5e-3}, {0.6, 0.4}, 0.97e-3),
            "What limits: messages from " + app::detail::rank_at(run, links[0].from) + " to " +
                app::detail::rank_at(run, links[0].to) + ", which are under way 97 % of the time.");
  EXPECT_NE(limit({0.3e-3, 0.5e-3}, {0.6, 0.4}, 0.2e-3).find("allow more with dice::in_flight<12> in the mapping"),
            std::string::npos);
  run.in_flight = 2;
  EXPECT_NE(limit({0.3e-3, 0.5e-3}, {0.6, 0.4}, 0.2e-3).find("2 may be in flight; allow more with --in-flight,"),
            std::string::npos);
}

TEST(explain, links_of_clocks_that_drift) {
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
  const app::clock_shift clock({other(0), 0 - other(0)}, {other(100 * s), 100 * s - other(100 * s)});
  const auto links =
      app::detail::links_of(p, {app::passages_part(ranks[0], steady(0)), app::passages_part(ranks[1], clock)});
  ASSERT_EQ(links.size(), 2u);
  for (const auto& l : links) {
    EXPECT_NEAR(l.seconds, 300e-6, 1e-7) << l.from;
    EXPECT_EQ(l.frames, 100);
  }
}

TEST(recorder, keeps_messages_whatever_else_there_is) {
  using kind = runtime::recorder::kind;
  constexpr auto most = static_cast<int>(runtime::recorder::most_events);
  runtime::recorder both(1, 1, true, false, true), explains(1, 1, false, true, true);
  for (auto* r : {&both, &explains})
    for (int f = 0; f < most; ++f)
      for (const auto is : {kind::compute, kind::wait, kind::enter, kind::send}) r->add({f, f, f, 0, is});
  EXPECT_EQ(both.events().size(), runtime::recorder::most_events);
  EXPECT_EQ(both.untold(), 3 * most);
  EXPECT_TRUE(explains.events().empty());
  EXPECT_EQ(explains.untold(), 0);
  for (const auto* r : {&both, &explains}) {
    EXPECT_TRUE(r->sees_messages());
    ASSERT_EQ(r->passages().size(), runtime::recorder::most_events);
    EXPECT_EQ(r->passages().back().frame, most - 1);
  }
  explains.add({most, most, most, 0, kind::send});
  EXPECT_EQ(explains.passages().back().frame, most - 1);
  EXPECT_FALSE(runtime::recorder(1, 1, false, true).sees_messages());
}

/// Frames whose messages are not all known are none; the page says how many were.
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
  app::report figures;
  figures.frames = 10, figures.seconds = 1, figures.ranks.resize(2);
  const auto run = app::seen(p, figures, {}, {app::passages_part(recorder, steady(0))}, 6);
  std::int64_t least = 10;
  for (const auto& l : run.links) least = std::min(least, l.frames);
  EXPECT_EQ(least, 4);
  EXPECT_NE(app::explained_text(p, run, nullptr).find("Messages: those of 4 of the 10 frames"), std::string::npos);
  EXPECT_NE(app::explained_json(p, run, nullptr).find("\"frames\": 4"), std::string::npos);
}

TEST(results, relative_error) {
  const runtime::tensor b{{1, -4}, {2, 0}};
  EXPECT_EQ(app::relative_error(b, b), 0);
  EXPECT_FLOAT_EQ(static_cast<float>(app::relative_error(runtime::tensor{{1, -4}, {2, 1}}, b)), 0.25f);
  EXPECT_EQ(app::relative_error(runtime::tensor{{1, -4}, {2, 0}, {1, -4}, {4, 0}}, b), 0.5);
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(app::relative_error(runtime::tensor{{nan, -4}, {2, 0}}, b)));
  EXPECT_TRUE(std::isnan(app::relative_error(runtime::tensor{{inf, 1}}, runtime::tensor{{inf, 1}})));
  EXPECT_EQ(app::relative_error(runtime::tensor{{3, 0}}, runtime::tensor{{0, 0}}), 3);
}

TEST(results, top) {
  const float nan = std::nanf("");
  EXPECT_EQ(app::top_text("", runtime::tensor{{1, 3, 3, nan}, {nan, -1, 0, 2}}, 2, 3, {"a", "b"}),
            "frame 0: 1 b 3, 2 3, 0 a 1\nframe 1: 3 2, 2 0, 1 b -1\n");
  EXPECT_EQ(app::top_text("y", runtime::tensor{{1, 2}}, 1, 9, {}), "frame 0 y: 1 2, 0 1\n");
}

TEST(json, strings) { EXPECT_EQ(app::json_string("a\"\\\n\x01é"), "\"a\\\"\\\\\\u000a\\u0001é\""); }
