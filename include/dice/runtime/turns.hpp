// How ranks know which replica computes which frame.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/parts/turn.hpp"
#include "dice/runtime/paths.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace dice::runtime {

/// The turns of a plan's replicas, as one rank knows them. Where replicas take turns, it computes them. Of replicas of which
/// the first free one takes the next frame, one rank decides: it tells all others, and each replica tells it how long it
/// took for each frame. The frame goes to the replica that will have computed it first if it takes as long as before. Frames
/// count over all runs.
class turns {
 public:
  /// `paths` are paths_of(plan, in_flight); those from turn_tag(plan) on belong to this.
  turns(std::span<const channels::path> paths, const schedule::plan_view& plan, int rank, channels::endpoint& end,
        int in_flight)
      : plan_(plan),
        rank_(rank),
        end_(end),
        in_flight_(in_flight),
        slots_(turn_slots(in_flight)),
        sets_(plan.replicas.size()) {
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      auto& s = sets_[i];
      s.decides = plan.replicas[i].decides;
      if (s.decides < 0) continue;
      s.chosen.resize(window());
      s.members.resize(plan.replicas[i].members);
      for (std::size_t k = 0; k < paths.size(); ++k) {
        const auto& p = paths[k];
        if (p.tag != turn_tag(plan, static_cast<int>(i))) continue;
        if (p.from == rank) s.sent.push_back({static_cast<int>(k), words(), -1});
        if (p.to != rank) continue;
        int member = 0;  // of the replica that tells, where it is decided
        while (s.decides == rank && plan.members[plan.replicas[i].first + member].rank != p.from) ++member;
        s.received.push_back({static_cast<int>(k), words(), member});
      }
    }
  }

  /// Whether frame `frame` is one of those of `t`. Requires known(frame), and that it is not done here.
  bool includes(const parts::turn& t, std::int64_t frame) const {
    if (t.always()) return true;
    const auto& s = sets_[t.set];
    const auto& about = plan_.replicas[t.set];
    if (s.decides < 0) return parts::member_of(about, plan_.members.data(), frame) == t.member;
    return s.chosen[frame % window()] == t.member;
  }
  /// Whether a message is sent for that frame.
  bool carries(const schedule::message& m, std::int64_t frame) const {
    return includes(m.made, frame) && includes(m.read, frame);
  }
  /// Whether it is known which replicas compute frame `frame`.
  bool known(std::int64_t frame) const {
    return std::all_of(sets_.begin(), sets_.end(), [&](const set& s) { return s.decides < 0 || frame < s.known; });
  }

  /// Decides about frames before `end`, and tells and hears what there is. Frames before `oldest` are done here.
  void advance(std::int64_t oldest, std::int64_t end) {
    for (auto& s : sets_)
      if (s.decides == rank_) decide(s, end);
      else if (s.decides >= 0) learn(s, oldest);
  }
  /// This rank, the replica of turn `own`, has done its part of a frame, in `time` ns.
  void finish(const parts::turn& own, std::int64_t time) {
    auto& s = sets_[own.set];
    if (s.decides < 0) return;
    if (s.decides == rank_) take_note(s, own.member, time);
    else tell(s.sent.front(), time);  // fewer are under way than there are slots, see decide()
  }
  /// Whether all that this rank has told is sent.
  bool idle() const {
    return std::all_of(sets_.begin(), sets_.end(), [&](const set& s) {
      return std::all_of(s.sent.begin(), s.sent.end(), [&](const line& l) {
        for (int slot = 0; slot < slots_; ++slot)
          if (!end_.sent(l.path, slot)) return false;
        return true;
      });
    });
  }

 private:
  static constexpr std::int64_t later = std::numeric_limits<std::int64_t>::max();

  /// A replica, where it is decided.
  struct replica_load {
    int unfinished = 0;     ///< frames
    std::int64_t time = 0;  ///< ns for one frame, as a mean over the last ones; 0: not known yet
    bool warm = false;      ///< it has computed one, which took longer

    void finish(std::int64_t took) {
      --unfinished;
      if (std::exchange(warm, true)) time = std::max<std::int64_t>(time == 0 ? took : (3 * time + took) / 4, 1);
    }
    /// Another one has computed a frame. One that gets none was slow, and may have become faster.
    void wait() {
      if (unfinished == 0) time -= time / 32;
    }
    /// When it would end one more frame. As long as its time is not known it gets only one.
    std::int64_t end() const { return time == 0 && unfinished > 0 ? later : (unfinished + 1) * time; }
  };
  struct line {
    int path = 0;
    std::vector<std::int64_t> words{};
    int member = 0;                    ///< that sends it
    std::int64_t begun = 0, done = 0;  ///< words sent or awaited; received
  };
  struct set {
    int decides = -1;
    std::int64_t known = 0;     ///< frames
    std::vector<int> chosen{};  ///< the members, by frame modulo window()
    std::vector<replica_load> members{};
    std::vector<line> sent{}, received{};
  };

  std::int64_t window() const { return 2 * std::int64_t{in_flight_}; }
  std::vector<std::int64_t> words() const { return std::vector<std::int64_t>(slots_); }
  std::size_t slot(std::int64_t count) const { return static_cast<std::size_t>(count % slots_); }

  void tell(line& l, std::int64_t word) {
    const auto s = slot(l.begun++);
    l.words[s] = word;
    end_.start_send(l.path, static_cast<int>(s), reinterpret_cast<const std::byte*>(&l.words[s]));
  }
  template <class Take> void hear(line& l, std::int64_t most, const Take& take) {
    for (; l.done < l.begun && end_.received(l.path, static_cast<int>(slot(l.done))); ++l.done) take(l.words[slot(l.done)]);
    while (l.begun < most && l.begun < l.done + slots_) {
      const auto s = slot(l.begun++);
      end_.start_receive(l.path, static_cast<int>(s), reinterpret_cast<std::byte*>(&l.words[s]));
    }
  }
  static void take_note(set& s, int member, std::int64_t time) {
    for (auto& other : s.members) other.wait();
    s.members[member].finish(time);
  }
  void decide(set& s, std::int64_t end) {
    for (auto& l : s.received) hear(l, l.done + 2 * slots_, [&](std::int64_t time) { take_note(s, l.member, time); });
    for (; s.known < end; ++s.known) {
      const auto best = std::min_element(s.members.begin(), s.members.end(),
                                         [](const auto& x, const auto& y) { return x.end() < y.end(); });
      const auto room = [&](const line& l) { return end_.sent(l.path, static_cast<int>(slot(l.begun))); };
      if (best->unfinished == most_unfinished || best->end() == later) return;
      if (!std::all_of(s.sent.begin(), s.sent.end(), room)) return;
      ++best->unfinished;
      const int member = static_cast<int>(best - s.members.begin());
      s.chosen[s.known % window()] = member;
      for (auto& l : s.sent) tell(l, member);
    }
  }
  void learn(set& s, std::int64_t oldest) {
    for (auto& l : s.received)
      hear(l, oldest + window(), [&](std::int64_t member) {
        if (member < 0 || member >= static_cast<std::int64_t>(s.members.size()))
          throw std::runtime_error("the transport has lost or mixed up messages");
        s.chosen[s.known++ % window()] = static_cast<int>(member);
      });
  }

  const schedule::plan_view& plan_;
  const int rank_;
  channels::endpoint& end_;
  const int in_flight_, slots_;  ///< frames in flight; words under way on a path
  std::vector<set> sets_;
};

}  // namespace dice::runtime
