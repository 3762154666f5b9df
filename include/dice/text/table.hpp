// Human-readable numbers and tables. Here and elsewhere, functions that make a text once are marked cold: the compiler
// optimises them for size, which takes half the time.
#pragma once

#include "dice/text/foreign.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace dice::text {

/// "512 B", "1.5 KiB", "12.0 MiB".
inline std::string bytes_text(std::int64_t bytes) {
  char out[32];
  if (bytes < 10240) std::snprintf(out, sizeof out, "%lld B", static_cast<long long>(bytes));
  else if (bytes < (10 << 20)) std::snprintf(out, sizeof out, "%.1f KiB", static_cast<double>(bytes) / 1024);
  else std::snprintf(out, sizeof out, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return out;
}

/// "1 frame", "2 frames", "0 frames".
inline std::string count_text(std::int64_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

/// A number as printf formats it with `form`; NaN without a sign.
inline std::string number_text(double value, const char* form) {
  char out[128];
  std::snprintf(out, sizeof out, form, std::isnan(value) ? std::abs(value) : value);
  return out;
}

/// Lines of cells, as shown() shows them, each column as wide as its widest cell; the first `left` columns are left-aligned.
[[gnu::cold]] inline std::string table_text(std::vector<std::vector<std::string>> lines, std::size_t left) {
  const auto width_of = [](const std::string& s) {  // UTF-8: code points
    return static_cast<std::size_t>(std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xc0) != 0x80; }));
  };
  std::vector<std::size_t> widths;
  for (auto& line : lines) {
    for (auto& cell : line) cell = shown(cell);
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], width_of(line[c]));
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t c = 0; c < line.size(); ++c) {
      const std::string pad(widths[c] - width_of(line[c]), ' ');
      text += (c ? "  " : "") + (c < left ? line[c] + pad : pad + line[c]);
    }
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

}  // namespace dice::text
