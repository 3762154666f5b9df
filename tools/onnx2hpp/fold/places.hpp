// The places in a tensor that constant indices name.
#pragma once

#include "graph/node_context.hpp"

#include <cstdint>
#include <vector>

namespace onnx2hpp {

/// Where `index`, which counts from the end if it is negative, points on an axis of `extent`; refuses others.
std::int64_t index_position(std::int64_t index, std::int64_t extent);

struct places {
  std::vector<std::int64_t> at;    ///< the first element of each slice
  std::int64_t size = 1;           ///< elements of a slice, which follow one another
  std::vector<std::int64_t> dims;  ///< of all slices together
};

/// Of a tensor of extents `dims`, by the node's input 1, of shape (…, k): its numbers are indices of the first k axes, and a
/// slice is what lies behind these. GatherND, ScatterND.
places slices_by_index(node_context& n, const std::vector<std::int64_t>& dims);
/// By the node's input 1, whose numbers are indices of the attribute `axis`: an element for each, whose other indices are
/// the number's own. GatherElements, ScatterElements.
places elements_by_index(node_context& n, const std::vector<std::int64_t>& dims);

/// Refuses a scattering that joins updates with what is there.
void require_no_reduction(node_context& n);

}  // namespace onnx2hpp
