// Streams whose ranks are threads of this process: frames come out right and in order, whatever the program's threads do.
#include "app/engine_fixture.hpp"

#include "dice/channels/in_process/transport.hpp"
#include "dice/channels/processes.hpp"
#include "dice/runtime/digest.hpp"
#include "dice/runtime/weights_of.hpp"
#include "dice/weights/packed.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <thread>
#include <utility>

namespace {

using dice::job::stream_job;
using engine_tests::fixture, engine_tests::placements;

TEST(Engine, ResultsComeInOrderAndWhileFramesArePushed) {
  for (const auto& owner : placements) {
    fixture f(owner);
    toy::jitter = 50;
    stream_job job(f.program, f.options);
    std::thread source([&] {
      for (int k = 0; k < 200; ++k) f.push(job, 0, k);
      job.close();
    });
    dice::frames::tensor result;
    int frames = 0;
    for (; f.take(job, 9, result); ++frames) ASSERT_EQ(f.numbers(result), f.expected(9, frames)) << frames;
    EXPECT_EQ(frames, 200);
    source.join();
    job.wait();
  }
}

// Results that nobody takes hold frames up: what is under way then is as few as the options say, of the plan's four.
TEST(Engine, HasNoMoreFramesUnderWayThanItsOptionsSay) {
  fixture f(placements[1]);
  f.options.queue = 1;
  for (const int in_flight : {1, 2}) {
    f.options.in_flight = in_flight;
    stream_job job(f.program, f.options);
    for (int k = 0; k < in_flight + 2; ++k) f.push(job, 0, k);  // a result, those under way, one that waits to enter
    EXPECT_FALSE(f.push(job, 0, 9, dice::frames::deadline_in(std::chrono::milliseconds(300)))) << in_flight;
  }
}

TEST(Engine, RunsOverProcessesThatTheProgramHasJoined) {
  fixture f(placements[1]);
  f.options.by = dice::job::transport::mpi;  // without effect
  const dice::channels::processes own([] { return dice::channels::in_process::about.join(3, true); });
  stream_job job(f.program, f.options, own);
  f.push(job, 0, 0);
  job.close();
  dice::frames::tensor result;
  ASSERT_TRUE(f.take(job, 9, result));
  EXPECT_EQ(f.numbers(result), f.expected(9, 0));
  job.wait();
  const dice::channels::processes too_few([] { return dice::channels::in_process::about.join(2, true); });
  EXPECT_THROW(stream_job(f.program, f.options, too_few), dice::engine_error);
}

TEST(Engine, PackedWeights) {
  for (const auto& owner : placements) {
    fixture f(owner);
    const auto plain = std::exchange(f.options.weights, "");
    f.options.packed = plain + ".packed";
    {
      dice::files::writer out(f.options.packed);
      const dice::weights::file from(plain, f.program.network, f.program.weights);
      dice::weights::write_packed(out, dice::runtime::packed_identity(f.program), dice::runtime::weights_of(f.program), from,
                                  [](auto...) {});
      out.commit();
    }
    ::unlink(plain.c_str());
    {
      stream_job job(f.program, f.options);
      for (int k = 0; k < 3; ++k) f.push(job, 0, k);
      job.close();
      dice::frames::tensor result;
      for (int k = 0; k < 3; ++k) {
        ASSERT_TRUE(f.take(job, 9, result));
        EXPECT_EQ(f.numbers(result), f.expected(9, k));
      }
    }
    f.options.weights = plain;  // only one of the two may be given
    EXPECT_THROW(stream_job(f.program, f.options), dice::engine_error);
    ::unlink(f.options.packed.c_str());
    f.options.weights.clear();
    EXPECT_THROW(stream_job(f.program, f.options), dice::engine_error);
  }
}

TEST(Engine, AListenerGetsWhatWaitsAndWhatComes) {
  fixture f(placements[1]);
  stream_job job(f.program, f.options);
  for (int k = 0; k < 3; ++k) f.push(job, 0, k);
  job.drain();
  std::int64_t next = 0;
  job.listen(9, [&](std::int64_t frame, const float* at) {
    ASSERT_EQ(frame, next++);
    ASSERT_EQ(toy::values(at, at + toy::elements), f.expected(9, frame));
  });
  EXPECT_EQ(next, 3);
  for (int k = 3; k < 50; ++k) f.push(job, 0, k);
  job.drain();
  EXPECT_EQ(next, 50);
  job.close();
  job.wait();
}

TEST(Engine, NobodyTakesSoNobodyPushes) {
  for (const auto& owner : placements) {
    fixture f(owner);
    f.options.queue = 2;
    stream_job job(f.program, f.options);
    int pushed = 0;
    for (auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
         std::chrono::steady_clock::now() < until;)
      f.push(job, 0, pushed, dice::frames::at_once) ? ++pushed
                                                    : (std::this_thread::sleep_for(std::chrono::milliseconds(1)), 0);
    EXPECT_LE(pushed, 2 + 4 + 2);  // queue, in flight, results
    EXPECT_GE(pushed, 4);
    job.close();
    dice::frames::tensor result;
    for (int k = 0; k < pushed; ++k) {
      ASSERT_TRUE(f.take(job, 9, result));
      ASSERT_EQ(f.numbers(result), f.expected(9, k));
    }
    EXPECT_FALSE(f.take(job, 9, result));
  }
}

TEST(Engine, QueuesHoldAsManyFramesAsMayBeInFlight) {
  for (const int queue : {0, 3}) {
    fixture f(placements[0]);
    f.options.in_flight = 1;
    f.options.queue = queue;
    stream_job job(f.program, f.options);
    const int holds = 2 * std::max(queue, 1);  // as many results as frames
    for (int k = 0; k < holds; ++k) EXPECT_TRUE(f.push(job, 0, k, dice::frames::deadline_in(std::chrono::seconds(20)))) << k;
    EXPECT_FALSE(f.push(job, 0, holds, dice::frames::deadline_in(std::chrono::milliseconds(20))));
  }
}

TEST(Engine, SeveralInputsAndOutputs) {
  for (const auto& owner :
       std::vector<std::vector<int>>{{0, 0, 0, 0, 0, 0, 0, 0}, {0, 1, 0, 1, 0, 1, 1, 0}, {1, 0, 2, 1, 0, 2, 1, 0}}) {
    fixture f(owner, toy::two_by_two());
    stream_job job(f.program, f.options);
    std::thread first([&] {
      for (int k = 0; k < 40; ++k) f.push(job, 0, k);
    });
    std::thread second([&] {
      for (int k = 0; k < 40; ++k) f.push(job, 1, k);
    });
    std::thread taker([&] {
      dice::frames::tensor result;
      for (int k = 0; k < 40; ++k) {
        ASSERT_TRUE(f.take(job, 5, result));
        ASSERT_EQ(f.numbers(result), f.expected(5, k, 2));
      }
    });
    dice::frames::tensor result;
    for (int k = 0; k < 40; ++k) {
      ASSERT_TRUE(f.take(job, 7, result));
      ASSERT_EQ(f.numbers(result), f.expected(7, k, 2));
    }
    first.join();
    second.join();
    taker.join();
  }
}

TEST(Engine, InputsThatDisagreeAreNamed) {
  for (const auto& owner : std::vector<std::vector<int>>{{0, 0, 0, 0, 0, 0, 0, 0}, {0, 1, 0, 1, 0, 1, 1, 0}}) {
    fixture f(owner, toy::two_by_two());
    stream_job job(f.program, f.options);
    for (int k = 0; k < 3; ++k) f.push(job, 0, k);
    for (int k = 0; k < 2; ++k) f.push(job, 1, k);
    job.close();
    try {
      job.wait();
      FAIL();
    } catch (const dice::engine_error& e) {
      EXPECT_NE(std::string(e.what()).find("different numbers of frames"), std::string::npos) << e.what();
    }
  }
}

TEST(Engine, AFailingKernelIsNamed) {
  for (const auto& owner : placements) {
    auto net = toy::diamond();
    net[6].what = toy::op::failing;
    fixture f(owner, net);
    toy::failing_after = 5;
    stream_job job(f.program, f.options);
    std::thread source([&] {
      try {
        for (int k = 0;; ++k) f.push(job, 0, k);
      } catch (const dice::engine_error& e) {
        EXPECT_EQ(e.cause(), "this kernel fails as it was told");
      }
    });
    dice::frames::tensor result;
    int frames = 0;
    try {
      for (; f.take(job, 9, result); ++frames) EXPECT_EQ(f.numbers(result), f.expected(9, frames));
      ADD_FAILURE();
    } catch (const dice::engine_error& e) {
      EXPECT_EQ(e.rank(), owner[6]);
      EXPECT_EQ(e.frame(), 5);
      EXPECT_EQ(e.layer(), "/node/6");
      EXPECT_EQ(e.cause(), "this kernel fails as it was told");
      EXPECT_NE(std::string(e.what()).find("frame 5, layer '/node/6': this kernel fails"), std::string::npos) << e.what();
    }
    EXPECT_LE(frames, 5);
    source.join();
    EXPECT_THROW(job.wait(), dice::engine_error);
  }
}

TEST(Engine, NumbersThatAreNotFiniteAreNamed) {
  for (const auto& owner : placements) {
    fixture f(owner);
    f.options.check_numbers = true;
    stream_job job(f.program, f.options);
    fixture::push(job, 0, 0);
    fixture::write(job, 0, [](float* to, std::int64_t n) {
      std::fill_n(to, n, 1.f);
      to[3] = NAN;
    });
    job.close();
    try {
      job.wait();
      ADD_FAILURE();
    } catch (const dice::engine_error& e) {
      EXPECT_EQ(e.frame(), 1);
      EXPECT_EQ(e.layer(), "in.0");
      EXPECT_EQ(e.rank(), owner[0]);
    }
  }
}

// The toy network's file has no digests of its tensors.
TEST(Engine, WeightsAreVerifiedIfAsked) {
  fixture f(placements[1]);
  f.options.verify = true;
  try {
    const stream_job job(f.program, f.options);
    ADD_FAILURE();
  } catch (const dice::engine_error& e) {
    EXPECT_NE(e.cause().find("digest"), std::string::npos) << e.cause();
  }
}

TEST(Engine, WhatTheProgramsFunctionsThrowEndsTheStream) {
  fixture f(placements[1]);
  {
    stream_job job(f.program, f.options);
    f.write(job, 0, [](float*, std::int64_t) { throw std::runtime_error("the camera is gone"); });
    dice::frames::tensor result;
    try {
      f.take(job, 9, result);
      FAIL();
    } catch (const dice::engine_error& e) {
      EXPECT_EQ(e.cause(), "the camera is gone");
      EXPECT_EQ(e.layer(), "in.0");
      EXPECT_EQ(e.rank(), 0);
    }
  }
  stream_job job(f.program, f.options);
  job.listen(9, [](std::int64_t frame, const float*) {
    if (frame == 2) throw 7;
  });
  for (int k = 0; k < 3; ++k) f.push(job, 0, k);
  try {
    job.wait();
    FAIL();
  } catch (const dice::engine_error& e) {
    EXPECT_EQ(e.cause(), "an exception that is not a std::exception");
    EXPECT_EQ(e.layer(), "out.9");
  }
}

TEST(Engine, StopEndsWithFramesUnderWay) {
  for (const auto& owner : placements) {
    fixture f(owner);
    toy::jitter = 2000;
    stream_job job(f.program, f.options);
    for (int k = 0; k < 4; ++k) f.push(job, 0, k);
    job.stop();
    EXPECT_THROW(job.wait(), dice::engine_error);
    EXPECT_THROW(f.push(job, 0, 4), dice::engine_error);
  }
}

TEST(Engine, AStartThatFailsThrowsWithoutAThreadLeft) {
  fixture f(placements[3]);
  f.options.weights = "/nonexistent/toy.safetensors";
  try {
    stream_job job(f.program, f.options);
    FAIL();
  } catch (const dice::engine_error& e) {
    EXPECT_NE(std::string(e.what()).find("/nonexistent/toy.safetensors"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("; give engine_options::weights the"), std::string::npos) << e.what();
  }
  f.options.weights.clear();
  try {
    stream_job job(f.program, f.options);
    FAIL();
  } catch (const dice::engine_error& e) {
    EXPECT_NE(std::string(e.what()).find("say where it is with engine_options::weights"), std::string::npos) << e.what();
    EXPECT_EQ(std::string(e.what()).find("--"), std::string::npos) << e.what();
  }
  f.options.in_flight = 5;
  EXPECT_THROW(stream_job(f.program, f.options), dice::engine_error);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DICE_TEST_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define DICE_TEST_SANITIZED
#endif
#endif
#ifndef DICE_TEST_SANITIZED  // sanitizers do not work under such memory limits
// Memory suffices for the stacks of only one or two threads.
TEST(Engine, AThreadThatCannotBeStarted) {
  constexpr std::size_t stack = std::size_t{1} << 30;
  fixture f(placements[3]);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  ASSERT_GT(pages, 0u);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  pthread_attr_t usual, large;
  ASSERT_EQ(::pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(::pthread_getattr_default_np(&large), 0);
  ::pthread_attr_setstacksize(&large, stack);
  ASSERT_EQ(::pthread_setattr_default_np(&large), 0);
  const rlimit tight{pages * static_cast<std::size_t>(::getpagesize()) + stack * 5 / 2, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &tight), 0);
  std::string error;
  try {
    const stream_job job(f.program, f.options);
  } catch (const dice::engine_error& e) {
    error = e.what();
  }
  ::setrlimit(RLIMIT_AS, &before);
  ::pthread_setattr_default_np(&usual);
  EXPECT_EQ(error.find("dice: no thread for rank 2: "), 0u) << error;
  const stream_job job(f.program, f.options);  // now there is enough memory
}
#endif

TEST(Engine, PushedAfterTheEnd) {
  fixture f(placements[0]);
  stream_job job(f.program, f.options);
  f.push(job, 0, 0);
  job.close();
  EXPECT_THROW(f.push(job, 0, 1), std::logic_error);
  job.wait();
  EXPECT_THROW(f.push(job, 0, 1), std::logic_error);
  dice::frames::tensor result;
  EXPECT_TRUE(f.take(job, 9, result));
  EXPECT_FALSE(f.take(job, 9, result));
}

}  // namespace
