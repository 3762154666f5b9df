#pragma once

#include "emit/weights.hpp"
#include "graph/network.hpp"

#include "dice/kernels/kernel.hpp"

#include <functional>
#include <vector>

namespace onnx2hpp {

/// A network that the reference kernels compute, layer by layer, with the weights of its weights file.
class evaluation {
 public:
  /// Refers to `net`, which must outlive it.
  explicit evaluation(const network& net);

  using input_values = std::function<const float*(int layer)>;
  using observer = std::function<void(int layer, const float* values)>;
  /// Computes one frame; `see` is called for each layer that is not a graph output, in order. Several threads may call it.
  void run(const input_values& input, const observer& see) const;

 private:
  struct step {
    dice::kernels::entry kernel;
    std::vector<shape> in;  ///< to which kernel.what refers
    std::vector<const void*> parameters;
    int readers = 0;
  };
  const network& net_;
  dice::weights::block weights_;
  std::vector<step> steps_;  ///< of each layer
};

}  // namespace onnx2hpp
