#include "dice/meta/enum_name.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace some::where {

enum class fruit : unsigned char { apple, pear2, _plum };
struct outer {
  enum class inner : std::int8_t { a, b };
};
enum class gap { first, third = 2 };
enum class later { one = 1 };

}  // namespace some::where

namespace {

using namespace dice;
using some::where::fruit;
using some::where::gap;
using some::where::later;
using some::where::outer;

enum class hidden { here, there };

TEST(enum_name, is_the_one_in_the_source) {
  static_assert(meta::enum_name(fruit::apple) == "apple" && meta::enum_name(fruit::pear2) == "pear2");
  static_assert(meta::enum_name(fruit::_plum) == "_plum" && meta::value_count<fruit> == 3);
  static_assert(meta::qualified_name(fruit::pear2) == "some::where::fruit::pear2");
  static_assert(meta::qualified_name(outer::inner::b) == "some::where::outer::inner::b");
  EXPECT_EQ(meta::enum_name(hidden::there), "there");
  EXPECT_EQ(meta::value_count<hidden>, 2u);
}

TEST(enum_name, is_empty_for_values_without_one) {
  EXPECT_EQ(meta::enum_name(static_cast<fruit>(3)), "");
  EXPECT_EQ(meta::qualified_name(static_cast<fruit>(255)), "");
  EXPECT_EQ(meta::enum_name(static_cast<outer::inner>(-1)), "");
}

TEST(enum_name, names_end_at_the_first_gap) {
  EXPECT_EQ(meta::value_count<gap>, 1u);
  EXPECT_EQ(meta::enum_name(gap::first), "first");
  EXPECT_EQ(meta::enum_name(gap::third), "");
  EXPECT_EQ(meta::value_count<later>, 0u);
}

TEST(enum_value, is_found_by_its_name) {
  static_assert(meta::enum_value<fruit>("pear2") == fruit::pear2);
  EXPECT_EQ(meta::enum_value<hidden>("here"), hidden::here);
  for (const char* wrong : {"", "pear", "pear22", "Apple", "fruit::apple"})
    EXPECT_EQ(meta::enum_value<fruit>(wrong), std::nullopt) << wrong;
  EXPECT_EQ(meta::enum_value<gap>("third"), std::nullopt);
}

}  // namespace
