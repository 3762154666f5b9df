// How ranks know which replica computes which frame.
#pragma once

#include "dice/parts/turn.hpp"
#include "dice/runtime/control/mailbox.hpp"
#include "dice/runtime/paths.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

namespace dice::runtime {

/// The turns of a plan's replicas, as one rank knows them. Where replicas take turns, it computes them. Where the first free
/// replica takes the next frame, one rank decides which one that is: it tells all others, and each replica tells it how long
/// each frame took. The frame goes to the replica that will have computed it first if it takes as long as before. Frames
/// count over all runs.
class turns {
 public:
  /// `box` has letter_paths(plan, in_flight).
  turns(mailbox& box, const schedule::plan_view& plan, int rank, int in_flight)
      : plan_(plan),
        rank_(rank),
        box_(box),
        window_(2 * std::int64_t{in_flight}),
        sets_(plan.replicas.size()),
        told_(box.receivers(letter::kind::turn)) {
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      auto& s = sets_[i];
      s.decides = plan.replicas[i].decides;
      if (s.decides < 0) continue;
      s.chosen.resize(window_);
      s.members.resize(plan.replicas[i].members);
    }
    box_.set_reader(letter::kind::turn, [this](int from, const letter::words& says) {
      auto& s = sets_[set_of(says, from)];
      if (s.known >= oldest_ + window_) return false;
      require(says[1] >= 0 && says[1] < static_cast<std::int64_t>(s.members.size()));
      s.chosen[s.known++ % window_] = static_cast<int>(says[1]);
      return true;
    });
    box_.set_reader(letter::kind::time, [this](int from, const letter::words& says) {
      const auto i = set_of(says, rank_);
      int member = 0;
      while (rank_of(i, member) != from) require(++member < plan_.replicas[i].members);
      take_note(sets_[i], member, says[1]);
      return true;
    });
  }
  turns(const turns&) = delete;
  turns& operator=(const turns&) = delete;

  /// Whether frame `frame` is one of those of `t`. Requires known(frame), and that the frame is not done here.
  bool includes(const parts::turn& t, std::int64_t frame) const {
    if (t.always()) return true;
    const auto& s = sets_[t.set];
    const auto& about = plan_.replicas[t.set];
    if (s.decides < 0) return parts::member_of(about, plan_.members.data(), frame) == t.member;
    return s.chosen[frame % window_] == t.member;
  }
  /// Whether a message is sent for that frame.
  bool carries(const schedule::message& m, std::int64_t frame) const {
    return includes(m.made, frame) && includes(m.read, frame);
  }
  /// Whether it is known which replicas compute frame `frame`.
  bool known(std::int64_t frame) const {
    return std::all_of(sets_.begin(), sets_.end(), [&](const set& s) { return s.decides < 0 || frame < s.known; });
  }

  /// Frames before `oldest` are done here: there is room for the turns of the next ones, twice as many as can be in flight.
  /// The rank that decides has done what comes before the replicas, so if there is no room, frame `oldest` has left, and
  /// this rank needs no further letter to go on.
  void pass(std::int64_t oldest) { oldest_ = oldest; }
  /// Decides about frames before `end`.
  void decide(std::int64_t end) {
    for (std::size_t i = 0; i < sets_.size(); ++i)
      if (sets_[i].decides == rank_) decide(i, end);
  }
  /// This rank, the replica of turn `own`, has done its part of a frame, in `time` ns.
  void finish(const parts::turn& own, std::int64_t time) {
    auto& s = sets_[own.set];
    if (s.decides < 0) return;
    if (s.decides == rank_) take_note(s, own.member, time);
    else box_.send(letter::kind::time, s.decides, {own.set, time});  // there is room: see most_unfinished
  }
  /// Whether everything that this rank tells others is sent.
  bool idle() const { return box_.all_sent(letter::kind::turn) && box_.all_sent(letter::kind::time); }

 private:
  static constexpr std::int64_t later = std::numeric_limits<std::int64_t>::max();

  /// A replica, as the rank that decides sees it.
  struct replica_load {
    int unfinished = 0;     ///< frames
    std::int64_t time = 0;  ///< ns for one frame, as a mean over the last ones; 0: not known yet
    bool warm = false;      ///< it has computed one, which took longer

    void finish(std::int64_t took) {
      --unfinished;
      if (std::exchange(warm, true)) time = std::max<std::int64_t>(time == 0 ? took : (3 * time + took) / 4, 1);
    }
    /// Another replica has computed a frame. One that gets none was slow, and may have become faster.
    void wait() {
      if (unfinished == 0) time -= time / 32;
    }
    /// When it would end one more frame. While its time is unknown, it gets only one.
    std::int64_t end() const { return time == 0 && unfinished > 0 ? later : (unfinished + 1) * time; }
  };
  struct set {
    int decides = -1;
    std::int64_t known = 0;     ///< frames
    std::vector<int> chosen{};  ///< the chosen member, by frame modulo window_
    std::vector<replica_load> members{};
  };

  static void require(bool valid) {
    if (!valid) throw std::runtime_error("the transport has lost or mixed up messages");
  }
  int rank_of(std::size_t i, int member) const { return plan_.members[plan_.replicas[i].first + member].rank; }
  /// The set that a letter is about: one for which rank `decides` decides.
  std::size_t set_of(const letter::words& says, int decides) const {
    const auto i = static_cast<std::size_t>(says[0]);
    require(i < sets_.size() && sets_[i].decides == decides);
    return i;
  }
  static void take_note(set& s, int member, std::int64_t time) {
    for (auto& other : s.members) other.wait();
    s.members[member].finish(time);
  }
  void decide(std::size_t i, std::int64_t end) {
    for (auto& s = sets_[i]; s.known < end; ++s.known) {
      const auto best = std::min_element(s.members.begin(), s.members.end(),
                                         [](const auto& x, const auto& y) { return x.end() < y.end(); });
      const auto has_room = [&](int rank) { return box_.has_room(letter::kind::turn, rank); };
      if (best->unfinished == most_unfinished || best->end() == later) return;
      if (!std::all_of(told_.begin(), told_.end(), has_room)) return;
      ++best->unfinished;
      const int member = static_cast<int>(best - s.members.begin());
      s.chosen[s.known % window_] = member;
      for (const int rank : told_) box_.send(letter::kind::turn, rank, {static_cast<std::int64_t>(i), member});
    }
  }

  const schedule::plan_view& plan_;
  const int rank_;
  mailbox& box_;
  const std::int64_t window_;  ///< how many frames a rank knows about at once
  std::int64_t oldest_ = 0;    ///< frames before it are done here
  std::vector<set> sets_;
  const std::vector<int> told_;  ///< the other ranks, if this one decides
};

}  // namespace dice::runtime
