#pragma once

#include <cstdint>
#include <vector>

namespace dice::this_host {

/// The use of a rank's cores during a run, as far as the host reports it (core_watch). Times in nanoseconds.
struct core_use {
  std::int64_t time = 0;            ///< of the run
  std::int64_t waited = 0;          ///< a thread of the rank was ready to run, but had no core: of the one that waited most
  std::int64_t stolen = 0;          ///< the hypervisor ran others, per core
  std::int64_t throttled = 0;       ///< a control group's quota stopped threads, of all cores together
  std::int64_t busy = 0;            ///< any program computed, of all cores together
  std::int64_t used = 0;            ///< CPU time of the rank's process
  std::int64_t process = 0;         ///< its id
  std::int64_t threads = 0;         ///< of the rank
  std::vector<std::int64_t> cores;  ///< that they may use; empty: unknown
};

}  // namespace dice::this_host
