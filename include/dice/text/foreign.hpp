// Text from models, files and other ranks: safe to print, safe to paste into a shell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace dice::text {

namespace detail {

/// The character of UTF-8 that begins at text[at], and its size in bytes; code -1 and size 1 if none begins there.
struct character {
  std::int32_t code;
  std::size_t size;
};
[[gnu::cold]] inline character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto first = byte(at);
  if (first < 0x80) return {first, 1};
  const std::size_t size = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (size == 0 || at + size > text.size()) return {-1, 1};
  std::int32_t code = first & (0x7f >> size);
  for (std::size_t i = at + 1; i < at + size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {-1, 1};
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool overlong = code < (size == 3 ? 0x800 : size == 4 ? 0x10000 : 0), surrogate = code >= 0xd800 && code < 0xe000;
  if (overlong || surrogate || code > 0x10ffff) return {-1, 1};
  return {code, size};
}

/// Whether a terminal obeys this character instead of showing it: control characters, ends of lines and paragraphs, and what
/// changes the direction of the text around it.
constexpr bool is_control(std::int32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

}  // namespace detail

/// `text` as a terminal may show it: each byte of control characters and of invalid UTF-8 becomes \x1b or the like, except
/// for the characters in `kept`.
[[gnu::cold]] inline std::string shown(std::string_view text, std::string_view kept = {}) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, size] = detail::character_at(text, at);
    const auto part = text.substr(at, size);
    at += size;
    if (!detail::is_control(code) || kept.find(part) != std::string_view::npos) {
      out += part;
      continue;
    }
    for (const char c : part) {
      char number[8];
      std::snprintf(number, sizeof number, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += number;
    }
  }
  return out;
}

/// `text` as one word of a POSIX shell: in single quotes, unless all its characters are harmless.
[[gnu::cold]] inline std::string shell_word(std::string_view text) {
  constexpr std::string_view harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-+@%,=";
  if (!text.empty() && text.find_first_not_of(harmless) == std::string_view::npos) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

}  // namespace dice::text
