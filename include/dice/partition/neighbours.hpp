// Mixes that differ from another one in one thing.
#pragma once

#include "dice/cost/arrangement.hpp"
#include "dice/meta/array.hpp"
#include "dice/placement/words.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

namespace dice::partition {

using cost::arrangement;

/// Cut units first … last - 1 of a mix, and how they are computed.
struct mixed_section {
  arrangement by;
  int first = 0, last = 0;
};
using mixed = std::vector<mixed_section>;

namespace detail {

/// The neighbours of mixes: with a border moved, a share changed, or another arrangement of some cut units.
struct neighbourhood {
  const meta::array<arrangement>& all;  ///< arrangements to choose from
  int devices = 0;
  unsigned words = ~0u;  ///< of placement::work_words that may be used, as bits
  bool replicas = true;

  /// Calls f with neighbours of mapping m until it returns true. Only those that change what device `busiest` does, if it is
  /// not -1.
  template <class F> bool each(const mixed& m, int busiest, const F& f) const {
    const auto sections = m.size();
    const auto idle = [&](std::size_t i) {
      const auto& d = m[i].by.devices;
      return busiest >= 0 && std::find(d.begin(), d.end(), busiest) == d.end();
    };
    for (std::size_t i = 0; i < sections; ++i)  // shared with another device, but for the network's ends
      for (int d = 0; m[i].by.is_whole() && !idle(i) && d < devices; ++d) {
        const int own = m[i].by.devices[0], first = std::max(m[i].first, 1), last = std::min(m[i].last, m.back().last - 1);
        if (d == own || first >= last) continue;
        for (const std::string_view word : {"replicas", "rows", "output_channels"})
          for (const int part : {15, 30, 50}) {
            arrangement by;
            by.word = placement::word_number(word);
            if (!(words >> by.word & 1) || (by.has_replicas() && !replicas)) continue;
            for (const int e : {std::min(d, own), std::max(d, own)}) {
              by.devices.push_back(e);
              by.shares.push_back(e == d ? part : 100 - part);
            }
            auto to = m;
            const auto at = to.begin() + static_cast<std::ptrdiff_t>(i);
            const mixed_section before{m[i].by, m[i].first, first}, behind{m[i].by, last, m[i].last};
            *at = {by, first, last};
            to.insert(to.insert(at, before) + 2, behind);
            if (f(to)) return true;
          }
      }
    for (std::size_t i = 0; i + 1 < sections; ++i)  // a border moved
      for (const int by : {1, -1, 2, -2, 4, -4}) {
        if (idle(i) && idle(i + 1)) continue;
        auto to = m;
        const int at = to[i].last + by;
        if (at < to[i].first || at > to[i + 1].last) continue;
        to[i].last = to[i + 1].first = at;
        if (f(to)) return true;
      }
    for (std::size_t i = 0; i < sections; ++i) {
      if (idle(i)) continue;
      for (const int by : {-1, 1}) {  // in the arrangement of the section before or behind
        if (i + static_cast<std::size_t>(by) >= sections) continue;
        auto to = m;
        to[i].by = to[i + static_cast<std::size_t>(by)].by;
        if (f(to)) return true;
      }
      const auto& mine = m[i].by;
      const int n = mine.devices.size();
      for (int j = 0; mine.is().has(placement::option::shares) && j < n; ++j)  // a share
        for (const double times : {0.92, 1.08, 0.75, 1.25}) {
          auto to = m;
          to[i].by.shares = scaled(mine, j, times);
          if (f(to)) return true;
        }
      for (int j = 0; n > 2 && mine.is().cut != placement::geometry::grid && j < n; ++j) {  // without a device
        auto to = m;
        to[i].by.devices = without(mine.devices, j);
        if (!mine.shares.empty()) to[i].by.shares = without(mine.shares, j);
        if (f(to)) return true;
      }
      for (const auto& a : all) {  // another arrangement
        if (a == mine) continue;
        auto to = m;
        to[i].by = a;
        if (f(to)) return true;
      }
    }
    for (std::size_t i = 0; i < sections; ++i)  // another arrangement for its first or last cut units
      for (int at = m[i].first + 1; !idle(i) && at < m[i].last; ++at)
        for (const auto& a : all)
          for (const bool first : {true, false}) {
            if (a == m[i].by) continue;
            auto to = m;
            to.insert(to.begin() + static_cast<std::ptrdiff_t>(i) + (first ? 0 : 1),
                      {a, first ? m[i].first : at, first ? at : m[i].last});
            (first ? to[i + 1].first : to[i].last) = at;
            if (f(to)) return true;
          }
    return false;
  }

 private:
  static meta::array<int> without(const meta::array<int>& of, int j) {
    meta::array<int> out;
    for (int i = 0; i < of.size(); ++i)
      if (i != j) out.push_back(of[i]);
    return out;
  }
  static meta::array<int> scaled(const arrangement& a, int j, double times) {
    meta::array<int> out;
    for (int i = 0; i < a.devices.size(); ++i)
      out.push_back(std::max(1, static_cast<int>(std::lround(100 * a.share(i) * (i == j ? times : 1)))));
    return out;
  }
};

}  // namespace detail
}  // namespace dice::partition
