#pragma once

#include "dice/placement/written.hpp"

#include <cstddef>

namespace dice::placement {

/// Frames in flight when the mapping does not say: one for one rank, else two for each rank, at most 16.
constexpr int default_in_flight(int ranks) { return ranks == 1 ? 1 : ranks < 8 ? 2 * ranks : 16; }

/// Computes the placement of a mapping without mistakes: writes the rank of each of `layers` layers, and the devices in
/// order of rank. Returns the frames in flight.
constexpr int assign(const written_mapping& m, int layers, int* owner, platform::device* devices) {
  int frames = default_in_flight(count_devices(m)), rank = 0;
  int next = 0;           // of a split: the layer that the next device begins with
  std::size_t point = 0;  // and the point before which it ends
  for (const auto& e : m.entries) {
    if (e.what == entry::kind::in_flight) frames = e.frames;
    if (e.what == entry::kind::dev) {
      rank = e.dev.rank;
      devices[rank] = platform::device_of(e.dev);
      if (m.is == form::split) {
        const int end = point < m.points.size() ? m.points[point++] : layers;
        while (next < end) owner[next++] = rank;
      }
    }
    for (const auto& list : e.lists)
      for (int l = list.first; l <= list.last; ++l) owner[l] = rank;
  }
  return frames;
}

}  // namespace dice::placement
