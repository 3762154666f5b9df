#pragma once

#include <cstdlib>
#include <initializer_list>

namespace dice::job {

namespace detail {

inline int first_number(std::initializer_list<const char*> variables, int otherwise) {
  for (const char* v : variables)
    if (const char* text = std::getenv(v)) return std::atoi(text);
  return otherwise;
}

}  // namespace detail

/// Processes that mpirun started together with this one, as its environment tells without MPI; 0 if none did.
inline int launched_size() { return detail::first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 0); }
/// This process's number among them.
inline int launched_rank() { return detail::first_number({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}, 0); }
/// Its number among those of its host.
inline int launched_local_rank() {
  return detail::first_number({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"}, launched_rank());
}

}  // namespace dice::job
