// Hosts that can be exchanged for each other.
#pragma once

#include "dice/cost/problem.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/neighbours.hpp"
#include "dice/partition/problem.hpp"

#include <cstddef>
#include <vector>

namespace dice::partition::detail {

/// Hosts of one kind (problem::host_kind) are interchangeable, unless a request names one of them. Mappings that differ only
/// in which of them does what are equally good, so only one of these needs to be rated.
class alike_hosts {
 public:
  alike_hosts(const problem& p, const goal& g) : p_(p), kept_(g.in_order) {
    devices_.resize(static_cast<std::size_t>(p.hosts));
    for (int d = 0; d < p.devices.size(); ++d) devices_[index(p.devices[d].host)].push_back(d);
    for (int h = 0; h < p.hosts; ++h) kind_.push_back(h == g.input_at || h == g.output_at ? -1 : p.host_kind[h]);
  }

  /// The same mapping with the hosts of each kind in the order in which they are first used.
  mixed renamed(mixed m) const {
    if (kept_) return m;
    std::vector<int> to(kind_.size(), -1), next(kind_.size());
    for (auto& part : m)
      for (int& d : part.by.devices) {
        const int host = p_.devices[d].host;
        int& new_host = to[index(host)];
        if (new_host < 0) {
          new_host = host;
          if (const int kind = kind_[index(host)]; kind >= 0) {
            int& at = next[index(kind)];
            while (kind_[index(at)] != kind) ++at;
            new_host = at++;
          }
        }
        const auto& old = devices_[index(host)];
        for (std::size_t i = 0; i < old.size(); ++i)
          if (old[i] == d) {
            d = devices_[index(new_host)][i];
            break;
          }
      }
    return m;
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  const problem& p_;
  const bool kept_;                        ///< whether the order of devices matters
  std::vector<std::vector<int>> devices_;  ///< by host
  std::vector<int> kind_;                  ///< by host; -1: a request names it
};

}  // namespace dice::partition::detail
