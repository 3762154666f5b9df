#pragma once

#include "dice/frames/ends.hpp"
#include "dice/report/progress_line.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace dice::app {

/// Hands results on, and counts their frames on a terminal.
class counted_results final : public frames::sink {
 public:
  counted_results(frames::sink& next, std::int64_t frames, bool shows)
      : next_(next), frames_(frames), line_(shows ? stderr : nullptr) {}
  void take(int layer, std::int64_t frame, const std::byte* from, const dice::tensor::type& as) override {
    next_.take(layer, frame, from, as);
    line_.show([&] { return "frame " + std::to_string(frame + 1) + " of " + std::to_string(frames_); });
  }

 private:
  frames::sink& next_;
  const std::int64_t frames_;
  report::progress_line line_;
};

}  // namespace dice::app
