#include "read/external_data.hpp"

#include "diagnostics.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

namespace onnx2hpp {

namespace fs = std::filesystem;

external_data::external_data(const fs::path& model) : folder_(model.parent_path()) {}

std::shared_ptr<const file_map> external_data::open(const std::string& location) {
  if (const auto found = open_.find(location); found != open_.end()) return found->second;
  if (location.empty() || location.find('\0') != std::string::npos)
    throw file_error(fmt::format("its external data {} is not a file name", quote(location)));
  const auto refuse = [&](const std::string& why, const std::string& remedy) { throw unusable_file(location, why, remedy); };
  const fs::path relative = location;
  if (relative.is_absolute())
    refuse("is named by an absolute path", "export the model with this file in the model's folder");
  if (std::ranges::find(relative, "..") != relative.end())
    refuse("is outside the model's folder", "export the model with this file in the model's folder");
  std::error_code failed, ignored;
  const fs::path folder = fs::canonical(folder_.empty() ? "." : folder_, failed);
  const fs::path real = failed ? fs::path() : fs::canonical(folder / relative, failed);
  if (failed && fs::is_symlink(fs::symlink_status(folder_ / relative, ignored)))
    refuse("is a link to what is not there", "put the file itself there");
  if (failed == std::errc::no_such_file_or_directory || failed == std::errc::not_a_directory)
    refuse("is not in the model's folder", "copy it there from where the model was exported");
  if (failed) refuse(fmt::format("cannot be found: {}", failed.message()), "give yourself the right to read its folder");
  const auto [end, rest] = std::ranges::mismatch(folder, real);
  if (end != folder.end())
    refuse("is a link that leaves the model's folder",
           "copy the model and the file itself to one folder (cp -L copies what links stand for)");
  if (!fs::is_regular_file(real, ignored)) refuse("is not a regular file", "put the file with the tensors in its place");
  if (::access(real.c_str(), R_OK) != 0)
    refuse(fmt::format("cannot be read: {}", std::strerror(errno)), "give yourself the right to read it");
  auto file = std::make_shared<const file_map>(real);
  if (is_lfs_pointer(file->bytes()))
    refuse("is only a pointer of git-lfs", "fetch the file itself: git lfs pull in the model's folder");
  open_.emplace(location, file);
  return file;
}

std::vector<fs::path> external_data::files() const {
  std::vector<fs::path> out;
  for (const auto& [location, file] : open_) out.push_back(folder_ / location);
  return out;
}

}  // namespace onnx2hpp
