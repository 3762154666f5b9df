#pragma once

#include <cstdint>

namespace dice::runtime {

/// Where frames come from. Called in the rank that holds the graph input `layer`, for frames 0, 1, 2, …
class source {
public:
  virtual ~source() = default;
  /// Writes the `elements` numbers of frame `frame` to `to`. May throw: the job then ends with the text.
  virtual void fill(int layer, std::int64_t frame, float* to, std::int64_t elements) = 0;
};

/// Where results go. Called in the rank that holds the graph output `layer`, for frames 0, 1, 2, …
class sink {
public:
  virtual ~sink() = default;
  /// Takes the `elements` numbers of frame `frame` at `from`, which stay there only during the call.
  virtual void take(int layer, std::int64_t frame, const float* from, std::int64_t elements) = 0;
};

}  // namespace dice::runtime
