#include "dice/meta/members.hpp"
#include "dice/meta/member_count.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <type_traits>

namespace {

using namespace dice;

struct point {
  int x = 1;
  float weights[1] = {2};
  DICE_MEMBERS(x, weights)
};
struct window {
  std::array<int, 2> kernel{3, 4}, strides{1, 1};
  bool padded = false;
  DICE_MEMBERS(kernel, strides, padded)
  constexpr int area() const { return kernel[0] * kernel[1]; }
};
struct nothing {
  DICE_MEMBERS()
};
struct forgetful {
  int first = 0;
  bool second = false;
  DICE_MEMBERS(first)
};
struct unlisted {
  static constexpr int shared = 1;
  std::string_view name = "";
  window of{};
};

static_assert(std::string_view(window::member_names) == "kernel, strides, padded");
static_assert(sizeof(nothing) == 1 && sizeof(forgetful) == 2 * sizeof(int));

TEST(members, have_names_in_their_order) {
  window w;
  std::string names;
  meta::for_each_member(w, [&]<class T>(std::string_view name, T& member) {
    names += std::string(name) + " ";
    if constexpr (std::is_same_v<T, bool>) member = true;
    else member[0] += 5;
  });
  EXPECT_EQ(names, "kernel strides padded ");
  EXPECT_EQ(w.kernel, (std::array{8, 4}));
  EXPECT_EQ(w.strides, (std::array{6, 1}));
  EXPECT_TRUE(w.padded);
  const nothing none;
  meta::for_each_member(none, [](std::string_view name, const auto&) { ADD_FAILURE() << name; });
  meta::for_each_member(none, none, [](std::string_view name, const auto&, const auto&) { ADD_FAILURE() << name; });
}

// The names of the members in which both differ.
std::string difference(const window& a, const window& b) {
  std::string out;
  meta::for_each_member(a, b, [&](std::string_view name, const auto& x, const auto& y) {
    if (x != y) out += name;
  });
  return out;
}

TEST(members, of_two_objects_go_together) {
  EXPECT_EQ(difference({}, {}), "");
  EXPECT_EQ(difference({.strides = {1, 2}}, {}), "strides");
  EXPECT_EQ(difference({}, {.kernel = {1, 2}, .padded = true}), "kernelpadded");
}

constexpr int sum_of(const point& p) {
  int sum = 0;
  meta::for_each_member(p, [&](std::string_view, const auto& member) {
    if constexpr (requires { member[0]; }) sum += static_cast<int>(member[0]);
    else sum += member;
  });
  return sum;
}

TEST(members, are_known_to_the_compiler) {
  static_assert(sum_of({}) == 3);
  EXPECT_EQ(sum_of({.x = 5}), 7);
}

TEST(members, lists_of_names_are_read_with_and_without_spaces) {
  static_assert(meta::count_names("") == 0 && meta::count_names("a") == 1 && meta::count_names("a, b,c") == 3);
  for (const char* list : {"axis,to", "axis, to", "to,  axis"}) {
    EXPECT_TRUE(meta::has_name(list, "axis") && meta::has_name(list, "to")) << list;
    EXPECT_FALSE(meta::has_name(list, "ax") || meta::has_name(list, "t") || meta::has_name(list, "axis, to")) << list;
  }
  EXPECT_FALSE(meta::has_name("", "a"));
  EXPECT_FALSE(meta::has_name("axis", ""));
}

TEST(member_count, tells_a_list_that_lacks_a_member) {
  static_assert(meta::member_count<window> == meta::count_names(window::member_names));
  static_assert(meta::member_count<nothing> == 0);
  static_assert(meta::member_count<forgetful> == 2 && meta::count_names(forgetful::member_names) == 1);
  static_assert(meta::member_count<unlisted> == 2 && unlisted::shared == 1);
}

}  // namespace
