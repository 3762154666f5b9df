// Ranks that are threads of this process, as if they ran on several hosts.
#pragma once

#include "dice/channels/in_process/hub.hpp"
#include "dice/job/agreement.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace on_hosts {

/// Rank r is on the host with the letter `hosts[r]`, one that no name of a host has. Its own host has this machine's name;
/// on others, that begins with their letter instead.
class communicator final : public dice::channels::communicator {
 public:
  communicator(dice::channels::in_process::hub& h, int rank, std::string_view hosts) : ranks_(h, rank), hosts_(hosts) {}

  /// The name of the host of rank r, as rank `seen_by` knows it.
  static std::string name(int r, int seen_by, std::string_view hosts) {
    auto own = dice::job::host_name();
    const char host = hosts[static_cast<std::size_t>(r)];
    if (host != hosts[static_cast<std::size_t>(seen_by)]) own[0] = host;
    return own;
  }

  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }
  std::vector<std::string> all_gather(const std::string& text) override {
    const auto own = dice::job::host_name();
    auto sent = own;
    sent[0] = hosts_[static_cast<std::size_t>(rank())];
    auto out = ranks_.all_gather(replaced(text, own, sent));
    for (auto& t : out) t = replaced(t, sent, own);
    return out;
  }
  std::int64_t clock_offset() override { return ranks_.clock_offset(); }
  std::unique_ptr<dice::channels::endpoint> connect(std::span<const dice::channels::path> paths) override {
    return ranks_.connect(paths);
  }
  void send_block(int to, const void* data, std::int64_t bytes) override { ranks_.send_block(to, data, bytes); }
  void receive_block(int from, void* data, std::int64_t bytes) override { ranks_.receive_block(from, data, bytes); }
  void stop(const std::string& message) override { ranks_.stop(message); }
  std::string library() const override { return carried_by; }

  std::string carried_by;  ///< its library

 private:
  /// Fields of records only.
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto length = std::to_string(from.size()) + ":";
    for (std::size_t at = 0; (at = text.find(length + from, at)) != text.npos; at += to.size())
      text.replace(at, length.size() + from.size(), length + to);
    return text;
  }

  dice::channels::in_process::communicator ranks_;
  const std::string hosts_;
};

/// What of(ranks) returns in every rank.
template <class F> auto in_ranks(std::string_view hosts, F of) {
  const auto n = static_cast<int>(hosts.size());
  dice::channels::in_process::hub hub(n);
  std::vector<decltype(of(std::declval<communicator&>()))> out(hosts.size());
  std::vector<std::jthread> threads;
  for (int r = 0; r < n; ++r)
    threads.emplace_back([&, r] {
      communicator here(hub, r, hosts);
      out[static_cast<std::size_t>(r)] = of(here);
    });
  threads.clear();
  return out;
}

}  // namespace on_hosts
