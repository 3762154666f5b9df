#include "networks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace dice_run {

namespace {

void add_once(std::vector<std::string>& all, const std::string& one) {
  if (std::ranges::count(all, one) == 0) all.push_back(one);
}

/// The network of an address of this host, or "".
std::string network_of(const host_facts& h, const std::string& address) {
  const auto at = std::ranges::find(h.networks, address, &network_address::address);
  return at == h.networks.end() ? "" : at->network;
}

}  // namespace

std::vector<shared_address> shared_addresses(const std::vector<host_facts>& hosts) {
  std::map<std::string, shared_address> all;
  for (const auto& h : hosts)
    for (const auto& n : h.networks) {
      auto& one = all[n.address];
      one.address = n.address;
      add_once(one.interfaces, n.interface);
      add_once(one.hosts, h.host);
    }
  const auto has_only_shared = [&](const std::string& host) {
    const auto& networks = std::ranges::find(hosts, host, &host_facts::host)->networks;
    return std::ranges::all_of(networks, [&](const auto& n) { return all[n.address].hosts.size() > 1; });
  };
  std::vector<shared_address> out;
  for (const auto& [address, one] : all)
    if (one.hosts.size() > 1 && std::ranges::none_of(one.hosts, has_only_shared)) out.push_back(one);
  return out;
}

std::string text_of(const shared_address& shared) {
  return fmt::format("{} have the address {} ({})", fmt::join(shared.hosts, ", "), shared.address,
                     fmt::join(shared.interfaces, ", "));
}

std::vector<std::string> usable_networks(const std::vector<host_facts>& hosts) {
  std::set<std::string> shared;
  for (const auto& s : shared_addresses(hosts))
    for (const auto& h : hosts) shared.insert(network_of(h, s.address));
  if (shared.empty()) return {};
  std::vector<std::string> own, common;
  for (const auto& h : hosts)
    for (const auto& n : h.networks)
      if (!shared.contains(n.network)) add_once(own, n.network);
  for (const auto& network : own)
    if (std::ranges::all_of(
            hosts, [&](const auto& h) { return std::ranges::count(h.networks, network, &network_address::network) > 0; }))
      common.push_back(network);
  return common.empty() ? own : common;
}

std::string measured_network(const std::vector<host_facts>& hosts, const std::vector<link_facts>& links) {
  std::set<std::string> networks;
  for (const auto& l : links) {
    networks.insert(network_of(hosts[l.a], l.address));
    networks.insert(network_of(hosts[l.b], l.back_address));
  }
  const auto has_another = [](const host_facts& h) {
    return std::ranges::any_of(h.networks, [&](const auto& n) { return n.network != h.networks[0].network; });
  };
  return networks.size() == 1 && std::ranges::any_of(hosts, has_another) ? *networks.begin() : "";
}

std::string network_options(const std::vector<std::string>& networks, const std::string& open_mpi) {
  // Open MPI 5.0 has another name for what its daemons use, and mixes up lists of networks to exclude (open-mpi/ompi issue
  // 12467).
  const bool is_new = std::atoi(open_mpi.c_str()) >= 5;
  const auto list = fmt::format("{}", fmt::join(networks, ","));
  return fmt::format("--mca btl_tcp_if_include {0} {1} {0}", list,
                     is_new ? "--prtemca prte_if_include" : "--mca oob_tcp_if_include");
}

}  // namespace dice_run
