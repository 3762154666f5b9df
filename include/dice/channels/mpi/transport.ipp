#pragma once

#include "dice/channels/mpi/communicator.hpp"
#include "dice/channels/mpi/processes.hpp"
#include "dice/channels/mpi/transport.hpp"

#include <memory>
#include <string>

namespace dice::channels::mpi {

/// Different versions in one job fail in MPI_Init, with messages that do not say so.
[[gnu::cold]] DICE_API std::string another_library() {
#ifdef OPEN_MPI
  std::string wanted = "Open MPI v";
  wanted += std::to_string(OMPI_MAJOR_VERSION) + "." + std::to_string(OMPI_MINOR_VERSION) + "." +
            std::to_string(OMPI_RELEASE_VERSION);
  if (const auto found = library_here(); found != wanted)
    return "has " + found + ", and this program was built with " + wanted +
           "; install that version on all hosts, or build with the sysroot of a host that has this one";
#endif
  return {};
}

DICE_API membership join(int, bool embedded) {
  if (embedded) return join(MPI_COMM_WORLD);
  membership out{about, std::make_shared<const session>(), {}};
  out.ranks.push_back(std::make_unique<communicator>());
  return out;
}

}  // namespace dice::channels::mpi
