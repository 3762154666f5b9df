#pragma once

namespace dice::channels {

/// What carries the messages between ranks: MPI only if there are several, MPI, or threads of one process.
enum class transport : unsigned char { automatic, mpi, in_process };

}  // namespace dice::channels
