// The search for clusters whose connections differ, and networks with tensors that skip stages.
#pragma once

#include "dice/cost/setting.hpp"
#include "dice/meta/array.hpp"
#include "dice/partition/direct_messages.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/problem.hpp"
#include "dice/partition/search.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace dice::partition {

namespace detail {

/// Time in s that a message of usual size takes from host a to host b.
constexpr double usual_time(const problem& p, int a, int b) {
  std::int64_t bytes = 0;
  for (const auto crossing : p.crossing) bytes += crossing;
  return p.links[a * p.hosts + b].time(bytes / std::max(1, p.cut_units), 1);
}

/// Whether hosts with devices have different connections.
constexpr bool connections_differ(const problem& p) {
  const platform::link* first = nullptr;
  for (const auto& a : p.devices)
    for (const auto& b : p.devices) {
      if (a.host == b.host) continue;
      const auto& by = p.links[a.host * p.hosts + b.host];
      if (first && !(*first == by)) return true;
      first = &by;
    }
  return false;
}

/// Sets of at least three hosts, at most `most` of them, the fastest first: all connections within one are better than the
/// worst of the cluster. Of sets whose hosts are alike, one.
constexpr meta::array<meta::array<int>> close_hosts(const problem& p, int most) {
  meta::array<double> speed(p.hosts);
  for (const auto& d : p.devices)
    if (const double t = p.kinds[d.kind].seconds[p.cut_units]; t > 0) speed[d.host] += 1 / t;
  meta::array<int> hosts;  // the fastest first
  for (int h = 0; h < p.hosts; ++h) {
    if (speed[h] <= 0) continue;
    int at = 0;
    while (at < hosts.size() && speed[hosts[at]] >= speed[h]) ++at;
    hosts.insert(at, h);
  }
  double worst = 0;
  meta::array<double> times;
  for (const int a : hosts)
    for (const int b : hosts) {
      if (a >= b) continue;
      const double t = usual_time(p, a, b);
      worst = std::max(worst, t);
      bool is_new = true;
      for (const double other : times) is_new = is_new && other != t;
      if (is_new) times.push_back(t);
    }
  meta::array<meta::array<int>> sets, kinds;  // of these, the hosts, and how many of each kind
  meta::array<double> speeds;
  for (const double slowest : times) {
    if (slowest == worst) continue;
    for (const int first : hosts) {
      meta::array<int> set, like(p.hosts);
      double all = 0;
      const auto add = [&](int h) {
        set.push_back(h);
        ++like[p.host_kind[h]];
        all += speed[h];
      };
      add(first);
      for (const int h : hosts) {
        bool is_close = h != first;
        for (const int other : set) is_close = is_close && usual_time(p, h, other) <= slowest;
        if (is_close) add(h);
      }
      bool is_new = set.size() >= 3;
      for (const auto& other : kinds) {
        bool same = true;
        for (int k = 0; k < p.hosts; ++k) same = same && other[k] == like[k];
        is_new = is_new && !same;
      }
      if (!is_new) continue;
      int at = 0;
      while (at < speeds.size() && speeds[at] >= all) ++at;
      speeds.insert(at, all);
      sets.insert(at, set);
      kinds.push_back(like);
    }
  }
  sets.truncate(most);
  return sets;
}

/// p with the connection that is the worst one between all hosts.
constexpr problem with_worst_connection(problem p) {
  int worst = -1;
  for (const auto& a : p.devices)
    for (const auto& b : p.devices) {
      if (a.host == b.host) continue;
      if (worst < 0 || usual_time(p, a.host, b.host) > usual_time(p, worst / p.hosts, worst % p.hosts))
        worst = a.host * p.hosts + b.host;
    }
  const auto by = p.links[worst];
  for (int i = 0; i < p.links.size(); ++i)
    if (i / p.hosts != i % p.hosts) p.links[i] = by;
  return p;
}

/// p with the devices of some hosts only. Sets the number in p of each.
constexpr problem only_on(problem p, const meta::array<int>& hosts, meta::array<int>& of) {
  meta::array<device> devices;
  meta::array<platform::link> links;
  meta::array<int> kinds;
  for (int h = 0; h < hosts.size(); ++h) {
    for (int d = 0; d < p.devices.size(); ++d)
      if (p.devices[d].host == hosts[h]) {
        devices.push_back(p.devices[d]);
        devices[devices.size() - 1].host = h;
        of.push_back(d);
      }
    for (const int to : hosts) links.push_back(p.links[hosts[h] * p.hosts + to]);
    int like = 0;
    while (p.host_kind[hosts[like]] != p.host_kind[hosts[h]]) ++like;
    kinds.push_back(like);
  }
  p.devices = std::move(devices);
  p.links = std::move(links);
  p.host_kind = std::move(kinds);
  p.hosts = hosts.size();
  cost::complete(p);
  return p;
}

}  // namespace detail

/// Whether messages that go straight to their readers may take other connections than the search counts.
constexpr bool relays_matter(const cost::setting& s, const problem& p) {
  return detail::connections_differ(p) && direct_messages(s, p).any();
}

/// search(p, g), unless relays_matter. Then it is the best, by messages that go straight to their readers
/// (direct_messages), of several searches' mappings: by the search's own count; as if all connections were the worst one; on
/// two devices, where no tensor can skip one; and on hosts that are close to one another.
constexpr outcome search_direct(const cost::setting& s, const problem& p, const goal& g, int most = max_routes) {
  outcome own = search(p, g, most);
  if (own.too_many_kinds || !relays_matter(s, p)) return own;
  const direct_messages direct(s, p);
  outcome out;
  const auto consider = [&](solution found) {
    if (found.empty()) return;
    found.expected = direct.figures(p, found.stages);
    if (!keeps(found.expected, g)) return;
    if (out.best.empty() || value_of(g.best, found.expected) < value_of(g.best, out.best.expected))
      out.best = std::move(found);
  };
  consider(std::move(own.best));
  goal quiet = g;
  quiet.seen_by = nullptr;
  if (g.max_devices > 2) {
    goal few = quiet;
    few.max_devices = 2;
    consider(search(p, few, most).best);
    if (g.best == objective::latency) {  // ranks may compute branches side by side, which the search does not count
      few.best = objective::throughput;
      few.max_latency = infinity;
      consider(search(p, few, most).best);
    }
  }
  if (g.max_devices < 3) return out;
  consider(search(detail::with_worst_connection(p), quiet, most).best);
  for (const auto& hosts : detail::close_hosts(p, 3)) {
    meta::array<int> of;  // devices of p
    solution found = search(detail::only_on(p, hosts, of), quiet, most).best;
    for (auto& stage : found.stages) stage.device = of[stage.device];
    consider(std::move(found));
  }
  return out;
}

}  // namespace dice::partition
