#pragma once

#include "dice/app/options.hpp"
#include "dice/app/output/destination.hpp"
#include "dice/app/output/finding.hpp"
#include "dice/app/output/record.hpp"
#include "dice/app/picture_sizes.hpp"
#include "dice/app/results.hpp"
#include "dice/decode/head.hpp"
#include "dice/frames/ends.hpp"
#include "dice/tensor/type.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dice::app {

/// How the results of one or two outputs of a rank are decoded, and where they go.
struct decoder {
  decode::head as = decode::head::classes;
  std::vector<int> layers{};                ///< the outputs
  std::vector<dice::tensor::type> types{};  ///< theirs, with the types in which they leave
  decode::options how{};
  std::string name{};  ///< of the outputs, or "" if the network has no others
  std::vector<std::string> labels{};
  result_form form = result_form::automatic;  ///< automatic: there are no records
  std::unique_ptr<destination> to{};
};

/// Decodes results as frames leave, writes records of what was found, and hands the results on.
class decoded_results final : public frames::sink {
 public:
  /// Gets what a frame shows, one finding for each of its pictures.
  using listener = std::function<void(std::int64_t frame, std::vector<finding> found)>;

  void add(decoder d) { all_.push_back({std::move(d)}); }
  bool empty() const { return all_.empty(); }
  /// A run begins: results go on to `next`; pictures(frame) are those of a frame, whose sizes are `sizes`. `wake` is called
  /// when there is room. `listens`, unless it is null, hears of boxes and masks.
  void begin(frames::sink& next, std::function<std::span<const std::string>(std::int64_t)> pictures,
             const picture_sizes& sizes, std::function<void()> wake, listener listens) {
    next_ = &next;
    pictures_ = std::move(pictures);
    sizes_ = &sizes;
    listens_ = std::move(listens);
    for (auto& d : all_)
      if (d.by.to) d.by.to->on_change(wake);
  }

  bool ready(int layer, std::int64_t frame) override {
    return std::all_of(all_.begin(), all_.end(), [&](auto& d) { return !d.has(layer) || !d.by.to || d.by.to->ready(); }) &&
           next_->ready(layer, frame);
  }
  void stamp(std::int64_t frame, const frames::frame_stamp& when) override {
    when_ = when;
    next_->stamp(frame, when);
  }
  void take(int layer, std::int64_t frame, const std::byte* from, const dice::tensor::type& as) override {
    for (auto& d : all_)
      if (d.has(layer)) take(d, layer, frame, frames::floats(from, as));
    next_->take(layer, frame, from, as);
  }
  /// Waits until all records are written. Throws the first error.
  void finish() {
    std::exception_ptr first;
    for (auto& d : all_) try {
        if (d.by.to) d.by.to->finish();
      } catch (...) {
        if (!first) first = std::current_exception();
      }
    if (first) std::rethrow_exception(first);
  }

 private:
  struct at_work {
    decoder by;
    /// Of frames of which one of two results has come: by frame and output. As many as are in flight.
    std::map<std::int64_t, std::map<int, std::vector<float>>> waiting{};

    bool has(int layer) const { return std::find(by.layers.begin(), by.layers.end(), layer) != by.layers.end(); }
  };

  void take(at_work& d, int layer, std::int64_t frame, const float* numbers) {
    std::vector<decode::result> results;
    for (const auto& type : d.by.types) results.push_back({numbers, type});
    if (results.size() > 1) {
      auto& parts = d.waiting[frame];
      for (std::size_t i = 0; i < results.size(); ++i)
        if (d.by.layers[i] == layer) parts[layer].assign(numbers, numbers + results[i].type.elements());
      if (parts.size() < results.size()) return;
      for (std::size_t i = 0; i < results.size(); ++i) results[i].numbers = parts[d.by.layers[i]].data();
    }
    auto found = findings_of(d.by.as, results, d.by.how, frame, *sizes_);
    d.waiting.erase(frame);
    if (d.by.to) d.by.to->put(record(d.by, frame, found));
    if (listens_ && d.by.as != decode::head::classes) listens_(frame, std::move(found));
  }

  std::string record(const decoder& d, std::int64_t frame, const std::vector<finding>& found) const {
    const auto pictures = pictures_(frame);
    std::string out;
    for (std::size_t r = 0; r < found.size(); ++r)
      if (d.form == result_form::raw) {
        out += found[r].bytes();
      } else if (d.form == result_form::top) {
        out += line_start(frame, r, found.size(), pictures, d.name) + " " + found[r].text(d.labels) + "\n";
      } else {
        auto line = json_start(frame, when_, r, found.size(), pictures, d.name);
        found[r].add_to(line, d.labels);
        out += line.json() + "\n";
      }
    return out;
  }

  std::vector<at_work> all_;
  frames::sink* next_ = nullptr;
  std::function<std::span<const std::string>(std::int64_t)> pictures_;
  const picture_sizes* sizes_ = nullptr;
  listener listens_;
  frames::frame_stamp when_{};
};

}  // namespace dice::app
