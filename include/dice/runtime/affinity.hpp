// The cores that a rank's thread may use, as the operating system tells.
#pragma once

#include "dice/platform/unit.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

namespace dice::runtime {

inline constexpr int most_core = 1 << 20;  ///< no system has a core of this number

/// Cores that the calling thread may use, ascending; empty if the system does not tell.
inline std::vector<int> usable_cores() {
  std::vector<int> out;
  for (int limit = 1024; limit <= most_core; limit *= 4) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(limit));
    if (!set) break;
    const auto bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(limit));
    const bool told = ::sched_getaffinity(0, bytes, set) == 0;
    for (int c = 0; told && c < limit; ++c)
      if (CPU_ISSET_S(static_cast<std::size_t>(c), bytes, set)) out.push_back(c);
    CPU_FREE(set);
    if (told) break;
  }
  return out;
}

/// Lets the calling thread, and those that it starts later, run on `cores` only; those from most_core on are left out. False
/// if the system refuses.
inline bool use_cores(std::span<const int> cores) {
  int limit = 1024;
  for (int c : cores)
    if (c >= limit && c < most_core) limit = c + 1;
  cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(limit));
  if (!set) return false;
  const auto bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(limit));
  CPU_ZERO_S(bytes, set);
  for (int c : cores)
    if (c < limit) CPU_SET_S(static_cast<std::size_t>(c), bytes, set);
  const bool done = ::sched_setaffinity(0, bytes, set) == 0;
  CPU_FREE(set);
  return done;
}

/// How a rank computes on this host, and what is to be said about it.
struct crew {
  int threads = 1;
  std::vector<int> cores;  ///< to pin them to; empty: none
  std::string warning;     ///< empty: all is as the unit says
};

/// Threads for unit `u` (with `listed` cores) in the calling thread, whose affinity is set for cores<…>. The cores of a
/// `cpu` are shared by `sharers` ranks. `online` cores exist; `remedy` ends the warning.
inline crew engage(const platform::unit& u, std::span<const int> listed, int sharers, int online,
                   const std::string& remedy) {
  using kind = platform::unit::kind;
  crew out;
  const auto may = usable_cores();
  const int usable = may.empty() ? 1 : static_cast<int>(may.size());
  const auto few = [&](int have) {
    return "may use " + std::to_string(have) + " of " + std::to_string(online) + (online == 1 ? " core" : " cores");
  };
  switch (u.what) {
    case kind::cores: {
      std::string lacking;
      use_cores(listed);
      const auto got = usable_cores();
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
      const char* wish = std::getenv("OMP_NUM_THREADS");
      const long wanted = wish ? std::strtol(wish, nullptr, 10) : 0;
      out.threads = wanted > 0             ? static_cast<int>(std::min<long>(wanted, platform::most_threads))
                    : usable / sharers > 1 ? usable / sharers
                                           : 1;
      if (wanted > usable) out.warning = few(usable) + ", but OMP_NUM_THREADS says " + std::to_string(wanted) + remedy;
      if (wanted > out.threads) out.warning += "; " + std::to_string(out.threads) + " threads are started";
      else if (wanted <= 0 && usable == 1 && online > 1) out.warning = few(usable) + remedy;
      break;
    }
    case kind::gpu:
      break;
  }
  return out;
}

}  // namespace dice::runtime
