// Shows on a terminal how far a long search is.
#pragma once

#include "dice/partition/goal.hpp"
#include "dice/report/progress_line.hpp"
#include "dice/text/table.hpp"

#include <chrono>
#include <cstdio>

namespace dice::advice {

/// Shows "searching: 42 %" on `to` if that is a terminal.
class search_progress {
  using clock = std::chrono::steady_clock;

 public:
  /// `now` returns the time (tests pass their own).
  explicit search_progress(std::FILE* to = stderr, clock::time_point (*now)() = &clock::now) : line_(to, now) {}
  search_progress(const search_progress&) = delete;
  search_progress& operator=(const search_progress&) = delete;

  /// Lives as long as this object.
  partition::watch& seen_by() { return watch_; }

 private:
  report::progress_line line_;
  partition::watch watch_{[](void* with, double part) {
                            static_cast<search_progress*>(with)->line_.show(
                                [&] { return "searching: " + text::number_text(part * 100, "%.0f %%"); });
                          },
                          this, nullptr};
};

}  // namespace dice::advice
