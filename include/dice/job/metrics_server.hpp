// Answers Prometheus on a port of this host. Own code: HTTP's libraries (Boost.Beast, cpp-httplib) add hundreds of kilobytes
// to a program, for one page that is read every few seconds.
#pragma once

#include "dice/files/error.hpp"
#include "dice/meta/clock.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace dice::job {

/// Shows a page at http://127.0.0.1:PORT/metrics. Only this host can reach it.
class metrics_server {
 public:
  /// Throws files::error if the port is taken.
  explicit metrics_server(std::uint16_t port) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int yes = 1;
    ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (socket_ < 0 || ::bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
        ::listen(socket_, 8) != 0) {
      const std::string why = std::strerror(errno);
      if (socket_ >= 0) ::close(socket_);
      throw files::error("--metrics: port " + std::to_string(port) + " of this host cannot be used: " + why +
                         "; choose another");
    }
    thread_ = std::jthread([this](const std::stop_token& ends) { serve(ends); });
  }
  metrics_server(const metrics_server&) = delete;
  metrics_server& operator=(const metrics_server&) = delete;
  ~metrics_server() {
    thread_.request_stop();
    thread_.join();
    ::close(socket_);
  }

  /// From now on, the page is this.
  void show(std::string page) {
    const std::lock_guard lock(mutex_);
    page_ = std::move(page);
  }

 private:
  static constexpr std::int64_t patience = 1'000'000'000;  ///< ns for a client: others wait, and so does the end

  void serve(const std::stop_token& ends) {
    while (!ends.stop_requested()) {
      pollfd in{socket_, POLLIN, 0};
      if (::poll(&in, 1, 200) <= 0) continue;
      const int client = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (client < 0) continue;
      answer(client);
      ::close(client);
    }
  }
  void answer(int client) {
    const auto until = meta::now() + patience;
    const auto comes = [&](short what) {
      pollfd on{client, what, 0};
      const auto left = (until - meta::now()) / 1'000'000;
      return left > 0 && ::poll(&on, 1, static_cast<int>(left)) > 0;
    };
    std::string asked;
    while (asked.find("\r\n\r\n") == std::string::npos) {
      char some[1024];
      if (asked.size() > 8192 || !comes(POLLIN)) return;
      const auto n = ::read(client, some, sizeof some);
      if (n <= 0) return;
      asked.append(some, static_cast<std::size_t>(n));
    }
    const std::string_view line = std::string_view(asked).substr(0, asked.find("\r\n"));
    const bool known = line.substr(0, 13) == "GET /metrics " || line.substr(0, 6) == "GET / ";
    std::string page = "this is only at /metrics\n";
    if (known) {
      const std::lock_guard lock(mutex_);
      page = page_;
    }
    const auto text =
        std::string("HTTP/1.1 ") + (known ? "200 OK" : "404 Not Found") +
        "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: " + std::to_string(page.size()) +
        "\r\nConnection: close\r\n\r\n" + page;
    for (std::string_view rest = text; !rest.empty();) {
      if (!comes(POLLOUT)) return;
      const auto n = ::send(client, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      rest.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  int socket_ = -1;
  std::mutex mutex_;
  std::string page_;
  std::jthread thread_;  // last: it ends before what it uses
};

}  // namespace dice::job
