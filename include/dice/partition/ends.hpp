// The hosts on which a network's inputs and outputs have to be.
#pragma once

#include "dice/cost/setting.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/problem.hpp"

#include <algorithm>
#include <cstdint>

namespace dice::partition {

/// Memory limit in bytes that stands for none: more than any device has.
inline constexpr std::int64_t no_limit = (std::int64_t{1} << 45) - 1;

namespace detail {

constexpr bool has_end(const goal& g, int host) { return host == g.input_at || host == g.output_at; }

/// Calls f for each cut unit with an input (or, if `outputs`, an output) of the network.
template <class F> constexpr void each_end(const cost::setting& s, const problem& p, bool outputs, F f) {
  for (int l = 0; l < s.net.size(); ++l)
    if (outputs ? s.net.layers[l].is_output : s.net.layers[l].is_input) f(p.cut_unit_of[l]);
}

}  // namespace detail

/// Ties the cut units with inputs and outputs to the hosts that g names for them: on other hosts they take more memory than
/// any device has, which is how all searches and their bounds learn of it. Call it once.
constexpr void tie_ends(problem& p, const cost::setting& s, const goal& g) {
  if (g.input_at < 0 && g.output_at < 0) return;
  meta::array<int> tied(4 * p.kinds.size(), -1);  // by kind, and what its devices may not have
  for (auto& d : p.devices) {
    const bool no_input = g.input_at >= 0 && d.host != g.input_at, no_output = g.output_at >= 0 && d.host != g.output_at;
    d.memory_limit = std::min(d.memory_limit, no_limit);
    if (!no_input && !no_output) continue;
    int& kind = tied[4 * d.kind + 2 * no_input + no_output];
    if (kind < 0) {
      kind = p.kinds.size();
      costs c = p.kinds[d.kind];
      meta::array<std::int64_t> more(p.cut_units + 1);
      const auto forbid = [&](int cut_unit) { more[cut_unit + 1] = no_limit + 1; };
      if (no_input) detail::each_end(s, p, false, forbid);
      if (no_output) detail::each_end(s, p, true, forbid);
      for (int k = 1; k <= p.cut_units; ++k) c.weights[k] += more[k] += more[k - 1];
      c.most += more[p.cut_units];
      p.kinds.push_back(c);
    }
    d.kind = kind;
  }
  const auto before = p.host_kind;  // these hosts are no longer like others
  for (int h = 0; h < p.hosts; ++h) {
    int like = 0;
    while (like < h && (before[like] != before[h] || detail::has_end(g, like) || detail::has_end(g, h))) ++like;
    p.host_kind[h] = like;
  }
}

/// The problem of finding a mapping whose inputs and outputs are where g wants them.
constexpr problem problem_of(const cost::setting& s, const goal& g) {
  problem p = cost::problem_of(s);
  tie_ends(p, s, g);
  return p;
}

namespace detail {

/// Bytes, as the search counts, of an input (output) for which no device of its host has enough memory; 0 if there is none,
/// -1 if the host has no device.
constexpr std::int64_t too_large_end(const cost::setting& s, const problem& p, int host, bool outputs) {
  std::int64_t out = 0;
  each_end(s, p, outputs, [&](int cut_unit) {
    std::int64_t least = -1;
    bool fits = false;
    for (int d = 0; d < p.devices.size(); ++d) {
      if (p.devices[d].host != host) continue;
      meta::array<stage> alone;
      alone.push_back({d, cut_unit, cut_unit + 1});
      const auto bytes = memory_of(p, alone, d);
      fits = fits || bytes <= p.devices[d].memory_limit;
      least = least < 0 ? bytes : std::min(least, bytes);
    }
    if (!fits && out == 0) out = least;
  });
  return out;
}

}  // namespace detail
}  // namespace dice::partition
