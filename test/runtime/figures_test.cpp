#include "dice/runtime/figures.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

using namespace dice;

// Frame i passes at time 1000 + 3 i.
TEST(frame_times, of_a_long_run_are_those_of_every_second_frame) {
  constexpr auto most = static_cast<std::int64_t>(runtime::frame_times::most);
  runtime::frame_times t;
  EXPECT_EQ(t.count(), 0);
  std::int64_t passed = 0;
  const auto expect = [&](std::int64_t frames, std::int64_t step, std::int64_t kept) {
    for (; passed < frames; ++passed) t.add(1000 + 3 * passed);
    EXPECT_EQ(t.count(), frames);
    EXPECT_EQ(t.first(), 1000);
    EXPECT_EQ(t.last(), 1000 + 3 * (frames - 1));
    EXPECT_EQ(t.step(), step);
    ASSERT_EQ(std::ssize(t.kept()), kept);
    for (std::int64_t i = 0; i < kept; ++i) ASSERT_EQ(t.kept()[static_cast<std::size_t>(i)], 1000 + 3 * step * i);
  };
  expect(1, 1, 1);
  expect(most - 1, 1, most - 1);
  expect(most, 2, most / 2);
  expect(most + 3, 2, most / 2 + 2);
  expect(2 * most, 4, most / 2);
}
