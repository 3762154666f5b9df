// What enters and leaves at a rank, without running anything.
#include "dice/app/rank_results.hpp"

#include "error_of.hpp"
#include "runtime/toy.hpp"

#include "dice/app/output/destination.hpp"
#include "dice/app/output/record.hpp"
#include "dice/app/rank_inputs.hpp"
#include "dice/channels/in_process/hub.hpp"
#include "dice/meta/clock.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <semaphore>
#include <span>
#include <string>
#include <thread>
#include <vector>

using namespace dice;

namespace {

/// Inputs 0 and 1 are in ranks 0 and 1, outputs 5 and 7 in rank 1.
const toy::program& two_inputs() {
  static const toy::program p(toy::two_by_two(), {0, 1, 0, 1, 1, 1, 1, 1}, 3);
  return p;
}
constexpr std::int64_t bytes = toy::elements * 4;

/// A rank's view under options that `set` has changed.
struct viewed {
  app::options options;
  runtime::program program = two_inputs().view();
  app::rank_view view;

  template <class Set> viewed(int rank, Set set) : view{program, options, rank} { set(options); }
};
const auto plain = [](app::options&) {};

/// A file of `frames` frames of equal numbers.
struct file {
  std::string path;
  file(const char* name, std::int64_t frames, float number)
      : path((std::filesystem::path(testing::TempDir()) / (name + std::to_string(::getpid()) + ".npy")).string()) {
    auto all = frames::tensor::from_shape(frames::stacked({2, toy::elements / 2}, frames));
    std::fill_n(all.data(), all.size(), number);
    frames::write_npy(path, all);
  }
  file(const file&) = delete;
  ~file() { std::filesystem::remove(path); }
};

}  // namespace

TEST(rank_view, says_who_holds_which_results) {
  const viewed own(1, plain), gathers(0, [](app::options&o) { o.gather = true; });
  EXPECT_EQ(own.view.holder(5), 1);
  EXPECT_TRUE(own.view.holds(5) && own.view.here(5) && !own.view.here(0));
  EXPECT_EQ(gathers.view.holder(5), 0);
  EXPECT_TRUE(gathers.view.holds(5) && !gathers.view.here(5));
}

TEST(rank_view, says_what_options_need) {
  EXPECT_FALSE(viewed(1, plain).view.kept(5));
  EXPECT_EQ(viewed(1, plain).view.in_flight(), 3);
  EXPECT_EQ(viewed(1, [](app::options& o) { o.in_flight = 1; }).view.in_flight(), 1);
  for (const auto files : {&app::options::outputs, &app::options::expected}) {
    const viewed some(1, [&](app::options& o) { o.*files = {{7, "f"}}; });
    EXPECT_TRUE(some.view.kept(7) && !some.view.kept(5));
  }
  const viewed top(1, [](app::options& o) { o.top = {{-1, 1}}; });
  EXPECT_TRUE(top.view.kept(5) && top.view.kept(7) && !top.view.kept(4));
  const viewed top_of_one(1, [](app::options& o) { o.top = {{7, 1}}; });
  EXPECT_TRUE(top_of_one.view.kept(7) && !top_of_one.view.kept(5));
  EXPECT_FALSE(viewed(0, plain).view.profiles());
  EXPECT_TRUE(viewed(0, [](app::options& o) { o.explain = true; }).view.profiles());
  EXPECT_TRUE(viewed(0, [](app::options& o) { o.profile = "p"; }).view.profiles());
}

TEST(rank_inputs, are_random_where_none_are_given) {
  const viewed none(0, [](app::options& o) { o.random = 5; });
  app::rank_inputs inputs(none.view);
  EXPECT_EQ(inputs.open(), "");
  EXPECT_EQ(inputs.bytes(4), 4 * bytes);
  EXPECT_EQ(viewed(1, plain).view.here(0), false);
  const viewed warms(0, [](app::options& o) { o.warmup = 9; });
  EXPECT_EQ(app::rank_inputs(warms.view).bytes(4), 9 * bytes);
  const viewed streams(0, [](app::options& o) { o.inputs = {{{0, "-"}, app::named_input::kinds::standard}}; });
  app::rank_inputs stream(streams.view);
  EXPECT_EQ(stream.open(), "");
  EXPECT_EQ(stream.bytes(4), 0);
  EXPECT_EQ(stream.files(), std::vector<std::string>{"-"});
  EXPECT_TRUE(stream.streams());
  const viewed elsewhere(1, [](app::options& o) { o.inputs = {{{0, "-"}, app::named_input::kinds::standard}}; });
  app::rank_inputs other(elsewhere.view);
  EXPECT_EQ(other.open(), "");
  EXPECT_TRUE(other.files().empty()) << "the stream is in rank 0";
}

TEST(rank_inputs, tell_all_ranks_what_is_given) {
  const file three("three", 3, 1), two_frames("two", 2, 1);
  const auto counts = [&](int rank, const std::string& path) {
    const viewed given(rank, [&](app::options& o) { o.inputs = {{{rank, path}}}; });
    app::rank_inputs inputs(given.view);
    EXPECT_EQ(inputs.open(), "");
    EXPECT_EQ(inputs.bytes(4), 0);
    EXPECT_EQ(inputs.files(), std::vector<std::string>{path});
    return inputs.counts();
  };
  app::given_frames all;
  all.add(counts(0, three.path));
  EXPECT_EQ(all.frames, 3);
  all.add(counts(1, three.path));
  EXPECT_TRUE(all.mistake.empty() && all.pictures.empty());
  EXPECT_EQ(all.pictures_per_frame, 1u);
  all.add(counts(1, two_frames.path));
  EXPECT_EQ(all.frames, 3);
  EXPECT_EQ(all.mistake, "input 'in.0' has 3 frames, input 'in.1' has 2; give the same number for each");
}

TEST(rank_inputs, have_pictures_in_one_input) {
  const auto counts = [](const std::string& input, std::int64_t frames, const std::vector<std::string>& pictures) {
    job::record out, names;
    for (const auto& p : pictures) names.put(p);
    out.put(input);
    out.put(frames);
    out.put(names.text());
    return out.text();
  };
  app::given_frames all;
  all.add(counts("a", 2, {}) + counts("b", 2, {"1", "2", "3", "4"}));
  all.add(counts("c", 2, {"5", "6"}));
  EXPECT_EQ(all.pictures, (std::vector<std::string>{"1", "2", "3", "4"}));
  EXPECT_EQ(all.pictures_per_frame, 2u);
}

TEST(rank_results, need_memory_for_what_is_kept) {
  const auto needed = [](int rank, auto set) {
    viewed v(rank, [&](app::options& o) {
      o.frames = 10;
      set(o);
    });
    v.view.streams = v.options.streams();
    return app::rank_results(v.view).bytes();
  };
  const auto one = [](app::options& o) { o.outputs = {{7, "o.npy"}}; };
  EXPECT_EQ(needed(1, plain), 0);
  EXPECT_EQ(needed(0, one), 0);
  EXPECT_EQ(needed(1, one), 10 * bytes);
  EXPECT_EQ(needed(1, [](app::options& o) { o.top = {{-1, 1}}; }), 20 * bytes);
  for (const int rank : {0, 1})  // both ends of a block
    EXPECT_EQ(needed(rank, [&](app::options& o) { one(o), o.gather = true; }), 10 * bytes);
  EXPECT_EQ(needed(1, [&](app::options& o) { one(o), o.inputs = {{{0, "-"}, app::named_input::kinds::standard}}; }), 0);
}

TEST(rank_results, are_brought_to_who_holds_them) {
  channels::in_process::hub hub(2);
  const auto of = [&](int rank) {
    const viewed v(rank, [](app::options& o) {
      o.gather = true;
      o.outputs = {{5, "o.npy"}};
    });
    app::rank_results results(v.view);
    results.begin(4, 0);
    EXPECT_TRUE(results.kept().has(5) && !results.kept().has(7));
    auto& own = results.kept().result(5);
    for (std::size_t i = 0; i < own.size(); ++i) own.data()[i] = rank ? static_cast<float>(i) : -1;
    results.keep_first(3);
    EXPECT_EQ(results.kept().result(5).size(), std::size_t{3} * toy::elements);
    channels::in_process::communicator ranks(hub, rank);
    results.gather(ranks, 3);
    const auto& all = results.kept().result(5);
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all.data()[i], static_cast<float>(i)) << rank;
  };
  std::jthread other([&] { of(1); });
  of(0);
}

TEST(rank_results, are_compared_with_what_is_expected) {
  const file expected("expected", 2, 1);
  const viewed v(1, [&](app::options& o) { o.expected = {{7, expected.path}}; });
  app::rank_results results(v.view);
  results.read_expected();
  EXPECT_EQ(test::error_of([&] { results.begin(3, 0); }), "--expect for output 'out.7' holds 2 frames, but the run has 3");
  EXPECT_EQ(test::error_of([&] { results.begin(4, 2); }), "none") << "as many as were given, which repeat";
  results.begin(2, 0);
  auto& found = results.kept().result(7);
  std::fill_n(found.data(), found.size(), 1.0f);
  const auto said = [&] {
    testing::internal::CaptureStdout();
    const auto error = test::error_of([&] { results.compare(v.options.expected[0], true, 2, 0); });
    return testing::internal::GetCapturedStdout() + error;
  };
  EXPECT_EQ(said(), "out.7: error 0 (max |a-b| / max |b|), tolerance 0.0001\nnone");
  found.data()[found.size() - 1] = 1.5f;
  EXPECT_EQ(said(), "out.7: error 0.5 (max |a-b| / max |b|), tolerance 0.0001\noutput 'out.7' differs from '" +
                        expected.path + "': error 0.5 (max |a-b| / max |b|), tolerance 0.0001");
  // A rank that does not hold them reads nothing.
  const viewed elsewhere(0, [&](app::options& o) { o.expected = {{7, "/no/such/file.npy"}}; });
  app::rank_results none(elsewhere.view);
  EXPECT_EQ(test::error_of([&] { none.read_expected(); }), "none");
}

TEST(rank_results, are_written_where_they_are_held) {
  const auto path = (std::filesystem::path(testing::TempDir()) / ("written" + std::to_string(::getpid()) + ".npy")).string();
  for (const int rank : {0, 1}) {
    const viewed v(rank, [&](app::options& o) { o.outputs = {{5, path}}; });
    app::rank_results results(v.view);
    results.begin(2, 0);
    if (rank) std::fill_n(results.kept().result(5).data(), 2 * toy::elements, 2.5f);
    results.write([](auto f) { f(); });
    EXPECT_EQ(std::filesystem::exists(path), rank == 1);
  }
  const auto found = frames::read_results(path, two_inputs().view().layers.layers[5].output, "results", {});
  EXPECT_EQ(found.size(), std::size_t{2} * toy::elements);
  EXPECT_EQ(found.data()[0], 2.5f);
  std::filesystem::remove(path);
}

TEST(record, names_the_file_of_its_picture) {
  const std::vector<std::string> files{"a.png", "b.png"};
  const auto second = app::json_start(3, {}, 1, 2, files, "").json();
  EXPECT_NE(second.find(R"("picture": 1, "file": "b.png")"), std::string::npos) << second;
  const auto only = app::json_start(3, {}, 0, 1, std::span(files).first(1), "").json();
  EXPECT_NE(only.find(R"(, "file": "a.png")"), std::string::npos) << only;
  for (std::size_t row : {0u, 1u}) {  // two results of one picture
    const auto both = app::json_start(3, {}, row, 2, std::span(files).first(1), "").json();
    EXPECT_NE(both.find(R"("picture": )" + std::to_string(row) + R"(, "file": "a.png")"), std::string::npos) << both;
  }
}

TEST(record, has_the_time_since_the_frame_came) {
  const auto line = app::json_start(3, {.steady = meta::now() - 2'000'000'000}, 0, 1, {}, "").json();
  const auto at = line.find(R"("latency_ms": )");
  ASSERT_NE(at, line.npos) << line;
  const auto ms = std::stod(line.substr(at + 14));
  EXPECT_TRUE(2000 <= ms && ms < 20'000) << line;
}

TEST(destination, closes_a_commands_pipe_after_the_last_byte) {
  const auto path = (std::filesystem::path(testing::TempDir()) / ("bytes" + std::to_string(::getpid()))).string();
  app::destination to({0, app::result_sink::kinds::command, "sleep 0.1; wc -c >'" + path + "'"}, 1);
  std::counting_semaphore<> taken(0);
  to.on_change([&] { taken.release(); });
  to.put(std::string(1 << 20, 'x'));  // more than a pipe holds
  taken.acquire();
  to.finish();
  std::int64_t bytes_there = 0;
  std::ifstream(path) >> bytes_there;
  EXPECT_EQ(bytes_there, 1 << 20);
  std::filesystem::remove(path);
}

TEST(rank_results, in_numbers_go_to_no_terminal_and_to_no_log) {
  ::setenv("DICE_TIMESTAMP_OUTPUT", "1", 1);
  for (const auto form : {app::result_form::raw, app::result_form::npy, app::result_form::json}) {
    const viewed v(1, [&](app::options& o) { o.sinks = {{7, app::result_sink::kinds::standard, "-", form}}; });
    const auto error = test::error_of([&] { app::rank_results(v.view).begin(1, 0); });
    const auto word = std::string(app::result_words[static_cast<std::size_t>(form)]);
    EXPECT_EQ(error.find(", and takes no numbers in " + word + "; ") != error.npos, form != app::result_form::json) << error;
  }
  ::unsetenv("DICE_TIMESTAMP_OUTPUT");
}

/// Lines name outputs only if there are others.
TEST(rank_results, of_two_outputs_that_are_all) {
  const auto path = (std::filesystem::path(testing::TempDir()) / ("boxes" + std::to_string(::getpid()))).string();
  viewed v(1, [&](app::options& o) {
    o.decoders = {{{5, 7}, decode::head::ssd}};
    o.sinks = {{5, app::result_sink::kinds::file, path, app::result_form::top}};
  });
  std::vector<graph::layer_info> layers(v.program.layers.layers.begin(), v.program.layers.layers.end());
  layers[0].output = tensor::type{1, 3, 10, 10};
  layers[5].output = tensor::type{1, 1, 4};
  layers[7].output = tensor::type{1, 1, 2};
  v.program.layers.layers = layers;
  channels::in_process::hub hub(1);
  channels::in_process::communicator ranks(hub, 0);
  const auto end = ranks.connect({});
  app::rank_results results(v.view);
  results.begin(1, 0);
  const app::given_frames given;
  auto& sink = results.through(results.kept(), given, *end, nullptr);
  const float corners[]{0.1f, 0.1f, 0.2f, 0.3f}, scores[]{0.1f, 0.9f};
  sink.take(5, 0, reinterpret_cast<const std::byte*>(corners), layers[5].output);
  sink.take(7, 0, reinterpret_cast<const std::byte*>(scores), layers[7].output);
  results.write([](auto f) { f(); });
  std::string line;
  std::getline(std::ifstream(path) >> std::ws, line);
  EXPECT_EQ(line, "frame 0: class 0 0.90 at 1, 1, 1×2");
  std::filesystem::remove(path);
}

TEST(destination, says_that_a_command_takes_no_more) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);  // as programs do
  app::destination to({0, app::result_sink::kinds::command, "exit 3"}, 1);
  std::string error = "none";
  for (int i = 0; i < 5000 && error == "none"; ++i) {
    error = test::error_of([&] { to.put("line\n"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(error, "the sink 'exit 3' has ended (exit status 3) and takes no more results");
  EXPECT_TRUE(to.ready()) << "nobody waits for room";
  std::signal(SIGPIPE, before);
}
