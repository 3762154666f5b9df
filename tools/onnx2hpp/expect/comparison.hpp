// --expect: whether the converted network computes what is expected.
#pragma once

#include "diagnostics.hpp"
#include "expect/tensors.hpp"
#include "graph/network.hpp"
#include "read/model.hpp"

#include "dice/frames/difference.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace onnx2hpp {

struct compared_tensor {
  std::string name;
  int layer = -1;  ///< that computes it
  dice::tensor::number type{};
  std::int64_t frames = 0;
  dice::frames::difference error{};
};

struct comparison {
  std::optional<double> tolerance;  ///< as given
  std::int64_t frames = 0;
  std::vector<compared_tensor> tensors;  ///< in the order of their layers
  std::vector<std::string> skipped;      ///< tensors that no layer computes

  bool agrees(const compared_tensor& t) const { return t.error.of(t.type) <= dice::frames::tolerance_of(t.type, tolerance); }
};

/// Computes the frames of `files` with the reference kernels and compares. Throws conversion_error if the files cannot be
/// used.
comparison compare(const std::vector<file_set>& files, const model& m, const network& net, std::optional<double> tolerance,
                   const messages& out);

/// A table for people.
std::string text_of(const comparison& c);

/// Throws conversion_error, about the first tensor that differs, unless all agree.
void require_agreement(const comparison& c, const network& net);

}  // namespace onnx2hpp
