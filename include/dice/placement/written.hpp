// A mapping as values, exactly as written, right or wrong: made from types at compile time and from texts at run time.
#pragma once

#include "dice/meta/view.hpp"
#include "dice/placement/words.hpp"
#include "dice/platform/dev.hpp"

#include <span>

namespace dice::placement {

/// Layers first … last, both included, by id; -1 for a layer that is not in the network.
struct interval {
  int first = 0, last = 0;
};

/// layers<…>, rows<…>, …: what the devices before it do.
struct written_work {
  int word = 0;              ///< in work_words
  int down = 1, across = 1;  ///< rows and columns of a grid
  meta::view<interval> lists{};
  meta::view<int> shares{};  ///< one for each device of the run; equal ones if the option is not given
  int exchange_every = 1;    ///< layers with windows from one exchange to the next
  unsigned options = 0;      ///< those given, as bits
  int wrong_option = -1;     ///< the first of its layers and options that is where it must not be, or -1

  constexpr const work_word& is() const { return work_words[word]; }
  constexpr bool has(option o) const { return options & bits(o); }
  constexpr dealing dealt() const { return has(option::first_free) ? dealing::to_first_free : is().dealt; }
  /// Whether each of its layers is computed by several ranks, or in several parts.
  constexpr bool splits() const { return is().cut != geometry::whole || dealt() != dealing::to_all; }
  /// Takes note of argument `at`, which is this option, or a layer (none). Returns whether its position is valid: after the
  /// layers, once, in a work that has this option, and not both shares and first_free.
  constexpr bool take(option o, int at) {
    constexpr unsigned one_of = bits(option::shares, option::first_free);
    const bool right = o == option::none ? options == 0 : is().has(o) && !has(o) && !(options & one_of && bits(o) & one_of);
    if (o != option::none) options |= bits(o);
    if (!right && wrong_option < 0) wrong_option = at;
    return right;
  }
};

inline constexpr int max_in_flight = 1'000'000;  ///< frames

/// An entry of a mapping or split. Devices and ranks that follow each other and the work after them are a run.
struct entry {
  enum class kind : unsigned char { other, dev, ranks, work, in_flight };
  kind what = kind::other;      ///< other: it is not an entry
  platform::written_dev dev{};  ///< of dev<…>
  meta::view<int> ranks{};      ///< of ranks<…>
  written_work work{};          ///< of layers<…>, rows<…>, …
  int frames = 0;               ///< of in_flight<…>
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

/// The ranks that an entry adds to its run, in their order. Refers to the entry.
constexpr meta::view<int> ranks_in(const entry& e) {
  return e.what == entry::kind::dev ? meta::view<int>{&e.dev.rank, 1} : e.ranks;
}

/// Whether the entry is the last one of a run: a work, or each device of a split.
constexpr bool ends_run(const written_mapping& m, const entry& e) {
  return e.what == (m.is == form::split ? entry::kind::dev : entry::kind::work);
}

}  // namespace dice::placement
