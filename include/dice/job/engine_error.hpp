#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace dice {

/// Why an engine's stream ended early; the same in the engines of all ranks. what() includes all of the details below.
class engine_error : public std::runtime_error {
 public:
  /// For engines.
  engine_error(const std::string& text, int rank, std::string host, std::int64_t frame, std::string layer, std::string cause)
      : std::runtime_error(text),
        rank_(rank),
        host_(std::move(host)),
        frame_(frame),
        layer_(std::move(layer)),
        cause_(std::move(cause)) {}

  /// The rank that failed, or -1 if the start failed.
  int rank() const { return rank_; }
  /// That rank's host, or "".
  const std::string& host() const { return host_; }
  /// The frame that it worked on, or -1.
  std::int64_t frame() const { return frame_; }
  /// ONNX name of the layer whose step failed, or "".
  const std::string& layer() const { return layer_; }
  /// What the exception there said.
  const std::string& cause() const { return cause_; }

 private:
  int rank_;
  std::string host_;
  std::int64_t frame_;
  std::string layer_, cause_;
};

}  // namespace dice
