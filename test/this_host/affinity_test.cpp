// The threads of a rank for each kind of unit, and what is said if the process may not use as many cores.
#include "dice/this_host/affinity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

using namespace dice;

TEST(affinity, of_units) {
  const auto before = this_host::usable_cores();
  ASSERT_FALSE(before.empty());
  const int usable = static_cast<int>(before.size());
  using platform::unit;
  ::unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(this_host::engage({unit::kind::cpu, 0, 0}, {}, 1, usable, "").threads, usable);
  EXPECT_EQ(this_host::engage({unit::kind::cpu, 0, 0}, {}, 1000, usable, "").threads, 1);
  EXPECT_EQ(this_host::engage({unit::kind::threads, 3, 0}, {}, 1, usable, "").threads, 3);
  EXPECT_EQ(this_host::engage({unit::kind::gpu, 0, 0}, {}, 1, usable, "").threads, 1);
  EXPECT_EQ(this_host::engage({unit::kind::cpu, 0, 0}, {}, 2, usable, "").threads, std::max(usable / 2, 1));
  const auto many = this_host::engage({unit::kind::threads, usable + 1, 0}, {}, 1, usable, "; remedy");
  EXPECT_NE(many.warning.find("; remedy"), std::string::npos);
  EXPECT_EQ(this_host::engage({unit::kind::threads, usable, 0}, {}, 1, usable, "").warning, "");
  ::setenv("OMP_NUM_THREADS", "1", 1);
  EXPECT_EQ(this_host::engage({unit::kind::cpu, 0, 0}, {}, 1, usable, "").threads, 1);
  ::setenv("OMP_NUM_THREADS", std::to_string(usable).c_str(), 1);
  EXPECT_EQ(this_host::engage({unit::kind::cpu, 0, 0}, {}, 1, usable, "; remedy").warning, "");
  for (const char* given : {"100000", "99999999999999999999"}) {
    ::setenv("OMP_NUM_THREADS", given, 1);
    const auto most = this_host::engage({unit::kind::cpu, 0, 0}, {}, 1, usable, "");
    EXPECT_EQ(most.threads, 1024);
    EXPECT_NE(most.warning.find("; 1024 threads are started"), std::string::npos) << most.warning;
  }
  ::unsetenv("OMP_NUM_THREADS");

  const int last[] = {before.back()};
  const auto one = this_host::engage({unit::kind::cores, 1, 0}, last, 1, usable, "");
  EXPECT_EQ(one.warning, "");
  EXPECT_EQ(this_host::usable_cores(), std::vector<int>{before.back()});
  EXPECT_EQ(this_host::engage({unit::kind::cpu, 0, 0}, {}, 1, 1, "; remedy").warning, "");
  if (usable > 1) {  // one core of several is a mistake only if nobody chose it
    EXPECT_NE(this_host::engage({unit::kind::cpu, 0, 0}, {}, 1, usable, "; remedy").warning.find("may use 1 of "),
              std::string::npos);
    EXPECT_EQ(this_host::engage({unit::kind::cpu, 0, 0}, {}, 1, usable, "; remedy", true).warning, "");
    EXPECT_NE(this_host::engage({unit::kind::threads, 2, 0}, {}, 1, usable, "; remedy", true).warning, "");
    ::setenv("OMP_NUM_THREADS", "1", 1);
    EXPECT_EQ(this_host::engage({unit::kind::cpu, 0, 0}, {}, 1, usable, "; remedy").warning, "");
    ::unsetenv("OMP_NUM_THREADS");
  }
  ASSERT_TRUE(this_host::use_cores(before));
  const int beyond[] = {before[0], 100000};
  const auto half = this_host::engage({unit::kind::cores, 2, 0}, beyond, 1, usable, "");
  EXPECT_EQ(half.warning, "cannot use core 100000, which its unit lists; cores here are 0 to " + std::to_string(usable - 1));
  EXPECT_EQ(half.threads, 1);
  EXPECT_EQ(half.cores, std::vector<int>{before[0]});
  ASSERT_TRUE(this_host::use_cores(before));
  const int none[] = {2147483647, 100000};
  const auto lacking = this_host::engage({unit::kind::cores, 2, 0}, none, 1, usable, "");
  EXPECT_NE(lacking.warning.find("core 2147483647, 100000, which"), std::string::npos) << lacking.warning;
  EXPECT_EQ(lacking.threads, 2);
  EXPECT_EQ(this_host::usable_cores(), before);
  const int some[] = {before[0], 2147483647};
  EXPECT_TRUE(this_host::use_cores(some));
  EXPECT_EQ(this_host::usable_cores(), std::vector<int>{before[0]});
  ASSERT_TRUE(this_host::use_cores(before));
}
