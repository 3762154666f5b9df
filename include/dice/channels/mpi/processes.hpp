#pragma once

#include "dice/channels/mpi/mpi.hpp"
#include "dice/channels/transport_info.hpp"
#include "dice/meta/library.hpp"

namespace dice {

/// The level of MPI_Init_thread that engines of several ranks need: their threads communicate while the program's do.
inline constexpr int engine_thread_level = MPI_THREAD_MULTIPLE;

namespace channels::mpi {

/// Joins processes of a program, for an engine beside its own messages, in a duplicate of `ranks` (collective). Starts MPI
/// if the program has not; then MPI ends when the program exits and nothing keeps the membership. Throws std::runtime_error
/// if MPI runs at a lower level than engine_thread_level, or has ended.
DICE_API membership join(MPI_Comm ranks);

}  // namespace channels::mpi
}  // namespace dice

#ifdef DICE_HEADER_ONLY
#include "dice/channels/mpi/processes.ipp"
#endif
