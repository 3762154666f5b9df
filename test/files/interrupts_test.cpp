// What signals do to a program.
#include "dice/files/interrupts.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <thread>

using namespace dice;

namespace {

/// Makes the standard error a pipe that is full, and has a reader that does not read.
void block_standard_error() {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  const std::array<char, 4096> page{};
  while (::write(ends[1], page.data(), page.size()) > 0) {
  }
  ::fcntl(ends[1], F_SETFL, 0);
  ::dup2(ends[1], STDERR_FILENO);
}

}  // namespace

TEST(interrupts, a_signal_ends_the_program) {
  const auto signalled = [] {
    const files::interrupts ends("dice: error: ", " at night");
    ::raise(SIGTERM);
    ::_exit(0);
  };
  EXPECT_EXIT(signalled(), testing::KilledBySignal(SIGTERM), "^dice: error: terminated \\(SIGTERM\\) at night\n$");
}

TEST(interrupts, the_first_signal_stops_and_the_second_ends_the_program) {
  const auto signalled = [](int times) {
    const files::interrupts ends("dice: ", "");
    files::interrupts::stop_first(100);
    while (times-- > 0) ::raise(SIGINT);
    ::_exit(files::interrupts::stop_signal());
  };
  EXPECT_EXIT(signalled(1), testing::ExitedWithCode(SIGINT), "^$");
  EXPECT_EXIT(signalled(2), testing::KilledBySignal(SIGINT), "^dice: interrupted");
}

// Or a run without frames would go on as if nothing had happened.
TEST(interrupts, a_signal_before_end_at_once_ends_the_program) {
  const auto signalled = [](bool before) {
    const files::interrupts ends("dice: ", "");
    files::interrupts::stop_first(100);
    if (before) ::raise(SIGTERM);
    files::interrupts::end_at_once();
    if (!before) ::raise(SIGTERM);
    ::_exit(0);
  };
  for (bool before : {false, true}) EXPECT_EXIT(signalled(before), testing::KilledBySignal(SIGTERM), "^dice: terminated");
}

TEST(interrupts, a_full_standard_error_keeps_no_program) {
  const auto signalled = [] {
    block_standard_error();
    const files::interrupts ends("dice: error: ", "");
    ::raise(SIGHUP);
    ::_exit(0);
  };
  EXPECT_EXIT(signalled(), testing::KilledBySignal(SIGHUP), "");
  const auto late = [] {
    block_standard_error();
    const files::interrupts ends("dice: error: ", "");
    files::interrupts::stop_first(1);
    ::raise(SIGHUP);
    for (;;) ::pause();
  };
  EXPECT_EXIT(late(), testing::ExitedWithCode(1), "");
}

// Whichever comes first, the next signal must end the program.
TEST(interrupts, a_signal_at_the_end_of_the_frames_is_not_lost) {
  using namespace files::detail;
  std::atomic<int> turn{0};
  constexpr int turns = 5'000;
  std::jthread other([&] {
    for (int i = 1; i <= turns; ++i) {
      while (turn != i) std::this_thread::yield();
      dice_end_by_signal(SIGUSR1);
      turn = -i;
    }
  });
  int lost = 0;
  for (int i = 1; i <= turns; ++i) {
    stop_signal = 0;
    grace = 100;
    in_time = false;
    turn = i;
    for (volatile int k = i % 64; k > 0;) k = k - 1;
    files::interrupts::let_finish();
    while (turn != -i) std::this_thread::yield();
    ::alarm(0);
    lost += grace != 0 || stop_signal != SIGUSR1;
  }
  stop_signal = 0;
  grace = 0;
  in_time = false;
  EXPECT_EQ(lost, 0);
}
