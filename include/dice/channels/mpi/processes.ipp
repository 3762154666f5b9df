#pragma once

#include "dice/channels/mpi/communicator.hpp"
#include "dice/channels/mpi/processes.hpp"
#include "dice/channels/mpi/transport.hpp"

#include <boost/mpi/environment.hpp>

#include <memory>
#include <stdexcept>
#include <string>

namespace dice::channels::mpi {

namespace detail {

/// Ensures that MPI runs at the thread level that engines need, and starts it if the program did not. An engine in static
/// storage may be destroyed later than what the first start made; so MPI ends with the last who holds the result. Throws
/// std::runtime_error.
inline std::shared_ptr<const void> require_running() {
  const auto refuse = [](int level) {
    const char* names[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};
    const int known[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    for (int i = 0; i < 4; ++i)
      if (known[i] == level)
        throw std::runtime_error(
            std::string("MPI runs at the level ") + names[i] +
            "; an engine needs MPI_THREAD_MULTIPLE: ask MPI_Init_thread (or boost::mpi::environment) for it");
    throw std::runtime_error("MPI runs at an unknown level; an engine needs MPI_THREAD_MULTIPLE");
  };
  int ended = 0, level = 0;
  MPI_Finalized(&ended);
  if (ended) throw std::runtime_error("MPI has been finalized; start engines before that");
  static const auto begun = [] {
    int already = 0;
    MPI_Initialized(&already);
    using boost::mpi::environment;
    if (!already) send_at_once();
    return already ? nullptr : std::make_shared<const environment>(boost::mpi::threading::multiple, false);
  }();
  MPI_Query_thread(&level);
  if (level < engine_thread_level) refuse(level);
  return begun;
}

}  // namespace detail

DICE_API membership join(MPI_Comm ranks) {
  membership out{about, detail::require_running(), {}};
  out.ranks.push_back(std::make_unique<communicator>(ranks));
  return out;
}

}  // namespace dice::channels::mpi
