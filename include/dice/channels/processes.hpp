// Processes that a program has joined itself.
#pragma once

#include "dice/channels/transport_info.hpp"
#ifdef DICE_WITH_MPI
#include "dice/channels/mpi/processes.hpp"
#endif

#include <concepts>
#include <functional>
#include <utility>

namespace dice::channels {

/// Processes of a program, in whatever form their transport knows them, over which an engine can run beside the program's
/// own messages.
class processes {
 public:
  /// `join` makes the calling process a member; collective.
  explicit processes(std::function<membership()> join) : join_(std::move(join)) {}
#ifdef DICE_WITH_MPI
  /// An MPI_Comm, or a boost::mpi::communicator.
  template <std::convertible_to<MPI_Comm> Ranks>
  processes(const Ranks& ranks) : join_([all = static_cast<MPI_Comm>(ranks)] { return mpi::join(all); }) {}
#endif
  /// Collective. Throws std::runtime_error.
  membership join() const { return join_(); }

 private:
  std::function<membership()> join_;
};

}  // namespace dice::channels
