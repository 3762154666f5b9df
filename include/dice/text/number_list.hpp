// Lists of whole numbers as people write them: "0-3,7".
#pragma once

#include <charconv>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace dice::text {

/// `numbers`, ascending and each once, as such a text.
[[gnu::cold]] inline std::string number_list(std::span<const int> numbers) {
  std::string out;
  for (std::size_t i = 0, j; i < numbers.size(); i = j) {
    for (j = i + 1; j < numbers.size() && numbers[j] == numbers[j - 1] + 1;) ++j;
    out += (out.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (j > i + 1) out += "-" + std::to_string(numbers[j - 1]);
  }
  return out;
}

/// The numbers of such a text, all from 0 to `last`; none if `text` is anything else.
[[gnu::cold]] inline std::vector<int> read_number_list(std::string_view text, int last) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto read = [&](int& n) {
    const bool digit = at != end && *at != '-';
    const auto [after, error] = std::from_chars(at, end, n);
    at = after;
    return digit && error == std::errc() && n <= last;
  };
  std::vector<int> out;
  for (int first = 0;; ++at) {
    if (!read(first) || (!out.empty() && first <= out.back())) return {};
    int to = first;
    if (at != end && *at == '-' && (++at, !read(to) || to <= first)) return {};
    for (; first <= to; ++first) out.push_back(first);
    if (at == end) return out;
    if (*at != ',') return {};
  }
}

}  // namespace dice::text
