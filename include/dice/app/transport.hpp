#pragma once

namespace dice::app {

/// What carries the messages between ranks: MPI if there are several, MPI, or threads of one process.
enum class transport : unsigned char { automatic, mpi, in_process };

}  // namespace dice::app
