// What dice-run measure has measured, as the cluster of a project.
#pragma once

#include <string>
#include <vector>

namespace dice_run {

struct measured_cluster {
  std::string header;              ///< in C++: the cluster `machines`
  std::string profile;             ///< which the header needs, for dice_add_network(… PROFILE …)
  std::vector<std::string> notes;  ///< where stated rates or earlier times are left, and why
};

/// The hosts of the cluster for which the job was built, with the times of `profile`, which --measure wrote. A processor
/// without times of all layers there keeps those of `before`, the last such profile or "", or else its stated rates. Hosts
/// of one board that are equally fast (10 %) have one profile, that of the slowest. Throws run_error if there is no cluster,
/// or if neither times nor rates of a processor are known.
measured_cluster measured_cluster_of(const std::string& profile, const std::string& before);

}  // namespace dice_run
