// What was measured to be fastest for each layer, kept in a file beside the weights so that a second start is quick.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

namespace dice::kernels::gpu {

/// Lines of "key = value" under an identity, which names all that the values depend on: they count only where it is the
/// same. The file is not trusted: whoever reads a value checks it.
class choices {
 public:
  /// Reads `path`, if there is such a file of this identity, a line without breaks.
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

  /// Writes what was put, beside what others have written meanwhile. Returns a warning, or "".
  std::string save() {
    if (!changed_ || path_.empty()) return {};
    std::map<std::string, std::string> all;
    read(all);
    for (const auto& [key, value] : values_) all[key] = value;
    const auto draft = path_ + "." + std::to_string(::getpid());
    {
      std::ofstream out(draft);
      out << first_line << identity_ << '\n';
      for (const auto& [key, value] : all) out << key << " = " << value << '\n';
      if (out.flush()) changed_ = std::rename(draft.c_str(), path_.c_str()) != 0;
    }
    if (!changed_) return {};
    std::remove(draft.c_str());
    return "cannot write '" + path_ + "', so that each start measures anew which kernels are fastest";
  }

 private:
  static constexpr const char* first_line = "dice's choice of GPU kernels; may be deleted\n";

  void read(std::map<std::string, std::string>& to) const {
    std::ifstream in(path_);
    std::string line, text;
    for (const std::string& wanted : {std::string(first_line), identity_ + '\n'}) {
      if (!std::getline(in, line) || line + '\n' != wanted) return;
    }
    while (std::getline(in, line))
      if (const auto at = line.find(" = "); at != std::string::npos) to[line.substr(0, at)] = line.substr(at + 3);
  }

  std::string path_, identity_;
  std::map<std::string, std::string> values_;
  bool changed_ = false;
};

/// The least of several times that `run` takes on the stream, in milliseconds, after one that does not count. cuda_error of
/// `check` where it fails.
template <class Run, class Check> float fastest_of(int times, cudaStream_t on, const Run& run, const Check& check) {
  event begin, end;
  check(cudaEventCreate(begin.put()), "measure kernels");
  check(cudaEventCreate(end.put()), "measure kernels");
  float least = 0;
  for (int i = 0; i <= times; ++i) {
    check(cudaEventRecord(begin.get(), on), "measure kernels");
    run();
    check(cudaEventRecord(end.get(), on), "measure kernels");
    check(cudaEventSynchronize(end.get()), "compute");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin.get(), end.get()), "measure kernels");
    if (i == 1 || (i > 1 && ms < least)) least = ms;
  }
  return least;
}

}  // namespace dice::kernels::gpu
