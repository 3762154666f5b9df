// How far a long search is, on a terminal.
#pragma once

#include "dice/partition/goal.hpp"

#include <unistd.h>
#include <chrono>
#include <cstdio>

namespace dice::advice {

/// "searching: 42 %" on `to` if that is a terminal, at most ten times a second, and gone at the end.
class search_progress {
  using clock = std::chrono::steady_clock;

 public:
  /// `now` tells the time (tests have their own).
  explicit search_progress(std::FILE* to = stderr, clock::time_point (*now)() = &clock::now)
      : to_(::isatty(::fileno(to)) ? to : nullptr), now_(now) {}
  search_progress(const search_progress&) = delete;
  search_progress& operator=(const search_progress&) = delete;
  ~search_progress() {
    if (shown_) std::fputs("\r\033[K", to_), std::fflush(to_);
  }

  /// Lives as long as this.
  const partition::watch& seen_by() const { return watch_; }

 private:
  void tell(double part) {
    const auto now = now_();
    if (!to_ || now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now, shown_ = true;
    std::fprintf(to_, "\r\033[Ksearching: %.0f %%", part * 100);
    std::fflush(to_);
  }

  std::FILE* to_;
  clock::time_point (*now_)();
  clock::time_point last_ = now_();
  bool shown_ = false;
  partition::watch watch_{[](void* with, double part) { static_cast<search_progress*>(with)->tell(part); }, this};
};

}  // namespace dice::advice
