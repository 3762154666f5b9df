#include "dice/meta/storage.hpp"
#include "dice/meta/members.hpp"

#include <gtest/gtest.h>

#include <array>
#include <type_traits>

namespace {

using namespace dice;

template <class Storage> struct basic_text {
  template <class T, int Number> using list = typename Storage::template list<T, Number>;
  list<char, 0> letters{};
  list<int, 1> numbers{};
  int size = 1;
  DICE_MEMBERS(letters, numbers)
};
using text = basic_text<meta::in_arrays>;
using text_sizes = basic_text<meta::as_sizes>;

constexpr text made() {
  text out;
  for (const char c : {'a', 'b', 'c'}) out.letters.push_back(c);
  out.numbers.push_back(7);
  return out;
}
constexpr auto used = meta::sizes_of<text_sizes>(made());
static_assert(used.letters == 3 && used.numbers == 1);

using fixed = basic_text<meta::in_fixed_arrays<used>>;
static_assert(std::is_same_v<decltype(fixed::letters), std::array<char, 3>>);
static_assert(std::is_same_v<decltype(fixed::numbers), std::array<int, 1>>);
static_assert(std::is_same_v<decltype(basic_text<meta::in_views>::numbers), meta::view<int>>);

constexpr fixed stored = [] {
  fixed out;
  meta::copy_lists(out, made(), used);
  return out;
}();
static_assert(stored.letters[0] == 'a' && stored.letters[2] == 'c' && stored.numbers[0] == 7);

TEST(storage, lists_are_copied_as_far_as_sizes_say) {
  basic_text<meta::in_fixed_arrays<text_sizes{.letters = 4, .numbers = 2}>> roomy{.letters = {'x', 'x', 'x', 'x'},
                                                                                  .numbers = {1, 2}};
  meta::copy_lists(roomy, made(), text_sizes{.letters = 2, .numbers = 0});
  EXPECT_EQ(roomy.letters, (std::array{'a', 'b', 'x', 'x'}));
  EXPECT_EQ(roomy.numbers, (std::array{1, 2}));
}

TEST(storage, lists_get_lengths_and_new_elements) {
  text t = made();
  meta::resize_lists(t, text_sizes{.letters = 2, .numbers = 3});
  EXPECT_EQ(t.letters.size(), 2);
  EXPECT_EQ(t.letters[0], '\0');
  ASSERT_EQ(t.numbers.size(), 3);
  EXPECT_EQ(t.numbers[0], 0);
}

}  // namespace
