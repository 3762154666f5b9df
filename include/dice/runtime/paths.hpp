// The paths between the ranks of a plan.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/runtime/control/mailbox.hpp"
#include "dice/schedule/program.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dice::runtime {

/// Ranks with a step of kind `what`.
inline std::vector<int> ranks_with(const schedule::plan_view& plan, schedule::action what) {
  std::vector<int> out;
  for (const auto& r : plan.ranks)
    for (int s = r.first_step; s < r.last_step; ++s)
      if (plan.steps[s].what == what) {
        out.push_back(r.rank);
        break;
      }
  return out;
}

/// The rank that stamps frames (control/frame_stamps.hpp), because it holds the first graph input; -1: there is none.
inline int stamping_rank(const schedule::plan_view& plan) {
  int layer = -1, rank = -1;
  for (const auto& r : plan.ranks)
    for (int s = r.first_step; s < r.last_step; ++s)
      if (const auto& step = plan.steps[s]; step.what == schedule::action::enter && (rank < 0 || step.layer < layer)) {
        layer = step.layer;
        rank = r.rank;
      }
  return rank;
}

/// Frames whose buffers exist at once in rank `r`, with at most `in_flight` frames under way.
inline int slots_of(const schedule::rank_program& r, int in_flight) { return std::min(r.slots, in_flight); }

/// The most unfinished frames of a replica where the first free one takes each frame: it computes one, and the others wait
/// for it while the rank that decides is busy.
inline constexpr int most_unfinished = 5;
/// How many turns of a set of replicas may be under way to a rank, and times from a replica.
inline int turn_slots(int in_flight) { return std::max(in_flight + 2, most_unfinished + 1); }

/// The letters of notes that may be under way: they need not be many, since nobody waits for one.
inline constexpr int note_slots = 8;

/// The tag of letters; messages have tags from 1 on.
inline constexpr int letter_tag = 0;

/// The letters of a plan's ranks, from each rank to each other, with the slots of each kind: at most `in_flight` credits,
/// from ranks with graph outputs to those with graph inputs; as many stamps from
/// the stamping_rank() to those with outputs, and notes back; a notice of each of two runs and one of a failure; one
/// question; an answer, and one that says that the run is over; and for each set of replicas whose first free one takes each
/// frame, turns from the rank that decides, and times from each replica to it.
inline std::vector<letter_path> letter_paths(const schedule::plan_view& plan, int in_flight) {
  using kind = letter::kind;
  const auto has = [](const std::vector<int>& ranks, int r) {
    return std::find(ranks.begin(), ranks.end(), r) != ranks.end();
  };
  const auto leave = ranks_with(plan, schedule::action::leave), enter = ranks_with(plan, schedule::action::enter);
  const int ranks = static_cast<int>(plan.ranks.size()), stamps = stamping_rank(plan);
  std::vector<letter_path> out;
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to) {
      if (from == to) continue;
      auto& p = out.emplace_back(letter_path{from, to});
      if (has(leave, from) && has(enter, to)) p.add(kind::credit, in_flight, in_flight);
      if (from == stamps && has(leave, to)) p.add(kind::stamp, in_flight, in_flight);
      if (to == 0) p.add(kind::health, 3, 3);
      if (has(leave, from) && to == stamps) p.add(kind::note, note_slots, note_slots);
      p.add(kind::notice, 3, 2);
      p.add(kind::question, 1, 1);
      p.add(kind::answer, 2, 1);
      for (const auto& set : plan.replicas) {
        if (set.decides == from) p.add(kind::turn, turn_slots(in_flight), turn_slots(in_flight));
        for (int i = 0; i < set.members && set.decides == to; ++i)
          if (plan.members[set.first + i].rank == from) p.add(kind::time, turn_slots(in_flight), turn_slots(in_flight));
      }
    }
  return out;
}

/// The paths of a plan: its messages, in their order; then its letter_paths(), in theirs.
inline std::vector<channels::path> paths_of(const schedule::plan_view& plan, int in_flight) {
  std::vector<channels::path> out;
  const auto slots = [&](int rank) { return slots_of(plan.ranks[rank], in_flight); };
  for (const auto& m : plan.messages) out.push_back({m.from, m.to, m.tag, m.bytes, slots(m.from), slots(m.to)});
  for (const auto& p : letter_paths(plan, in_flight))
    out.push_back({p.from, p.to, letter_tag, sizeof(letter), p.sends(), p.receives()});
  return out;
}

}  // namespace dice::runtime
