#include "process.hpp"

#include "diagnostics.hpp"
#include "signals.hpp"

#include "dice/files/writer.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace dice_run {
namespace {

namespace fs = std::filesystem;

[[maybe_unused]] const auto before_tests = std::signal(SIGPIPE, SIG_IGN);  // as dice-run does, for itself only

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string why_not(const std::vector<std::string>& words) {
  try {
    process{words};
    return {};
  } catch (const run_error& e) {
    return e.what();
  }
}

auto open_files() { return std::distance(fs::directory_iterator("/proc/self/fd"), {}); }

TEST(Process, WritesAndReadsAtOnce) {
  const std::string large(1 << 20, 'x');  // more than fits into pipes
  const auto result = process({"sh", "-c", "head -c 1048576 /dev/zero; wc -c"}).finish(large);
  EXPECT_EQ(result.out, std::string(large.size(), '\0') + "1048576\n");
}

/// More than 64 MiB are too many, whichever of its outputs has them. Then it is ended.
TEST(Process, OutputWithoutAnEndIsGivenUp) {
  const auto of = [](const std::string& bytes, const std::string& more) {
    return process({"sh", "-c", "head -c " + bytes + " /dev/zero" + more}).finish().failure;
  };
  EXPECT_EQ(of("67108864", ""), "");
  EXPECT_LT(seconds_of([&] {
              for (const char* to : {"1", "2"})
                EXPECT_EQ(of("67108865", " >&" + std::string(to) + "; exec sleep 20"), "it prints without an end") << to;
            }),
            10);
}

/// As an ssh that stays in the background for later connections (ControlPersist).
TEST(Process, OthersThatKeepItsOutputsAreNotAwaited) {
  for (const std::string kept : {">/dev/null", "2>/dev/null", ""}) {
    outcome result;
    EXPECT_LT(seconds_of([&] {
                result = process({"sh", "-c", "sleep 20 " + kept + " & echo $!; echo why >&2; exit 3"}).finish();
              }),
              10)
        << kept;
    EXPECT_EQ(::kill(std::stoi(result.out), SIGTERM), 0);
    EXPECT_EQ(result.err, "why\n");
    EXPECT_EQ(result.status, 3);
  }
}

TEST(Process, WhatDoesNotEndIsKilled) {
  const auto given_up = [](const std::string& program) {
    const auto ends_it = [](std::string_view text) { return text.empty(); };
    return process({"sh", "-c", program}).finish({}, ends_it).status;
  };
  EXPECT_LT(seconds_of([&] {
              EXPECT_EQ(given_up("echo x; exec sleep 20"), 128 + SIGTERM);
              EXPECT_EQ(given_up("trap '' TERM; echo x; exec sleep 20"), 128 + SIGKILL);  // as while all hosts switch
            }),
            10);
  EXPECT_LT(seconds_of([] { process({"sh", "-c", "echo x; kill -STOP $$; exec sleep 20"}).read_line(5); }), 10);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // none is left
}

TEST(Process, ALineIsAwaitedAlsoIfASignalComes) {
  const auto before = std::signal(SIGALRM, [](int) {});
  ::ualarm(50'000, 0);
  EXPECT_EQ(process({"sh", "-c", "sleep 0.2; echo a line"}).read_line(5), "a line");
  std::signal(SIGALRM, before);
}

/// Signals after which the kernel does not go on by itself.
TEST(Process, SignalsCutNothing) {
  struct sigaction noted {
  }, before{};
  noted.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &noted, &before);
  ::ualarm(20'000, 20'000);
  {
    process late({"sh", "-c", "sleep 0.2; wc -c"});
    EXPECT_TRUE(late.write(std::string(1 << 20, 'x')));
    late.close_input();
    EXPECT_EQ(late.read_line(5), "1048576");
  }
  EXPECT_EQ(process({"sh", "-c", "sleep 0.2; echo x"}).finish().out, "x\n");
  EXPECT_EQ(process({"sh", "-c", "exec >&- 2>&-; sleep 0.2; exit 7"}).finish().status, 7);
  ::ualarm(0, 0);
  ::sigaction(SIGALRM, &before, nullptr);
}

TEST(Process, ProgramsEndBySignals) {
  const auto result = process({"sh", "-c", "kill -PIPE $$; echo alive"}).finish();
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.status, 128 + SIGPIPE);
}

TEST(Process, ALineHasAnEnd) {
  process two({"printf", "a\nb\nc"});
  EXPECT_EQ(two.read_line(5), "a");
  EXPECT_EQ(two.read_line(5), "b");
  EXPECT_EQ(two.read_line(5), "");
  EXPECT_EQ(two.finish().out, "c");
  process slow({"sh", "-c", "sleep 20"});
  EXPECT_LT(seconds_of([&] { EXPECT_EQ(slow.read_line(0.2), ""); }), 10);
}

TEST(Process, CanBeMoved) {
  process first({"sh", "-c", "printf 'a\\nb\\n'; exit 3"});
  EXPECT_EQ(first.read_line(5), "a");
  process second(std::move(first));
  EXPECT_EQ(second.read_line(5), "b");
  while (!second.ended()) ::usleep(1000);
  process third(std::move(second));
  EXPECT_EQ(third.finish().status, 3);
}

TEST(Process, ProgramsDoNotKeepOthersOpen) {
  EXPECT_LT(seconds_of([] {
              process reads({"timeout", "15", "cat"}), sleeps({"sleep", "20"});
              reads.close_input();
              EXPECT_EQ(reads.finish().status, 0);
              EXPECT_FALSE(reads.write("x"));
            }),
            10);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // none is left
}

TEST(Process, ProgramsThatDoNotStartLeaveNothing) {
  const auto before = open_files();
  EXPECT_EQ(why_not({"/nowhere/ssh"}),
            "there is no program \"/nowhere/ssh\" on this machine; install it (Debian: openssh-client, rsync)");
  EXPECT_EQ(why_not({"/"}), "cannot start \"/\": Permission denied");
  EXPECT_EQ(why_not({"true"}), "");
  EXPECT_EQ(open_files(), before);
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  rlimit none = limit;
  none.rlim_cur = 3;
  ::setrlimit(RLIMIT_NOFILE, &none);
  const auto why = why_not({"true"});
  ::setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(why, "no more pipes: Too many open files");
}

/// As in a terminal: under nohup, SIGHUP is ignored.
void end_by_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
}

TEST(Signals, AnInterruptionIsNotedWhileItIsAwaited) {
  end_by_signals();
  static int seen = 0;
  seen = 0;
  std::signal(SIGINT, [](int) { ++seen; });
  for (const int signal : {SIGTERM, SIGINT, SIGINT}) {
    const interruption awaited;
    EXPECT_FALSE(interruption::happened());
    EXPECT_TRUE(interruption::awaited());
    std::raise(signal);
    EXPECT_TRUE(interruption::happened());
  }
  EXPECT_FALSE(interruption::happened());
  EXPECT_FALSE(interruption::awaited());
  EXPECT_EQ(seen, 0);
  {
    const uninterrupted all;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::raise(signal);
  }
  std::raise(SIGINT);
  EXPECT_EQ(seen, 1);
  std::signal(SIGINT, SIG_DFL);
  EXPECT_EXIT(
      {
        const interruption awaited;
        std::raise(SIGHUP);
      },
      testing::KilledBySignal(SIGHUP), "");
}

TEST(Signals, TheLastWordsAreThoseOfTheLastStep) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in new processes, in which no other test has had last words
  end_by_signals();
  const std::string own = testing::TempDir() + "dice_run_signals." + std::to_string(::getpid());
  ::setenv("DICE_RUN_SIGNALS", own.c_str(), 0);  // the new processes have it, too
  const fs::path folder = ::getenv("DICE_RUN_SIGNALS");
  fs::create_directories(folder);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    EXPECT_EXIT(
        {
          if_interrupted("nothing was done");
          if_interrupted("half\x1b is done");
          dice::files::writer half((folder / "half").string());
          std::raise(signal);
        },
        testing::KilledBySignal(signal), "^dice-run: error: interrupted; half[^\x1b]* is done\n$");
  EXPECT_TRUE(fs::is_empty(folder));  // also without what was being written
  fs::remove_all(folder);
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        if_interrupted("nothing was done");
        std::raise(SIGHUP);
        std::_Exit(7);
      },
      testing::ExitedWithCode(7), "^$");
}

}  // namespace
}  // namespace dice_run
