// dice::engine as a program uses it: the digits example's network, in this process.
#include <dice/engine.hpp>

#include "digits.hpp"
#include "segmentation.hpp"

#include <gtest/gtest.h>
#include <xtensor/xnpy.hpp>
#include <xtensor/xview.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace {

using two = dice::mapping<dice::dev<0, dice::threads<1>>, dice::layers<dice::to<digits::pool2>>,
                          dice::dev<1, dice::threads<1>>, dice::layers<dice::from<digits::conv3>>>;
using one = dice::mapping<dice::dev<0, dice::threads<1>>, dice::layers<dice::all>>;
const dice::engine_options in_process{.by = dice::job::transport::in_process};

using tensor = dice::frames::tensor;
const tensor pictures = xt::load_npy<float>(EXAMPLE "/digits_in.npy");
const tensor scores = xt::load_npy<float>(EXAMPLE "/digits_out.npy");

tensor picture(std::size_t k) { return xt::view(pictures, xt::range(k, k + 1)); }
void expect_scores(const auto& found, std::size_t k) {
  ASSERT_EQ(found.dimension(), 2u);
  ASSERT_EQ(found.shape(0), 1u);
  ASSERT_EQ(found.shape(1), 10u);
  for (std::size_t i = 0; i < 10; ++i) ASSERT_NEAR(found(0, i), scores(k, i), 1e-5) << k;
}

TEST(Embedding, FramesInEveryForm) {
  auto engine = dice::start<digits::network, two>(in_process);
  static_assert(std::is_same_v<decltype(engine), dice::engine<digits::network>>);
  EXPECT_TRUE(engine.has_input() && engine.has_output());
  engine.push(picture(0));  // moved
  const tensor kept = picture(1);
  engine.push(kept);                                               // copied
  engine.push(xt::view(pictures, xt::range(2, 3)));                // an expression
  engine.push<digits::picture>([](auto to) { to = picture(3); });  // a function that writes the frame in place
  engine.push(xt::xtensor<double, 4>(picture(4)));                 // another number type
  engine.close();
  std::size_t k = 0;
  while (const auto result = engine.take()) expect_scores(*result, k++);
  EXPECT_EQ(k, 5u);
  engine.wait();
  EXPECT_TRUE(engine.ended());
}

TEST(Embedding, FunctionsThatCanOnlyBeMoved) {
  auto engine = dice::start<digits::network, two>(in_process);
  int seen = 0;
  engine.on_result([of = std::make_unique<std::size_t>(6), &seen](std::int64_t, const auto& view) mutable {
    expect_scores(view, *of);
    ++seen;
  });
  auto frame = [of = std::make_unique<const tensor>(picture(6))](auto to) mutable { to = *of; };
  EXPECT_TRUE(engine.try_push(std::move(frame)));
  engine.close();
  engine.wait();
  EXPECT_EQ(seen, 1);
}

TEST(Embedding, ResultsThatAreIntegers) {
  constexpr int half = segmentation::network::size / 2;
  auto engine =
      dice::start<segmentation::network, dice::split<segmentation::network, dice::points<half>,
                                                     dice::dev<0, dice::threads<1>>, dice::dev<1, dice::threads<1>>>>(
          in_process);
  const tensor frames = xt::load_npy<float>(MODELS "/segmentation_in.npy");
  const auto labels = xt::load_npy<std::int64_t>(MODELS "/segmentation_out.npy");
  const auto frame = [](const auto& all, std::size_t k) { return xt::view(all, xt::range(k, k + 1)); };
  for (std::size_t k = 0; k < 2; ++k) engine.push(frame(frames, k));
  const std::optional<xt::xarray<std::int64_t>> first = engine.take();
  EXPECT_EQ(*first, frame(labels, 0));
  xt::xarray<std::int64_t> second;
  EXPECT_TRUE(engine.take(second));
  EXPECT_EQ(second, frame(labels, 1));
  bool seen = false;
  engine.on_result([&](std::int64_t, const auto& view) {
    static_assert(std::is_same_v<typename std::decay_t<decltype(view)>::value_type, std::int64_t>);
    seen = view == frame(labels, 2);
  });
  engine.push(frame(frames, 2));
  engine.close();
  EXPECT_FALSE(engine.take_for(std::chrono::minutes(1), second));
  engine.wait();
  EXPECT_TRUE(seen);
}

// Ranks that compute nothing but replicas' frames see the end, too, also if it comes long after the last frame.
TEST(Embedding, ReplicasEndWithTheStream) {
  for (const std::string option : {"", ", shares<3, 1>", ", first_free"})
    for (const std::size_t frames : {4, 5, 6}) {
      auto options = in_process;
      options.mapping =
          "mapping<dev<0, threads<1>>, layers<to<pool2>>, dev<1, threads<1>>, dev<2, threads<1>>, "
          "replicas<range<conv3, relu3>" +
          option + ">, ranks<0>, layers<from<pool3>>>";
      auto engine = dice::start<digits::network, one>(options);
      for (std::size_t k = 0; k < frames; ++k) engine.push(picture(k));
      for (std::size_t k = 0; k < frames; ++k) expect_scores(*engine.take(), k);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      engine.close();
      EXPECT_FALSE(engine.take());
      engine.wait();
    }
}

// A program's mapping is only its default.
TEST(Embedding, RunsUnderAnotherMapping) {
  auto options = in_process;
  options.mapping =
      "split<digits::network, points<conv2::id, 6>, dev<2, threads<1>>, dev<0, threads<1>>, dev<1, threads<1>>>";
  auto engine = dice::start<digits::network, one>(options);
  for (std::size_t k = 0; k < 5; ++k) engine.push(picture(k));
  engine.close();
  std::size_t k = 0;
  while (const auto result = engine.take()) expect_scores(*result, k++);
  EXPECT_EQ(k, 5u);
  engine.wait();
}

TEST(Embedding, MistakesInMappingsAreErrorsOfTheStart) {
  auto options = in_process;
  options.mapping = "mapping<dev<1>, layers<all>>";
  try {
    dice::start<digits::network, two>(options);
    FAIL();
  } catch (const dice::engine_error& e) {
    EXPECT_STREQ(e.what(),
                 "dice: engine_options::mapping: rank_missing: no device has rank 0; number the ranks from 0 without gaps");
    EXPECT_EQ(e.rank(), -1);
  }
}

// As is a CPU that cannot run the kernels.
TEST(Embedding, ALevelThatTheProgramHasNotIsAnErrorOfTheStart) {
  ::setenv("DICE_CPU_LEVEL", "x86-64-v9", 1);
  const auto refusal = [](const auto& start) -> std::string {
    try {
      start();
      return "none";
    } catch (const dice::engine_error& e) {
      return e.what();
    }
  };
  const std::string expected = "dice: DICE_CPU_LEVEL is 'x86-64-v9', ";
  const auto alone = refusal([] { dice::start<digits::network, one>(); });
  const auto together = refusal([] { dice::start<digits::network, two>(in_process); });
  ::unsetenv("DICE_CPU_LEVEL");
  EXPECT_EQ(alone.substr(0, expected.size()), expected);
  EXPECT_EQ(together, alone);
}

TEST(Embedding, OneRankNeedsNoMpi) {
  auto engine = dice::start<digits::network, one>();
#ifdef DICE_WITH_MPI
  int begun = 0;
  MPI_Initialized(&begun);
  EXPECT_FALSE(begun);
#endif
  std::size_t seen = 0;
  engine.on_result<digits::scores>([&](std::int64_t frame, const auto& view) {
    EXPECT_EQ(static_cast<std::size_t>(frame), seen++);
    expect_scores(view, static_cast<std::size_t>(frame));
  });
  for (std::size_t k = 0; k < 16; ++k) engine.push(picture(k));
  engine.drain();
  EXPECT_EQ(seen, 16u);
  EXPECT_FALSE(engine.ended());
}

TEST(Embedding, FramesComeFromFiles) {
  EXPECT_EQ(dice::load_frames<digits::picture>(EXAMPLE "/digits_in.npy"), pictures);
  try {
    dice::load_frames<digits::picture>(EXAMPLE "/digits_out.npy");
    FAIL();
  } catch (const std::runtime_error& e) {
    const std::string said = e.what();
    EXPECT_NE(said.find("digits_out.npy"), said.npos) << said;
    EXPECT_NE(said.find("input 'picture' is float32 (N, 1, 8, 8)"), said.npos) << said;
  }
}

TEST(Embedding, AWrongShapeIsNamedAndNothingHappens) {
  auto engine = dice::start<digits::network, two>(in_process);
  try {
    engine.push(tensor::from_shape({1, 8, 8}));
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(), "a frame of shape (1, 8, 8) for 'picture', whose shape is (1, 1, 8, 8)");
  }
  engine.push(picture(7));
  engine.close();
  expect_scores(engine.take().value(), 7);
  EXPECT_FALSE(engine.take());
}

TEST(Embedding, EmptyFunctionsAreRefusedWhenGiven) {
  auto engine = dice::start<digits::network, two>(in_process);
  using view = decltype(dice::app::detail::view<digits::scores>(static_cast<const float*>(nullptr)));
  using place = decltype(dice::app::detail::view<digits::picture>(static_cast<float*>(nullptr)));
  const auto refusal = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "none";
  };
  std::function<void(std::int64_t, const view&)> none;
  void (*no_pointer)(std::int64_t, const view&) = nullptr;
  std::function<void(place)> writes_nothing;
  EXPECT_EQ(refusal([&] { engine.on_result(none); }), "on_result was given an empty function");
  EXPECT_EQ(refusal([&] { engine.on_result(no_pointer); }), "on_result was given an empty function");
  EXPECT_EQ(refusal([&] { engine.push(writes_nothing); }), "push was given an empty function");
  EXPECT_EQ(refusal([&] { engine.try_push(std::move(writes_nothing)); }), "push was given an empty function");
  int seen = 0;
  none = [&](std::int64_t, const view& found) {
    expect_scores(found, 8);
    ++seen;
  };
  writes_nothing = [](place to) { to = picture(8); };
  engine.on_result(none);
  engine.push(writes_nothing);
  engine.drain();
  EXPECT_EQ(seen, 1);
  engine.on_result([](std::int64_t, const auto&) {});  // also functions without anything to compare
  engine.push(+[](place to) { to = picture(9); });
  engine.close();
  engine.wait();
}

TEST(Embedding, OlderNamesStillWork) {
  auto engine = dice::start<digits::network, two>(in_process);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  EXPECT_TRUE(engine.takes() && engine.gives<digits::scores>());
  static_assert(std::is_same_v<dice::runtime::tensor, dice::frames::tensor>);
#pragma GCC diagnostic pop
}

TEST(Embedding, AnEngineThatWasMovedFromSaysSo) {
  auto first = dice::start<digits::network, two>(in_process);
  auto engine = std::move(first);
  const auto refused = [](const auto& call) {
    try {
      call();
      return false;
    } catch (const std::logic_error& e) {
      EXPECT_STREQ(e.what(), "this engine was moved from: call the functions of the engine that it was moved to");
      return true;
    }
  };
  tensor result;
  EXPECT_TRUE(refused([&] { first.has_input(); }));
  EXPECT_TRUE(refused([&] { first.has_output(); }));
  EXPECT_TRUE(refused([&] { first.push(picture(0)); }));
  EXPECT_TRUE(refused([&] { first.try_push([](auto) {}); }));
  EXPECT_TRUE(refused([&] { first.push_for(std::chrono::hours(1), picture(0)); }));
  EXPECT_TRUE(refused([&] { first.take(); }));
  EXPECT_TRUE(refused([&] { first.take_for(std::chrono::hours(1), result); }));
  EXPECT_TRUE(refused([&] { first.on_result([](std::int64_t, const auto&) {}); }));
  EXPECT_TRUE(refused([&] { first.drain(); }));
  EXPECT_TRUE(refused([&] { first.close(); }));
  EXPECT_TRUE(refused([&] { first.stop(); }));
  EXPECT_TRUE(refused([&] { first.ended(); }));
  EXPECT_TRUE(refused([&] { first.wait(); }));
  engine.push(picture(5));
  expect_scores(*engine.take(), 5);
  first = std::move(engine);
  first.push(picture(6));
  expect_scores(*first.take(), 6);
}

TEST(Embedding, DeadlinesThatPassLeaveTheFrame) {
  using namespace std::chrono_literals;
  auto options = in_process;
  options.queue = 1;
  auto engine = dice::start<digits::network, two>(options);
  tensor result;
  EXPECT_FALSE(engine.take_for(1ms));
  EXPECT_FALSE(engine.take_for(0s, result));
  std::latch entered(1), opened(1);
  engine.push([&](auto to) {
    to = picture(0);
    entered.count_down();
    opened.wait();
  });
  entered.wait();
  engine.push(picture(1));  // the queue is full
  auto frame = picture(2);
  EXPECT_FALSE(engine.try_push(std::move(frame)));
  EXPECT_FALSE(engine.push_for(1ms, std::move(frame)));
  EXPECT_EQ(frame, picture(2));
  EXPECT_THROW(engine.push_for(1ms, tensor::from_shape({2})), std::invalid_argument);
  opened.count_down();
  EXPECT_TRUE(engine.push_for<digits::picture>(24h, std::move(frame)));
  expect_scores(engine.take_for(24h).value(), 0);
  expect_scores(engine.take_for<digits::scores>(std::chrono::hours::max()).value(), 1);
  engine.close();
  EXPECT_THROW(engine.push_for(24h, picture(3)), std::logic_error);
  EXPECT_TRUE(engine.take_for(24h, result));
  expect_scores(result, 2);
  EXPECT_FALSE(engine.take_for(24h, result));
}

TEST(Embedding, OneTensorForAllResults) {
  auto engine = dice::start<digits::network, two>(in_process);
  std::jthread source([&] {
    for (std::size_t k = 0; k < 200; ++k) engine.push(picture(k % 16));
    engine.close();
  });
  tensor result;
  std::size_t k = 0;
  for (; engine.take(result); ++k) expect_scores(result, k % 16);
  EXPECT_EQ(k, 200u);
}

TEST(Embedding, TheEngineOutlivesNoFrame) {
  for (int round = 0; round < 20; ++round) {  // destroyed with frames and results under way
    auto engine = dice::start<digits::network, two>(in_process);
    for (std::size_t k = 0; k < 5; ++k) engine.push(picture(k));
  }
}

TEST(Embedding, LayersInParts) {
  using shared = dice::mapping<dice::dev<1, dice::threads<1>>, dice::layers<digits::picture>, dice::ranks<1>,
                               dice::dev<0, dice::threads<1>>, dice::rows<dice::range<digits::conv1, digits::pool3>>,
                               dice::ranks<0>, dice::layers<dice::from<digits::flatten>>>;
  auto options = in_process;
  for (const bool as_text : {false, true}) {
    if (as_text)
      options.mapping =
          "mapping<dev<0>, layers<picture>, ranks<0>, dev<1>, dev<2>, columns<range<conv1, relu3>>, ranks<2, 1>, "
          "output_channels<range<pool3, fc1>>, ranks<0>, layers<from<relu4>>>";
    auto engine = dice::start<digits::network, shared>(options);
    for (std::size_t k = 0; k < 6; ++k) engine.push(picture(k));
    engine.close();
    for (std::size_t k = 0; k < 6; ++k) expect_scores(*engine.take(), k);
    engine.wait();
  }
}

}  // namespace
