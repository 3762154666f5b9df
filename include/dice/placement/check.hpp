// Checks a mapping given as values. Of several mistakes, it reports the first in this order: mapping, form, ranks, units and
// limits, options, wrong entries (foreign, backwards, empty, points), two devices, no device, layers that cannot be in
// parts.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/placement/check_parts.hpp"
#include "dice/placement/finding.hpp"
#include "dice/placement/written.hpp"

#include <cstddef>

namespace dice::placement {

namespace detail {

constexpr finding check_form(const written_mapping& m) {
  using what = entry::kind;
  bool in_run = false;  // whether devices come before, whose work must follow
  int at = 0;
  for (const auto& e : m.entries) {
    const bool right = e.what == what::dev     ? true
                       : e.what == what::ranks ? m.is == form::mapping && !e.ranks.empty()
                       : e.what == what::work  ? in_run
                                               : e.what == what::in_flight && !in_run;
    if (!right) return {mistake::misplaced_entry, at, 0, at};
    in_run = m.is == form::mapping && (e.what == what::dev || e.what == what::ranks);
    ++at;
  }
  if (in_run || count_devices(m) == 0) return {mistake::misplaced_entry, at, 0, at};
  return {};
}

constexpr finding check_ranks(const written_mapping& m) {
  const auto& all = m.entries;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i && all[i].what == entry::kind::dev; ++j)
      if (all[j].what == entry::kind::dev && all[i].dev.rank == all[j].dev.rank)
        return {mistake::rank_used_twice, static_cast<int>(i), 0, all[i].dev.rank};
  const int n = count_devices(m);
  meta::array<char> has(n);
  for (const auto& e : all)
    if (e.what == entry::kind::dev && e.dev.rank >= 0 && e.dev.rank < n) has[e.dev.rank] = 1;
  for (int r = 0; r < n; ++r)
    if (!has[r]) return {mistake::rank_missing, 0, 0, r};
  return check_runs(m, n);
}

constexpr mistake as_mistake(platform::unit_check::mistake what) {
  using from = platform::unit_check::mistake;
  switch (what) {
    case from::not_a_unit:
      return mistake::not_a_unit;
    case from::core_listed_twice:
      return mistake::core_listed_twice;
    case from::core_number_negative:
      return mistake::core_number_negative;
    case from::no_core_listed:
      return mistake::no_core_listed;
    case from::too_few_threads:
      return mistake::too_few_threads;
    case from::too_many_threads:
      return mistake::too_many_threads;
    case from::gpu_number_negative:
      return mistake::gpu_number_negative;
    case from::unit_without_backend:
      return mistake::unit_without_backend;
    case from::none:
      break;
  }
  return mistake::none;
}

constexpr finding check_device(const platform::written_dev& d, int at, unsigned processors) {
  using limit = platform::limit::kind;
  if (!d.is_unit) return {mistake::not_a_unit, at};
  const auto unit = platform::check_unit(d.unit, d.cores, processors);
  if (const auto what = as_mistake(unit.what); what != mistake::none)
    return {what, at, 0, what == mistake::no_core_listed ? d.rank : unit.value};
  int index = 0, precisions = 0, hosts = 0;
  finding memory, host;
  for (const auto& l : d.limits) {
    if (l.what == limit::none) return {mistake::not_a_limit, at, index, d.rank};
    precisions += l.what == limit::precision;
    if (l.what == limit::memory && !memory) {
      if (l.bytes <= 0) memory = {mistake::memory_limit_not_positive, at, index, d.rank};
      else if (l.bytes >= platform::too_many_bytes) memory = {mistake::memory_limit_too_large, at, index, d.rank};
    }
    if (l.what == limit::host && !host) {
      if (l.host.empty()) host = {mistake::empty_host_name, at, index, d.rank};
      else if (++hosts > 1) host = {mistake::rank_on_two_hosts, at, index, d.rank};
    }
    ++index;
  }
  if (precisions > (d.unit.processor() == platform::processor::gpu ? 1 : 0))
    return {mistake::precision_not_possible, at, 0, d.rank};
  return memory ? memory : host;
}

constexpr finding check_units(const written_mapping& m, unsigned processors) {
  int at = 0;
  int in_flight = 0;  // not a pointer: g++ with -fsanitize=undefined does not compare those in constant expressions
  for (const auto& e : m.entries) {
    if (e.what == entry::kind::dev)
      if (const auto f = check_device(e.dev, at, processors)) return f;
    if (e.what == entry::kind::in_flight) {
      if (e.frames < 1) return {mistake::too_few_frames_in_flight, at, 0, e.frames};
      if (e.frames > max_in_flight) return {mistake::too_many_frames_in_flight, at, 0, e.frames};
      if (in_flight > 0) return {mistake::in_flight_twice, at, 0, in_flight, e.frames};
      in_flight = e.frames;
    }
    ++at;
  }
  return {};
}

constexpr finding check_lists(const written_mapping& m) {
  finding backwards, empty;
  int at = 0;
  for (const auto& e : m.entries) {
    if (e.what == entry::kind::work && e.work.lists.empty() && !empty) empty = {mistake::empty_layer_list, at};
    int index = 0;
    for (const auto& list : e.work.lists) {
      if (list.first < 0 || list.last < 0) return {mistake::not_a_layer_of_the_network, at, index};
      if (list.first > list.last && !backwards) backwards = {mistake::range_backwards, at, index};
      ++index;
    }
    ++at;
  }
  return backwards ? backwards : empty;
}

constexpr finding check_points(const written_mapping& m, int layers) {
  for (std::size_t i = 0; i < m.points.size(); ++i)
    if (m.points[i] <= 0 || m.points[i] >= layers)
      return {mistake::split_point_out_of_range, 0, static_cast<int>(i), m.points[i]};
  for (std::size_t i = 1; i < m.points.size(); ++i)
    if (m.points[i] <= m.points[i - 1]) return {mistake::split_points_unordered, 0, static_cast<int>(i), m.points[i]};
  const int points = static_cast<int>(m.points.size()), devices = count_devices(m);
  if (points + 1 != devices) return {mistake::split_points_do_not_fit_devices, 0, 0, points, devices};
  return {};
}

/// Adds the first ranks of the first two runs whose work items list the layer f.number.
constexpr finding name_ranks(finding f, const written_mapping& m) {
  int rank = -1, found = 0;
  for (const auto& e : m.entries) {
    for (const int r : ranks_in(e)) rank = rank < 0 ? r : rank;
    bool lists_it = false;
    for (const auto& list : e.work.lists) lists_it = lists_it || (list.first <= f.number && f.number <= list.last);
    if (lists_it && found < 2) f.ranks[found++] = rank;
    if (ends_run(m, e)) rank = -1;
  }
  return f;
}

constexpr finding check_layers(const written_mapping& m, int layers) {
  meta::array<int> devices(layers), last(layers, -1);  // how many entries list each layer, and the last that does
  int at = 0;
  for (const auto& e : m.entries) {
    for (const auto& list : e.work.lists)
      for (int l = list.first; l <= list.last; ++l)
        if (last[l] != at) {
          last[l] = at;
          ++devices[l];
        }
    ++at;
  }
  finding two{mistake::layer_in_two_lists, 0, 0, 0, -1}, none{mistake::layer_without_device, 0, 0, 0, -1};
  for (int l = layers - 1; l >= 0; --l) {
    if (devices[l] > 1) {
      two.number = l;
      ++two.more;
    }
    if (devices[l] == 0) {
      none.number = l;
      ++none.more;
    }
  }
  if (two.more >= 0) return name_ranks(two, m);
  return none.more >= 0 ? none : finding{};
}

}  // namespace detail

/// The first mistake of a mapping for network `net`; `processors`: those that have a backend.
constexpr finding check(const written_mapping& m, const graph::network_view& net,
                        unsigned processors = platform::usable_processors) {
  if (m.is == form::none) return {mistake::not_a_mapping};
  if (!m.of_this_network) return {mistake::split_of_another_network};
  if (const auto f = detail::check_form(m)) return f;
  if (const auto f = detail::check_ranks(m)) return f;
  if (const auto f = detail::check_units(m, processors)) return f;
  if (const auto f = detail::check_options(m)) return f;
  if (const auto f = detail::check_lists(m)) return f;
  if (m.is == form::split) return detail::check_points(m, net.size());
  if (const auto f = detail::check_layers(m, net.size())) return f;
  return detail::check_parts(m, net);
}

}  // namespace dice::placement
