// Commands as children of this process.
#include "dice/this_host/command.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace dice;
using std::chrono::milliseconds;
using this_host::command;

namespace {

/// All that a command prints.
std::string output_of(command& c) {
  std::string out;
  char block[256];
  for (pollfd in{c.pipe(), POLLIN, 0}; ::poll(&in, 1, 10'000) > 0;) {
    const auto n = ::read(c.pipe(), block, sizeof block);
    if (n <= 0) break;
    out.append(block, static_cast<std::size_t>(n));
  }
  return out;
}
/// Whether a process lives, or 10 s later still does.
bool lives(const std::string& process) {
  const auto now = [&] {
    std::string id, name, state;
    return std::ifstream("/proc/" + process + "/stat") >> id >> name >> state && state != "Z" && state != "X";
  };
  for (int i = 0; i < 2000 && now(); ++i) std::this_thread::sleep_for(milliseconds(5));
  return now();
}
/// The first line that a command prints.
std::string first_line(command& c) {
  char text[32] = {};
  pollfd in{c.pipe(), POLLIN, 0};
  if (::poll(&in, 1, 10'000) <= 0 || ::read(c.pipe(), text, sizeof text - 1) <= 0) return {};
  return std::string(text).substr(0, std::string(text).find('\n'));
}
std::string end_of(const std::string& text) {
  command c(text, command::pipe_to::output);
  return c.end(milliseconds(10'000)).text();
}

}  // namespace

TEST(command, says_how_it_has_ended) {
  EXPECT_EQ(end_of("exit 0"), "exit status 0");
  EXPECT_EQ(end_of("exit 7"), "exit status 7");
  EXPECT_EQ(end_of("exit 127"), "exit status 127");
  EXPECT_EQ(end_of("exit 130"), "killed by SIGINT");  // as a shell says it
  EXPECT_EQ(end_of("kill -9 $$"), "killed by SIGKILL");
}

TEST(command, says_nothing_of_its_own_when_it_is_ended) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 20; ++i) {
    command c("echo begins; sleep 1000", command::pipe_to::output);
    EXPECT_EQ(first_line(c), "begins");
    EXPECT_TRUE(c.end(milliseconds(0)).late);
    command("kill -9 $$", command::pipe_to::output).end(milliseconds(10'000));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(command, has_an_empty_standard_input_and_default_signals) {
  int ends[2];  // this program's own input
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "frames", 6), 6);
  ::close(ends[1]);
  const int own = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  command reads("cat; echo done", command::pipe_to::output);
  EXPECT_EQ(output_of(reads), "done\n");
  ::dup2(own, STDIN_FILENO);
  ::close(own);
  ::close(ends[0]);
  const auto before = std::signal(SIGPIPE, SIG_IGN);  // as this program may have it
  command signals("kill -PIPE $$; echo ignored", command::pipe_to::output);
  EXPECT_EQ(output_of(signals), "");
  std::signal(SIGPIPE, before);
  EXPECT_EQ(signals.end(milliseconds(10'000)).text(), "killed by SIGPIPE");
}

TEST(command, leaves_the_cores_of_its_thread_as_they_are) {
  const auto all = this_host::usable_cores();
  const std::vector<int> one{all.back()};
  ASSERT_TRUE(this_host::use_cores(one));
  command c("unset OMP_NUM_THREADS OMP_THREAD_LIMIT; nproc", command::pipe_to::output);  // it may use all of them
  const auto said = output_of(c);
  EXPECT_EQ(this_host::usable_cores(), one);
  this_host::use_cores(all);
  EXPECT_EQ(said, std::to_string(this_host::cores_at_start.size()) + "\n");
}

TEST(command, ends_with_the_thread_that_began_it) {
  std::unique_ptr<command> c;
  std::thread([&] {
    c = std::make_unique<command>("echo begun; exec sleep 1000", command::pipe_to::output);
    first_line(*c);
  }).join();
  const auto end = c->end(milliseconds(10'000));
  EXPECT_EQ(end.text(), "killed by SIGTERM");
  EXPECT_FALSE(end.late);
}

/// A program may need a moment for its last words.
TEST(command, has_two_seconds_after_sigterm) {
  const auto path = testing::TempDir() + "dice_command_" + std::to_string(::getpid());
  command c("trap 'sleep 0.2; echo done >" + path + "; exit 5' TERM; echo begun; while :; do sleep 0.01; done",
            command::pipe_to::output);
  first_line(c);
  const auto end = c.end(milliseconds(0));
  EXPECT_TRUE(end.late);
  EXPECT_EQ(end.text(), "exit status 5");
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::remove(path);
}

TEST(command, leaves_nothing_behind) {
  command quick("sleep 1000 & echo $!", command::pipe_to::output);
  const auto left = first_line(quick);
  EXPECT_EQ(quick.end(milliseconds(10'000)).text(), "exit status 0");
  EXPECT_FALSE(lives(left));
}

TEST(command, is_killed_if_it_ignores_sigterm) {
  command stubborn("trap '' TERM; sleep 1000 & echo $!; while :; do sleep 0.1; done", command::pipe_to::output);
  const auto left = first_line(stubborn);
  const auto end = stubborn.end(milliseconds(0));
  EXPECT_TRUE(end.late);
  EXPECT_EQ(end.text(), "killed by SIGKILL");
  EXPECT_FALSE(lives(left));
}
