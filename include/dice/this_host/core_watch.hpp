// Time for which a rank could have run but had no core, as the host's kernel counts it in /proc and in the files of control
// groups.
#pragma once

#include "dice/meta/clock.hpp"
#include "dice/this_host/control_groups.hpp"
#include "dice/this_host/core_use.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace dice::this_host {

namespace detail {

/// What the host has counted so far, in ns; nothing where it does not say.
struct core_counters {
  std::map<std::string, std::int64_t> waited;     ///< by thread: ready to run, without a core
  std::int64_t busy = 0, stolen = 0;              ///< of all cores of the rank together
  std::int64_t used = 0;                          ///< CPU time of this process
  std::map<std::string, std::int64_t> throttled;  ///< by control group
};

inline std::int64_t waited_in(const std::filesystem::path& schedstat) {
  std::int64_t ran = 0, waited = 0;
  std::ifstream(schedstat) >> ran >> waited;
  return waited;
}

/// The time that control group `folder` was stopped by its quota: of cgroup v2 in µs, of v1 in ns.
inline std::int64_t throttled_in(const std::filesystem::path& folder) {
  std::ifstream in(folder / "cpu.stat");
  std::string name;
  for (std::int64_t value = 0; in >> name >> value;) {
    if (name == "throttled_usec") return value * 1000;
    if (name == "throttled_time") return value;
  }
  return 0;
}

/// Of the control groups of this process and of those above them.
[[gnu::cold]] inline std::map<std::string, std::int64_t> throttled(const std::filesystem::path& root) {
  std::map<std::string, std::int64_t> out;
  for (const auto& group : control_groups(root, "cpu")) out[group.string()] = throttled_in(group);
  return out;
}

/// `all_threads`: of this process; otherwise, of the calling thread.
[[gnu::cold]] inline core_counters count_cores(const std::filesystem::path& root, const std::vector<int>& cores,
                                               bool all_threads) {
  core_counters out;
  if (all_threads) {
    std::error_code failed;
    for (std::filesystem::directory_iterator thread(root / "proc/self/task", failed), end; !failed && thread != end;
         thread.increment(failed))
      out.waited[thread->path().filename()] = waited_in(thread->path() / "schedstat");
  } else {
    out.waited[""] = waited_in(root / "proc/thread-self/schedstat");
  }
  const std::int64_t tick = 1'000'000'000 / std::max(1L, ::sysconf(_SC_CLK_TCK));
  std::ifstream stat(root / "proc/stat");
  for (std::string line; std::getline(stat, line) && line.rfind("cpu", 0) == 0;) {
    std::istringstream words(line.substr(3));
    int core = -1;
    std::int64_t user = 0, nice = 0, system = 0, idle = 0, io = 0, irq = 0, soft_irq = 0, stolen = 0;
    if (line[3] == ' ' || !(words >> core >> user >> nice >> system >> idle >> io >> irq >> soft_irq >> stolen)) continue;
    if (std::find(cores.begin(), cores.end(), core) == cores.end()) continue;
    out.busy += (user + nice + system) * tick;
    out.stolen += stolen * tick;
  }
  timespec used{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0) out.used = used.tv_sec * 1'000'000'000LL + used.tv_nsec;
  out.throttled = throttled(root);
  return out;
}

}  // namespace detail

/// Watches the cores of a rank from its own construction on.
class core_watch {
 public:
  /// The rank has `threads` threads on `cores`. `alone`: it has this process to itself; otherwise, only the calling thread's
  /// waiting counts as the rank's.
  core_watch(std::vector<int> cores, int threads, bool alone, std::string root = "/")
      : cores_(std::move(cores)), threads_(threads), alone_(alone), root_(std::move(root)) {}

  [[gnu::cold]] core_use used() const {
    const auto now_counted = detail::count_cores(root_, cores_, alone_);
    core_use out;
    out.time = meta::now() - begin_;
    for (const auto& [thread, waited] : now_counted.waited)
      if (const auto at = before_.waited.find(thread); at != before_.waited.end())
        out.waited = std::max(out.waited, waited - at->second);
    const auto n = std::max<std::int64_t>(1, static_cast<std::int64_t>(cores_.size()));
    out.stolen = (now_counted.stolen - before_.stolen) / n;
    out.busy = now_counted.busy - before_.busy;
    out.used = now_counted.used - before_.used;
    for (const auto& [group, time] : now_counted.throttled)
      if (const auto at = before_.throttled.find(group); at != before_.throttled.end())
        out.throttled = std::max(out.throttled, time - at->second);
    out.process = ::getpid();
    out.threads = threads_;
    out.cores.assign(cores_.begin(), cores_.end());
    return out;
  }

 private:
  std::vector<int> cores_;
  int threads_;
  bool alone_;
  std::filesystem::path root_;
  detail::core_counters before_ = detail::count_cores(root_, cores_, alone_);
  std::int64_t begin_ = meta::now();
};

}  // namespace dice::this_host
