#pragma once

#include "dice/app/output/destination.hpp"
#include "dice/app/output/record.hpp"
#include "dice/files/error.hpp"
#include "dice/frames/ends.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dice::app {

/// Writes records of a rank's results as frames leave, and hands the results on.
class result_sinks final : public frames::sink {
 public:
  /// Adds a destination for the results of output `layer`. Throws files::error, std::runtime_error.
  void add(int layer, const result_sink& to, record_form form, std::size_t capacity) {
    all_.push_back({layer, std::move(form), std::make_unique<destination>(to, capacity)});
  }
  bool empty() const { return all_.empty(); }
  /// A run begins: results go on to `next`, and pictures(frame) are those of a frame. `wake` is called when there is room.
  void begin(frames::sink& next, std::function<std::span<const std::string>(std::int64_t)> pictures,
             std::function<void()> wake) {
    next_ = &next;
    pictures_ = std::move(pictures);
    for (auto& s : all_) s.to->on_change(wake);
  }

  bool ready(int layer, std::int64_t frame) override {
    return std::all_of(all_.begin(), all_.end(), [&](auto& s) { return s.layer != layer || s.to->ready(); }) &&
           next_->ready(layer, frame);
  }
  void stamp(std::int64_t frame, const frames::frame_stamp& when) override {
    when_ = when;
    next_->stamp(frame, when);
  }
  void take(int layer, std::int64_t frame, const std::byte* from, const dice::tensor::type& as) override {
    for (auto& s : all_)
      if (s.layer == layer) s.to->put(s.form.record(frame, when_, frames::floats(from, as), pictures_(frame)));
    next_->take(layer, frame, from, as);
  }
  /// Waits until all records are written. Throws the first error.
  void finish() {
    std::exception_ptr first;
    for (auto& s : all_) try {
        s.to->finish();
      } catch (...) {
        if (!first) first = std::current_exception();
      }
    if (first) std::rethrow_exception(first);
  }

 private:
  struct sink_of {
    int layer = -1;
    record_form form;
    std::unique_ptr<destination> to;
  };

  std::vector<sink_of> all_;
  frames::sink* next_ = nullptr;
  std::function<std::span<const std::string>(std::int64_t)> pictures_;
  frames::frame_stamp when_{};
};

}  // namespace dice::app
