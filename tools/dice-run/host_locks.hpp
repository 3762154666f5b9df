// Only one dice-run at a time changes a deployment.
#pragma once

#include "process.hpp"

#include <mutex>
#include <thread>
#include <vector>

namespace dice_run {

class site;

/// Locks the deployment on all its hosts, and makes its folders there. A host unlocks it when this object ends, and twenty
/// seconds after the last sign of life from this machine; a restart of the host unlocks it, too.
class host_locks {
 public:
  /// Throws run_error if a host is not reached, is locked, or cannot have the folders.
  explicit host_locks(const site& s);

 private:
  std::vector<process> holders_;
  std::mutex guard_;
  std::jthread heart_;  // the last member: ends first
  void lock(const site& s, std::size_t host);
};

}  // namespace dice_run
