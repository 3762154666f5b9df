// Frames that arrive at a rate, on two hosts: mpirun -n 2 arrivals pipeline|greedy WEIGHTS RATE FRAMES FASTER. They arrive
// at rank 0. The pipeline cuts the network after layer LAST; greedy gives each whole frame to a free host, to rank FASTER if
// both are free, or lets it wait for one. Prints frames/s from the first arrival to the last result, and median and 95th
// percentile of the ms from arrival to result. The hosts must share a clock, as those of tools/testbed do. dp defines
// NETWORK, HEADER and LAST, and includes this.
#include <dice/engine.hpp>

#include HEADER

#include <boost/mpi/collectives/broadcast.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

using namespace dice;
using namespace std::chrono_literals;
using whole = NETWORK::network;
using alone = mapping<dev<0, threads<1>>, layers<all>>;
using pipeline = mapping<dev<0, threads<1>>, layers<to<whole::layer<LAST>>>,  //
                         dev<1, threads<1>>, layers<from<whole::layer<LAST + 1>>>>;
using steady = std::chrono::steady_clock;

constexpr int before = 5;  // frames to warm up

struct traffic {
  double rate;
  int frames, faster;
  steady::time_point begin;  ///< the first arrival

  steady::time_point arrival(int k) const {
    return begin + std::chrono::nanoseconds(static_cast<std::int64_t>(k / rate * 1e9));
  }
  void report(const std::vector<steady::time_point>& done) const {
    std::vector<double> ms;
    for (int k = 0; k < frames; ++k) ms.push_back(std::chrono::duration<double, std::milli>(done[k] - arrival(k)).count());
    const double seconds = std::chrono::duration<double>(*std::max_element(done.begin(), done.end()) - begin).count();
    std::sort(ms.begin(), ms.end());
    std::printf("%.6g %.6g %.6g\n", frames / seconds, ms[ms.size() / 2], ms[ms.size() * 95 / 100]);
  }
};

/// The time to begin, the same everywhere, once all are ready.
steady::time_point agreed_begin(const boost::mpi::communicator& world) {
  world.barrier();
  std::int64_t at = (steady::now() + 200ms).time_since_epoch() / 1ns;
  boost::mpi::broadcast(world, at, 0);
  return steady::time_point(std::chrono::nanoseconds(at));
}

std::vector<float> frame() { return std::vector<float>(static_cast<std::size_t>(whole::layer<0>::result.elements()), 0.5f); }
auto writer(const std::vector<float>& from) {
  return [&from](auto&& to) { std::copy_n(from.data(), to.size(), to.data()); };
}

void run_pipeline(const boost::mpi::communicator& world, const engine_options& options, traffic t) {
  auto engine = start<whole, pipeline>(world, options);
  const auto picture = frame();
  frames::tensor result;
  if (engine.has_input())
    for (int k = 0; k < before; ++k) engine.push(writer(picture));
  if (engine.has_output())
    for (int k = 0; k < before; ++k) engine.take(result);
  t.begin = agreed_begin(world);
  std::jthread camera;
  if (engine.has_input())
    camera = std::jthread([&] {
      for (int k = 0; k < t.frames; ++k) {
        std::this_thread::sleep_until(t.arrival(k));
        engine.push(writer(picture));
      }
      engine.close();
    });
  if (engine.has_output()) {
    std::vector<steady::time_point> done;
    while (engine.take(result)) done.push_back(steady::now());
    t.report(done);
  }
  if (camera.joinable()) camera.join();
  engine.wait();
}

// Greedy: rank 0 sends frames, rank 1 answers each; an empty message is the end. Waiting ranks sleep, to leave the core to
// the kernels.

void greedy_there(MPI_Comm comm, engine<whole>& engine, std::vector<float>& picture) {
  const auto wait_for = [](MPI_Request request, std::chrono::microseconds nap) {
    MPI_Status status;
    for (int done = 0; MPI_Test(&request, &done, &status), !done;) std::this_thread::sleep_for(nap);
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    return bytes;
  };
  const int bytes = static_cast<int>(picture.size() * sizeof(float));
  MPI_Request request;
  frames::tensor result;
  while (MPI_Irecv(picture.data(), bytes, MPI_BYTE, 0, 0, comm, &request), wait_for(request, 200us)) {
    engine.push(writer(picture));
    engine.take(result);
    MPI_Isend(nullptr, 0, MPI_BYTE, 0, 1, comm, &request);
    wait_for(request, 50us);
  }
}

void greedy_here(MPI_Comm comm, engine<whole>& engine, std::vector<float>& picture, const traffic& t) {
  std::vector<steady::time_point> done(static_cast<std::size_t>(t.frames));
  const int bytes = static_cast<int>(picture.size() * sizeof(float));
  MPI_Request sent = MPI_REQUEST_NULL, answered = MPI_REQUEST_NULL;
  int at[2] = {-1, -1};  // the frame that each rank has
  std::atomic<bool> computes = false;
  std::jthread taker([&] {
    frames::tensor result;
    while (engine.take(result)) {
      done[at[0]] = steady::now();
      computes = false;
    }
  });
  for (int next = 0, finished = 0; finished < t.frames;) {
    if (at[0] >= 0 && !computes) {
      at[0] = -1;
      ++finished;
    }
    int is_sent = 1, is_done = 0;
    if (at[1] >= 0) {
      MPI_Test(&sent, &is_sent, MPI_STATUS_IGNORE);
      MPI_Test(&answered, &is_done, MPI_STATUS_IGNORE);
      if (is_sent && is_done) {
        done[at[1]] = steady::now();
        at[1] = -1;
        ++finished;
      }
    }
    for (const int rank : {t.faster, 1 - t.faster}) {
      if (at[rank] >= 0 || next == t.frames || steady::now() < t.arrival(next)) continue;
      at[rank] = next++;
      if (rank == 0) {
        computes = true;
        engine.push(writer(picture));
      } else {
        MPI_Irecv(nullptr, 0, MPI_BYTE, 1, 1, comm, &answered);
        MPI_Isend(picture.data(), bytes, MPI_BYTE, 1, 0, comm, &sent);
        is_sent = 0;
      }
    }
    if (at[0] < 0 && at[1] < 0 && next < t.frames) std::this_thread::sleep_until(t.arrival(next));
    else std::this_thread::sleep_for(is_sent ? 200us : 50us);
  }
  MPI_Send(nullptr, 0, MPI_BYTE, 1, 0, comm);
  t.report(done);
  engine.close();
}

void run_greedy(const boost::mpi::communicator& world, const engine_options& options, traffic t) {
  auto engine = start<whole, alone>(options);
  auto picture = frame();
  frames::tensor result;
  for (int k = 0; k < before; ++k) {
    engine.push(writer(picture));
    engine.take(result);
  }
  t.begin = agreed_begin(world);
  if (world.rank()) greedy_there(world, engine, picture);
  else greedy_here(world, engine, picture, t);
  engine.close();
  engine.wait();
}

int main(int argc, char** argv) try {
  const boost::mpi::environment environment(argc, argv, boost::mpi::threading::level(engine_thread_level));
  const boost::mpi::communicator world;
  if (argc != 6 || world.size() != 2)
    throw std::runtime_error("usage: mpirun -n 2 arrivals pipeline|greedy WEIGHTS RATE FRAMES FASTER");
  engine_options options;
  options.weights = argv[2];
  const traffic t{std::atof(argv[3]), std::atoi(argv[4]), std::atoi(argv[5]), {}};
  if (std::string_view(argv[1]) == "pipeline") run_pipeline(world, options, t);
  else run_greedy(world, options, t);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "arrivals: %s\n", e.what());
  return 1;
}
