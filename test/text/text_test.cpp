#include "dice/text/foreign.hpp"
#include "dice/text/json.hpp"
#include "dice/text/number_list.hpp"
#include "dice/text/print.hpp"
#include "dice/text/table.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

using namespace dice;

/// Runs `print` with `file` as standard output; what require_printed throws then, or "".
template <class F> std::string printed_to(const char* file, F print) {
  std::fflush(stdout);
  const int kept = ::dup(STDOUT_FILENO), to = ::open(file, O_WRONLY);
  ::dup2(to, STDOUT_FILENO);
  ::close(to);
  std::string said;
  try {
    print();
    text::require_printed();
  } catch (const std::runtime_error& e) {
    said = e.what();
  }
  ::dup2(kept, STDOUT_FILENO);
  ::close(kept);
  std::clearerr(stdout);
  return said;
}

TEST(print, lines_begin_with_the_time_on_request) {
  const auto printed = [] {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    text::print("one\n\ntwo");
    text::print("");
    text::print_error("three");
    return testing::internal::GetCapturedStdout() + "|" + testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(printed(), "one\n\ntwo|three\n");
  ::setenv("DICE_TIMESTAMP_OUTPUT", "1", 1);
  const auto stamped = printed();
  ::unsetenv("DICE_TIMESTAMP_OUTPUT");
  const std::string time = "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d ";
  EXPECT_TRUE(std::regex_match(stamped, std::regex(time + "one\n" + time + "\n" + time + "two\\|" + time + "three\n"))) << stamped;
}

TEST(print, what_has_not_arrived_is_an_error) {
  const std::string error = "the standard output cannot be written";
  EXPECT_EQ(printed_to("/dev/null", [] { std::fputs("text", stdout); }), "");
  EXPECT_EQ(printed_to("/dev/full", [] {}), "");  // nothing was to arrive
  EXPECT_EQ(printed_to("/dev/full", [] { std::fputs("text", stdout); }), error + ": No space left on device");
  EXPECT_EQ(printed_to("/dev/full",
                       [] {
                         std::fputs("text", stdout);
                         std::fflush(stdout);
                       })
                .substr(0, error.size()),
            error);
  EXPECT_EQ(printed_to("/dev/full", [] { text::print("text"); }), error + ": No space left on device");
}

TEST(json, strings) { EXPECT_EQ(text::json_string("a\"\\\n\x01é"), "\"a\\\"\\\\\\u000a\\u0001é\""); }

TEST(json, strings_with_what_terminals_obey) {
  EXPECT_EQ(text::json_string("\x7f\xc2\x9b[\xe2\x80\xae"), R"("\u007f\u009b[\u202e")");
  EXPECT_EQ(text::json_string("a\xffz\xe2\x80"), R"("a\ufffdz\ufffd\ufffd")");
}

TEST(foreign, text_is_shown_without_what_terminals_obey) {
  const std::string harmless = "a \\ \"$x\" é × 😀 \xed\x9f\xbf \xef\xbf\xbd";
  EXPECT_EQ(text::shown(harmless), harmless);
  EXPECT_EQ(text::shown("\x1b[2J\r\n\t\x7f"), R"(\x1b[2J\x0d\x0a\x09\x7f)");
  EXPECT_EQ(text::shown("\x1b\r\n\t", "\n\t"), "\\x1b\\x0d\n\t");
  EXPECT_EQ(text::shown(std::string("\0", 1)), R"(\x00)");
  EXPECT_EQ(text::shown("\xc2\x9b"), R"(\xc2\x9b)");                                          // CSI, U+009B
  EXPECT_EQ(text::shown("\xe2\x80\xaa\xe2\x81\xa9"), R"(\xe2\x80\xaa\xe2\x81\xa9)");          // U+202A, U+2069
  EXPECT_EQ(text::shown("\x9b\xc3 \xc0\xaf"), R"(\x9b\xc3 \xc0\xaf)");                        // no UTF-8, overlong
  EXPECT_EQ(text::shown("\xe0\x80\xaf\xed\xa0\x80"), R"(\xe0\x80\xaf\xed\xa0\x80)");          // overlong, surrogate
  EXPECT_EQ(text::shown("\xf4\x90\x80\x80\xf0\x9f\x98"), R"(\xf4\x90\x80\x80\xf0\x9f\x98)");  // too large, cut
}

TEST(foreign, words_of_a_shell) {
  EXPECT_EQ(text::shell_word("/a/b-1:3x4,c=d@e%"), "/a/b-1:3x4,c=d@e%");
  EXPECT_EQ(text::shell_word(""), "''");
  EXPECT_EQ(text::shell_word("$(touch x)`y`"), "'$(touch x)`y`'");
  EXPECT_EQ(text::shell_word("it's"), R"('it'\''s')");
  EXPECT_EQ(text::shell_word("~"), "'~'");
}

TEST(json, numbers) {
  EXPECT_EQ(text::json_number(0.1), "0.1");
  EXPECT_EQ(text::json_number(-1234567), "-1.23457e+06");
  EXPECT_EQ(text::json_number(std::nan("")), "null");
  EXPECT_EQ(text::json_number(std::numeric_limits<double>::infinity()), "null");
}

TEST(table, numbers_of_things) {
  EXPECT_EQ(text::count_text(1, "frame"), "1 frame");
  EXPECT_EQ(text::count_text(0, "frame") + text::count_text(-1, "x") + text::count_text(21, "x"), "0 frames-1 xs21 xs");
}

TEST(table, bytes) {
  EXPECT_EQ(text::bytes_text(10239), "10239 B");
  EXPECT_EQ(text::bytes_text(10240), "10.0 KiB");
  EXPECT_EQ(text::bytes_text((10 << 20) - 1), "10240.0 KiB");
  EXPECT_EQ(text::bytes_text(10 << 20), "10.0 MiB");
}

TEST(table, cells_are_shown_in_one_line) {
  EXPECT_EQ(text::table_text({{"a\x1b\n", "b"}, {"", "c"}}, 1), "a\\x1b\\x0a  b\n           c\n");
}

TEST(table, columns_are_as_wide_as_their_widest_cell) {
  EXPECT_EQ(text::table_text({{"rank", "ms"}, {"0", "1.25"}, {"10", ""}, {"ä", "3"}}, 1),
            "rank    ms\n0     1.25\n10\nä        3\n");
}

TEST(number_list, ranges) {
  const std::pair<std::string, std::vector<int>> lists[] = {
      {"0", {0}}, {"7", {7}}, {"0-1", {0, 1}}, {"0,2", {0, 2}}, {"0-3,5,7-8", {0, 1, 2, 3, 5, 7, 8}}, {"1,3,5", {1, 3, 5}}};
  for (const auto& [list, numbers] : lists) {
    EXPECT_EQ(text::number_list(numbers), list);
    EXPECT_EQ(text::read_number_list(list, 8), numbers);
  }
  EXPECT_EQ(text::number_list({}), "");
  EXPECT_EQ(text::read_number_list("0,1,2-3", 8), (std::vector{0, 1, 2, 3}));
  for (const char* bad :
       {"",      ",", "0,", ",0", "0,,1", "-1",  "0-", "0--1", "1-1", "2-1",         "0,0",           "1,0",
        "0-2,2", "x", "0x", "0 ", " 0",   "0 1", "+1", "9",    "0-9", "99999999999", "0-99999999999", "0;1"})
    EXPECT_TRUE(text::read_number_list(bad, 8).empty()) << bad;
}
