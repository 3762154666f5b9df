#pragma once

#include "dice/meta/array.hpp"
#include "dice/placement/assignment.hpp"
#include "dice/placement/written.hpp"

#include <cstddef>
#include <span>

namespace dice::placement {

/// Frames in flight when the mapping does not say: one for one rank, else two for each rank, at most 16.
constexpr int default_in_flight(int ranks) { return ranks == 1 ? 1 : ranks < 8 ? 2 * ranks : 16; }

/// Computes the devices of a mapping without mistakes, in order of rank. Returns the frames in flight.
constexpr int assign_devices(const written_mapping& m, platform::device* devices) {
  int frames = default_in_flight(count_devices(m));
  for (const auto& e : m.entries) {
    if (e.what == entry::kind::in_flight) frames = e.frames;
    if (e.what == entry::kind::dev) devices[e.dev.rank] = platform::device_of(e.dev);
  }
  return frames;
}

/// Computes which ranks compute the `layers` layers of a network, for a mapping without mistakes.
constexpr void assign_work_items(const written_mapping& m, int layers, assignment_space to) {
  int next = 0;           // of a split: the layer that the next device begins with
  std::size_t point = 0;  // and the point before which it ends
  work_item w;
  int work_items = 0;
  for (const auto& e : m.entries) {
    for (const int rank : ranks_in(e)) to.run_ranks[w.first_rank + w.ranks++] = rank;
    if (!ends_run(m, e)) continue;
    w.cut = e.work.is().cut;
    w.dealt = e.work.dealt();
    w.down = e.work.down;
    w.across = e.work.across;
    w.exchange_every = e.work.exchange_every;
    for (const int share : e.work.shares) to.shares[w.first_share + w.shares++] = share;
    const auto add = [&](int first, int last) {
      for (int l = first; l <= last; ++l) {
        to.work_of[l] = work_items;
        to.owner[l] = to.run_ranks[w.first_rank];
      }
    };
    for (const auto& list : e.work.lists) add(list.first, list.last);
    if (m.is == form::split) {
      const int end = point < m.points.size() ? m.points[point++] : layers;
      add(next, end - 1);
      next = end;
    }
    to.work_items[work_items++] = w;
    w = {.first_rank = w.first_rank + w.ranks, .first_share = w.first_share + w.shares};
  }
}

/// An assignment that owns its arrays. Can be moved, not copied.
class owned_assignment {
 public:
  /// For a mapping without mistakes, and a network of `layers` layers.
  owned_assignment(const written_mapping& m, int layers) : owner_(layers), work_of_(layers) {
    const auto n = count_work_items(m);
    work_items_ = meta::array<work_item>(n.work_items);
    run_ranks_ = meta::array<int>(n.run_ranks);
    shares_ = meta::array<int>(n.shares);
    assign_work_items(m, layers, {owner_.data(), work_of_.data(), work_items_.data(), run_ranks_.data(), shares_.data()});
  }
  owned_assignment(owned_assignment&&) = default;
  owned_assignment& operator=(owned_assignment&&) = default;

  assignment view() const {
    const auto all = [](const meta::array<int>& a) { return std::span(a.data(), static_cast<std::size_t>(a.size())); };
    return {all(owner_), all(work_of_), work_items_, all(run_ranks_), all(shares_)};
  }

 private:
  meta::array<int> owner_, work_of_, run_ranks_, shares_;
  meta::array<work_item> work_items_;
};

inline owned_assignment assign_work_items(const written_mapping& m, int layers) { return {m, layers}; }

/// Computes the placement of a mapping without mistakes: writes the rank of each of `layers` layers (of a layer in parts,
/// the first rank of its run), and the devices in order of rank. Returns the frames in flight.
inline int assign(const written_mapping& m, int layers, int* owner, platform::device* devices) {
  const auto all = assign_work_items(m, layers);
  for (int l = 0; l < layers; ++l) owner[l] = all.view().owner[l];
  return assign_devices(m, devices);
}

}  // namespace dice::placement
