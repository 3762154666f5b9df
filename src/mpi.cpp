// Ranks as MPI processes.
#include "dice/channels/mpi/processes.ipp"
#include "dice/channels/mpi/transport.ipp"
