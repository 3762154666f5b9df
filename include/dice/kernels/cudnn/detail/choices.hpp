// What was measured to be fastest for each layer, kept in a file next to the weights so that the next start is quick.
#pragma once

#include "dice/kernels/cudnn/detail/file_lock.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
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
    path_ = std::move(path), identity_ = std::move(identity);
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
    const file_lock held(path_ + ".lock");
    std::map<std::string, std::string> all;
    read(all);
    for (const auto& [key, value] : values_) all[key] = value;
    static std::atomic<int> drafts{0};  // ranks may be threads
    const auto draft = path_ + "." + std::to_string(::getpid()) + "." + std::to_string(++drafts);
    {
      std::ofstream out(draft);
      out << first_line << identity_ << '\n';
      for (const auto& [key, value] : all) out << key << " = " << value << '\n';
      if (out.flush()) changed_ = std::rename(draft.c_str(), path_.c_str()) != 0;
    }
    if (!changed_) return {};
    std::remove(draft.c_str());
    return "cannot write '" + path_ + "', so that each start measures again which kernels are fastest";
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
