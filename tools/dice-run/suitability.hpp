// Whether programs can run on hosts, before they are copied or started there, and how jobs must be started.
#pragma once

#include "host_facts.hpp"
#include "site.hpp"

#include <string>
#include <vector>

namespace dice_run {

/// Why no program can run on a host, each with the remedy. `place`: where deployments go; `is_fixed`: by the deployment.
std::vector<std::string> obstacles_on(const host_facts& h, const std::string& place, bool is_fixed);

/// Why the program of a package cannot run on a host, each with the remedy, as far as package and host say what is needed
/// and what there is.
std::vector<std::string> obstacles_for(const host_facts& h, const package& p);

/// Asks hosts what they are. Of those that do not answer, only the name is known.
std::vector<host_facts> facts_of(const site& s, const words& hosts);

/// Throws run_error, with the `consequence` at the end, if a program of `deployed` cannot run on its host.
void require_suitable(const site& s, const deployment& deployed, const std::vector<host_facts>& hosts,
                      const std::string& consequence);

/// The options for mpirun: those of the user, MPIRUN_OPTIONS, and those by which it uses only networks in which each host
/// has an address of its own, unless networks are chosen already. Throws run_error if a program of `deployed` cannot run.
std::string mpirun_options(const site& s, const deployment& deployed, const std::string& starter);

}  // namespace dice_run
