#pragma once

#include "read/file_map.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace onnx2hpp {

/// Files beside a model that hold its tensors. A location comes from the model and is not trusted: it must lie in the
/// model's own folder, symbolic links resolved.
class external_data {
 public:
  explicit external_data(const std::filesystem::path& model);
  /// The file at `location`, mapped. Throws unusable_file, or file_error if `location` is not the name of a file.
  std::shared_ptr<const file_map> open(const std::string& location);
  /// All files opened so far, as the model's folder joined with their locations, sorted.
  std::vector<std::filesystem::path> files() const;

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<const file_map>> open_;
};

}  // namespace onnx2hpp
