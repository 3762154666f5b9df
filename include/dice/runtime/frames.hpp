#pragma once

#include <cstdint>

namespace dice::runtime {

/// Where frames come from. Called in the rank that holds the graph input `layer`, for frames 0, 1, 2, …
class source {
 public:
  virtual ~source() = default;
  /// Writes the `elements` numbers of frame `frame` to `to`. If it throws, the job ends with the exception's text.
  virtual void fill(int layer, std::int64_t frame, float* to, std::int64_t elements) = 0;
  /// Whether fill() can write that frame without waiting.
  virtual bool ready(int /*layer*/, std::int64_t /*frame*/) { return true; }
  /// The total number of frames once it is known; until then -1. Polled, and only in streams.
  virtual std::int64_t total() { return -1; }
  /// Called only in streams: the first `frames` frames have left the network on all ranks.
  virtual void retired(std::int64_t /*frames*/) {}
};

/// Where results go. Called in the rank that holds the graph output `layer`, for frames 0, 1, 2, …
class sink {
 public:
  virtual ~sink() = default;
  /// Takes the `elements` numbers of frame `frame` at `from`, which is valid only during the call.
  virtual void take(int layer, std::int64_t frame, const float* from, std::int64_t elements) = 0;
  /// Whether take() has room without waiting.
  virtual bool ready(int /*layer*/, std::int64_t /*frame*/) { return true; }
};

}  // namespace dice::runtime
