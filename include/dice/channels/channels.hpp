/// Umbrella of the room `channels`: the contract and the transports that are built in.
#pragma once

#include "dice/channels/channel.hpp"
#include "dice/channels/in_process/hub.hpp"
#ifdef DICE_WITH_MPI
#include "dice/channels/mpi/communicator.hpp"
#endif
