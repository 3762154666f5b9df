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

/// Number of processes that mpirun started, this one included, read from the environment without MPI; 0 if mpirun did not
/// start it.
inline int launched_size() { return detail::first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 0); }
/// This process's number among them.
inline int launched_rank() { return detail::first_number({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}, 0); }
/// Its number among those of its host.
inline int launched_local_rank() {
  return detail::first_number({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"}, launched_rank());
}

}  // namespace dice::job
