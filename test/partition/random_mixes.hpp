// Small random networks of real operators on random clusters, and all mappings of a catalogue, one by one: the oracle of the
// search for mixes, with which it shares only how sections are written as a mapping, and the evaluator.
#pragma once

#include "../parts/real_network.hpp"
#include "mixing.hpp"

#include "dice/partition/mix.hpp"
#include "dice/partition/written_sections.hpp"
#include "dice/platform/cluster.hpp"

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace test {

/// A random network on a cluster of hosts, some of them with GPUs.
class random_mixing : public mixing {
 public:
  random_mixing(unsigned seed, int layers, int hosts) : mixing(network(seed, layers)) {
    std::mt19937 draw(seed + 77);
    const auto below = [&](int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); };
    const bool alike = below(3) == 0, handles = below(2), scarce = below(2), gpus = below(3) == 0;
    std::int64_t weights = 0;
    for (const auto& l : net().layers) weights += l.parameter_bytes + l.output.bytes();
    std::vector<platform::processor_info> processors;
    for (int h = 0; h < hosts; ++h) {
      platform::processor_info p;
      if (h > 0 && alike) p = processors[0];
      else {
        p.unit = {.what = platform::unit::kind::threads, .count = 1 + below(2)};
        if (gpus && below(2)) p.unit = {.what = platform::unit::kind::gpu};
        p.own_memory = p.unit.what == platform::unit::kind::gpu;
        p.flops = (1 + below(8)) * 1e8;
        p.bytes_per_s = (1 + below(8)) * 1e8;
        p.idle_watts = below(3);
        p.busy_watts = p.idle_watts + 1 + below(5);
        p.has_watts = true;
        p.memory = scarce ? weights / 3 + below(static_cast<int>(weights)) : std::int64_t{1} << 30;
        if (handles) {
          p.sending = {(1 + below(9)) * 1e8, below(3) * 1e-6};
          p.receiving = {(1 + below(9)) * 1e8, below(3) * 1e-6};
        }
      }
      processors.push_back(p);
    }
    const platform::link usual{(1 + below(9)) * 1e7, (1 + below(30)) * 1e-6};
    on_hosts(processors, usual, alike);
    if (hosts > 2 && below(3) == 0) link_between(0, 1) = link_between(1, 0) = {2e6, 1e-4};
  }

 private:
  static real_network network(unsigned seed, int layers) {
    random_real_network net(seed, layers);
    std::vector<char> read(static_cast<std::size_t>(net.size()));
    for (const auto& e : net.edges) read[static_cast<std::size_t>(e.from)] = 1;
    for (std::size_t l = 0; l < read.size(); ++l)  // as onnx2hpp leaves no layer without a reader
      if (!read[l] && !net.layers[l].is_output) net.add(ops::output{}, {static_cast<int>(l)});
    return net;
  }
};

/// The smallest value of all mappings of a catalogue within the request's limits; infinite if there is none.
struct best_of_all {
  double value = cost::infinity;
  cost::prediction expected{};
  int mappings = 0;  ///< that are right, whether or not they keep to the limits
};
inline best_of_all best_of_catalogue(const random_mixing& on, const partition::mix_request& r,
                                     const meta::array<cost::arrangement>& all) {
  best_of_all out;
  const auto p = on.problem();
  const auto& net = on.on().net;
  const auto& aim = r.wanted.aim;
  const auto may = [&](const cost::arrangement& a, int unit) {
    for (int l = 0; l < net.size(); ++l) {
      if (p.cut_unit_of[l] != unit) continue;
      const auto& layer = net.layers[l];
      const int host = p.devices[a.devices[0]].host;
      if (layer.is_input && aim.input_at >= 0 && host != aim.input_at) return false;
      if (layer.is_output && aim.output_at >= 0 && host != aim.output_at) return false;
      if (!a.is_whole() && r.whole_only.size() > 0 && r.whole_only[l]) return false;
    }
    return true;
  };
  meta::array<cost::section> sections;
  std::function<void(int)> extend = [&](int unit) {
    if (unit == p.cut_units) {
      const auto m = partition::mapping_of(p, on.on().cluster, all, sections);
      if (m.devices.size() > aim.max_devices) return;
      for (int s = 1; aim.in_order && s < sections.size(); ++s)
        for (const int a : all[sections[s - 1].arrangement].devices)
          for (const int b : all[sections[s].arrangement].devices)
            if (a >= b) return;
      const auto found = on.evaluator().rate(m.mapping.values());
      if (!found.is_right()) return;
      ++out.mappings;
      for (int rank = 0; rank < m.devices.size(); ++rank)  // each host has one processor
        if (found.frame.ranks[rank].memory > std::min(p.devices[m.devices[rank]].memory_limit, r.wanted.memory)) return;
      const auto& e = found.frame.expected;
      if (!partition::keeps(e, aim)) return;
      if (const double v = partition::value_of(aim.best, e); v < out.value) {
        out.value = v;
        out.expected = e;
      }
      return;
    }
    for (int a = 0; a < all.size(); ++a) {
      if (!may(all[a], unit)) continue;
      const bool goes_on = unit > 0 && sections[sections.size() - 1].arrangement == a;
      if (goes_on) ++sections[sections.size() - 1].last;
      else sections.push_back({a, unit, unit + 1});
      extend(unit + 1);
      if (goes_on) --sections[sections.size() - 1].last;
      else sections.truncate(sections.size() - 1);
    }
  };
  extend(0);
  return out;
}

}  // namespace test
