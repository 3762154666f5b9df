// How a mapping's text is read, sign by sign.
#include "dice/placement/text/reader.hpp"

#include "error_of.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace {

namespace place = dice::placement;
using place::reader;

TEST(MappingReader, CountsLinesAndCharacters) {
  const std::string_view text = "ab\nü€x\n\ny";
  EXPECT_EQ(place::place_text(text, 0), "line 1, column 1");
  EXPECT_EQ(place::place_text(text, 2), "line 1, column 3");
  EXPECT_EQ(place::place_text(text, 3), "line 2, column 1");
  EXPECT_EQ(place::place_text(text, 8), "line 2, column 3");
  EXPECT_EQ(place::place_text(text, 10), "line 3, column 1");
  EXPECT_EQ(place::place_text(text, 12), "line 4, column 2");
}

TEST(MappingReader, QuotesWhatTerminalsCanShow) {
  EXPECT_EQ(place::quoted(" ~\n\x7f\x1f\xc3"), "' ~ \\x7f\\x1f\\xc3'");
  EXPECT_EQ(place::quoted(std::string(40, 'x')), "'" + std::string(40, 'x') + "'");
  EXPECT_EQ(place::quoted(std::string(41, 'x')), "'" + std::string(40, 'x') + "…'");
}

TEST(MappingReader, ReadsNamesAndPaths) {
  for (const std::string_view name : {"a", "z", "A", "Z", "_", "a0", "b9", "aZ_zA09"}) {
    reader in(name);
    EXPECT_TRUE(in.names());
    EXPECT_EQ(in.name("a name"), name);
    EXPECT_TRUE(in.ended() && !in.names());
  }
  for (const char* other : {"`", "{", "@", "[", "0", "9", "/", ":", ": :x"}) {
    reader in(other);
    EXPECT_FALSE(in.names()) << other;
    EXPECT_NE(test::error_of([&] { in.name("a name"); }), "none") << other;
  }
  const auto word = [](std::string_view text) { return reader(text).read_path("a word").word(); };
  EXPECT_EQ(word("cpu"), "cpu");
  EXPECT_EQ(word(":: dice /* of dice */ :: cpu"), "cpu");
  EXPECT_EQ(word("vice::cpu"), "");
  EXPECT_EQ(word("dice::cpu::x"), "");
  EXPECT_TRUE(reader(" ::x").names());
  reader in(" a::b ::c::d <");
  EXPECT_TRUE(in.names());
  const auto four = in.read_path("a path");
  EXPECT_EQ(four.count, 4u);
  EXPECT_EQ(four.names[2], "c");
  EXPECT_EQ(four.all, "a::b ::c::d");
  EXPECT_TRUE(in.next_is('<'));
  EXPECT_EQ(test::error_of([] { reader("a::").read_path("a path"); }),
            "line 1, column 4: expected a path, found the end of the text");
}

TEST(MappingReader, TakesSignsAndSkipsComments) {
  reader in(" \t\r\n\f\v/**/</***/ // > \n >//");
  EXPECT_EQ(in.at(), 10u);
  EXPECT_FALSE(in.take('>'));
  EXPECT_TRUE(in.take('<'));
  EXPECT_EQ(in.at(), 24u);
  EXPECT_EQ(in.since(10), "<") << "what follows is not read yet";
  EXPECT_TRUE(in.take('>') && in.ended());
  EXPECT_FALSE(in.next_is('\0'));
  EXPECT_EQ(test::error_of([] { reader(" /*/").ended(); }), "line 1, column 2: this comment does not end");
  EXPECT_EQ(test::error_of([] { reader("ab").require('<', "after it"); }),
            "line 1, column 1: expected '<' after it, found 'ab'");
  EXPECT_FALSE(reader("/").ended());
}

TEST(MappingReader, ReadsNumbersWithinTheirLimits) {
  const auto number = [](std::string_view text) { return reader(text).number("a number", -3, 7); };
  EXPECT_EQ(number(" -3"), -3);
  EXPECT_EQ(number("7>"), 7);
  EXPECT_EQ(test::error_of([&] { number("8"); }), "line 1, column 1: '8' is beyond 7");
  EXPECT_EQ(test::error_of([&] { number("-4"); }), "line 1, column 1: '-4' is beyond -3");
  EXPECT_EQ(test::error_of([&] { number("-99999999999999999999"); }),
            "line 1, column 1: '-99999999999999999999' is beyond -3");
  EXPECT_EQ(test::error_of([&] { number("+1"); }), "line 1, column 1: expected a number, found '+'");
  EXPECT_EQ(reader("2147483647").small_number(""), 2147483647);
  EXPECT_EQ(reader("-2147483648").small_number(""), -2147483647 - 1);
}

TEST(MappingReader, ReadsBytesWithTheirSuffixes) {
  const auto bytes = [](std::string_view text) { return reader(text).bytes(); };
  EXPECT_EQ(bytes("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(bytes("3_KiB,"), 3072);
  EXPECT_EQ(bytes("-5_MiB"), -5242880);
  EXPECT_EQ(bytes("8589934591_GiB"), 9223372035781033984);  // 2^63 - 2^30
  EXPECT_EQ(bytes("8589934592_GiB"), dice::platform::too_many_bytes);
  EXPECT_EQ(bytes("-8589934591_GiB"), -9223372035781033984);
  EXPECT_EQ(bytes("-8589934592_GiB"), -dice::platform::too_many_bytes);
  EXPECT_EQ(test::error_of([&] { bytes(" 5_kib"); }), "line 1, column 2: '5_kib': write _KiB, _MiB or _GiB");
  reader in("5_KiB >");
  in.bytes();
  EXPECT_EQ(in.since(0), "5_KiB");
  EXPECT_TRUE(in.take('>'));
}

TEST(MappingReader, ReadsStringsAndPassesArguments) {
  reader in(R"( "a\"b\\c" >)");
  EXPECT_EQ(in.string("a name"), R"(a"b\c)");
  EXPECT_EQ(in.since(1), R"("a\"b\\c")");
  EXPECT_TRUE(in.take('>') && in.ended());
  for (const char* text : {"\"", "\"a\\", "\"a\nb\"", "\"\\a\""})
    EXPECT_EQ(test::error_of([&] { reader(text).string(""); }),
              "line 1, column 1: this string does not end, or has a \\ before what is neither \" nor \\");
  reader arguments("<a<1>, \">\", b>c");
  EXPECT_TRUE(arguments.pass_arguments());
  EXPECT_EQ(arguments.since(0), "<a<1>, \">\", b>");
  EXPECT_FALSE(arguments.pass_arguments());
  EXPECT_EQ(arguments.name(""), "c");
  EXPECT_FALSE(arguments.pass_arguments());
  EXPECT_EQ(test::error_of([] { reader("x<").pass_arguments(); }), "none");
  EXPECT_EQ(test::error_of([] { reader(" <<>").pass_arguments(); }), "line 1, column 2: this '<' has no '>'");
}

}  // namespace
