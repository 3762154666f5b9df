// Engines over MPI, in a program that uses MPI itself: mpi_engine [single|funneled|serialized|mappings|options|static].
// Exits 0 if everything worked.
#include "error_of.hpp"
#include "runtime/toy.hpp"

#include "dice/channels/mpi/processes.hpp"
#include "dice/job/stream_job.hpp"
#include "dice/runtime/other_mapping.hpp"

#include <boost/mpi/collectives/all_reduce.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// Pushes `frames` frames in the input's rank and compares the results in the output's rank.
void run(const boost::mpi::communicator& ranks, const std::vector<int>& owner, int frames, int failing_after) {
  auto net = toy::diamond();
  net[6].what = toy::op::failing;
  const toy::program toy(net, owner, 4);
  toy::failing_after = failing_after;
  const auto program = toy.view();
  dice::engine_options options;
  options.weights = "/tmp/dice_mpi_engine_" + std::to_string(::getpid()) + ".safetensors";
  toy.write_weights(options.weights);
  std::string failure;
  {
    dice::job::stream_job job(program, options, ranks);
    ::unlink(options.weights.c_str());
    std::thread source;
    if (job.holds(0))
      source = std::thread([&] {
        try {
          for (int k = 0; k < frames; ++k)
            job.push(
                0,
                [k] {
                  return [k](float* to, std::int64_t) {
                    const auto from = toy::frame(0, k);
                    std::copy(from.begin(), from.end(), to);
                  };
                },
                dice::frames::never);
          job.close();
        } catch (const dice::engine_error&) {
        }
      });
    // Meanwhile, messages of the program itself, on the communicator that the engine was given.
    for (int i = 0; i < 50; ++i)
      require(boost::mpi::all_reduce(ranks, i, std::plus<>()) == i * ranks.size(), "the program's own all_reduce");
    int taken = 0;
    try {
      if (job.holds(9)) {
        dice::frames::tensor result;
        for (; job.take(9, result, dice::frames::never); ++taken)
          require(toy::values(result.begin(), result.end()) == toy.compute({{0, toy::frame(0, taken)}}).at(9), "a result");
      }
      job.wait();
    } catch (const dice::engine_error& e) {
      failure = e.what();
      require(e.rank() == owner[6] && e.frame() == failing_after && e.layer() == "/node/6",
              "what the engine says of the failure");
    }
    if (source.joinable()) source.join();
    require(failure.empty() ? !job.holds(9) || taken == frames : taken <= failing_after, "number of results");
  }
  require(failure.empty() == (failing_after < 0), "whether it failed");
  require(boost::mpi::all_reduce(ranks, 1, std::plus<>()) == ranks.size(), "the communicator afterwards");
}

/// The toy with all layers in one rank ("one"), or in two.
class mapped final : public dice::runtime::other_mapping {
 public:
  explicit mapped(std::string_view given)
      : toy_(toy::diamond(), given == "one" ? std::vector<int>(10) : std::vector<int>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 4),
        program_(toy_.view()) {}
  const dice::runtime::program& program() const override { return program_; }
  std::span<const dice::platform::device> devices() const override { return {}; }

 private:
  const toy::program toy_;
  const dice::runtime::program program_;
};

/// One of two processes gets a mapping of one rank, the other a mapping of two: both get an error.
void give_mappings(bool one) {
  const toy::program toy(toy::diamond(), std::vector<int>(10), 4);
  auto program = toy.view();
  program.remap = [](const dice::runtime::program&, std::string_view given) {
    return dice::runtime::owned_mapping{std::make_unique<const mapped>(given)};
  };
  try {
    dice::job::stream_job job(program, {.mapping = one ? "one" : "two"});
  } catch (const dice::engine_error& e) {
    require(std::string(e.what()).find(": another mapping, or another program; ") != std::string::npos, e.what());
    return;
  }
  throw std::runtime_error("an engine ran under a mapping that the other process does not have");
}

/// One of two processes checks numbers, and the other does not: both get an error.
void give_options(bool checks) {
  const toy::program toy(toy::diamond(), {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 4);
  try {
    dice::job::stream_job job(toy.view(), {.check_numbers = checks});
  } catch (const dice::engine_error& e) {
    require(std::string(e.what()).find(" runs with check_numbers = ") != std::string::npos, e.what());
    return;
  }
  throw std::runtime_error("an engine checked numbers in one process only");
}

/// An engine in given ranks refuses a level of CPUs that the program has not.
void give_level(const boost::mpi::communicator& ranks) {
  const toy::program toy(toy::diamond(), {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 4);
  ::setenv("DICE_CPU_LEVEL", "x86-64-v9", 1);
  const auto error = test::error_of([&] { dice::job::stream_job(toy.view(), {}, ranks); });
  ::unsetenv("DICE_CPU_LEVEL");
  require(error.find("DICE_CPU_LEVEL is 'x86-64-v9'") != std::string::npos, error.c_str());
}

/// Two processes have weights of different trainings: both get an error.
void give_weights(char training) {
  toy::program toy(toy::diamond(), {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 4);
  toy.content = std::string(64, training);
  dice::engine_options options;
  options.weights = "/tmp/dice_mpi_engine_" + std::to_string(::getpid()) + ".safetensors";
  toy.write_weights(options.weights);
  std::string error;
  try {
    dice::job::stream_job job(toy.view(), options);
  } catch (const dice::engine_error& e) {
    error = e.what();
  }
  ::unlink(options.weights.c_str());
  for (const char* part :
       {"different trainings: rank 0 (host ", "(digest aaaaaaaaaaaaaaaa…), rank 1 (host ", "(digest bbbbbbbbbbbbbbbb…); "})
    require(error.find(part) != std::string::npos, error.c_str());
}

const toy::program static_toy(toy::diamond(), {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 4);
const dice::runtime::program static_program = static_toy.view();
std::unique_ptr<dice::job::stream_job> static_job;  // destroyed after everything that main makes in static storage

/// The engine starts MPI and needs it until the end of the process.
void start_static() {
  dice::engine_options options;
  options.weights = "/tmp/dice_mpi_engine_" + std::to_string(::getpid()) + ".safetensors";
  static_toy.write_weights(options.weights);
  static_job = std::make_unique<dice::job::stream_job>(static_program, options);
  ::unlink(options.weights.c_str());
  int level = 0;
  MPI_Query_thread(&level);
  require(level == dice::engine_thread_level, "MPI was started for an engine at another level");
  require(std::getenv("OMPI_MCA_btl_tcp_eager_limit"), "MPI was started with its own limit for long messages");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "static") return start_static(), 0;
  using boost::mpi::threading::level;
  const std::map<std::string, std::pair<level, const char*>> low{
      {"single", {level::single, "level MPI_THREAD_SINGLE;"}},
      {"funneled", {level::funneled, "level MPI_THREAD_FUNNELED;"}},
      {"serialized", {level::serialized, "level MPI_THREAD_SERIALIZED;"}}};
  const auto given = low.find(argc > 1 ? argv[1] : "");
  const boost::mpi::environment environment(argc, argv, given == low.end() ? level::multiple : given->second.first);
  const boost::mpi::communicator world;
  try {
    if (given != low.end()) {
      const toy::program toy(toy::diamond(), {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 4);
      const auto start = [&] { dice::job::stream_job(toy.view(), {}, world); };
      const auto at_the_level = test::error_of(start);
      require(at_the_level.find(given->second.second) != std::string::npos, at_the_level.c_str());
      MPI_Finalize();
      const auto after_the_end = test::error_of(start);
      require(after_the_end.find("MPI has been finalized") != std::string::npos, after_the_end.c_str());
      return 0;
    }
    if (argc > 1 && std::string(argv[1]) == "options")
      return give_level(world), give_options(world.rank() == 0), give_weights(world.rank() == 0 ? 'a' : 'b'), 0;
    if (argc > 1) {
      for (const int first : {0, 1}) give_mappings(world.rank() == first);
      return 0;
    }
    // Ranks in another order than the world's.
    const auto ranks = world.split(0, world.size() - world.rank());
    for (int round = 0; round < 3; ++round) {
      run(ranks, {0, 0, 1, 1, 0, 1, 2, 2, 2, 2}, 60, -1);
      run(ranks, {0, 1, 2, 1, 0, 1, 0, 2, 0, 1}, 60, -1);
      run(ranks, {0, 0, 1, 1, 0, 1, 2, 2, 2, 2}, 60, 7);
      run(ranks, {2, 1, 2, 1, 0, 1, 0, 2, 0, 1}, 1000, 31);
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "rank %d: %s\n", world.rank(), e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}
