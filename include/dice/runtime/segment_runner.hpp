#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace dice::runtime {

/// Runs the segments of a rank's program, numbered from 0 in the rank: on the calling thread's cores (cpu_segments), or on
/// an accelerator (offload).
class segment_runner {
 public:
  struct run {
    int segment = 0;
    std::int64_t frame = 0;
  };

  virtual ~segment_runner() = default;
  /// Where the endpoint finds or puts message m.
  virtual std::byte* message(int m, int in_slot) const = 0;
  /// Starts segment g of a frame: its messages have arrived, source and sink are ready, and the segments that the frame's
  /// order puts before it were started. Throws what kernels, source and sink throw.
  virtual void begin(int g, std::int64_t frame) = 0;
  /// The oldest run that has ended; each is returned once. Its sends are started and its outputs handed over. Throws as
  /// begin() does.
  virtual std::optional<run> ended() = 0;
  /// Whether some runs have not ended.
  virtual bool busy() const = 0;
  /// The layer whose step is worked on or failed, or -1. Any thread may call it.
  int layer() const { return layer_; }

 protected:
  /// From now on, `layer` (or -1) is worked on.
  void begin_layer(int layer) { layer_.store(layer, std::memory_order_relaxed); }

 private:
  std::atomic<int> layer_{-1};
};

}  // namespace dice::runtime
