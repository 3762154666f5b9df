#pragma once

#include "dice/meta/clock.hpp"
#include "dice/tensor/type.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace dice::frames {

/// When a frame came to its source, by the clocks of the host where it enters.
struct frame_stamp {
  std::int64_t time = 0;    ///< nanoseconds since 1970
  std::int64_t steady = 0;  ///< the same moment as meta::now() counts
  std::int64_t number = 0;  ///< in its source, from 0 on, with the frames that were dropped

  /// A frame that comes now.
  static frame_stamp now(std::int64_t number) { return {meta::wall_time(), meta::now(), number}; }
};

/// What came from the sources of a rank's streams.
struct stream_counts {
  std::int64_t read = 0;      ///< whole frames
  std::int64_t dropped = 0;   ///< those for which there was no room
  std::int64_t restarts = 0;  ///< of sources
};

/// Where frames come from. Called in the rank that holds the graph input `layer`, for frames 0, 1, 2, …
class source {
 public:
  virtual ~source() = default;
  /// Writes frame `frame`, a plain tensor of type `as`, to `to`. If it throws, the job ends with the exception's text.
  virtual void fill(int layer, std::int64_t frame, std::byte* to, const dice::tensor::type& as) = 0;
  /// Whether fill() can write that frame without waiting.
  virtual bool ready(int /*layer*/, std::int64_t /*frame*/) { return true; }
  /// The total number of frames once it is known; until then -1. Polled, and only in streams.
  virtual std::int64_t total() { return -1; }
  /// Called only in streams: the first `frames` frames have left the network on all ranks.
  virtual void retired(std::int64_t /*frames*/) {}
  /// Called only in streams: the source of another rank has `frames` frames in all, and total() must become the same.
  virtual void others_have(std::int64_t /*frames*/) {}
  /// Of the run so far.
  virtual stream_counts counts() { return {}; }
  /// When that frame came; called after fill().
  virtual frame_stamp stamp(int /*layer*/, std::int64_t frame) { return frame_stamp::now(frame); }
};

/// Where results go. Called in the rank that holds the graph output `layer`, for frames 0, 1, 2, …
class sink {
 public:
  virtual ~sink() = default;
  /// Takes frame `frame`, a plain tensor of type `as`, at `from`, which is valid only during the call.
  virtual void take(int layer, std::int64_t frame, const std::byte* from, const dice::tensor::type& as) = 0;
  /// Whether take() has room without waiting.
  virtual bool ready(int /*layer*/, std::int64_t /*frame*/) { return true; }
  /// Called before take(), if frames are stamped: when that frame came; `steady` is of this rank's clock.
  virtual void stamp(std::int64_t /*frame*/, const frame_stamp& /*when*/) {}
};

/// The elements at `at` of a tensor of type `as`, which must be float32: for sources and sinks of floats. Throws
/// std::logic_error.
inline float* floats(std::byte* at, const dice::tensor::type& as) {
  if (as.element != dice::tensor::number::float32) throw std::logic_error("a source or sink of float32 got another type");
  return reinterpret_cast<float*>(at);
}
inline const float* floats(const std::byte* at, const dice::tensor::type& as) {
  return floats(const_cast<std::byte*>(at), as);
}

}  // namespace dice::frames
