#pragma once

#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <utility>

namespace dice::files {

namespace detail {
/// Paths of the unfinished files of this process, for the handler of signals.
inline std::array<std::atomic<const char*>, 64> unfinished{};
/// Whether they have been removed, because the program ends.
inline std::atomic<bool> removed{false};
}  // namespace detail

/// While it lives, the file `path` is removed if the program is ended by a signal that `interrupts` handles. Construct it
/// before the file, and call created() after that.
class unfinished_file {
 public:
  explicit unfinished_file(std::string path) : path_(std::move(path)) {
    for (auto& slot : detail::unfinished)
      if (const char* free = nullptr; slot.compare_exchange_strong(free, path_.c_str())) {
        slot_ = &slot;
        break;
      }
  }
  unfinished_file(const unfinished_file&) = delete;
  unfinished_file& operator=(const unfinished_file&) = delete;
  ~unfinished_file() {
    if (slot_) *slot_ = nullptr;
  }
  /// To be called once the file exists: a signal may have removed unfinished files before, while this thread ran on.
  void created() const {
    if (detail::removed) ::unlink(path_.c_str());
  }

 private:
  const std::string path_;
  std::atomic<const char*>* slot_ = nullptr;
};

/// Removes the unfinished files; async-signal-safe.
inline void remove_unfinished() {
  detail::removed = true;
  for (const auto& path : detail::unfinished)
    if (const char* at = path.load()) ::unlink(at);
}

}  // namespace dice::files
