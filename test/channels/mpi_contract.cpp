// Run by mpirun on several ranks; exit code 0 if the contract holds.
#include "channels/contract.hpp"

#include "dice/channels/mpi/communicator.hpp"

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

/// Bytes that Open MPI sends by TCP at once; -1 if it is another MPI, or without TCP.
long eager_limit() {
  int level = 0, index = 0, count = 0;
  MPI_T_cvar_handle handle;
  long limit = -1;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  if (MPI_T_cvar_get_index("btl_tcp_eager_limit", &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
    std::size_t value = 0;
    if (MPI_T_cvar_read(handle, &value) == MPI_SUCCESS) limit = static_cast<long>(value);
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return limit;
}

/// Ranks of several hosts find their ways as Open MPI's user or Open MPI itself chooses.
bool pairs_on_other_hosts() {
  if (std::getenv("OMPI_MCA_reachable")) return false;
  const char* here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const std::string was = here ? here : "";
  ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "12345", 1);
  dice::channels::mpi::pair_by_address();
  ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", was.c_str(), 1);
  return std::getenv("OMPI_MCA_reachable");
}

int main(int argc, char** argv) {
  const bool pairs = pairs_on_other_hosts();
  const dice::channels::mpi::session session;
  dice::channels::mpi::communicator ranks;
  try {
    contract::run(ranks);
    dice::channels::mpi::communicator in_chunks(MPI_COMM_WORLD, 1000);
    contract::run(in_chunks);
    contract::settle(ranks);
    const int me = ranks.rank(), n = ranks.size(), given[2]{me, 7};
    int taken[2]{-1, -1};
    ranks.pass_around(given, taken, sizeof given);
    contract::require(taken[0] == (me + n - 1) % n && taken[1] == 7, "pass_around");
#ifdef OPEN_MPI
    const auto version = "Open MPI v" + std::to_string(OMPI_MAJOR_VERSION) + '.' + std::to_string(OMPI_MINOR_VERSION) + '.' +
                         std::to_string(OMPI_RELEASE_VERSION);
    contract::require(ranks.library() == version, ranks.library().c_str());
#endif
    contract::wake(ranks);
    const auto limit = eager_limit();
    contract::require(limit == (argc > 2 ? std::stol(argv[2]) : 1048576) || limit == -1,
                      ("a limit of " + std::to_string(limit)).c_str());
    // All ranks are on this host. With `limit`, the user has chosen how Open MPI finds ways between them, too.
    const char* how = std::getenv("OMPI_MCA_reachable");
    contract::require(how && how == std::string(argc > 2 ? "netlink" : "weighted"),
                      "ranks of one host do not compare their addresses");
    contract::require(!pairs, "ranks of several hosts compare their addresses");
    contract::require((argc > 2) == !std::getenv("OMPI_MCA_btl_tcp_max_send_size"), "a limit beside the user's");
    if (argc > 1 && argv[1] == std::string("quit")) {  // rank 0 quits while the others wait
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
