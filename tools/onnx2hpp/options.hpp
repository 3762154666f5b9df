#pragma once

#include "diagnostics.hpp"
#include "graph/convert.hpp"

#include <filesystem>
#include <string>

namespace onnx2hpp {

struct options {
  std::filesystem::path model, folder = ".", dot, depfile, mapping, platform;
  std::vector<std::filesystem::path> profiles;
  std::string name;  ///< namespace; empty: from the model's file
  conversion settings;
  std::vector<std::string> outputs;   ///< as given; read_outputs() splits them
  std::vector<std::string> expected;  ///< as given; find_tensor_files() finds the files
  std::optional<double> tolerance{};  ///< 1e-4 for float32, 0 for integers
  bool list = false, pin_weights = false;
  verbosity level = verbosity::normal;
  /// Set if there is nothing to convert: --help or --version.
  bool done = false;
  int exit_code = 0;
};

/// Reads the command line; --help and --version print to stdout. Throws usage_error.
options read_options(int argc, char** argv);

/// Splits the values of --outputs at commas; a name with commas stays whole if the model has it.
std::vector<std::string> read_outputs(const std::vector<std::string>& given, const model& m);

}  // namespace onnx2hpp
