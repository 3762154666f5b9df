// Only one dice-run at a time changes a deployment.
#pragma once

#include "site.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace dice_run {

/// Locks the deployment on all its hosts, those of the plan and those that may have something of an earlier one, and makes
/// its folders there. A host unlocks it when this object ends, twenty seconds after the last sign of life from this machine,
/// or when the host restarts. Each change on a host checks there that no other dice-run has locked it since.
class host_locks {
 public:
  /// Throws run_error if a host of the plan is not reached, or if a host is locked or cannot have the folders. `left_out`
  /// are neither asked nor locked, unless the plan has them.
  explicit host_locks(const site& s, const words& left_out = {});

  /// The states of all hosts, which no longer change. First those of the plan, in its order; others may have failed.
  std::vector<host_state> states;

  /// The hosts that are locked, in the order of `states`.
  words locked() const;
  /// Throws run_error if the connection to a host was lost meanwhile.
  void require() const;

 private:
  std::map<std::string, std::unique_ptr<held_script>> held_;
  std::mutex guard_;
  void lock(const site& s, const words& hosts);
};

}  // namespace dice_run
