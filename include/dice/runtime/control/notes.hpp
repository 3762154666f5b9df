// What ranks with outputs tell the rank with the first graph input about frames.
#pragma once

#include "dice/runtime/control/mailbox.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

namespace dice::runtime {

/// Notes about frames: any number of parts, each a letter. What finds no room is sent later. The rank that reads them says
/// how many it expects, so that a run does not end before they have come; one rank sends all of them.
class notes {
 public:
  using part = std::array<std::int64_t, 4>;
  /// Gets a note when its last part has come.
  using reader = std::function<void(std::int64_t frame, std::vector<part> parts)>;

  explicit notes(mailbox& box) : box_(box), receivers_(box.receivers(kind)) {
    box_.set_reader(kind, [this](int, const letter::words& says) {
      if (says[1] > 0) coming_.push_back({says[2], says[3], says[4], says[5]});
      if (says[1] > 1) return true;
      --expected_;
      auto parts = std::exchange(coming_, {});
      if (reader_) reader_(says[0], std::move(parts));
      return true;
    });
  }
  notes(const notes&) = delete;
  notes& operator=(const notes&) = delete;

  /// Sends a note to the rank with the first graph input, which must be another one.
  void put(std::int64_t frame, const std::vector<part>& parts) {
    auto left = static_cast<std::int64_t>(parts.size());
    if (left == 0) waiting_.push_back({frame, 0});
    for (const auto& p : parts) waiting_.push_back({frame, left--, p[0], p[1], p[2], p[3]});
    advance();
  }
  /// Sends what has room.
  void advance() {
    for (; !waiting_.empty() && box_.has_room(kind, receivers_[0]); waiting_.pop_front())
      box_.send(kind, receivers_[0], waiting_.front());
  }
  /// Whether something still waits for room.
  bool waits() const { return !waiting_.empty(); }

  /// From now on, `r` reads the notes that come.
  void read_by(reader r) { reader_ = std::move(r); }
  /// One more note will come.
  void expect() { ++expected_; }
  /// Whether all notes are sent, and all that are expected have come.
  bool idle() const { return waiting_.empty() && expected_ <= 0 && box_.all_sent(kind); }

 private:
  static constexpr auto kind = letter::kind::note;

  mailbox& box_;
  const std::vector<int> receivers_;     ///< one or none
  std::deque<letter::words> waiting_{};  ///< the frame, how many parts are left, and a part
  std::vector<part> coming_{};           ///< of the note that is coming
  std::int64_t expected_ = 0;
  reader reader_{};
};

}  // namespace dice::runtime
