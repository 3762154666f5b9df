// Errors and how they are reported.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dice_run {

/// Something on a host or in a file stands in the way; exit code 1. A list has one message for each host.
struct run_error : std::runtime_error {
  explicit run_error(const std::string& text) : run_error(std::vector<std::string>{text}) {}
  explicit run_error(std::vector<std::string> all)
      : std::runtime_error(all.empty() ? "" : all[0]), messages(std::move(all)) {}
  std::vector<std::string> messages;
};

/// A command line that makes no sense, by itself or for this deployment; exit code 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// For tests: if it is set, it gets the texts of report and say instead of the terminal.
inline std::function<void(std::string_view text)> listener;

/// One line to stderr, as "dice-run: KIND: TEXT", safe for a terminal. KIND is error, warning or note.
void report(std::string_view kind, std::string_view text);

/// Text to stdout, safe for a terminal. If it does not arrive, no command stops halfway: main reports that at the end.
void say(std::string_view text);

/// The same for a line that says what a command has done. If stdout does not take it, or the rest of the command is
/// interrupted, stderr gets it.
void conclude(const std::string& line);

/// The message that `what` went wrong at the end of a command, after what the command has done, if conclude() was called.
std::string after_all(const std::string& what);

/// Throws std::runtime_error, with the reason, unless the standard output has taken everything that was said.
void require_said();

/// Text from anywhere in quotes, made safe for a terminal.
std::string quote(std::string_view text);

/// The lines of `text`, without their line breaks (\n or \r\n); the last need not have one.
std::vector<std::string> lines_of(std::string_view text);

}  // namespace dice_run
