// The calling thread's OpenMP team: its size and its cores. The runtime calls these through function pointers.
#pragma once

#include <omp.h>

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <span>
#include <vector>

namespace dice::kernels::team {

/// Cores that the calling thread may use, ascending; empty where the operating system does not tell.
inline std::vector<int> allowed_cores() {
  std::vector<int> cores;
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) cores.push_back(core);
#endif
  return cores;
}

/// Threads of the teams that the calling thread starts: OMP_NUM_THREADS, what set_threads() said, or the cores allowed.
inline int available_threads() { return omp_get_max_threads(); }

/// Kernels called by this thread use teams of at most `count` threads; less than 1 counts as 1.
inline void set_threads(int count) {
  omp_set_dynamic(0);
  omp_set_num_threads(std::max(1, count));
}

/// Sets the team's size to the number of cores and binds thread i of it to cores[i]. False if a core is refused (none by
/// that number, or not allowed to this process) or binding is not to be had; threads bound already stay so.
inline bool pin(std::span<const int> cores) {
#ifdef __linux__
  if (cores.empty()) return false;
  const int count = static_cast<int>(cores.size());
  set_threads(count);
  bool bound = true;
#pragma omp parallel num_threads(count) reduction(&& : bound)
  {
    const int core = cores[static_cast<std::size_t>(omp_get_thread_num())];
    cpu_set_t set;
    CPU_ZERO(&set);
    if (core >= 0 && core < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(core), &set);
    bound = omp_get_num_threads() == count && sched_setaffinity(0, sizeof set, &set) == 0;
  }
  return bound;
#else
  (void)cores;
  return false;
#endif
}

}  // namespace dice::kernels::team
