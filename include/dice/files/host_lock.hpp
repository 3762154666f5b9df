#pragma once

#include "dice/files/sha256.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>

namespace dice::files {

/// While it lives, no other thread or process on the host (in the same container) holds the lock of this name. Waits at most
/// ten seconds, and continues without the lock if it cannot get it: better to do the guarded work concurrently than not at
/// all. It is an abstract socket, which leaves no file that somebody else could own, replace or plant.
class host_lock {
 public:
  explicit host_lock(const std::string& name) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    sha256 sum;
    sum.add(name);
    const auto text = "dice " + sum.text();
    std::copy(text.begin(), text.end(), address.sun_path + 1);  // the zero before it makes it abstract
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    for (int i = 0; socket_ >= 0 && i < 1000; ++i) {
      if (::bind(socket_, reinterpret_cast<const sockaddr*>(&address), bytes) == 0 || errno != EADDRINUSE) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  host_lock(const host_lock&) = delete;
  host_lock& operator=(const host_lock&) = delete;
  ~host_lock() {
    if (socket_ >= 0) ::close(socket_);
  }

 private:
  const int socket_;
};

}  // namespace dice::files
