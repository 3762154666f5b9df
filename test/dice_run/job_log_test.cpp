#include "job_log.hpp"

#include <gtest/gtest.h>

namespace dice_run {
namespace {

TEST(JobLog, LinesComeFromAnywhere) {
  const std::string large(1 << 20, 'x');
  EXPECT_EQ(parse_log_line(large).text, large);
  EXPECT_EQ(parse_log_line("now[1,2]<stdout>: " + large).text, large);
  EXPECT_EQ(parse_log_line("[1,12345]<stderr>:x").rank, 12345);
  const std::string no_rank = "[1,99999999999]<stdout>:x";
  EXPECT_EQ(parse_log_line(no_rank).rank, -1);
  EXPECT_EQ(parse_log_line(no_rank).text, no_rank);
}

TEST(JobLog, ReasonsAreFoundAmongLongAndEmptyLines) {
  const std::vector<std::string> lines{std::string(1 << 20, 'x'), "-----", "   ", "  There is no", "\t", " mpirun", "-----"};
  EXPECT_EQ(reason_in(lines, ""), "There is no \t mpirun");
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

TEST(JobLog, AReasonIsCalledAnErrorOnce) {
  const auto reason = [](const std::string& line) { return reason_in(std::vector{line}, ""); };
  EXPECT_EQ(reason("[1,0]<stderr>:dice: error: rank 0 (host pc): no frames"), "rank 0 (host pc): no frames");
  EXPECT_EQ(reason("[1,0]<stderr>:in a file: error: no frames"), "in a file: error: no frames");
}

}  // namespace
}  // namespace dice_run
