// Whether a plan fits into the memory of its host, before the system finds out.
#pragma once

#include "dice/this_host/control_groups.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace dice::this_host {

/// Bytes that the programs on a host may use; the largest number if the host does not report them.
struct host_memory {
  std::int64_t total = std::numeric_limits<std::int64_t>::max(), available = total;
  bool limited = false;  ///< `total` is the limit of a control group, such as a container's
  bool shared = false;   ///< `available` is what a control group leaves
};

namespace detail {

/// The number after `name` in a file of names and numbers, or -1.
inline std::int64_t number_after(const std::filesystem::path& file, const std::string& name) {
  std::ifstream in(file);
  std::string word;
  for (std::string line; in >> word && std::getline(in, line);)
    if (word == name) return std::atoll(line.c_str());
  return -1;
}
/// The number in a file, or -1 ("max" of cgroup v2).
inline std::int64_t number_in(const std::filesystem::path& file) {
  std::int64_t out = -1;
  return std::ifstream(file) >> out ? out : -1;
}

}  // namespace detail

/// What the host has, and what is available: MemAvailable, and what control groups leave. Files that these groups have
/// cached count as available, since the system drops them first. `root` is "/".
[[gnu::cold]] inline host_memory memory_of_host(const std::filesystem::path& root = "/") {
  using detail::number_after, detail::number_in;
  host_memory out;
  const auto known = [&](const char* name, std::int64_t& to) {
    if (const auto kib = number_after(root / "proc/meminfo", name); kib >= 0) to = kib * 1024;
  };
  known("MemTotal:", out.total);
  known("MemAvailable:", out.available);
  for (const auto& group : control_groups(root, "memory")) {
    const bool second = std::filesystem::exists(group / "memory.max");
    const auto limit = number_in(group / (second ? "memory.max" : "memory.limit_in_bytes"));
    if (limit < 0 || limit > std::numeric_limits<std::int64_t>::max() - (1 << 20)) continue;  // "no limit" of v2 and of v1
    const auto used = number_in(group / (second ? "memory.current" : "memory.usage_in_bytes"));
    const auto cached = number_after(group / "memory.stat", second ? "inactive_file" : "total_inactive_file");
    const auto left = limit - std::max<std::int64_t>(used - std::max<std::int64_t>(cached, 0), 0);
    if (limit < out.total) {
      out.total = limit;
      out.limited = true;
    }
    if (left < out.available) {
      out.available = left;
      out.shared = true;
    }  // also of a group that may have more than the host
  }
  return out;
}

/// What to say about ranks that plan `planned` bytes on a host with this memory, of an engine or of a program.
struct memory_verdict {
  std::string error, warning;  ///< empty: none
};
[[gnu::cold]] inline memory_verdict judge_memory(std::int64_t planned, const host_memory& host, bool engine = false) {
  const auto gib = [](std::int64_t bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g GiB", static_cast<double>(bytes) / (1 << 30));
    return std::string(text);
  };
  const std::string plan = "the ranks on this host plan " + gib(planned) + " of memory, but ",
                    limit = host.limited ? " (the limit of its control group)" : "";
  if (planned > host.total)
    return {
        plan + "it has " + gib(host.total) + limit + "; give it fewer layers, " +
            (engine
                 ? "fewer frames in flight (engine_options::in_flight)"
                 : "frames in flight (--in-flight) or frames with --output, --top or --expect (a stream, --input -, keeps "
                   "none)") +
            ", or use more hosts",
        ""};
  if (planned > host.available)
    return {"", plan + "only " + gib(std::max<std::int64_t>(host.available, 0)) + " of " + gib(host.total) + limit +
                    " are available" + (host.shared && !host.limited ? " to its control group" : "") +
                    "; the system may become slow or end the program: end others, or give this host less"};
  return {};
}

}  // namespace dice::this_host
