// The threads of a rank and their cores.
#pragma once

#include "dice/platform/unit.hpp"
#include "dice/this_host/cores.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

namespace dice::this_host {

/// How a rank computes on this host, and a warning about it.
struct thread_plan {
  int threads = 1;
  std::vector<int> cores;  ///< to pin them to; empty: none
  std::string warning;     ///< empty: all is as the unit requires
};

/// Threads for unit `u` (with `listed` cores) in the calling thread, whose affinity is set for cores<…>. The cores of a
/// `cpu` are shared by `sharers` ranks. `online` cores exist; `remedy` ends the warning.
/// `bound`: the user chose the process's cores, so that a `cpu` of a single core is not a mistake.
inline thread_plan engage(const platform::unit& u, std::span<const int> listed, int sharers, int online,
                          const std::string& remedy, bool bound = false) {
  using kind = platform::unit::kind;
  thread_plan out;
  const auto may = this_host::usable_cores();
  const int usable = may.empty() ? 1 : static_cast<int>(may.size());
  const auto few = [&](int have) {
    return "may use " + std::to_string(have) + " of " + std::to_string(online) + (online == 1 ? " core" : " cores");
  };
  switch (u.what) {
    case kind::cores: {
      std::string lacking;
      this_host::use_cores(listed);
      const auto got = this_host::usable_cores();
      for (int c : listed) {
        bool there = false;
        for (int g : got) there |= g == c;
        if (there) out.cores.push_back(c);
        else lacking += (lacking.empty() ? "" : ", ") + std::to_string(c);
      }
      out.threads = out.cores.empty() ? u.count : static_cast<int>(out.cores.size());
      if (!lacking.empty())
        out.warning =
            "cannot use core " + lacking + ", which its unit lists; cores here are 0 to " + std::to_string(online - 1);
      break;
    }
    case kind::threads:
      out.threads = u.count;
      if (usable < u.count)
        out.warning = few(usable) + ", but its unit says " + std::to_string(u.count) + " threads" + remedy;
      break;
    case kind::cpu: {
      const char* given = std::getenv("OMP_NUM_THREADS");
      const long wanted = given ? std::strtol(given, nullptr, 10) : 0;
      out.threads = wanted > 0             ? static_cast<int>(std::min<long>(wanted, platform::max_threads))
                    : usable / sharers > 1 ? usable / sharers
                                           : 1;
      if (wanted > usable) out.warning = few(usable) + ", but OMP_NUM_THREADS says " + std::to_string(wanted) + remedy;
      if (wanted > out.threads) out.warning += "; " + std::to_string(out.threads) + " threads are started";
      else if (wanted <= 0 && usable == 1 && online > 1 && !bound) out.warning = few(usable) + remedy;
      break;
    }
    default:  // accelerators: the rank's one thread
      break;
  }
  return out;
}

}  // namespace dice::this_host
