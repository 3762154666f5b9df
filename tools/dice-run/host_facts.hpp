// What a host is: read from what scripts/check.sh and facts.sh print there.
#pragma once

#include "remote.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dice_run {

/// One logical CPU that is online.
struct core_facts {
  int id = 0;
  unsigned implementer = 0, part = 0;  ///< of ARM cores, 0 elsewhere
  double ghz = 0;                      ///< at most; 0: not known
  std::string siblings;                ///< the CPUs of its physical core, "0,4", or ""
};

/// An address of IPv4 that a host has, without those of its loopback.
struct network_address {
  std::string interface, address;  ///< "eth0", "192.168.50.11"
  std::string network;             ///< "192.168.50.0/24"
};

struct host_facts {
  std::string host;         ///< as it was given
  std::string failure;      ///< "", or why nothing is known about it
  double ssh_seconds = 0;   ///< until a script ran there
  double clock_offset = 0;  ///< its clock minus this machine's, in s
  double clock_error = 0;   ///< of clock_offset, at most, in s
  std::string hostname, architecture, user, address, system, model, cpu, tegra;
  std::string boot;  ///< an id of its running system
  std::vector<std::string> compatible, flags, gpus, libraries;
  std::vector<core_facts> cores;
  std::int64_t memory = 0, disk_free = 0;  ///< bytes
  std::string open_mpi, glibc;             ///< versions, or ""
  int bits = 0;                            ///< of the system, which may have fewer than its kernel; 0: not known
  std::string bits_name;                   ///< of such a system: "armhf", or ""
  bool is_musl = false;                    ///< its C library is musl
  bool is_noexec = false;                  ///< programs cannot run where deployments go
  std::vector<network_address> networks;   ///< those that are up, if it has the program ip
  bool has_chosen_networks = false;        ///< for the jobs that it starts, by Open MPI's settings or in the deployment
  bool has_perl = false, has_rsync = false;
  double fill_gbytes_per_s = 0;            ///< one core writes memory so fast; 0: not measured
  double rapl_limit = 0, rapl_drawn = 0;   ///< of its processors, in W: at most, and during the check; 0: not known
  double busy_watts = 0, idle_watts = 0;   ///< of its board, as given by --watts; 0: not given
  std::map<std::string, std::string> ssh;  ///< to each other host: "", or why it does not let this one in

  bool has_flag(std::string_view name) const;
  int physical_cores() const;
  /// Whether both have the same instructions: programs that one compiles for itself run on the other, as fast as they can.
  bool has_cpu_of(const host_facts& other) const;
};

/// What can be compared with others: architecture, flags and cores of this machine's CPU.
host_facts this_machine();

/// `printed` by the scripts; `others` are the arguments of check.sh from the second on.
void read_facts(std::string_view printed, const std::vector<std::string>& others, host_facts& out);

/// Runs the script on `host`. `place`: where deployments go. Does not throw if the host is not reached.
host_facts ask_host(const remote& hosts, const std::string& host, const std::string& place,
                    const std::vector<std::string>& others);

}  // namespace dice_run
