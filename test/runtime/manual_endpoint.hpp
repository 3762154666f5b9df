// An endpoint whose messages move when the test says so.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/runtime/control/mailbox.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <vector>

namespace test {

using dice::runtime::letter;

/// The letters of one kind on a path.
inline dice::runtime::letter_path letters(int from, int to, letter::kind k, int sends, int receives) {
  dice::runtime::letter_path out{from, to};
  out.add(k, sends, receives);
  return out;
}

/// Notes what is started; take() and give() end operations.
struct manual final : dice::channels::endpoint {
  struct operation {
    int path, slot;
    const std::byte* from;
    std::byte* to;
  };
  std::vector<operation> sends, receives;
  std::map<int, std::int64_t> given;  ///< letters, by path

  void start_send(int path, int slot, const std::byte* from) override {
    require_idle(sends, path, slot);
    sends.push_back({path, slot, from, nullptr});
  }
  void start_receive(int path, int slot, std::byte* to) override {
    require_idle(receives, path, slot);
    receives.push_back({path, slot, nullptr, to});
  }
  bool sent(int path, int slot) const override { return idle(sends, path, slot); }
  bool received(int path, int slot) const override { return idle(receives, path, slot); }
  void progress() override {}
  void wait() override {}
  void wake() override {}
  void settle() override {}
  void quit() override {}

  /// Ends the oldest send, or the one after `skip` older ones, and returns its letter.
  letter take(int skip = 0) {
    letter out;
    std::memcpy(&out, sends.at(static_cast<std::size_t>(skip)).from, sizeof out);
    sends.erase(sends.begin() + skip);
    return out;
  }
  /// Ends the oldest receive on `path` with this letter.
  void give(int path, const letter& one) {
    const auto r = std::find_if(receives.begin(), receives.end(), [&](const operation& o) { return o.path == path; });
    if (r == receives.end()) throw std::logic_error("no receive is posted");
    std::memcpy(r->to, &one, sizeof one);
    receives.erase(r);
  }
  /// The same with the next letter of that path.
  void give(int path, letter::kind k, const letter::words& says) { give(path, {given[path]++, k, says}); }

 private:
  static bool idle(const std::vector<operation>& all, int path, int slot) {
    return std::none_of(all.begin(), all.end(), [&](const operation& o) { return o.path == path && o.slot == slot; });
  }
  static void require_idle(const std::vector<operation>& all, int path, int slot) {
    if (!idle(all, path, slot)) throw std::logic_error("the slot is in use");
  }
};

}  // namespace test
