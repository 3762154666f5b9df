#pragma once

#include "dice/channels/channel.hpp"
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

/// The tag of credits; messages have tags from 1 on.
inline constexpr int credit_tag = 0;

/// The tag of the notices of a stream (runtime/frame_count.hpp).
inline int notice_tag(const schedule::plan_view& plan) { return static_cast<int>(plan.messages.size()) + 1; }

/// The tags of questions about late frames, and of their answers (runtime/frame_watch.hpp).
inline int question_tag(const schedule::plan_view& plan) { return notice_tag(plan) + 1; }
inline int answer_tag(const schedule::plan_view& plan) { return notice_tag(plan) + 2; }

/// Unfinished frames of a replica where the first free one takes a frame: it computes one, and others wait there while the
/// rank that decides is busy.
inline constexpr int most_unfinished = 5;
/// The tags of what ranks tell each other about a set of replicas (runtime/turns.hpp), and how much may be under way.
inline int turn_tag(const schedule::plan_view& plan, int set) { return notice_tag(plan) + 3 + set; }
inline int turn_slots(int in_flight) { return std::max(in_flight + 2, most_unfinished + 1); }

/// Frames whose buffers exist at once in rank `r`, with at most `in_flight` frames under way.
inline int slots_of(const schedule::rank_program& r, int in_flight) { return std::min(r.slots, in_flight); }

/// The paths of a plan: its messages, in their order; then the credits, from each rank with a graph output to each other
/// rank with a graph input, one for each frame that has left; then the notices of a stream, and questions about its frames
/// and their answers, from each rank to each other; then, for each set of replicas of which the first free one takes a
/// frame, from the rank that decides to each other, and from each replica to it.
inline std::vector<channels::path> paths_of(const schedule::plan_view& plan, int in_flight) {
  constexpr std::int64_t word = sizeof(std::int64_t);
  std::vector<channels::path> out;
  const auto slots = [&](int rank) { return slots_of(plan.ranks[rank], in_flight); };
  for (const auto& m : plan.messages) out.push_back({m.from, m.to, m.tag, m.bytes, slots(m.from), slots(m.to)});
  for (int from : ranks_with(plan, schedule::action::leave))
    for (int to : ranks_with(plan, schedule::action::enter))
      if (from != to) out.push_back({from, to, credit_tag, word, in_flight, in_flight});
  const int ranks = static_cast<int>(plan.ranks.size());
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to)
      if (from != to) {
        out.push_back({from, to, notice_tag(plan), word, 3, 2});
        out.push_back({from, to, question_tag(plan), 2 * word, 1, 1});
        out.push_back({from, to, answer_tag(plan), 4 * word, 2, 1});
      }
  for (int set = 0; set < static_cast<int>(plan.replicas.size()); ++set) {
    const auto& about = plan.replicas[set];
    const int decides = about.decides;
    if (decides < 0) continue;
    const auto add = [&](int from, int to) {
      if (from != to) out.push_back({from, to, turn_tag(plan, set), word, turn_slots(in_flight), turn_slots(in_flight)});
    };
    for (int to = 0; to < ranks; ++to) add(decides, to);
    for (int i = 0; i < about.members; ++i) add(plan.members[about.first + i].rank, decides);
  }
  return out;
}

}  // namespace dice::runtime
