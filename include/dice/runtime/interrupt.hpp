// Ctrl-C and similar: a program that is ended by a signal says so, and leaves no file half-written.
#pragma once

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

namespace dice::runtime {

namespace detail {

/// Paths of the unfinished files of this process, for the handler.
inline std::array<std::atomic<const char*>, 64> unfinished{};

struct ending {
  int signal;
  const char* text;
};
inline constexpr std::array endings{ending{SIGINT, "interrupted (SIGINT)"}, ending{SIGTERM, "terminated (SIGTERM)"},
                                    ending{SIGHUP, "the terminal is gone (SIGHUP)"},
                                    ending{SIGBUS, "a mapped file was cut short or cannot be read (SIGBUS)"}};
/// What the handler prints for each signal.
inline std::array<std::string, endings.size()> last_words;

extern "C" inline void dice_end_by_signal(int number) {  // calls only async-signal-safe functions
  for (const auto& path : unfinished)
    if (const char* at = path.load()) ::unlink(at);
  for (std::size_t i = 0; i < endings.size(); ++i)
    if (endings[i].signal == number) static_cast<void>(!::write(STDERR_FILENO, last_words[i].data(), last_words[i].size()));
  ::raise(number);  // with the default action restored: ends the program when the handler returns
}

}  // namespace detail

/// While it lives, the file `path` is removed if the program is ended by a signal that `interrupts` handles.
class unfinished_file {
 public:
  explicit unfinished_file(std::string path) : path_(std::move(path)) {
    for (auto& slot : detail::unfinished)
      if (const char* free = nullptr; slot.compare_exchange_strong(free, path_.c_str())) {
        slot_ = &slot;
        break;
      }
  }
  unfinished_file(const unfinished_file&) = delete;
  unfinished_file& operator=(const unfinished_file&) = delete;
  ~unfinished_file() {
    if (slot_) *slot_ = nullptr;
  }

 private:
  const std::string path_;
  std::atomic<const char*>* slot_ = nullptr;
};

/// While it lives, SIGINT, SIGTERM, SIGHUP and SIGBUS remove the unfinished files, print `before`, which signal it is, and
/// `after` (nothing if both are empty), and then end the program as before. Exceeding the file size limit becomes a write
/// error instead of a signal. For main functions; signals that the program ignores or handles itself are left alone. Only
/// one object at a time.
class interrupts {
 public:
  interrupts(const std::string& before, const std::string& after) {
    for (std::size_t i = 0; i < detail::endings.size(); ++i) {
      detail::last_words[i] = before.empty() && after.empty() ? "" : before + detail::endings[i].text + after + "\n";
      struct sigaction action {};
      action.sa_handler = detail::dice_end_by_signal;
      action.sa_flags = static_cast<int>(SA_RESETHAND);
      replace(detail::endings[i].signal, action, before_[i]);
    }
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    replace(SIGXFSZ, ignore, before_.back());
  }
  interrupts(const interrupts&) = delete;
  interrupts& operator=(const interrupts&) = delete;
  ~interrupts() {
    for (std::size_t i = 0; i < detail::endings.size(); ++i) ::sigaction(detail::endings[i].signal, &before_[i], nullptr);
    ::sigaction(SIGXFSZ, &before_.back(), nullptr);
  }

 private:
  static void replace(int signal, const struct sigaction& by, struct sigaction& before) {
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_DFL) ::sigaction(signal, &by, nullptr);
  }
  std::array<struct sigaction, detail::endings.size() + 1> before_{};
};

}  // namespace dice::runtime
