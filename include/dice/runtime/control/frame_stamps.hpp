// When each frame came, in the ranks where it leaves.
#pragma once

#include "dice/frames/ends.hpp"
#include "dice/meta/clock.hpp"
#include "dice/runtime/control/credits.hpp"
#include "dice/runtime/control/mailbox.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dice::runtime {

/// The rank with the first graph input tells those with outputs when each frame came. These convert its clock to theirs:
/// half the difference between how long letters seem to take in the two directions, each the shortest of the last ten to
/// twenty seconds, is how far the clocks differ (NTP, RFC 5905, section 8).
class frame_stamps {
 public:
  /// `from` is the plan's stamping_rank() (paths.hpp).
  frame_stamps(mailbox& box, const credits& left, int rank, int from, int in_flight)
      : box_(box), credits_(left), rank_(rank), from_(from), kept_(static_cast<std::size_t>(in_flight)) {
    for (const int r : box_.receivers(kind)) receivers_.push_back({r});
    box_.set_reader(kind, [this](int, const letter::words& says) {
      const auto arrived = meta::now();
      forward_.add(arrived - says[4], arrived);
      back_ = says[5];
      keep(says[0], {says[1], says[2], says[3]});
      return true;
    });
  }
  frame_stamps(const frame_stamps&) = delete;
  frame_stamps& operator=(const frame_stamps&) = delete;

  /// Whether the frames of the next run get stamps: the same in all ranks.
  void turn(bool on) { on_ = on && from_ >= 0; }
  bool on() const { return on_; }
  /// Whether frame `frame` gets its stamp in this rank, and has none yet: a rank may hold several inputs.
  bool makes(std::int64_t frame) const { return on_ && from_ == rank_ && frame >= next_; }

  /// Frame `frame` came as `stamp` says.
  void put(std::int64_t frame, const frames::frame_stamp& stamp) {
    if (frame != next_)  // the first one
      for (auto& r : receivers_) r.next = frame;
    keep(frame, stamp);
    advance();
  }
  /// Sends the stamps that other ranks do not have yet, as far as there is room. A stamp is kept until then: its frame
  /// leaves no rank that does not have it.
  void advance() {
    for (auto& r : receivers_)
      for (; r.next < next_ && box_.has_room(kind, r.rank); ++r.next) {
        const auto& stamp = kept_[static_cast<std::size_t>(r.next) % kept_.size()];
        box_.send(kind, r.rank, {r.next, stamp.time, stamp.steady, stamp.number, meta::now(), credits_.delay(r.rank)});
      }
  }
  /// Whether the stamp of a frame will be known here when it leaves; the rank that makes it does so when the frame enters.
  bool known(std::int64_t frame) const { return !on_ || from_ == rank_ || frame < next_; }
  /// It; `steady` is of this rank's clock.
  frames::frame_stamp of(std::int64_t frame) const {
    if (!on_) return frames::frame_stamp::now(frame);
    auto out = kept_[static_cast<std::size_t>(frame) % kept_.size()];
    if (from_ != rank_) out.steady += difference();
    return out;
  }

 private:
  static constexpr auto kind = letter::kind::stamp;

  void keep(std::int64_t frame, const frames::frame_stamp& stamp) {
    kept_[static_cast<std::size_t>(frame) % kept_.size()] = stamp;
    next_ = frame + 1;
  }
  /// How far this rank's clock is ahead of the stamping rank's.
  std::int64_t difference() const {
    const auto forward = forward_.shortest();
    return back_ == shortest_delay::unknown ? forward : (forward - back_) / 2;
  }

  struct receiver {
    int rank = 0;
    std::int64_t next = 0;  ///< the first stamp that was not sent to it
  };

  mailbox& box_;
  const credits& credits_;
  const int rank_, from_;
  bool on_ = false;
  std::vector<receiver> receivers_;
  std::vector<frames::frame_stamp> kept_;  ///< by frame modulo in_flight
  std::int64_t next_ = 0;                  ///< the first frame without a stamp here, over all runs
  shortest_delay forward_;
  std::int64_t back_ = shortest_delay::unknown;
};

}  // namespace dice::runtime
