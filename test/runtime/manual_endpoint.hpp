// An endpoint whose messages move when the test says so.
#pragma once

#include "dice/channels/channel.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace test {

/// Notes what is started; take() and give() end operations.
struct manual final : dice::channels::endpoint {
  struct operation {
    int path, slot;
    const std::byte* from;
    std::byte* to;
  };
  std::vector<operation> sends, receives;

  void start_send(int path, int slot, const std::byte* from) override { sends.push_back({path, slot, from, nullptr}); }
  void start_receive(int path, int slot, std::byte* to) override { receives.push_back({path, slot, nullptr, to}); }
  static bool idle(const std::vector<operation>& all, int path, int slot) {
    for (const auto& o : all)
      if (o.path == path && o.slot == slot) return false;
    return true;
  }
  bool sent(int path, int slot) const override { return idle(sends, path, slot); }
  bool received(int path, int slot) const override { return idle(receives, path, slot); }
  void progress() override {}
  void wait() override {}
  void wake() override {}
  void settle() override {}
  void quit() override {}

  /// Ends the oldest send and returns its word.
  std::int64_t take() {
    std::int64_t word = -1;
    std::memcpy(&word, sends.at(0).from, sizeof word);
    sends.erase(sends.begin());
    return word;
  }
  /// Ends the oldest receive on `path`.
  void give(int path, std::int64_t word) {
    for (auto r = receives.begin(); r != receives.end(); ++r)
      if (r->path == path) {
        std::memcpy(r->to, &word, sizeof word);
        receives.erase(r);
        return;
      }
    throw std::logic_error("no receive is posted");
  }
};

}  // namespace test
