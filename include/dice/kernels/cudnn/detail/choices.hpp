// What was measured to be fastest for each layer, kept in a file next to the weights so that the next start is quick.
#pragma once

#include "dice/files/error.hpp"
#include "dice/files/host_lock.hpp"
#include "dice/files/place.hpp"
#include "dice/files/writer.hpp"

#include <fstream>
#include <map>
#include <string>
#include <utility>

namespace dice::kernels::cudnn {

/// Lines of "key = value" under an identity, which names all that the values depend on: they are valid only if it is the
/// same. The file is not trusted: whoever reads a value checks it.
class choices {
 public:
  /// Reads `path`, if it exists and has this identity, which is one line.
  void open(std::string path, std::string identity) {
    path_ = std::move(path);
    identity_ = std::move(identity);
    read(values_);
  }
  /// The value, or null.
  const std::string* find(const std::string& key) const {
    const auto at = values_.find(key);
    return at == values_.end() ? nullptr : &at->second;
  }
  void put(const std::string& key, std::string value) {
    values_[key] = std::move(value);
    changed_ = true;
  }

  /// Writes what was put, and keeps what others have written meanwhile. Returns a warning, or "".
  std::string save() {
    if (!changed_ || path_.empty()) return {};
    const files::host_lock held(files::name_id(path_));  // each writer makes another file of that name
    std::map<std::string, std::string> all;
    read(all);
    for (const auto& [key, value] : values_) all[key] = value;
    std::string text = first_line + identity_ + '\n';
    for (const auto& [key, value] : all) text += key + " = " + value + '\n';
    try {
      files::write_text(path_, text);
      changed_ = false;
      return {};
    } catch (const files::error& e) {
      return std::string(e.what()) + ", so that each start measures again which kernels are fastest";
    }
  }

 private:
  static constexpr const char* first_line = "dice's choice of GPU kernels; may be deleted\n";

  void read(std::map<std::string, std::string>& to) const {
    constexpr std::streamoff most = 4 << 20;
    std::ifstream in(path_, std::ios::ate);
    if (in.tellg() > most) return;
    in.seekg(0);
    std::string line;
    for (const std::string& wanted : {std::string(first_line), identity_ + '\n'})
      if (!std::getline(in, line) || line + '\n' != wanted) return;
    while (std::getline(in, line))
      if (const auto at = line.find(" = "); at != std::string::npos) to[line.substr(0, at)] = line.substr(at + 3);
  }

  std::string path_, identity_;
  std::map<std::string, std::string> values_;
  bool changed_ = false;
};

}  // namespace dice::kernels::cudnn
