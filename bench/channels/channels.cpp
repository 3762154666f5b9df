// Messages between two ranks by a dice channel and by raw MPI_Isend and MPI_Irecv, in turn. Prints a line of JSON for each
// size and round: microseconds of a one-way trip (half a ping-pong) and of each message of a stream with `window` in flight.
#include <dice/channels/mpi/communicator.hpp>
#include <dice/runtime/figures.hpp>
#include <dice/weights/block.hpp>

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace {

using namespace dice;

constexpr int window = 8;
enum path { there, back, done };  ///< rank 0 to 1, 1 to 0, and 1 to 0 with a few bytes

/// The ends of the three paths, with raw MPI.
class raw {
 public:
  raw(MPI_Comm world, int bytes) : world_(world), bytes_(bytes) {
    for (auto& requests : requests_) requests.fill(MPI_REQUEST_NULL);
  }
  void send(path p, int slot, const std::byte* from) {
    MPI_Isend(from, size(p), MPI_BYTE, p == there, p, world_, &request(p, slot));
  }
  void receive(path p, int slot, std::byte* to) {
    MPI_Irecv(to, size(p), MPI_BYTE, p != there, p, world_, &request(p, slot));
  }
  void finish_send(path p, int slot) { MPI_Wait(&request(p, slot), MPI_STATUS_IGNORE); }
  void finish_receive(path p, int slot) { MPI_Wait(&request(p, slot), MPI_STATUS_IGNORE); }

 private:
  int size(path p) const { return p == done ? 8 : bytes_; }
  MPI_Request& request(path p, int slot) { return requests_[p][slot]; }
  MPI_Comm world_;
  int bytes_;
  std::array<std::array<MPI_Request, window>, 3> requests_;
};

/// The same with dice.
class channel {
 public:
  channel(channels::communicator& ranks, int bytes)
      : end_(ranks.connect(std::array{channels::path{0, 1, 1, bytes, window, window},
                                      channels::path{1, 0, 1, bytes, window, window},
                                      channels::path{1, 0, 2, 8, window, window}})) {}
  void send(path p, int slot, const std::byte* from) { end_->start_send(p, slot, from); }
  void receive(path p, int slot, std::byte* to) { end_->start_receive(p, slot, to); }
  void finish_send(path p, int slot) {
    while (!end_->sent(p, slot)) end_->wait();
  }
  void finish_receive(path p, int slot) {
    while (!end_->received(p, slot)) end_->wait();
  }

 private:
  std::unique_ptr<channels::endpoint> end_;
};

/// Microseconds of a one-way trip: the mean of `count` round trips.
template <class Ends> double latency(Ends& ends, int rank, int count, std::byte* memory) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = runtime::now();
  for (int i = 0; i < count; ++i) {
    const path out = rank == 0 ? there : back, in = rank == 0 ? back : there;
    ends.receive(in, i % window, memory);
    if (rank == 1) ends.finish_receive(in, i % window);
    ends.send(out, i % window, memory);
    if (rank == 0) ends.finish_receive(in, i % window);
    ends.finish_send(out, i % window);
  }
  return static_cast<double>(runtime::now() - begin) * 1e-3 / (2 * count);
}

/// Microseconds between messages of a stream of `count`.
template <class Ends> double stream(Ends& ends, int rank, int count, std::byte* memory, std::int64_t bytes) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = runtime::now();
  if (rank == 0) {
    ends.receive(done, 0, memory + window * bytes);
    for (int i = 0; i < count; ++i) {
      if (i >= window) ends.finish_send(there, i % window);
      ends.send(there, i % window, memory + i % window * bytes);
    }
    for (int i = std::max(0, count - window); i < count; ++i) ends.finish_send(there, i % window);
    ends.finish_receive(done, 0);
  } else {
    for (int i = 0; i < std::min(count, window); ++i) ends.receive(there, i, memory + i * bytes);
    for (int i = 0; i < count; ++i) {
      ends.finish_receive(there, i % window);
      if (i + window < count) ends.receive(there, i % window, memory + i % window * bytes);
    }
    ends.send(done, 0, memory + window * bytes);
    ends.finish_send(done, 0);
  }
  return static_cast<double>(runtime::now() - begin) * 1e-3 / count;
}

}  // namespace

int main(int argc, char** argv) {
  const channels::mpi::session session;
  channels::mpi::communicator ranks;
  const int rounds = argc > 1 ? std::stoi(argv[1]) : 1;
  if (ranks.size() != 2) return 2;
  for (int bytes = 64; bytes <= 16 << 20; bytes *= 4) {
    weights::block memory(window * std::int64_t{bytes} + 64);
    memory.touch();
    const int count = std::clamp((64 << 20) / bytes, 8, 4000);
    raw by_mpi(MPI_COMM_WORLD, bytes);
    channel by_dice(ranks, bytes);
    for (int round = -1; round < rounds; ++round) {  // the first round is a warm-up
      const std::array<double, 4> us{latency(by_mpi, ranks.rank(), count, memory.data()),
                                     latency(by_dice, ranks.rank(), count, memory.data()),
                                     stream(by_mpi, ranks.rank(), count, memory.data(), bytes),
                                     stream(by_dice, ranks.rank(), count, memory.data(), bytes)};
      if (round >= 0 && ranks.rank() == 0)
        std::printf(
            "{\"bytes\": %d, \"mpi_us\": %.3f, \"dice_us\": %.3f, \"mpi_stream_us\": %.3f, \"dice_stream_us\": %.3f}\n",
            bytes, us[0], us[1], us[2], us[3]);
    }
  }
}
