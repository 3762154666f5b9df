// The catalogue of a search: the arrangements that it tries.
#pragma once

#include "dice/cost/arrangement.hpp"
#include "dice/cost/problem.hpp"
#include "dice/meta/array.hpp"
#include "dice/partition/goal.hpp"
#include "dice/placement/words.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>

namespace dice::partition {

using cost::arrangement;

/// The search numbers devices by the bits of 64.
inline constexpr int most_devices = 64;

/// Which arrangements a catalogue has.
struct catalogue_request {
  unsigned words = ~0u;               ///< bits by number in placement::work_words; whole layers always belong
  int effort = 1;                     ///< 0 (at compile time) … 3
  bool replicas = true;               ///< they raise throughput only
  int input_at = -1, output_at = -1;  ///< hosts
};

namespace detail {

/// Sets of devices that may share layers.
class device_sets {
 public:
  constexpr device_sets(const problem& p, const catalogue_request& r) : p_(p), speed_(p.devices.size()) {
    const int n = p.devices.size();
    for (int d = 0; d < n; ++d) {
      const double t = p.time(d, 0, p.cut_units);
      speed_[d] = t > 0 ? 1 / t : 0;
      int at = 0;
      while (at < order_.size() && speed_[order_[at]] >= speed_[d]) ++at;
      order_.insert(at, d);
    }
    if (r.effort >= 3 && n <= 7) add_all(false);
    // The fastest ones.
    for (int count = n; count >= 2; --count)
      if (count == n || is_usual(count, r.effort)) add_window(order_, 0, count);
    for (const int host : {r.input_at, r.output_at})
      if (host >= 0) add_with(host);
    if (r.effort >= 1) {
      add_kinds();
      if (n <= 4) add_all(true);
      if (n > 3) add_window(order_, n / 2, n);  // the slower half
    }
    for (int count = 2; r.effort >= 2 && count < n; ++count)
      for (int first = 0; first + count <= n; ++first) add_window(order_, first, first + count);
  }
  constexpr const meta::array<meta::array<int>>& list() const { return list_; }
  constexpr double speed(int device) const { return speed_[device]; }

 private:
  /// Whether there is a set of the `count` fastest devices: for each number of few devices, fewer for many.
  static constexpr bool is_usual(int count, int effort) {
    const bool power = (count & (count - 1)) == 0, half = count % 3 == 0 && (count / 3 & (count / 3 - 1)) == 0;
    return effort == 0 ? power : effort > 1 || count <= 8 || power || half;
  }
  constexpr void add(const meta::array<int>& any_order) {
    if (any_order.size() < 2) return;
    meta::array<int> of;
    for (const int d : any_order) {
      int at = 0;
      while (at < of.size() && of[at] < d) ++at;
      of.insert(at, d);
    }
    for (const auto& other : list_) {
      bool same = other.size() == of.size();
      for (int i = 0; same && i < of.size(); ++i) same = other[i] == of[i];
      if (same) return;
    }
    list_.push_back(of);
  }
  constexpr void add_window(const meta::array<int>& order, int first, int last) {
    meta::array<int> of;
    for (int i = first; i < last; ++i) of.push_back(order[i]);
    add(of);
  }
  /// The fastest devices, with those of a host among them.
  constexpr void add_with(int host) {
    meta::array<int> order;
    for (const int d : order_)
      if (p_.devices[d].host == host) order.push_back(d);
    for (const int d : order_)
      if (p_.devices[d].host != host) order.push_back(d);
    for (int count = 2; count <= order.size(); ++count) add_window(order, 0, count);
  }
  /// All devices of each kind.
  constexpr void add_kinds() {
    for (int kind = 0; kind < p_.kinds.size(); ++kind) {
      meta::array<int> of;
      for (int d = 0; d < p_.devices.size(); ++d)
        if (p_.devices[d].kind == kind) of.push_back(d);
      add(of);
    }
  }
  /// All sets; with `unlike`, of those with devices that are alike the first one only.
  constexpr void add_all(bool unlike) {
    const int n = p_.devices.size();
    for (int bits = 1; bits < 1 << n; ++bits) {
      meta::array<int> of;
      bool first = true;
      for (int d = 0; d < n; ++d) {
        if (bits >> d & 1) of.push_back(d);
        for (int e = 0; e < d; ++e) first = first && !(bits >> d & ~bits >> e & 1 && alike(d, e));
      }
      if (first || !unlike) add(of);
    }
  }
  constexpr bool alike(int d, int e) const {
    return p_.devices[d].kind == p_.devices[e].kind && p_.host_kind[p_.devices[d].host] == p_.host_kind[p_.devices[e].host];
  }

  const problem& p_;
  meta::array<double> speed_;
  meta::array<int> order_;  ///< the fastest first
  meta::array<meta::array<int>> list_;
};

/// Shares in proportion to speeds to the power `power`, as small whole numbers; empty if all are equal.
constexpr meta::array<int> shares_of(const device_sets& sets, const meta::array<int>& devices, bool softer) {
  double sum = 0;
  meta::array<double> part(devices.size());
  for (int i = 0; i < devices.size(); ++i) {
    const double s = sets.speed(devices[i]);
    double mean = 0;
    for (const int d : devices) mean += sets.speed(d) / devices.size();
    part[i] = softer ? (s + mean) / 2 : s;
    sum += part[i];
  }
  meta::array<int> out;
  bool alike = true;
  for (const double x : part) {
    out.push_back(std::max(1, static_cast<int>(100 * x / sum + 0.5)));
    alike = alike && out[out.size() - 1] == out[0];
  }
  if (alike) return {};
  return out;
}

}  // namespace detail

/// The arrangements of a catalogue: whole layers on each device first, then those in parts and by replicas.
constexpr meta::array<arrangement> catalogue_of(const problem& p, const catalogue_request& r) {
  meta::array<arrangement> out;
  for (int d = 0; d < p.devices.size(); ++d) {
    arrangement a;
    a.devices.push_back(d);
    out.push_back(a);
  }
  constexpr int none = std::numeric_limits<int>::max();
  constexpr int most[]{none, none, 250, 500};  // a search takes as long as the square of their number
  const auto add = [&](const arrangement& a) {
    if (!(r.words >> a.word & 1) || out.size() >= most[r.effort]) return;
    for (const auto& other : out)
      if (other == a) return;
    out.push_back(a);
  };
  const detail::device_sets sets(p, r);
  constexpr int most_exchanges[]{1, 2, 3, 6};
  const int levels = most_exchanges[r.effort] + (r.effort >= 2 ? 2 : 0);  // the usual shares and exchanges first
  for (int level = 0; level < levels; ++level) {
    int number = 0;
    for (const auto& set : sets.list()) {
      const int n = set.size();
      const bool first = number++ == 0;  // all devices
      meta::array<meta::array<int>> shares;
      shares.push_back(detail::shares_of(sets, set, false));
      if (r.effort >= 2 && !shares[0].empty()) {
        shares.push_back(detail::shares_of(sets, set, true));
        shares.push_back({});
      }
      for (int word = 1; word < static_cast<int>(std::size(placement::work_words)); ++word) {
        const auto& about = placement::work_words[word];
        arrangement a;
        a.word = word;
        a.devices = set;
        if (a.has_replicas() && !r.replicas) continue;
        if (about.cut == placement::geometry::columns && r.effort < 2 && !(first && r.effort == 1)) continue;
        const int exchanges =
            !about.has(placement::option::exchange_every) || (r.effort == 1 && !first) ? 1 : most_exchanges[r.effort];
        if (about.cut == placement::geometry::grid) {
          a.exchange_every = level + 1;
          for (int down = 2; 2 * down <= n && level < exchanges; ++down)
            if (n % down == 0 && (r.effort > 0 || down * down <= n)) {
              a.down = down;
              a.across = n / down;
              add(a);
            }
          continue;
        }
        for (int s = 0; s < shares.size() && s <= level; ++s) {
          a.shares = shares[s];
          a.exchange_every = level - s + 1;
          if (a.exchange_every <= exchanges) add(a);
        }
      }
    }
  }
  return out;
}

namespace detail {

/// Of one cut of each run of cuts, the one that the fewest bytes cross.
constexpr meta::array<char> spread_borders(const problem& p, int most) {
  const int units = p.cut_units;
  meta::array<char> out(units, 1);
  if (units - 1 <= most) return out;
  for (auto& b : out) b = 0;
  out[1] = out[units - 1] = 1;  // behind the input, and before the output
  for (int i = 0; i < most; ++i) {
    const int first = 1 + (units - 1) * i / most, last = 1 + (units - 1) * (i + 1) / most;
    int best = first;
    for (int k = first; k < last; ++k)
      if (p.crossing[k] < p.crossing[best]) best = k;
    out[best] = 1;
  }
  return out;
}

/// Whether a mapping may exceed limits of memory, in bytes by processor.
constexpr bool may_exceed(const problem& p, std::span<const std::int64_t> limits) {
  for (const auto& d : p.devices)
    if (p.kinds[d.kind].most > limits[static_cast<std::size_t>(d.processor)] / 3) return true;
  return false;
}

}  // namespace detail
}  // namespace dice::partition
