// AutoDiCE's files: a platform of hosts, and a mapping of layers to their processors.
#pragma once

#include "diagnostics.hpp"
#include "graph/network.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace onnx2hpp {

/// What one rank computes, and on what.
struct mapped_rank {
  std::string host;
  bool gpu = false;
  std::vector<int> cores;   ///< of its CPU, if it is not the GPU
  std::vector<int> layers;  ///< ids, ascending
};

/// The ranks in the order of the mapping's keys, with every layer of `net`. Problems are appended to `problems`.
std::vector<mapped_rank> read_mapping(const std::filesystem::path& mapping, const std::filesystem::path& platform,
                                      const network& net, std::vector<problem>& problems);

}  // namespace onnx2hpp
