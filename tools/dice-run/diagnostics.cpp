#include "diagnostics.hpp"

#include "dice/text/print.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace dice_run {

void report(std::string_view kind, std::string_view text) {
  if (listener) return listener(fmt::format("{}: {}", kind, text));
  dice::text::print_error(fmt::format("dice-run: {}: {}", kind, text));
}

void say(std::string_view text) {
  if (listener) return listener(text);
  const auto safe = dice::text::shown(text, "\n\t");
  std::fwrite(safe.data(), 1, safe.size(), stdout);
  std::fflush(stdout);
}

std::string quote(std::string_view text) { return dice::text::shown(fmt::format("\"{}\"", text)); }

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    out.emplace_back(text.substr(0, end));
    if (out.back().ends_with('\r')) out.back().pop_back();  // of ssh's messages
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

}  // namespace dice_run
