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

}  // namespace
}  // namespace dice_run
