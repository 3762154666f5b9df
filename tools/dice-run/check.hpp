// The hosts of a cluster, their connections, and what is wrong with them.
#pragma once

#include "host_facts.hpp"
#include "links.hpp"
#include "packages.hpp"

#include <string>
#include <vector>

namespace dice_run {

/// Something that is wrong. An error: a job could not start.
struct finding {
  bool is_error = false;
  std::string text;  ///< with the host, the reason and a remedy
};

struct cluster_facts {
  std::vector<host_facts> hosts;
  std::vector<link_facts> links;
  std::string place;  ///< where deployments go; free space is that of this folder
  deployment plan{};  ///< if its packages are at hand: what is to run there
};

/// Asks all hosts, and then measures the connections between those that answer, unless `without_links`.
cluster_facts survey(const remote& hosts, const words& names, const std::string& place, bool without_links, bool one_by_one);

/// In the order of the hosts.
std::vector<finding> findings_of(const cluster_facts& cluster);

/// The hosts that can start a job, since they reach all others by ssh.
std::vector<std::string> starting_hosts(const cluster_facts& cluster);

/// Reports all findings; returns whether one is an error.
bool report_findings(const std::vector<finding>& findings);

/// Tables of hosts and connections.
std::string text_of(const cluster_facts& cluster);

/// All of it, as docs/dice-run.md describes.
std::string json_of(const cluster_facts& cluster, const std::vector<finding>& findings);

}  // namespace dice_run
