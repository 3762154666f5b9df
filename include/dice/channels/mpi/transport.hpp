#pragma once

#include "dice/channels/mpi/launcher.hpp"
#include "dice/channels/transport_info.hpp"
#include "dice/meta/library.hpp"

#include <chrono>
#include <string>

namespace dice::channels::mpi {

#ifdef DICE_WITH_MPI
/// If this host has another version of Open MPI than the one with which dice was compiled: "has Open MPI v4.1.0, …"; else
/// empty.
DICE_API std::string another_library();
/// Starts MPI, which ends with the membership, and joins all processes. Embedded: as join() in mpi/processes.hpp does.
DICE_API membership join(int ranks, bool embedded);
#endif

inline constexpr transport_info about{
    .id = transport::mpi,
    .word = "mpi",
    .ranks = "MPI processes",
    .processes = true,
    .gpu_messages = true,
    .library = "MPI",
    .remedy = "build it where CMake finds Boost.MPI, or with pkg-config's flags",
    .started_by = {.name = "mpirun",
                   .count = "-n",
                   .input = "--stdin",
                   .place = "--rankfile",
                   .hosts = "--host",
                   .bind = "--bind-to",
                   .unbind = "--bind-to none",
                   .signals = std::chrono::seconds(1)},  // Open MPI 4.1
    .lost_peer = "mpirun was interrupted, or another rank has failed",
    .launched = launched,
    .bound = bound_by_user,
#ifdef DICE_WITH_MPI
    .misfit = another_library,
    .join = join,
#endif
};

}  // namespace dice::channels::mpi

#if defined(DICE_HEADER_ONLY) && defined(DICE_WITH_MPI)
#include "dice/channels/mpi/transport.ipp"
#endif
