// Jobs that read a standard input.
#include "job_input.hpp"
#include "diagnostics.hpp"

#include <gtest/gtest.h>

namespace dice_run {
namespace {

TEST(JobInput, IsReadIfAnOptionSaysSo) {
  for (const auto& options : {words{"--input", "-"},
                              {"--top", "1", "--input=-"},
                              {"--input", "left=-", "--top", "1"},
                              {"--input", "a.npy", "--input=right=-"},
                              {"--input", "/dev/stdin"},
                              {"--input=a=/dev/stdin"}})
    EXPECT_TRUE(reads_standard_input(options)) << options.back();
  for (const auto& options :
       {words{}, {"--input"}, {"-"}, {"--input", "a-"}, {"--output", "-"}, {"--inputs", "-"}, {"--input=", "-"}})
    EXPECT_FALSE(reads_standard_input(options)) << (options.empty() ? "" : options.back());
  EXPECT_NO_THROW(refuse_standard_input({"--random", "1"}, "x"));
  EXPECT_THROW(refuse_standard_input({"--input", "-"}, "x"), usage_error);
}

}  // namespace
}  // namespace dice_run
