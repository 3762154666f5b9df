#pragma once

#include <cstdint>

namespace dice::runtime {

/// Where frames come from. Called in the rank that holds the graph input `layer`, for frames 0, 1, 2, …
class source {
 public:
  virtual ~source() = default;
  /// Writes the `elements` numbers of frame `frame` to `to`. May throw: the job then ends with the text.
  virtual void fill(int layer, std::int64_t frame, float* to, std::int64_t elements) = 0;
  /// Whether fill() would not have to wait for that frame.
  virtual bool ready(int /*layer*/, std::int64_t /*frame*/) { return true; }
  /// How many frames there are in all, once that is known; else -1. Asked again and again, only where frames stream.
  virtual std::int64_t total() { return -1; }
  /// Told where frames stream: the first `frames` frames have left the network everywhere.
  virtual void retired(std::int64_t /*frames*/) {}
};

/// Where results go. Called in the rank that holds the graph output `layer`, for frames 0, 1, 2, …
class sink {
 public:
  virtual ~sink() = default;
  /// Takes the `elements` numbers of frame `frame` at `from`, which stay there only during the call.
  virtual void take(int layer, std::int64_t frame, const float* from, std::int64_t elements) = 0;
  /// Whether take() would not have to wait for room.
  virtual bool ready(int /*layer*/, std::int64_t /*frame*/) { return true; }
};

}  // namespace dice::runtime
