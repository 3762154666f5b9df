// Run by mpirun on several ranks; exit code 0 if the contract holds.
#include "channels/contract.hpp"

#include "dice/channels/mpi/communicator.hpp"

#include <climits>
#include <cstdint>
#include <cstdio>

int main(int argc, char** argv) {
  dice::channels::mpi::session session(argc, argv);
  dice::channels::mpi::communicator ranks;
  try {
    contract::run(ranks);
    dice::channels::mpi::communicator in_pieces(MPI_COMM_WORLD, 1000);
    contract::run(in_pieces);
    contract::settle(ranks);
    contract::wake(ranks);
    if (argc > 1) {  // rank 0 quits while the others wait
      const auto end = ranks.connect({});
      if (ranks.rank() == 0) {
        end->quit();
        ranks.stop("expected: rank 0 gives up");
      }
      ranks.all_gather({});
      std::puts("a rank went on");
    }
    // A message larger than MPI's int can count is refused, not truncated.
    const dice::channels::path large[] = {{0, 1, 1, std::int64_t{INT_MAX} + 1, 1, 1}};
    try {
      ranks.connect(large);
      contract::require(false, "a message of 2 GiB was accepted");
    } catch (const std::runtime_error& e) {
      contract::require(std::string(e.what()).find("2147483648") != std::string::npos, e.what());
    }
    ranks.all_gather({});
    return 0;
  } catch (const std::exception& e) {
    ranks.stop(e.what());
  }
}
