// What Ctrl-C and its like do: SIGINT, SIGTERM and SIGHUP end this program, but first it prints in what state things are.
#pragma once

#include <array>
#include <csignal>
#include <span>
#include <string>

namespace dice_run {

/// From now on such a signal prints "interrupted; TEXT" on stderr, and then ends this program as before. Signals that are
/// ignored (nohup) stay so.
void if_interrupted(const std::string& text);

/// While it lives, another handler has these signals.
class signals_with {
 public:
  signals_with(std::span<const int> signals, void (*handler)(int));
  signals_with(const signals_with&) = delete;
  ~signals_with();

 private:
  std::span<const int> signals_;
  std::array<void (*)(int), 3> before_{};
};

/// While it lives, Ctrl-C and the like end neither this program nor those that it starts.
class uninterrupted {
  signals_with ignored_;

 public:
  uninterrupted();
};

/// While it lives, SIGINT and SIGTERM do not end this program; only one at a time. Programs that it starts meanwhile get no
/// Ctrl-C from the terminal.
class interruption {
  signals_with noted_;

 public:
  interruption();
  ~interruption();
  static bool happened();  ///< whether such a signal has come
  static bool awaited();   ///< whether one lives
};

}  // namespace dice_run
