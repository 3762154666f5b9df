#include "dice/app/input/live_input.hpp"

#include "dice/app/input/live_inputs.hpp"
#include "dice/app/options.hpp"
#include "dice/channels/in_process/hub.hpp"
#include "dice/frames/picture_form.hpp"
#include "dice/frames/pixels.hpp"
#include "dice/frames/source.hpp"
#include "dice/meta/clock.hpp"
#include "dice/tensor/type.hpp"

#include <gtest/gtest.h>
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

/// A stream of float32 frames of 2 numbers, 8 bytes.
std::unique_ptr<app::live_input> stream_of(const std::string& command) {
  return std::make_unique<app::live_input>(app::live_settings{.from = {app::stream_origin::kinds::command, command},
                                                              .one = tensor::type(tensor::shape{1, 2}),
                                                              .late = app::late_rule::drop_newest},
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

}  // namespace
