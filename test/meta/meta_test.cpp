#include "dice/meta/array.hpp"
#include "dice/meta/median.hpp"
#include "dice/meta/nearest.hpp"

#include <gtest/gtest.h>

#include <string_view>

using namespace dice;

TEST(median, is_the_middle) {
  EXPECT_EQ(meta::median({3}), 3);
  EXPECT_EQ(meta::median({5, 1, 3}), 3);
  EXPECT_EQ(meta::median({4, 1, 3, 2}), 3);  // of an even number, the larger of the middle two
}

TEST(nearest, finds_what_was_mistyped_and_nothing_far_away) {
  const auto guess = [](std::string_view wrong) {
    meta::nearest found(wrong);
    for (const auto* name : {"--frames", "--warmup", "--json"}) found.look_at(name);
    return found.best();
  };
  EXPECT_EQ(guess("--framse"), "--frames");
  EXPECT_EQ(guess("--jsno"), "--json");
  EXPECT_EQ(guess("--quite-other"), "");
}

constexpr int sum_of_three() {
  meta::array<int> all;
  for (int k = 1; k <= 3; ++k) all.push_back(k);
  int sum = 0;
  for (const int k : all) sum += k;
  return sum + all.size();
}

TEST(array, grows_at_compile_time_and_at_run_time) {
  static_assert(sum_of_three() == 9);
  EXPECT_EQ(sum_of_three(), 9);
}

TEST(nearest, short_words_may_differ_by_one_letter_and_others_by_two) {
  const auto like = [](std::string_view wrong, std::string_view word) {
    meta::nearest n(wrong);
    n.look_at(word);
    return n.best() == word;
  };
  EXPECT_TRUE(like("cpo", "cpu") && like("cu", "cpu") && like("cpux", "cpu"));
  EXPECT_FALSE(like("abu", "cpu") || like("c", "cpu"));
  EXPECT_TRUE(like("thraeds", "threads") && like("thrds", "threads"));
  EXPECT_FALSE(like("thrd", "threads") || like("xyzeads", "threads"));
}
