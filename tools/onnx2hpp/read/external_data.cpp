#include "read/external_data.hpp"

#include "diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onnx2hpp {

namespace fs = std::filesystem;

external_data::external_data(const fs::path& model) : folder_(model.parent_path()) {}

std::shared_ptr<const file_map> external_data::open(const std::string& location) {
  if (const auto found = open_.find(location); found != open_.end()) return found->second;
  const auto refuse = [&](const char* why) {
    throw file_error(fmt::format("its external data {} {}", quote(location), why));
  };
  const fs::path relative = location;
  if (location.empty() || location.find('\0') != std::string::npos) refuse("is not a file name");
  if (relative.is_absolute()) refuse("is an absolute path; it must lie in the model's folder");
  if (std::ranges::find(relative, "..") != relative.end()) refuse("leaves the model's folder");
  std::error_code failed;
  const fs::path folder = fs::canonical(folder_.empty() ? "." : folder_, failed);
  const fs::path real = failed ? fs::path() : fs::canonical(folder / relative, failed);
  if (failed)
    throw missing_file(fmt::format("its external data {} cannot be found in the model's folder", quote(location)), location);
  const auto [end, rest] = std::ranges::mismatch(folder, real);
  if (end != folder.end()) refuse("is a link that leaves the model's folder");
  auto file = std::make_shared<const file_map>(real);
  open_.emplace(location, file);
  return file;
}

std::vector<fs::path> external_data::files() const {
  std::vector<fs::path> out;
  for (const auto& [location, file] : open_) out.push_back(folder_ / location);
  return out;
}

}  // namespace onnx2hpp
