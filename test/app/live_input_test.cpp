#include "dice/app/input/live_input.hpp"

#include "error_of.hpp"

#include "dice/app/input/live_inputs.hpp"
#include "dice/app/options.hpp"
#include "dice/channels/in_process/hub.hpp"
#include "dice/frames/picture_form.hpp"
#include "dice/frames/pixels.hpp"
#include "dice/frames/source.hpp"
#include "dice/meta/clock.hpp"
#include "dice/tensor/type.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace dice;

namespace {

TEST(live_input, takes_the_pictures_of_a_batch_one_after_the_other) {
  channels::in_process::hub hub(1);
  channels::in_process::communicator ranks(hub, 0);
  const auto end = ranks.connect({});
  const tensor::shape batch{2, 1, 1, 2};
  app::live_settings s{.from = {app::stream_origin::kinds::command, R"(printf '\000\063\146\377\377\377\063\000')"},
                       .one = tensor::type(batch),
                       .form = frames::form_of(batch, "input 'x'", {.mean = {0}, .deviation = {1}}),
                       .pixels = {frames::pixel_format::gray8, 2, 1}};
  EXPECT_EQ(s.frame_text(), "a frame is gray8 2×1 times 2, 4 bytes");
  app::live_input in(std::move(s), {}, tensor::number::float32);
  in.start(2, *end);
  for (const auto& expected : {std::vector<float>{0, 0.2f, 0.4f, 1}, {1, 1, 0.2f, 0}}) {
    while (!in.ready() && in.count().given < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::vector<float> x(4);
    in.fill(x.data());
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_FLOAT_EQ(x[i], expected[i]);
  }
  EXPECT_EQ(in.stamp().number, 1);
}

TEST(live_input, takes_a_frame_that_comes_in_parts) {
  channels::in_process::hub hub(1);
  channels::in_process::communicator ranks(hub, 0);
  const auto end = ranks.connect({});
  app::live_input in({.from = {app::stream_origin::kinds::command,
                               R"(printf '\000\000\200'; sleep 0.05; printf '\077\000\000'; sleep 0.05; printf '\000\100')"},
                      .one = tensor::type(tensor::shape{2})},
                     {}, tensor::number::float32);
  in.start(1, *end);
  while (!in.ready() && in.count().given < 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  float x[2];
  in.fill(x);
  EXPECT_EQ(x[0], 1);
  EXPECT_EQ(x[1], 2);
}

TEST(byte_stream, is_late_also_while_bytes_come) {
  app::byte_stream in({app::stream_origin::kinds::command, "yes", {}});
  in.open();
  std::vector<char> bytes(1 << 22);  // more than a pipe holds
  std::size_t at = 0;
  const auto how = in.read(bytes.data(), bytes.size(), at, meta::now(), [] { return false; });
  EXPECT_EQ(how, app::byte_stream::outcome::late);
  EXPECT_LT(at, bytes.size());
}

/// Whoever writes to a pipe hears that nobody reads any more.
TEST(byte_stream, closes_its_pipe) {
  const std::string path = ::testing::TempDir() + "dice_pipe_" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  app::byte_stream in({app::stream_origin::kinds::pipe, path});
  for (int i = 0; i < 2; ++i) {
    in.open();
    const int writer = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    EXPECT_GE(writer, 0);
    in.close();
    EXPECT_LT(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC), 0);
    ::close(writer);
  }
  ::unlink(path.c_str());
}

TEST(live_input, normalises_float32_frames) {
  channels::in_process::hub hub(1);
  channels::in_process::communicator ranks(hub, 0);
  const auto end = ranks.connect({});
  const tensor::shape one{1, 1, 1, 2};
  app::live_input in({.from = {app::stream_origin::kinds::command, R"(printf '\000\000\200\077\000\000\000\100')"},  // 1, 2
                      .one = tensor::type(one),
                      .form = frames::form_of(one, "input 'x'", {.mean = {0.5f}, .deviation = {0.25f}})},
                     {}, tensor::number::float32);
  in.start(1, *end);
  while (!in.ready() && in.count().given < 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  float x[2];
  in.fill(x);
  EXPECT_EQ(x[0], 2);
  EXPECT_EQ(x[1], 6);
}

/// Its time is when it came, also if it has to wait for the frame before it.
TEST(live_input, stamps_a_frame_before_it_waits) {
  channels::in_process::hub hub(1);
  channels::in_process::communicator ranks(hub, 0);
  const auto end = ranks.connect({});
  app::live_input in(
      {.from = {app::stream_origin::kinds::command, "head -c 16 /dev/zero"}, .one = tensor::type(tensor::shape{2})}, {},
      tensor::number::float32);
  in.start(2, *end);
  while (in.count().read < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto taken = meta::now();
  for (float x[2]; in.count().taken < 2; std::this_thread::sleep_for(std::chrono::milliseconds(1)))
    if (in.ready()) in.fill(x);
  EXPECT_EQ(in.stamp().number, 1);
  EXPECT_LE(in.stamp().steady, taken);
}

/// What a source's frames of 2 numbers are warned of and end with, if it may be started again `restarts` times.
struct ended {
  std::string warnings, error;
};
ended end_of(const std::string& command, int restarts, frames::pixel_layout pixels = {}) {
  channels::in_process::hub hub(1);
  channels::in_process::communicator ranks(hub, 0);
  const auto end = ranks.connect({});
  const tensor::shape one{1, 1, 2};
  app::live_settings s{.from = {app::stream_origin::kinds::command, command},
                       .one = tensor::type(one),
                       .pixels = pixels,
                       .restarts = restarts};
  if (pixels.width > 0) s.form = frames::form_of(one, "input 'x'", {});
  ended out;
  testing::internal::CaptureStderr();
  {
    app::live_input in(std::move(s), {}, tensor::number::float32);
    in.start(100, *end);
    std::vector<float> x(2);
    out.error = test::error_of([&] {
      for (; !in.count().ended || in.ready(); std::this_thread::sleep_for(std::chrono::milliseconds(1)))
        if (in.ready()) in.fill(x.data());
    });
  }
  out.warnings = testing::internal::GetCapturedStderr();
  return out;
}

TEST(live_input, says_why_a_source_has_ended) {
  EXPECT_EQ(end_of("head -c 8 /dev/zero; exit 3", 0).error,
            "the source 'head -c 8 /dev/zero; exit 3' has ended (exit status 3) after 1 frame");
  EXPECT_EQ(end_of("head -c 8 /dev/zero", 0).error, "none");
}

TEST(live_input, warns_of_a_covered_camera_only_at_first) {
  const frames::pixel_layout grey{frames::pixel_format::gray8, 2, 1};
  EXPECT_NE(end_of(R"(printf '\007\007\001\002')", 0, grey).warnings.find("all bytes of the first frame are 7; "),
            std::string::npos);
  EXPECT_EQ(end_of(R"(printf '\001\002\007\007')", 0, grey).warnings, "");
}

/// A stream of float32 frames of 2 numbers, 8 bytes.
std::unique_ptr<app::live_input> stream_of(const std::string& command, int restarts = 0) {
  return std::make_unique<app::live_input>(app::live_settings{.from = {app::stream_origin::kinds::command, command},
                                                              .one = tensor::type(tensor::shape{1, 2}),
                                                              .late = app::late_rule::drop_newest,
                                                              .restarts = restarts},
                                           app::options{}, tensor::number::float32);
}

TEST(live_inputs, count_all_streams_and_end_with_the_shorter_one) {
  channels::in_process::hub hub(1);
  channels::in_process::communicator ranks(hub, 0);
  const auto end = ranks.connect({});
  frames::tensor_source files;
  app::live_inputs both(files);
  both.add(0, "a", stream_of("head -c 24 /dev/zero"));
  const std::string go = ::testing::TempDir() + "dice_live_inputs_" + std::to_string(::getpid());
  both.add(1, "b", stream_of("while [ ! -e '" + go + "' ]; do sleep 0.01; done; head -c 32 /dev/zero"));
  both.start(100, *end);
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  while (!both.of(0)->count().ended) pause();
  EXPECT_EQ(both.counts().dropped, 2);  // nobody takes the first
  EXPECT_EQ(both.total(), -1);          // the other one has given none
  std::ofstream(go) << "go";
  while (both.total() < 0) pause();
  EXPECT_EQ(both.total(), 1);
  EXPECT_EQ(both.of(1)->count().given, 1);
  while (!both.of(1)->count().ended) pause();
  EXPECT_EQ(both.counts().read, 7);
  EXPECT_EQ(both.counts().dropped, 5);
  ::unlink(go.c_str());
}

TEST(live_inputs, count_the_restarts_of_all_streams) {
  channels::in_process::hub hub(1);
  channels::in_process::communicator ranks(hub, 0);
  const auto end = ranks.connect({});
  frames::tensor_source files;
  app::live_inputs both(files);
  both.add(0, "a", stream_of("head -c 8 /dev/zero; exit 1", 1));
  both.add(1, "b", stream_of("head -c 8 /dev/zero", 0));
  testing::internal::CaptureStderr();
  both.start(100, *end);
  while (both.of(0)->count().read < 2 || !both.of(1)->count().ended)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(both.counts().restarts, 1);
  EXPECT_EQ(both.counts().read, 3);
  both.stop();
  testing::internal::GetCapturedStderr();
}

/// A stream that has given as many frames as another rank's goes on for a moment.
TEST(live_inputs, wait_for_the_end_that_another_rank_has_told) {
  channels::in_process::hub hub(1);
  channels::in_process::communicator ranks(hub, 0);
  const auto end = ranks.connect({});
  frames::tensor_source files;
  app::live_inputs in(files);
  in.add(0, "a",
         std::make_unique<app::live_input>(
             app::live_settings{.from = {app::stream_origin::kinds::command, "head -c 8 /dev/zero; sleep 1000"},
                                .one = tensor::type(tensor::shape{1, 2})},
             app::options{}, tensor::number::float32));
  in.start(100, *end);
  float x[2];
  while (!in.of(0)->ready()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  in.of(0)->fill(x);
  in.others_have(1);
  EXPECT_EQ(in.total(), -1) << "it may give another one";
  in.others_have(2);
  const auto began = meta::now();
  while (in.total() < 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(in.total(), 1);
  EXPECT_LT(meta::now() - began, 5'000'000'000);
}

}  // namespace
