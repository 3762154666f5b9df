// The measurements of programs run with --measure: times of layers on units, and connections between hosts.
#pragma once

#include "diagnostics.hpp"
#include "graph/network.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace onnx2hpp {

/// Time that messages cost a unit, per message and per byte; 0: not measured.
struct measured_messages {
  double us = 0, gbytes_per_s = 0;
};

struct measured_unit {
  std::string name, network, digest, host, unit, processor;
  int threads = 0;
  double busy_watts = 0, idle_watts = 0, memory_gbytes_per_s = 0;  ///< 0: not measured
  measured_messages sending, receiving;
  std::vector<double> ms;  ///< by layer id; 0: nothing is computed; -1: not measured
};

struct measured_connection {
  std::string from, to;
  double us = 0, mbit_per_s = 0;
};

struct profile {
  std::vector<measured_unit> units;
  std::vector<measured_connection> connections;
};

/// The measurements of `net`, whose structure has this digest, in the files. Problems are appended to `problems`.
profile read_profiles(const std::vector<std::filesystem::path>& files, const network& net, const std::string& digest,
                      std::vector<problem>& problems);

}  // namespace onnx2hpp
