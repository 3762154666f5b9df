// Bandwidth and latency between hosts, measured over plain TCP.
#pragma once

#include "host_facts.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace dice_run {

/// The connection between hosts a and b, by their numbers; a < b.
struct link_facts {
  std::size_t a = 0, b = 0;
  double us = 0;               ///< one way, for a message of 64 bytes
  double mbit_per_s = 0;       ///< payload, from a to b
  double back_mbit_per_s = 0;  ///< from b to a
  std::string failure;         ///< "", or why it was not measured
  std::string address{};       ///< of a, in this connection,
  std::string back_address{};  ///< and of b; or ""
  bool measured() const { return failure.empty(); }
  double slower() const { return mbit_per_s < back_mbit_per_s ? mbit_per_s : back_mbit_per_s; }
};

/// All pairs of `hosts` hosts in rounds, in which each host has at most one partner.
std::vector<std::vector<std::pair<std::size_t, std::size_t>>> rounds_of(std::size_t hosts);

/// Measures each pair: the pairs of a round at once, or all pairs one by one. `progress(done, total)` is called before each
/// round. Takes 4 s for a round.
std::vector<link_facts> measure_links(const remote& hosts, const std::vector<host_facts>& facts, bool one_by_one,
                                      const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace dice_run
