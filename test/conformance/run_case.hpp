// Runs a case: ranks are threads of this process, and results are compared with output_*.pb.
#pragma once

#include "dice/runtime/program.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace conformance {

/// Runs `p` with the case in `folder`. Graph input i of the network is input_<inputs[i]>.pb. Throws std::exception if a
/// result differs or is missing.
void run_case(const dice::runtime::program& p, const std::vector<int>& inputs, const std::filesystem::path& folder,
              const std::string& weights_file);

/// A mapping of every layer to a random one of two ranks, each of which gets at least one.
std::string scattered(const dice::graph::network_view& net, unsigned seed);

}  // namespace conformance
