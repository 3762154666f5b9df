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
  EXPECT_EQ(reason_in(lines), "There is no \t mpirun");
}

TEST(JobLog, TheReasonIsTheFirstErrorOfTheLastRun) {
  std::vector<std::string> log{"2026-05-04 10:08:43 dice-run: starts version v",
                               "[1,0]<stderr>:numbers: error: of an earlier run",
                               "2026-05-04 10:08:44 dice-run: the job has failed after 1 s: exit status 2",
                               "2026-05-04 10:08:45 dice-run: starts version v",
                               "[1,1]<stderr>:numbers: error: the first one",
                               "[1,0]<stderr>:numbers: error: rank 1 has ended",
                               "2026-05-04 10:08:46 dice-run: the job has failed after 1 s: exit status 3"};
  EXPECT_EQ(failure_reason(log), "numbers: error: the first one (exit status 3)");
  log.push_back("2026-05-04 10:08:47 dice-run: starts version v");
  log.push_back("[1,1]<stderr>:numbers: error: not over yet");
  EXPECT_EQ(failure_reason(log), "numbers: error: the first one (exit status 3)");
  log.resize(2);
  EXPECT_EQ(failure_reason(log), "");
}

}  // namespace
}  // namespace dice_run
