// A mapping as values, exactly as written, right or wrong: made from types at compile time and from texts at run time.
#pragma once

#include "dice/meta/view.hpp"
#include "dice/platform/dev.hpp"

#include <span>

namespace dice::placement {

/// Layers first … last, both included, by id; -1 for a layer that is not in the network.
struct interval {
  int first = 0, last = 0;
};

/// An entry of a mapping or split.
struct entry {
  enum class kind : unsigned char { other, dev, layers, in_flight };
  kind what = kind::other;       ///< other: it is not an entry
  platform::written_dev dev{};   ///< of dev<…>
  meta::view<interval> lists{};  ///< of layers<…>
  int frames = 0;                ///< of in_flight<…>
};

enum class form : unsigned char { none, mapping, split };

/// Entries of a split are those after its points.
struct written_mapping {
  form is = form::none;
  bool of_this_network = true;  ///< the network that a split names
  meta::view<entry> entries{};
  std::span<const int> points{};  ///< of a split
};

/// The number of devices in the mapping.
constexpr int count_devices(const written_mapping& m) {
  int n = 0;
  for (const auto& e : m.entries) n += e.what == entry::kind::dev;
  return n;
}

}  // namespace dice::placement
