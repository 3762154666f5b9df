#include "remote.hpp"

#include "diagnostics.hpp"
#include "job_log.hpp"
#include "process.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace dice_run {
namespace {

const words hostile{"", "a b", "it's", "\"", "$HOME", "`id`", ";", "a\nb", "\\", "*", "-n", "!", "#", "ä", "'\\''"};

TEST(Remote, QuotesForSh) {
  const remote here({});
  const auto result = here.run("localhost", "for a; do printf '%s\\0' \"$a\"; done", hostile);
  std::string expected;
  for (const auto& word : hostile) expected += word + '\0';
  EXPECT_EQ(result.out, expected);
  EXPECT_EQ(sh_quote("/var/tmp/x-1"), "/var/tmp/x-1");
}

TEST(Remote, ScriptsReadNoInput) {
  const auto result = remote({}).run("localhost", "cat; echo end; exit 3");
  EXPECT_EQ(result.out, "end\n");
  EXPECT_EQ(result.status, 3);
}

TEST(Remote, AHostThatPrintsForEverIsGivenUp) {
  EXPECT_EQ(failure_of("a", remote({}).run("localhost", "exec yes")), "a: it prints without an end");
}

TEST(Process, WritesAndReadsAtOnce) {
  const std::string large(1 << 20, 'x');  // more than fits into pipes
  const auto result = process({"sh", "-c", "head -c 1048576 /dev/zero; wc -c"}).finish(large);
  EXPECT_EQ(result.out, std::string(large.size(), '\0') + "1048576\n");
}

TEST(Process, ProgramsEndBySignals) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);  // as dice-run does, for itself only
  const auto result = process({"sh", "-c", "kill -PIPE $$; echo alive"}).finish();
  std::signal(SIGPIPE, before);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.status, 128 + SIGPIPE);
}

TEST(Remote, SplitsTheCommandOfSsh) {
  EXPECT_EQ(split_words("ssh  -F 'my file' -o \"a b\"c"), (words{"ssh", "-F", "my file", "-o", "a bc"}));
  EXPECT_THROW(split_words("ssh 'x"), usage_error);
}

TEST(Remote, RefusesNamesThatAreNoHosts) {
  for (const auto* name : {"", "-oProxyCommand=x", "a\nb"}) EXPECT_THROW(remote::require_name(name), usage_error) << name;
  EXPECT_NO_THROW(remote::require_name("user@board-1.local"));
}

/// rsync ends with `status` and says `message`.
outcome sent(int status, const std::string& message) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("dice_run_rsync_{}", ::getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "rsync") << "#!/bin/sh\ncat >/dev/null\necho " << sh_quote(message) << " >&2\nexit " << status
                                  << "\n";
  std::filesystem::permissions(folder / "rsync", std::filesystem::perms::owner_all);
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", (folder.string() + ":" + before).c_str(), 1);
  auto result = remote({}).send({"x"}, "/from", "b", "/to", "");
  ::setenv("PATH", before.c_str(), 1);
  std::filesystem::remove_all(folder);
  return result;
}

TEST(Remote, SaysWhyRsyncFailed) {  // by the exit statuses of rsync(1)
  const std::string silent = "it does not answer; check its power and its cable";
  EXPECT_EQ(sent(30, "rsync error: timeout in data send/receive (code 30)").failure, silent);
  EXPECT_EQ(sent(255, "ssh: connect to host b port 22: Connection timed out").failure, silent);
  for (const int cut : {12, 255})
    EXPECT_EQ(sent(cut, "rsync: connection unexpectedly closed by remote host").failure,
              "the connection was cut; check its power and its cable, and try again");
  EXPECT_EQ(sent(12, "sh: 1: rsync: not found").failure, "it has no rsync; install it (Debian: rsync)");
  for (const int status : {11, 12, 23}) {
    const auto other = sent(status, "rsync: write failed: No space left on device (28)");
    EXPECT_EQ(other.failure, "");
    EXPECT_EQ(failure_of("b", other), "b: rsync: write failed: No space left on device (28)");
  }
}

TEST(JobLog, NamesTheRanksOfOpenMpi4And5) {
  for (const auto* line :
       {"Mon May  4 10:08:43 2026[1,2]<stdout>:16 frames", "[Mon May  4 10:08:43 2026][1,2]<stdout>: 16 frames"})
    EXPECT_EQ(named(parse_log_line(line), {"pc", "pi", "pi5"}, "pc"), "pi5 #2    | Mon May  4 10:08:43 2026 16 frames");
  const std::string after_the_end = std::string(1, '\0') + "2026-05-04 10:08:43 dice-run: the job has ended after 2 s";
  EXPECT_EQ(named(parse_log_line(after_the_end), {"pc", "pi"}, "pc"),
            "dice-run  | 2026-05-04 10:08:43 the job has ended after 2 s");
}

}  // namespace
}  // namespace dice_run
