#include "diagnostics.hpp"

#include "signals.hpp"

#include "dice/files/standard_streams.hpp"
#include "dice/text/print.hpp"

#include <fmt/format.h>

namespace dice_run {

namespace {

std::string unsaid, conclusion;  // why output did not arrive; what was done

}  // namespace

void report(std::string_view kind, std::string_view text) {
  if (listener) return listener(fmt::format("{}: {}", kind, text));
  dice::text::print_error(fmt::format("dice-run: {}: {}", kind, text));
}

void say(std::string_view text) {
  if (listener) return listener(text);
  try {
    dice::text::print(text);
  } catch (const std::runtime_error& e) {
    if (unsaid.empty()) unsaid = e.what();
  }
}

void conclude(const std::string& line) {
  say(line);
  conclusion = line.substr(0, line.find('\n'));
  if_interrupted(conclusion);
}

std::string after_all(const std::string& what) { return conclusion.empty() ? what : conclusion + ", but " + what; }

void require_said() {
  if (!unsaid.empty()) throw std::runtime_error(unsaid);
  dice::files::require_stored();
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
