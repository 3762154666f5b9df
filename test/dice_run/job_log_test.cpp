#include "job_log.hpp"

#include <gtest/gtest.h>

namespace dice_run {
namespace {

TEST(JobLog, LinesComeFromAnywhere) {
  const std::string large(1 << 20, 'x');
  EXPECT_EQ(parse_log_line(large).text, large);
  EXPECT_EQ(parse_log_line("now[1,2]<stdout>: " + large).text, large);
  EXPECT_EQ(parse_log_line("[1,12345]<stderr>:x").rank, 12345);
  for (const std::string line :
       {"[1,2]<stdout>:2026-05-04 10:08:43 x 1", "2026-05-04 10:08:43[1,2]<stdout>:x 1",
        "now[1,2]<stderr>: 2026-05-04 10:08:43 x 1", "[1,2]<stdout>:20[1,2]<stdout>:26-05-04 10:08:43 x[1,2]<stdout>: 1"}) {
    EXPECT_EQ(parse_log_line(line).time, "2026-05-04 10:08:43");
    EXPECT_EQ(parse_log_line(line).text, "x 1");
    EXPECT_EQ(parse_log_line(line).rank, 2);
  }
  const std::string no_rank = "[1,99999999999]<stdout>:x";
  EXPECT_EQ(parse_log_line(no_rank).rank, -1);
  EXPECT_EQ(parse_log_line(no_rank).text, no_rank);
}

TEST(JobLog, ReasonsAreFoundAmongLongAndEmptyLines) {
  const std::vector<std::string> lines{std::string(1 << 20, 'x'), "-----", "   ", "  There is no", "\t", " mpirun", "-----"};
  EXPECT_EQ(reason_in(lines, ""), "There is no \t mpirun");
  const std::vector<std::string> two{"-----", "the cause", "-----", "between them", "-----", "its consequence", "-----"};
  EXPECT_EQ(reason_in(two, ""), "the cause");
}

TEST(JobLog, TheReasonIsTheFirstErrorOfTheLastRun) {
  std::vector<std::string> log{"2026-05-04 10:08:43 dice-run: starts version v",
                               "[1,0]<stderr>:numbers: error: of an earlier run",
                               "2026-05-04 10:08:44 dice-run: the job has failed after 1 s: exit status 2",
                               "2026-05-04 10:08:45 dice-run: starts version v",
                               "[1,1]<stderr>:dice: error: the first one",
                               "[1,0]<stderr>:numbers: error: rank 1 has ended",
                               "2026-05-04 10:08:46 dice-run: the job has failed after 1 s: exit status 3"};
  EXPECT_EQ(failure_reason(log), "the first one (exit status 3)");
  log.push_back("2026-05-04 10:08:47 dice-run: starts version v");
  log.push_back("[1,1]<stderr>:numbers: error: not over yet");
  EXPECT_EQ(failure_reason(log), "the first one (exit status 3)");
  log.resize(2);
  EXPECT_EQ(failure_reason(log), "");
}

TEST(JobLog, WhatMpirunRefusesIsTheReason) {  // all that Open MPI 4.1.4 prints for mpirun --foo
  std::vector<std::string> log{"2026-05-04 10:08:43 dice-run: starts version v with MPIRUN_OPTIONS=--foo -x A=1",
                               "mpirun: Error: unknown option \"--foo\"", "Type 'mpirun --help' for usage.",
                               "2026-05-04 10:08:44 dice-run: the job has failed after 0 s: exit status 1"};
  EXPECT_EQ(failure_reason(log), "mpirun: unknown option \"--foo\"; MPIRUN_OPTIONS is --foo -x A=1 (exit status 1)");
  log[0] = "2026-05-04 10:08:43 dice-run: starts version v";
  EXPECT_EQ(failure_reason(log), "mpirun: unknown option \"--foo\" (exit status 1)");
  const std::vector<std::string> policy{"-----", "The specified binding policy is not recognized:", "", "  Policy: foo",
                                        "-----"};
  EXPECT_EQ(reason_in(policy, "--bind-to foo"),
            "The specified binding policy is not recognized: Policy: foo; MPIRUN_OPTIONS is --bind-to foo");
  const std::vector<std::string> later{"[1,0]<stdout>:a frame", "-----", "  The job was aborted.", "-----"};
  EXPECT_EQ(reason_in(later, "--bind-to foo"), "The job was aborted.");
}

TEST(JobLog, MpirunRefusesRoot) {  // Open MPI 4.1 and 5.0
  for (const std::string program : {"mpirun", "prterun"}) {
    const std::vector<std::string> lines{"-----", program + " has detected an attempt to run as root.", "",
                                         "Running as root is *strongly* discouraged as any mistake (e.g., in", "-----"};
    EXPECT_EQ(reason_in(lines, "-x A"),
              "mpirun starts nothing as root: start the job as another user, or with MPIRUN_OPTIONS=--allow-run-as-root");
  }
}

TEST(JobLog, AReasonIsCalledAnErrorOnce) {
  const auto reason = [](const std::string& line) { return reason_in(std::vector{line}, ""); };
  EXPECT_EQ(reason("[1,0]<stderr>:dice: error: rank 0 (host pc): no frames"), "rank 0 (host pc): no frames");
  EXPECT_EQ(reason("[1,0]<stderr>:in a file: error: no frames"), "in a file: error: no frames");
}

TEST(JobLog, ACommandThatFailsHasLastWords) {
  const std::string error = "[1,1]<stderr>:dice: error: rank 1 (host pi): the source 'x' has ended (exit status 1)",
                    text = error.substr(error.find("rank"));
  const auto reason = [&](const std::string& before, const std::string& failed) {
    return reason_in(std::vector<std::string>{"[1,1]<stderr>:first", before, "[1,1]<stderr>:dice: rank 1 is ready", failed},
                     "");
  };
  EXPECT_EQ(reason("[1,1]<stderr>:no camera", error), text + "; its last words: no camera");
  EXPECT_EQ(reason("[1,1]<stdout>:{}", error), text + "; its last words: first");  // results are no words of a source
  EXPECT_EQ(reason("[1,0]<stderr>:of another rank", error), text);
  EXPECT_EQ(reason("[1,1]<stderr>:no camera", "[1,1]<stderr>:dice: error: no memory"), "no memory");
}

TEST(JobLog, TheMostExactReasonCounts) {
  std::vector<std::string> lines{"2026-05-04 10:08:43 dice-run: error: of the supervisor", "the last words"};
  const auto reason = [&](const std::string& more) {
    lines.insert(lines.begin(), more);
    return reason_in(lines, "--foo");
  };
  EXPECT_EQ(reason_in(lines, ""), "the last words");
  EXPECT_EQ(reason_in(lines, "--foo"), "the last words; MPIRUN_OPTIONS is --foo");
  EXPECT_EQ(reason("mpirun noticed that process rank 1 with PID 7 on node b exited on signal 11 (Segmentation fault)."),
            "mpirun noticed that process rank 1 with PID 7 on node b exited on signal 11 (Segmentation fault).");
  for (const std::string ssh : {"Host key verification failed.", "me@b: Permission denied (publickey).",
                                "ssh: Could not resolve hostname b", "ssh: connect to host b port 22: No route to host"})
    EXPECT_EQ(reason(ssh), ssh);  // the first
  EXPECT_EQ(reason("[1,1]<stderr>:dice: error: a"), "a");
  EXPECT_EQ(reason("  Remote daemon: [[1,0],2] on node b"), "the connection to b was lost: check its power and its cable");
  lines.back() = "  Remote daemon: [[1,0],2] on node c";
  EXPECT_EQ(reason_in(std::vector<std::string>(lines.begin() + 1, lines.end()), ""),
            "the connection to c was lost: check its power and its cable");
}

TEST(JobLog, NamesHaveOneWidth) {
  const std::vector<std::string> hosts{"a", "a longer one", "a"};
  const auto of = [&](const std::string& line, const std::string& starter) {
    return named(parse_log_line(line), hosts, starter);
  };
  EXPECT_EQ(of("now[1,0]<stdout>:x", "a"), "a #0            | now x");
  EXPECT_EQ(of("[1,1]<stderr>:x", "a"), "a longer one #1 | x");
  EXPECT_EQ(of("[1,3]<stderr>:x", "a"), "? #3            | x");
  EXPECT_EQ(of("x", "a"), "a mpirun        | x");
  EXPECT_EQ(of("x", "a longer one"), "a longer one mpirun | x");
  EXPECT_EQ(named(parse_log_line("x"), {}, ""), " mpirun  | x");
  EXPECT_EQ(named(parse_log_line("[1,3]<stderr>:x"), std::vector<std::string>(11, "ab"), ""), "ab #3    | x");
  EXPECT_EQ(named(parse_log_line("[1,9]<stderr>:x"), std::vector<std::string>(10, "host1"), ""), "host1 #9 | x");
  EXPECT_EQ(named(parse_log_line("[1,3]<stderr>:x"), std::vector<std::string>(11, "host"), ""), "host #3  | x");
  EXPECT_EQ(named(parse_log_line("[1,3]<stderr>:x"), std::vector<std::string>(11, "host1"), ""), "host1 #3  | x");
}

}  // namespace
}  // namespace dice_run
