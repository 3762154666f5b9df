// A program that uses a network besides its other work: a camera's thread pushes pictures, results are printed as they come,
// and meanwhile the ranks exchange other MPI messages.
#include <dice/engine.hpp>

#include "digits.hpp"

#include <boost/mpi/collectives/all_reduce.hpp>
#include <boost/mpi/environment.hpp>
#include <xtensor/xview.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <optional>
#include <thread>

namespace mpi = boost::mpi;
using namespace std::chrono_literals;

using deployment = dice::mapping<dice::dev<0, dice::cpu>, dice::layers<dice::range<digits::picture, digits::pool2>>,
                                 dice::dev<1, dice::cpu>, dice::layers<dice::range<digits::conv3, digits::scores>>>;

/// Whether `dice-run stop`, or a SIGUSR1 to mpirun, has asked the job to end.
std::atomic<bool> asked_to_end = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // as a signal handler needs it
extern "C" void end_in_order(int) { asked_to_end = true; }

/// Stands for a camera: shows the pictures of a file, 200 a second.
class camera {
 public:
  explicit camera(const char* file) : pictures_(dice::load_frames<digits::picture>(file)) {}
  std::size_t pictures() const { return pictures_.shape(0); }
  /// Writes picture k to `to`, shape (1, 1, 8, 8).
  template <class View> void grab(std::size_t k, View&& to) const { xt::view(to, 0) = xt::view(pictures_, k % pictures()); }
  static void wait() { std::this_thread::sleep_for(5ms); }

 private:
  xt::xarray<float> pictures_;
};

/// Computes the pictures of a file.
void run(const char* file) {
  const mpi::communicator world;
  std::optional<camera> eye;                                      // outlives the engine, which reads from it
  auto engine = dice::start<digits::network, deployment>(world);  // in all ranks; works on a duplicate of `world`

  std::jthread source;
  if (engine.has_input()) {  // the rank that holds the input
    eye.emplace(file);
    source = std::jthread([&engine, &eye = *eye] {
      try {
        for (std::size_t k = 0; k < eye.pictures() && !asked_to_end; ++k) {
          camera::wait();
          // The engine calls the function when the frame enters, perhaps after this thread's end: the picture goes straight
          // to its place in the network. push() waits while the pipeline is full; use try_push() if pictures may be dropped.
          engine.push([&eye, k](auto view) { eye.grab(k, view); });
        }
        engine.close();
      } catch (const dice::engine_error&) {
        // Another rank failed, or this one: wait() throws the cause.
      }
    });
  }

  if (engine.has_output())  // the rank that holds the output
    engine.on_result([](std::int64_t frame, const auto& scores) {
      const auto digit = std::max_element(scores.begin(), scores.end()) - scores.begin();
      std::printf("picture %lld: %zu (%.0f %%)\n", static_cast<long long>(frame), static_cast<std::size_t>(digit),
                  100 * scores(0, digit));
      std::fflush(stdout);
    });

  // The program's other work: here the ranks tell each other every 10 ms whether there is anything left to do.
  int beats = 0;
  while (!mpi::all_reduce(world, engine.ended(), std::logical_and<>())) {
    std::this_thread::sleep_for(10ms);
    ++beats;
  }
  engine.wait();  // throws unless close() ended it
  std::printf("rank %d: %d beats beside the network\n", world.rank(), beats);
}

int main(int argc, char** argv) {
  std::signal(SIGUSR1, end_in_order);  // in all ranks: otherwise the signal ends them at once
  // The engine's threads send and receive while main does: MPI must allow it. (Without this line, dice would start MPI.)
  const mpi::environment environment(argc, argv, mpi::threading::level(dice::engine_thread_level));
  if (argc != 2) {
    std::fprintf(stderr, "usage: mpirun -n 2 %s PICTURES.npy\n", argv[0]);
    return 2;
  }
  try {  // within the environment's life: it aborts when an exception passes it, without a message
    run(argv[1]);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    environment.abort(1);  // the other ranks may wait for this one
    return 1;
  }
}
