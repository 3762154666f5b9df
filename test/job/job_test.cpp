// What ranks send one another.
#include "dice/job/clock_shift.hpp"
#include "dice/job/record.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace dice;

TEST(clock_shift, changes_evenly_between_two_samples) {
  // A clock that started long after rank 0's and is 20 ppm too fast: it gains 1 ms in 50 s.
  constexpr std::int64_t s = 1'000'000'000, far = 4'000'000 * s;
  const job::clock_shift clock({10 * s, far}, {60 * s, far - s / 1000});
  EXPECT_EQ(clock(10 * s), far + 10 * s);
  EXPECT_EQ(clock(60 * s), far + 60 * s - 1'000'000);
  EXPECT_EQ(clock(35 * s), far + 35 * s - 500'000);
  EXPECT_EQ(clock(12 * s), far + 12 * s - 40'000);
  EXPECT_EQ(clock(9 * s), far + 9 * s);  // before and after, the shift is taken as constant
  EXPECT_EQ(clock(99 * s), far + 99 * s - 1'000'000);
  EXPECT_EQ(job::clock_shift({5, 7}, {5, 9})(5), 12);
  EXPECT_EQ(job::clock_shift({0, -3}, {1, -3})(5), 2);
}

TEST(record, keeps_any_bytes_and_refuses_damage) {
  job::record a;
  a.put("x:1\n");
  a.put(std::int64_t{-5});
  a.put(std::string_view("\0y", 2));
  a.put(std::vector<std::int64_t>{1, -2});
  job::record b(a.text());
  EXPECT_EQ(b.get(), "x:1\n");
  EXPECT_EQ(b.get_number(), -5);
  EXPECT_EQ(b.get(), std::string("\0y", 2));
  EXPECT_EQ(b.get_numbers(), (std::vector<std::int64_t>{1, -2}));
  EXPECT_FALSE(b.more());
  EXPECT_THROW(b.get(), std::runtime_error);
  for (const char* bad : {"5:abc", "4:abc", "x:abc", "99999999999999999999:a", ""})
    EXPECT_THROW(job::record(bad).get(), std::runtime_error);
}
