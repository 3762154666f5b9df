#include "dice/text/json.hpp"
#include "dice/text/table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

using namespace dice;

TEST(json, strings) { EXPECT_EQ(text::json_string("a\"\\\n\x01é"), "\"a\\\"\\\\\\u000a\\u0001é\""); }

TEST(json, numbers) {
  EXPECT_EQ(text::json_number(0.1), "0.1");
  EXPECT_EQ(text::json_number(-1234567), "-1.23457e+06");
  EXPECT_EQ(text::json_number(std::nan("")), "null");
  EXPECT_EQ(text::json_number(std::numeric_limits<double>::infinity()), "null");
}

TEST(table, bytes) {
  EXPECT_EQ(text::bytes_text(10239), "10239 B");
  EXPECT_EQ(text::bytes_text(10240), "10.0 KiB");
  EXPECT_EQ(text::bytes_text((10 << 20) - 1), "10240.0 KiB");
  EXPECT_EQ(text::bytes_text(10 << 20), "10.0 MiB");
}

TEST(table, columns_are_as_wide_as_their_widest_cell) {
  EXPECT_EQ(text::table_text({{"rank", "ms"}, {"0", "1.25"}, {"10", ""}, {"ä", "3"}}, 1),
            "rank    ms\n0     1.25\n10\nä        3\n");
}
