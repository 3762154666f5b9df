// A mapping's text as names, numbers and signs, and where they are in it.
#pragma once

#include "dice/platform/bytes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dice::placement {

/// A text is not a mapping; says in which line and column, what was expected there, and what was found.
struct mapping_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// "line 2, column 7", both from 1 on, of a place in a text; columns are characters of UTF-8.
[[gnu::cold]] inline std::string place_text(std::string_view text, std::size_t at) {
  const auto before = text.substr(0, at);
  const auto begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const auto column = std::count_if(before.begin() + static_cast<std::ptrdiff_t>(begin), before.end(),
                                    [](char c) { return (c & 0xc0) != 0x80; });
  return "line " + std::to_string(1 + std::count(before.begin(), before.end(), '\n')) + ", column " +
         std::to_string(1 + column);
}

/// A part of a text, quoted for a message: at most 40 bytes, unprintable ones as their numbers.
[[gnu::cold]] inline std::string quoted(std::string_view part) {
  std::string out = "'";
  for (const char c : part.substr(0, 40)) {
    char number[8];
    std::snprintf(number, sizeof number, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    if (c == '\n') out += ' ';
    else out += c < ' ' || c > '~' ? std::string(number) : std::string(1, c);
  }
  return out + (part.size() > 40 ? "…'" : "'");
}

/// Names joined by `::`, such as `dice::cpu`.
struct path {
  static constexpr std::size_t most = 3;
  std::array<std::string_view, most> names;  ///< the first ones
  std::size_t count = 0;                     ///< of all
  std::string_view all;                      ///< as it is written

  /// A word of dice, with `dice::` or without; else "".
  std::string_view word() const { return count == 1 ? names[0] : count == 2 && names[0] == "dice" ? names[1] : ""; }
};

/// Reads a text from start to end, skipping blanks and comments. Failures throw mapping_error.
class reader {
 public:
  explicit reader(std::string_view text) : text_(text) {}

  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    throw mapping_error(place_text(text_, at) + ": " + what);
  }
  /// Fails because something else is expected here.
  [[noreturn]] void expect(std::string_view what) {
    skip();
    auto found = text_.substr(at_, is_name(peek()) ? name_size() : 1);
    fail(at_, "expected " + std::string(what) + ", found " + (found.empty() ? "the end of the text" : quoted(found)));
  }

  /// Where the next name, number or sign begins.
  std::size_t at() {
    skip();
    return at_;
  }
  /// From `begin` to the end of what was read last.
  std::string_view since(std::size_t begin) const { return text_.substr(begin, end_ - begin); }

  bool next_is(char sign) {
    skip();
    return peek() == sign && at_ != text_.size();
  }
  /// Takes the sign if it is next.
  bool take(char sign) {
    if (!next_is(sign)) return false;
    end_ = ++at_;
    return true;
  }
  void require(char sign, std::string_view where) {
    if (!take(sign)) expect(std::string("'") + sign + "' " + std::string(where));
  }
  bool ended() {
    skip();
    return at_ == text_.size();
  }

  /// Whether a name, perhaps after `::`, is next.
  bool names() {
    skip();
    return is_name(peek()) || text_.substr(at_, 2) == "::";
  }
  std::string_view name(std::string_view what) {
    skip();
    if (!is_name(peek())) expect(what);
    const auto out = text_.substr(at_, name_size());
    end_ = at_ += out.size();
    return out;
  }
  path read_path(std::string_view what) {
    path out;
    const auto begin = at();
    take_colons();
    do {
      const auto next = name(what);
      if (out.count < path::most) out.names[out.count] = next;
      ++out.count;
    } while (take_colons());
    out.all = since(begin);
    return out;
  }

  /// A whole number from `least` to `most`.
  std::int64_t number(std::string_view what, std::int64_t least, std::int64_t most) {
    skip();
    const auto begin = at_;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error == std::errc::invalid_argument) expect(what);
    end_ = at_ = static_cast<std::size_t>(end - text_.data());
    if (error != std::errc() || value < least || value > most)
      fail(begin, quoted(since(begin)) + " is beyond " + std::to_string(value < 0 || text_[begin] == '-' ? least : most));
    return value;
  }
  int small_number(std::string_view what) {
    return static_cast<int>(number(what, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
  }
  /// A number directly followed by a suffix, such as 512_MiB; too_many_bytes if they are, as the literals.
  std::int64_t bytes() {
    constexpr std::string_view what = "bytes, such as 512_MiB";
    const auto begin = at();
    auto value = number(what, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
    if (!is_name(peek())) return value;
    const auto suffix = text_.substr(at_, name_size());
    const int shift = suffix == "_KiB" ? 10 : suffix == "_MiB" ? 20 : suffix == "_GiB" ? 30 : 0;
    if (!shift) fail(begin, quoted(text_.substr(begin, at_ + suffix.size() - begin)) + ": write _KiB, _MiB or _GiB");
    end_ = at_ += suffix.size();
    const auto most = std::numeric_limits<std::int64_t>::max() >> shift;
    if (value < -most || value > most) return value < 0 ? -platform::too_many_bytes : platform::too_many_bytes;
    return value * (std::int64_t{1} << shift);
  }
  /// "…", in which \" and \\ stand for " and \.
  std::string string(std::string_view what) {
    if (!take('"')) expect(what);
    std::string out;
    const auto begin = at_ - 1;
    for (; peek() != '"'; out += text_[at_++]) {
      if (peek() == '\\' && at_ + 1 < text_.size() && (text_[at_ + 1] == '"' || text_[at_ + 1] == '\\')) ++at_;
      else if (at_ == text_.size() || peek() == '\n' || peek() == '\\')
        fail(begin, "this string does not end, or has a \\ before what is neither \" nor \\");
    }
    end_ = ++at_;
    return out;
  }
  /// Skips <…> if it is next, whatever it contains. Returns whether it was next.
  bool pass_arguments() {
    const auto begin = at();
    for (std::size_t depth = 0;;) {
      skip();
      if (at_ == text_.size() && depth > 0) fail(begin, "this '<' has no '>'");
      const char next = peek();
      if (next == '<') ++depth;
      if (depth == 0) return false;
      if (next == '"') string("");
      else end_ = ++at_;
      if (next == '>' && --depth == 0) return true;
    }
  }

 private:
  static bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  std::size_t name_size() const {
    auto end = at_;
    while (end < text_.size() && (is_name(text_[end]) || (text_[end] >= '0' && text_[end] <= '9'))) ++end;
    return end - at_;
  }
  bool take_colons() {
    skip();
    if (text_.substr(at_, 2) != "::") return false;
    end_ = at_ += 2;
    return true;
  }
  void skip() {
    for (;;) {
      at_ = std::min(text_.find_first_not_of(" \t\r\n\f\v", at_), text_.size());
      const auto two = text_.substr(at_, 2);
      if (two == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (two == "/*") {
        const auto end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) fail(at_, "this comment does not end");
        at_ = end + 2;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0, end_ = 0;
};

}  // namespace dice::placement
