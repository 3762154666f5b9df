// The operators of a program's layers as values.
#pragma once

#include "dice/graph/any_of.hpp"
#include "dice/graph/any_operator.hpp"
#include "dice/runtime/program.hpp"

#include <cstddef>
#include <vector>

namespace dice::runtime {

/// By id.
[[gnu::cold]] inline std::vector<graph::any_operator> operators_of(const layer_tables& all) {
  std::vector<graph::any_operator> out;
  for (const auto& entries : all.kernels.values)
    for (std::size_t l = 0; l < entries.size() && out.size() < entries.size(); ++l)
      out.push_back(graph::any_of(all.net.layers[l].op, entries[l].what.op));
  return out;
}

}  // namespace dice::runtime
