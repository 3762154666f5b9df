// Ways to compute consecutive cut units: whole on one device, in parts, or by replicas.
#pragma once

#include "dice/meta/array.hpp"
#include "dice/placement/words.hpp"

#include <cstdint>

namespace dice::cost {

/// Who computes cut units, and how: a word of the mapping language with its options, and the devices of its run.
struct arrangement {
  int word = 0;              ///< in placement::work_words; 0: whole, on one device
  meta::array<int> devices;  ///< of the problem, in the order of their parts
  meta::array<int> shares;   ///< one for each device; empty: equal ones
  int down = 1, across = 1;  ///< rows and columns of a grid
  int exchange_every = 1;    ///< layers with windows from one exchange to the next

  constexpr const placement::work_word& is() const { return placement::work_words[word]; }
  constexpr bool is_whole() const { return word == 0; }
  constexpr bool has_parts() const { return is().cut != placement::geometry::whole; }
  constexpr bool has_replicas() const { return is().dealt != placement::dealing::to_all; }
  /// The part of the frames, or of what is cut into shares, that is device number i's.
  constexpr double share(int i) const {
    if (shares.empty()) return 1.0 / devices.size();
    double sum = 0;
    for (const int s : shares) sum += s;
    return shares[i] / sum;
  }
};

constexpr bool operator==(const arrangement& a, const arrangement& b) {
  const auto same = [](const meta::array<int>& x, const meta::array<int>& y) {
    if (x.size() != y.size()) return false;
    for (int i = 0; i < x.size(); ++i)
      if (x[i] != y[i]) return false;
    return true;
  };
  return a.word == b.word && a.down == b.down && a.across == b.across && a.exchange_every == b.exchange_every &&
         same(a.devices, b.devices) && same(a.shares, b.shares);
}

/// Cut units first … last - 1 in one arrangement, a number in a list of them.
struct section {
  int arrangement = -1, first = 0, last = 0;
};

/// Bytes of tensors that one device sends another for a frame, or for some of the frames.
struct flow {
  int from = 0, to = 0;
  std::int64_t bytes = 0;
  double frames = 1;  ///< the part of the frames
};

}  // namespace dice::cost
