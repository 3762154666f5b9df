// The networks between hosts, and which of them a job must use. Open MPI takes networks of the same numbers for one network.
// Docker, libvirt and JetPack give each host a bridge of the same address, so that a job that uses it waits for ever.
#pragma once

#include "host_facts.hpp"
#include "links.hpp"

#include <string>
#include <vector>

namespace dice_run {

/// An address that several hosts have.
struct shared_address {
  std::string address;
  std::vector<std::string> interfaces;  ///< that have it, each once
  std::vector<std::string> hosts;
};

/// Addresses that several hosts have, which all have others, too: hosts that share all addresses share one system's network.
std::vector<shared_address> shared_addresses(const std::vector<host_facts>& hosts);

/// "pc, pi have the address 172.17.0.1 (docker0)".
std::string text_of(const shared_address& shared);

/// The networks that jobs can use, if hosts share addresses: those in which all hosts have an address of their own or, if
/// there is none, all without shared addresses. Empty: Open MPI may choose.
std::vector<std::string> usable_networks(const std::vector<host_facts>& hosts);

/// The network over which all connections were measured, if it is one, and some host has another; or "".
std::string measured_network(const std::vector<host_facts>& hosts, const std::vector<link_facts>& links);

/// Options of this version's mpirun by which it uses only these networks.
std::string network_options(const std::vector<std::string>& networks, const std::string& open_mpi);

}  // namespace dice_run
