// Ctrl-C and similar: a program that is ended by a signal says so, and leaves no file half-written.
#pragma once

#include "dice/files/last_words.hpp"
#include "dice/files/unfinished.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>

namespace dice::files {

/// The exit code of a run that a signal stopped.
inline constexpr int interrupted_code = 3;

namespace detail {

struct ending {
  int signal;
  const char* text;
};
inline constexpr std::array endings{ending{SIGINT, "interrupted (SIGINT)"}, ending{SIGTERM, "terminated (SIGTERM)"},
                                    ending{SIGHUP, "the terminal is gone (SIGHUP)"},
                                    ending{SIGUSR1, "asked to stop (SIGUSR1)"},
                                    ending{SIGBUS, "a mapped file was cut short or cannot be read (SIGBUS)"}};
/// What the handler prints for each signal.
inline std::array<std::string, endings.size()> last_words;
/// The seconds that the first signal leaves for stopping; 0: it ends the program; -1: it may take any time.
inline std::atomic<int> grace{0};
/// Whether the work that the grace period was for is done.
inline std::atomic<bool> in_time{false};
/// Whether nothing is left to stop, so that even a signal that has already come ends the program.
inline std::atomic<bool> ends_at_once{false};
/// The signal that asked the program to stop, or 0.
inline std::atomic<int> stop_signal{0};

extern "C" inline void dice_end_by_signal(int number) {  // calls only async-signal-safe functions
  if (const auto seconds = number == SIGBUS ? 0 : grace.exchange(0)) {
    stop_signal = number;
    if (!ends_at_once) {
      if (seconds > 0) ::alarm(static_cast<unsigned>(seconds));
      return;
    }
  }
  remove_unfinished();
  for (std::size_t i = 0; i < endings.size(); ++i)
    if (endings[i].signal == number) say_last(last_words[i], 100);
  ::signal(number, SIG_DFL);
  ::raise(number);  // ends the program when the handler returns
}

extern "C" inline void dice_end_late(int) {
  if (in_time) return;
  static constexpr std::string_view text = "dice: error: the run did not end in time after the signal (--stop-timeout)\n";
  remove_unfinished();
  say_last(text, 100);
  ::_exit(1);
}

}  // namespace detail

/// While it lives, SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGBUS remove the unfinished files, print `before`, which signal it
/// is, and `after` (nothing if both are empty), and then end the program as before. Exceeding the file size limit becomes a
/// write error instead of a signal. For main functions; signals that the program ignores or handles itself are left alone.
/// Only one object at a time.
class interrupts {
 public:
  [[gnu::cold]] interrupts(const std::string& before, const std::string& after) {
    for (std::size_t i = 0; i < detail::endings.size(); ++i) {
      detail::last_words[i] = before.empty() && after.empty() ? "" : before + detail::endings[i].text + after + "\n";
      struct sigaction action {};
      action.sa_handler = detail::dice_end_by_signal;
      action.sa_flags = SA_RESTART;
      replace(detail::endings[i].signal, action, before_[i]);
    }
    struct sigaction late {};
    late.sa_handler = detail::dice_end_late;
    replace(SIGALRM, late, before_alarm_);
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    replace(SIGXFSZ, ignore, before_size_);
  }
  interrupts(const interrupts&) = delete;
  interrupts& operator=(const interrupts&) = delete;
  ~interrupts() {
    for (std::size_t i = 0; i < detail::endings.size(); ++i) ::sigaction(detail::endings[i].signal, &before_[i], nullptr);
    ::sigaction(SIGXFSZ, &before_size_, nullptr);
    ::sigaction(SIGALRM, &before_alarm_, nullptr);
  }

  /// From now on, the first SIGINT, SIGTERM, SIGHUP or SIGUSR1 only makes stop_signal() return its number. If neither of the
  /// next two functions is called within `seconds` after it, the program ends with exit code 1; a second signal ends it as
  /// usual. Writing to a pipe without a reader becomes a write error instead of a signal.
  static void stop_first(int seconds) {
    if (detail::stop_signal == 0) detail::grace = seconds;
    struct sigaction pipes {};
    ::sigaction(SIGPIPE, nullptr, &pipes);
    if (pipes.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
  }
  /// From now on, the first signal waits for the program's end. A second signal ends it as usual.
  static void let_finish() {
    for (int seconds = detail::grace; seconds != 0 && !detail::grace.compare_exchange_weak(seconds, -1);) {
    }  // a signal that has come made it 0, and it stays so
    detail::in_time = true;
    ::alarm(0);
  }
  /// Every signal ends the program as usual, including one that has come since stop_first().
  static void end_at_once() {
    detail::grace = 0;
    detail::in_time = true;
    ::alarm(0);
    detail::ends_at_once = true;
    if (const int number = detail::stop_signal) ::raise(number);
  }
  /// The signal that asks to stop, or 0.
  static int stop_signal() { return detail::stop_signal; }
  /// The same; waits up to `most` for it.
  static int stop_signal_within(std::chrono::milliseconds most) {
    for (; stop_signal() == 0 && most.count() > 0; most -= std::chrono::milliseconds(5))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return stop_signal();
  }
  /// "interrupted (SIGINT)".
  static const char* text_of(int signal) {
    for (const auto& e : detail::endings)
      if (e.signal == signal) return e.text;
    return "stopped";
  }

 private:
  /// Whether UCX handles the signal: Debian 13's Open MPI links it, and it takes SIGBUS and others before main begins.
  static bool is_of_ucx(const struct sigaction& action) {
    Dl_info of{};
    return ::dladdr(reinterpret_cast<const void*>(action.sa_handler), &of) != 0 && of.dli_fname &&
           std::string_view(of.dli_fname).find("/libucs.so") != std::string_view::npos;
  }
  static void replace(int signal, const struct sigaction& by, struct sigaction& before) {
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_DFL || is_of_ucx(before)) ::sigaction(signal, &by, nullptr);
  }
  std::array<struct sigaction, detail::endings.size()> before_{};
  struct sigaction before_alarm_ {
  }, before_size_{};
};

}  // namespace dice::files
