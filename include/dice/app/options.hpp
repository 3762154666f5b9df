#pragma once

#include "dice/runtime/program.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace dice::app {

/// Wrong usage: exit code 2. The text names the option and the remedy.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file for a graph input or output, by its layer's id.
struct named_file {
  int layer = -1;
  std::string file;
};

enum class transport : unsigned char { automatic, mpi, in_process };
enum class plan_form : unsigned char { none, text, json, steps, dot, svg };

/// What the command line says.
struct options {
  bool help = false, version = false, gather = false;
  plan_form plan = plan_form::none;
  std::string weights, labels, json, trace, profile;
  std::vector<named_file> inputs, outputs, expected;
  std::optional<std::uint64_t> random;
  std::optional<std::int64_t> frames;
  std::int64_t warmup = 0;
  std::optional<int> in_flight;
  double tolerance = 1e-4;
  int top = 0;
  transport by = transport::automatic;
};

}  // namespace dice::app
