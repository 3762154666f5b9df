// An engine's calls: what each does in each of the engine's states, every two of them in two threads, and functions of the
// program that call the engine or throw. docs/embedding.md has the table of states.
#include "app/engine_fixture.hpp"

#include "dice/frames/stream.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using dice::frames::at_once, dice::frames::never, dice::frames::deadline_in;
using dice::job::stream_job;
using engine_tests::fixture, engine_tests::placements;
using namespace std::chrono_literals;

constexpr int input = 0, output = 9;  // of toy::diamond

/// What calls have done so far.
struct counts {
  std::atomic<int> pushed{0}, results{0};
  std::atomic<std::int64_t> last{-1};  ///< frame that a function got
};

void push(stream_job& job, counts& n, dice::frames::deadline until) { n.pushed += fixture::push(job, input, 0, until); }
bool take(stream_job& job, counts& n, dice::frames::deadline until) {
  dice::frames::tensor result;
  const bool got = job.take(output, result, until);
  n.results += got;
  return got;
}
void listen(stream_job& job, counts& n) {
  job.listen(output, [&](std::int64_t frame, const float*) {
    EXPECT_LT(n.last.exchange(frame), frame);
    ++n.results;
  });
}

struct call {
  const char* name;
  bool ends;  ///< returns only at the end of a stream that nobody feeds
  std::function<void(stream_job&, counts&)> make;
  std::array<const char*, 4> outcomes;  ///< in each state
};
enum state { running, closed, ended, failed };

const call calls[]{
    {"push", false, [](auto& job, auto& n) { push(job, n, never); }, {"returns", "logic", "logic", "engine"}},
    {"try_push", false, [](auto& job, auto& n) { push(job, n, at_once); }, {"returns", "logic", "logic", "engine"}},
    {"push_for", false, [](auto& job, auto& n) { push(job, n, deadline_in(1ms)); }, {"returns", "logic", "logic", "engine"}},
    {"take",
     true,
     [](auto& job, auto& n) {
       while (take(job, n, never)) {
       }
     },
     {"waits", "waits", "returns", "engine"}},
    {"take_for",
     false,
     [](auto& job, auto& n) { take(job, n, deadline_in(1ms)); },
     {"returns", "returns", "returns", "engine"}},
    {"on_result", false, [](auto& job, auto& n) { listen(job, n); }, {"returns", "returns", "returns", "returns"}},
    {"drain", false, [](auto& job, auto&) { job.drain(); }, {"waits", "waits", "returns", "engine"}},
    {"close", false, [](auto& job, auto&) { job.close(); }, {"returns", "returns", "returns", "returns"}},
    {"stop", false, [](auto& job, auto&) { job.stop(); }, {"returns", "returns", "returns", "returns"}},
    {"ended", false, [](auto& job, auto&) { job.ended(); }, {"returns", "returns", "returns", "returns"}},
    {"wait", true, [](auto& job, auto&) { job.wait(); }, {"waits", "waits", "returns", "engine"}},
};

/// How a call ends.
std::string outcome(const std::function<void()>& f) {
  try {
    f();
    return "returns";
  } catch (const dice::engine_error&) {
    return "engine";
  } catch (const std::logic_error&) {
    return "logic";
  }
}

/// Keeps the engine's thread in the frame that enters first, until it is opened or destroyed. Destroy it before the engine.
struct gate {
  explicit gate(stream_job& job) {
    fixture::write(job, input, [this](float*, std::int64_t) {
      entered.count_down();
      opened.wait();
    });
    entered.wait();
  }
  ~gate() { open(); }
  void open() {
    if (!opened.try_wait()) opened.count_down();
  }
  std::latch entered{1}, opened{1};
};

TEST(EngineCalls, InEachState) {
  fixture f(placements[1]);
  for (const auto& call : calls)
    for (const auto in : {running, closed, ended, failed}) {
      if (call.outcomes[in] == std::string("waits")) continue;
      stream_job job(f.program, f.options);
      counts n;
      gate frame(job);
      if (in != running) job.close();
      if (in == failed) job.stop();
      if (in == ended || in == failed) {
        frame.open();
        EXPECT_EQ(outcome([&] { job.wait(); }), in == ended ? "returns" : "engine");
        while (outcome([&] { EXPECT_TRUE(take(job, n, at_once)); }) == "returns" && n.results < 1) {
        }
      }
      EXPECT_EQ(job.ended(), in == ended || in == failed);
      EXPECT_EQ(outcome([&] { call.make(job, n); }), call.outcomes[in]) << call.name << " in state " << in;
    }
}

/// Two threads make the calls a and b again and again; the stream is closed at once, or when they are done.
void make_both(const fixture& f, const call& a, const call& b, bool at_the_end) {
  SCOPED_TRACE(std::string(a.name) + " and " + b.name);
  const auto is = [&](const char* name) { return a.name == std::string(name) || b.name == std::string(name); };
  stream_job job(f.program, f.options);
  counts n;
  for (int k = 0; k < 2; ++k) push(job, n, never);
  std::latch begin(3), done(1 + !a.ends + !b.ends);
  const auto repeat = [&](const call& c) {
    begin.arrive_and_wait();
    const bool pushes = std::string(c.name).find("push") != std::string::npos;
    for (int k = 0; k < 6; ++k)
      if (const auto how = outcome([&] { c.make(job, n); }); how != "returns") {
        EXPECT_TRUE(how == "engine" ? is("stop") : pushes) << c.name << ": " << how;
      }
    if (!c.ends) done.count_down();
  };
  {
    const std::jthread first(repeat, std::cref(a)), second(repeat, std::cref(b));
    const std::jthread taker([&] {
      outcome([&] {
        while (take(job, n, never)) {
        }
      });
    });
    begin.arrive_and_wait();
    done.count_down();
    if (at_the_end) done.wait();
    job.close();
  }
  const auto end = outcome([&] { job.wait(); });
  if (is("stop")) return;
  EXPECT_EQ(end, "returns");
  EXPECT_EQ(n.results, n.pushed);
}

TEST(EngineCalls, EveryTwoInTwoThreads) {
  for (const auto& owner : {placements[0], placements[1]}) {
    fixture f(owner);
    f.options.queue = 1;
    for (const auto& a : calls)
      for (const auto* b = &a; b != std::end(calls); ++b)
        for (const bool at_the_end : {false, true}) make_both(f, a, *b, at_the_end);
  }
}

TEST(EngineCalls, ADrainLeavesResultsUnboundedForAWait) {
  fixture f(placements[1]);
  f.options.queue = 2;
  stream_job job(f.program, f.options);
  counts n;
  auto end = std::async(std::launch::async, [&] { job.wait(); });
  for (int k = 0; k < 30; ++k) push(job, n, never);  // more than queues hold: now wait() waits
  job.drain();
  for (int k = 0; k < 50; ++k) push(job, n, never);
  job.close();
  end.get();
  while (take(job, n, never)) {
  }
  EXPECT_EQ(n.results, 80);
}

TEST(EngineCalls, DrainAfterTheEndReturns) {
  for (const auto& owner : placements) {
    fixture f(owner);
    for (int round = 0; round < 20; ++round) {
      stream_job job(f.program, f.options);
      counts n;
      push(job, n, never);
      job.close();
      job.drain();
      job.wait();
      job.drain();
    }
  }
}

TEST(EngineCalls, TheEndIsToldToWhoWaitsForRoom) {
  for (const bool stops : {false, true}) {
    fixture f(placements[1]);
    f.options.queue = 1;
    stream_job job(f.program, f.options);
    counts n;
    gate frame(job);
    push(job, n, never);  // the queue is full
    auto forever = std::async(std::launch::async, [&] { return outcome([&] { push(job, n, never); }); });
    auto long_enough = std::async(std::launch::async, [&] { return outcome([&] { push(job, n, deadline_in(24h)); }); });
    auto result = std::async(std::launch::async, [&] {
      return outcome([&] {
        while (take(job, n, deadline_in(24h))) {
        }
      });
    });
    if (stops) job.stop();
    else job.close();
    if (stops) frame.open();
    EXPECT_EQ(forever.get(), stops ? "engine" : "logic");
    EXPECT_EQ(long_enough.get(), stops ? "engine" : "logic");
    frame.open();
    EXPECT_EQ(result.get(), stops ? "engine" : "returns");
  }
}

/// A frame that is being made has its place in the queue: no other one takes it meanwhile.
TEST(EngineCalls, AFrameBeingMadeHasItsPlace) {
  fixture f(placements[1]);
  f.options.queue = 1;
  stream_job job(f.program, f.options);
  counts n;
  gate frame(job);
  std::latch asked(1), made(1);
  auto slow = std::async(std::launch::async, [&] {
    return job.push(
        input,
        [&]() -> stream_job::writer {
          asked.count_down();
          made.wait();
          return [](float* to, std::int64_t elements) { std::fill_n(to, elements, 0.0f); };
        },
        never);
  });
  asked.wait();
  for (const auto until : {at_once, deadline_in(1ms)}) push(job, n, until);
  EXPECT_EQ(n.pushed, 0);
  made.count_down();
  EXPECT_TRUE(slow.get());
  push(job, n, at_once);
  EXPECT_EQ(n.pushed, 0);
  frame.open();
  push(job, n, never);
  EXPECT_EQ(n.pushed, 1);
  job.close();
  while (take(job, n, never)) {
  }
  EXPECT_EQ(n.results, 3);
}

TEST(EngineCalls, ADeadlineThatPassesHasNoEffect) {
  fixture f(placements[1]);
  f.options.queue = 1;
  stream_job job(f.program, f.options);
  counts n;
  EXPECT_FALSE(take(job, n, deadline_in(1ms)));
  gate frame(job);
  push(job, n, never);
  for (const auto until : {at_once, deadline_in(1ms)})
    EXPECT_FALSE(job.push(
        input, []() -> stream_job::writer { throw std::logic_error("the frame was asked for"); }, until));
  // What a frame throws when it is asked for changes nothing, either.
  frame.open();
  EXPECT_THROW(job.push(
                   input, []() -> stream_job::writer { throw std::domain_error("no frame"); }, deadline_in(24h)),
               std::domain_error);
  push(job, n, deadline_in(24h));
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(take(job, n, deadline_in(24h)));
  job.close();
  EXPECT_FALSE(take(job, n, deadline_in(24h)));
  EXPECT_EQ(n.pushed, 2);
  EXPECT_EQ(n.results, 3);
}

TEST(EngineCalls, AListenerIsReplacedWhileFramesFlow) {
  for (const auto& owner : {placements[0], placements[1]}) {
    fixture f(owner);
    stream_job job(f.program, f.options);
    counts n;
    std::jthread source([&] {
      for (int k = 0; k < 300; ++k) push(job, n, never);
      job.close();
    });
    std::int64_t next = 0;  // functions are never called at the same time
    while (!job.ended()) {
      auto alive = std::make_shared<std::int64_t>(1);
      job.listen(output, [&next, alive](std::int64_t frame, const float*) {
        EXPECT_EQ(frame, next);
        next += *alive;
      });
    }
    EXPECT_EQ(next, 300);
  }
}

TEST(EngineCalls, WhenAListenerIsReplacedItHasReturned) {
  fixture f(placements[1]);
  stream_job job(f.program, f.options);
  counts n;
  std::latch entered(1), opened(1);
  std::atomic<bool> returned{false};
  job.listen(output, [&](std::int64_t, const float*) {
    entered.count_down();
    opened.wait();
    returned = true;
  });
  push(job, n, never);
  entered.wait();
  const std::jthread opens([&] { opened.count_down(); });
  listen(job, n);
  EXPECT_TRUE(returned);
  push(job, n, never);
  job.drain();
  EXPECT_EQ(n.results, 1);
}

TEST(EngineCalls, AListenerIsReplacedWhileItGetsWhatWaits) {
  constexpr int frames = 10000;
  dice::frames::result_sink sink(1);
  sink.add(output, {1});
  const float result = 1;
  for (int k = 0; k < frames; ++k) sink.take(output, k, reinterpret_cast<const std::byte*>(&result), {1});
  std::latch entered(1);
  std::atomic<int> first{0}, second{0};
  const auto old = [&](std::int64_t, const float*) {
    if (++first == 1) entered.count_down();
    std::this_thread::sleep_for(100us);  // all frames take a second
  };
  std::jthread hands_out([&] { sink.listen(output, old, true); });
  entered.wait();
  sink.listen(
      output, [&](std::int64_t frame, const float*) { EXPECT_EQ(frame, first + second++); }, true);
  const int before = first;
  EXPECT_LT(before, frames);
  hands_out.join();
  EXPECT_EQ(first, before);
  EXPECT_EQ(first + second, frames);
}

TEST(EngineCalls, WhoReplacesAListenerThatThrowsGetsWhatIsLeft) {
  dice::frames::result_sink sink(1);
  sink.add(output, {1});
  const float result = 1;
  for (int k = 0; k < 3; ++k) sink.take(output, k, reinterpret_cast<const std::byte*>(&result), {1});
  std::latch entered(1), opened(1);
  std::jthread hands_out([&] {
    EXPECT_THROW(sink.listen(
                     output,
                     [&](std::int64_t, const float*) {
                       entered.count_down();
                       opened.wait();
                       throw std::domain_error("the disk is full");
                     },
                     true),
                 std::domain_error);
  });
  entered.wait();
  const std::jthread opens([&] { opened.count_down(); });
  int got = 0;
  sink.listen(
      output, [&](std::int64_t, const float*) { ++got; }, true);
  EXPECT_EQ(got, 2);
}

/// Results that queued up during a drain() leave no memory behind.
TEST(EngineCalls, MemoryOfResultsIsBounded) {
  constexpr int frames = 200, elements = 4096;
  dice::frames::result_sink sink(2);
  sink.add(output, {elements});
  const std::vector<float> result(elements);
  dice::frames::tensor into;
  const auto before = ::mallinfo2().uordblks;
  for (int k = 0; k < frames; ++k) sink.take(output, k, reinterpret_cast<const std::byte*>(result.data()), {elements});
  for (int k = 0; k < frames; ++k) sink.take(output, into, at_once);
  EXPECT_LT(::mallinfo2().uordblks, before + 10 * elements * sizeof(float));
}

TEST(EngineCalls, AListenerReplacesItself) {
  fixture f(placements[1]);
  for (const int where : {0, 1, 2}) {  // called in the engine's thread, here, and here after the end
    stream_job job(f.program, f.options);
    counts n;
    std::atomic<int> first{0};
    const auto pushes = [&] {
      for (int k = 0; k < 3; ++k) push(job, n, never);
      job.drain();
    };
    if (where > 0) pushes();
    if (where > 1) {
      job.close();
      job.wait();
    }
    job.listen(output, [&](std::int64_t, const float*) {
      ++first;
      listen(job, n);
    });
    if (where == 0) pushes();
    EXPECT_EQ(first, 1);
    EXPECT_EQ(n.results, 2);
  }
}

TEST(EngineCalls, AListenerThatThrowsWhereItIsGiven) {
  fixture f(placements[1]);
  stream_job job(f.program, f.options);
  counts n;
  for (int k = 0; k < 3; ++k) push(job, n, never);
  job.drain();
  EXPECT_THROW(job.listen(output, [](std::int64_t, const float*) { throw std::domain_error("the disk is full"); }),
               std::domain_error);
  try {
    job.wait();
    FAIL();
  } catch (const dice::engine_error& e) {
    EXPECT_EQ(e.cause(), "the disk is full");
    EXPECT_EQ(e.rank(), 2);
  }
}

TEST(EngineCalls, FunctionsOfTheProgramCannotWaitForThemselves) {
  const std::pair<const char*, std::function<void(stream_job&, counts&)>> waits[]{
      {"push",
       [](auto& job, auto& n) {
         for (;;) push(job, n, never);
       }},
      {"take",
       [](auto& job, auto& n) {
         for (;;) take(job, n, never);
       }},
      {"drain", [](auto& job, auto&) { job.drain(); }},
      {"wait", [](auto& job, auto&) { job.wait(); }},
  };
  fixture f(placements[1]);
  for (const auto& [name, make] : waits)
    for (const int where : {0, 1, 2}) {  // in a frame, a function of results, and one that gets what waits
      stream_job job(f.program, f.options);
      counts n;
      const auto here = [&, &make = make] { make(job, n); };
      if (where == 0) fixture::write(job, input, [&](float*, std::int64_t) { here(); });
      if (where == 1) job.listen(output, [&](std::int64_t, const float*) { here(); });
      if (where > 0) push(job, n, never);
      if (where == 2) {
        job.drain();
        EXPECT_THROW(job.listen(output, [&](std::int64_t, const float*) { here(); }), std::logic_error);
      }
      try {
        job.wait();
        ADD_FAILURE() << name;
      } catch (const dice::engine_error& e) {
        EXPECT_EQ(e.cause(), std::string("a function given to push or on_result calls its engine's ") + name +
                                 ", which would wait for that function; call " + name + " in another thread");
      }
    }
}

TEST(EngineCalls, WhatWarnThrowsEndsTheStart) {
  for (const auto& owner : {placements[0], placements[3]}) {
    fixture f(owner);
    std::vector<dice::platform::unit> units(f.program.units.begin(), f.program.units.end());
    units.resize(4);
    units[owner[3]] = {dice::platform::unit::kind::threads, 1 << 20};  // more than there are cores
    f.program.units = std::span(units).first(f.program.ranks());
    const std::pair<std::function<void(const std::string&)>, const char*> functions[]{
        {[](const std::string& text) { throw std::domain_error(text.substr(text.find("threads"))); }, "threads"},
        {[](const std::string&) { throw 7; }, "an exception that is not a std::exception"},
    };
    for (const auto& [warn, text] : functions) {
      f.options.warn = warn;
      try {
        const stream_job job(f.program, f.options);
        ADD_FAILURE();
      } catch (const dice::engine_error& e) {
        EXPECT_NE(e.cause().find("engine_options::warn threw: "), std::string::npos) << e.cause();
        EXPECT_NE(e.cause().find(text), std::string::npos) << e.cause();
        EXPECT_EQ(e.rank(), -1);
      }
    }
  }
}

}  // namespace
