#pragma once

#include "dice/app/input/live_input.hpp"
#include "dice/frames/ends.hpp"
#include "dice/frames/source.hpp"
#include "dice/meta/clock.hpp"
#include "dice/text/table.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace dice::app {

/// The graph inputs of a rank in a run with streams: some come as streams, the others from `files`, which repeat cyclically.
/// The k-th frames of all inputs belong together.
class live_inputs final : public frames::source {
 public:
  explicit live_inputs(frames::tensor_source& files) : files_(files) {}

  void add(int layer, std::string input, std::unique_ptr<live_input> from) {
    streams_[layer] = {std::move(input), std::move(from)};
  }
  bool empty() const { return streams_.empty(); }
  /// What the streams are, by graph input.
  std::map<int, const live_settings*> settings() const {
    std::map<int, const live_settings*> out;
    for (const auto& [layer, s] : streams_) out[layer] = &s.from->settings();
    return out;
  }
  /// The stream of graph input `layer`, or null.
  live_input* of(int layer) {
    const auto at = streams_.find(layer);
    return at == streams_.end() ? nullptr : at->second.from.get();
  }
  /// Begins to read at most `most` frames of each stream.
  void start(std::int64_t most, channels::endpoint& end) {
    for (auto& [layer, s] : streams_) s.from->start(most, end);
  }
  /// Reads no more.
  void stop() {
    for (auto& [layer, s] : streams_) s.from->stop();
  }

  bool ready(int layer, std::int64_t frame) override {
    const auto at = streams_.find(layer);
    return at == streams_.end() ? files_.ready(layer, frame) : at->second.from->ready();
  }
  void fill(int layer, std::int64_t frame, std::byte* to, const dice::tensor::type& as) override {
    const auto at = streams_.find(layer);
    at == streams_.end() ? files_.fill(layer, frame, to, as) : at->second.from->fill(frames::floats(to, as));
  }
  frames::frame_stamp stamp(int layer, std::int64_t frame) override {
    const auto at = streams_.find(layer);
    return at == streams_.end() ? files_.stamp(layer, frame) : at->second.from->stamp();
  }
  /// The number of frames is known when one stream has ended, and the others have ended with as many, or give no more within
  /// a second. Throws std::runtime_error if one has given more.
  std::int64_t total() override {
    bool all = true;
    for (auto& [layer, s] : streams_)
      if (const auto n = s.from->count(); n.ended && n.given < total_) {
        total_ = n.given;
        ended_ = s.input;
        ended_at_ = meta::now();
      }
    if (total_ == endless) return -1;
    for (auto& [layer, s] : streams_) {
      s.from->limit(total_ + 1);  // one more shows that the stream goes on
      const auto n = s.from->count();
      const bool drops = s.from->settings().late != late_rule::wait;  // then each stream leaves out other frames
      if (n.taken > total_ || (n.given > total_ && !drops))
        throw std::runtime_error("input '" + ended_ + "' has ended after " + text::count_text(total_, "frame") +
                                 ", but input '" + s.input + "' has gone on; streams must have the same number of frames");
      const bool may_go_on = !n.ended && !drops && meta::now() < ended_at_ + patience;
      all = all && n.given >= total_ && !may_go_on;
    }
    return all ? total_ : -1;
  }
  void others_have(std::int64_t frames) override {
    if (frames >= total_) return;
    total_ = frames;
    ended_ = "of another rank";
    ended_at_ = meta::now();
  }

  /// Of all streams.
  frames::stream_counts counts() override {
    frames::stream_counts out;
    for (auto& [layer, s] : streams_) {
      const auto n = s.from->count();
      out.read += n.read;
      out.dropped += n.dropped;
      out.restarts += n.restarts;
    }
    return out;
  }

 private:
  static constexpr auto endless = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t patience = 1'000'000'000;  ///< ns for another stream's end, or its next frame
  struct stream {
    std::string input;
    std::unique_ptr<live_input> from;
  };

  frames::tensor_source& files_;
  std::map<int, stream> streams_;
  std::int64_t total_ = endless;
  std::string ended_;          ///< the input whose stream has ended
  std::int64_t ended_at_ = 0;  ///< when it was seen
};

}  // namespace dice::app
