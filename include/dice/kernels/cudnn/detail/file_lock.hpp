#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

namespace dice::kernels::cudnn {

/// While it lives, no other thread or process on the host holds the same file. Waits at most ten seconds, and continues
/// without the lock if it cannot get it: better to do the guarded work concurrently than not at all.
class file_lock {
 public:
  explicit file_lock(const std::string& path) : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (file_ < 0) file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);  // another user's
    for (int i = 0; file_ >= 0 && ::flock(file_, LOCK_EX | LOCK_NB) != 0 && i < 1000; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  file_lock(const file_lock&) = delete;
  ~file_lock() {
    if (file_ >= 0) ::close(file_);
  }

 private:
  int file_;
};

}  // namespace dice::kernels::cudnn
