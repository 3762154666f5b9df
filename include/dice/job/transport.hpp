#pragma once

namespace dice::job {

/// What carries the messages between ranks: MPI only if there are several, MPI, or threads of one process.
enum class transport : unsigned char { automatic, mpi, in_process };

}  // namespace dice::job

namespace dice::app {
using job::transport;  // the name that programs use
}
