// How much of its stack a thread has left.
#include "dice/this_host/stack.hpp"

#include <gtest/gtest.h>

#include <cstddef>

using namespace dice;

namespace {

[[gnu::noinline]] std::size_t left() { return this_host::stack_left(); }

/// What a function has left whose caller uses `bytes`.
[[gnu::noinline]] std::size_t left_below(std::size_t bytes) {
  auto* const used = static_cast<volatile char*>(__builtin_alloca(bytes));
  used[0] = 1;
  const auto out = left();
  used[bytes - 1] = 1;
  return out;
}

}  // namespace

TEST(stack, what_callers_use_is_not_left) {
  constexpr std::size_t kib = 1024;
  const auto more = left_below(kib), less = left_below(65 * kib);
  ASSERT_GT(less, 0u);
  EXPECT_GE(more, less + 63 * kib);
  EXPECT_LE(more, less + 65 * kib);
}
