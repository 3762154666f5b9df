// The files of --expect: tensors of a model: the values of graph inputs, and the expected values of others.
#pragma once

#include "diagnostics.hpp"
#include "graph/network.hpp"
#include "read/model.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace onnx2hpp {

/// A file with values of a tensor.
struct tensor_file {
  std::filesystem::path path;
  std::string name;       ///< as given, or the file's name without its extension
  bool numbered = false;  ///< `name` may be input_0, output_0, …: the model's first input or output
};

/// Files whose frames belong together.
using file_set = std::vector<tensor_file>;

/// The files that the values of --expect name, each a file, NAME=FILE, or a folder: together they are one set, and each
/// folder test_data_set_… in one of these folders is another. Throws file_error, usage_error.
std::vector<file_set> find_tensor_files(const std::vector<std::string>& given);

/// Values of a tensor, frame after frame.
struct tensor_values {
  std::string name;  ///< in the model
  int layer = -1;    ///< that computes it; or the graph input
  std::span<const float> numbers;
  std::shared_ptr<const void> owner;  ///< keeps `numbers` alive
  dice::tensor::number type{};        ///< of the file; `numbers` are its numbers in float32
};

struct frame_set {
  std::int64_t frames = 0;
  std::map<int, tensor_values> inputs;  ///< by layer
  std::vector<tensor_values> expected;  ///< in the order of layers
};

/// The files of one set. The names of tensors that no layer computes are appended to `skipped`, problems to `problems`.
frame_set read_frame_set(const file_set& files, const model& m, const network& net, std::vector<std::string>& skipped,
                         std::vector<problem>& problems);

}  // namespace onnx2hpp
