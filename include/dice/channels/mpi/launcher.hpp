// What mpirun tells the processes that it starts. Read without MPI, so that programs without it recognise mpirun, too.
#pragma once

#include "dice/channels/transport_info.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>

namespace dice::channels::mpi {

namespace detail {

inline int first_number(std::initializer_list<const char*> variables, int otherwise) {
  for (const char* v : variables)
    if (const char* text = std::getenv(v)) return std::atoi(text);
  return otherwise;
}

}  // namespace detail

/// This process among those that mpirun has started, from the environment.
inline launch launched() {
  launch out;
  out.size = detail::first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 0);
  out.rank = detail::first_number({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}, 0);
  out.local_rank = detail::first_number({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"}, out.rank);
  return out;
}

/// Whether this command line, with a zero byte after each word, is that of an mpirun that was told which cores the processes
/// get.
[[gnu::cold]] inline bool binds(std::string_view words) {
  const auto next = [&] {
    const auto end = std::min(words.find('\0'), words.size());
    const auto word = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    return word;
  };
  const auto has = [](std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; };
  while (!words.empty()) {
    auto option = next();
    if (!option.starts_with('-')) continue;
    option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
    if (option == "rankfile" || option == "rf" || option == "cpu-set" || option == "cpu-list") return true;
    if (option == "bind-to" && !next().starts_with("none")) return true;
    if (option != "map-by") continue;
    const auto how = next();
    if (has(how, "rankfile") || has(how, "PE=") || has(how, "pe=") || has(how, "pe-list=")) return true;
  }
  return false;
}

/// Whether the user told mpirun which cores this process gets: by a rankfile, --bind-to, --cpu-set, --cpu-list or PE=n. Open
/// MPI 4.1 passes these on in the environment, but not its own choice. 5.0 does not, so the command line of this process's
/// parent is read, too: that is mpirun if both are on one host.
inline bool bound_by_user() {
  const auto said = [](const char* variable, std::string_view word) {
    const char* text = std::getenv(variable);
    return text && *text && std::string_view(text).find(word) != std::string_view::npos;
  };
  const bool policy = said("OMPI_MCA_hwloc_base_binding_policy", "") && !said("OMPI_MCA_hwloc_base_binding_policy", "none");
  std::ifstream parent("/proc/" + std::to_string(::getppid()) + "/cmdline");
  if (launched().size > 0 && binds(std::string(std::istreambuf_iterator<char>(parent), {}))) return true;
  return policy || said("OMPI_MCA_orte_rankfile", "") || said("OMPI_MCA_rmaps_rank_file_path", "") ||
         said("OMPI_MCA_hwloc_base_cpu_set", "") || said("OMPI_MCA_hwloc_base_cpu_list", "") ||
         said("OMPI_MCA_rmaps_base_mapping_policy", "PE=") || said("OMPI_MCA_rmaps_base_mapping_policy", "pe=");
}

}  // namespace dice::channels::mpi
