#pragma once

#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <string>

namespace dice::report {

/// A line on a terminal that is overwritten while work goes on. It is cleared at the end.
class progress_line {
  using clock = std::chrono::steady_clock;

 public:
  /// Shows nothing if `to` is null or not a terminal. `now` returns the time (tests pass their own).
  explicit progress_line(std::FILE* to = stderr, clock::time_point (*now)() = &clock::now)
      : to_(to && ::isatty(::fileno(to)) ? to : nullptr), now_(now), last_(now()) {}
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line() {
    if (shown_) {
      std::fputs(clear, to_);
      std::fflush(to_);
    }
  }

  /// Shows what make() returns, a std::string, unless the line was shown, or made, less than 100 ms ago: for work in many
  /// short steps.
  template <class Make> void show(const Make& make) {
    if (to_ && now_() - last_ >= std::chrono::milliseconds(100)) show_now(make);
  }
  /// Shows it at once: for work in a few steps that may be long.
  template <class Make> void show_now(const Make& make) {
    if (!to_) return;
    last_ = now_();
    shown_ = true;
    std::fprintf(to_, "%s%s", clear, make().c_str());
    std::fflush(to_);
  }

 private:
  static constexpr const char* clear = "\r\033[K";

  std::FILE* to_;
  clock::time_point (*now_)();
  clock::time_point last_;
  bool shown_ = false;
};

}  // namespace dice::report
