#pragma once

#include "dice/channels/channel.hpp"
#include "dice/channels/mpi/endpoint.hpp"
#include "dice/channels/patience.hpp"
#include "dice/files/last_words.hpp"
#include "dice/meta/clock.hpp"
#include "dice/text/foreign.hpp"

#include <boost/mpi/collectives/all_gather.hpp>
#include <boost/mpi/collectives/all_gatherv.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dice::channels::mpi {

/// Open MPI sends up to 64 KiB by TCP at once. For a longer message it asks the receiver first, and both ends answer only
/// when they call MPI, which they do between kernels. dice's receives are always there, so it has Open MPI send up to 1 MiB
/// at once, unless the user has chosen a limit (mpirun --mca btl_tcp_eager_limit, or the environment). Call it before MPI
/// starts.
inline void send_at_once() {
  const char *eager = "OMPI_MCA_btl_tcp_eager_limit", *fragment = "OMPI_MCA_btl_tcp_max_send_size";
  if (std::getenv(eager) || std::getenv(fragment)) return;
  ::setenv(eager, "1048576", 0);
  ::setenv(fragment, "1048576", 0);  // at least as much, or Open MPI refuses the first
}

/// Open MPI 5.0 asks the kernel which network addresses of two ranks reach each other. For ranks of one host it gets none,
/// and prints an error for each pair, which then uses shared memory. So if all ranks are on one host, dice has it compare
/// the addresses, as 4.1 does, unless the user has chosen (mpirun --mca reachable). Call it before MPI starts.
inline void pair_by_address() {
  const char *all = std::getenv("OMPI_COMM_WORLD_SIZE"), *here = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (all && here && std::string_view(all) == here) ::setenv("OMPI_MCA_reachable", "weighted", 0);
}

/// The MPI library of this host and its version, "Open MPI v4.1.4". MPI need not have started.
inline std::string library_here() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  return std::string(text).substr(0, std::string_view(text).find_first_of(",\n"));
}

/// Starts MPI and ends it in its destructor. Only the thread that made it may use MPI. A program can have only one.
class session {
 public:
  session() : environment_(prepared(), false) {}

 private:
  static boost::mpi::threading::level prepared() {
    send_at_once();
    pair_by_address();
    return boost::mpi::threading::funneled;
  }

  boost::mpi::environment environment_;
};

/// The ranks of an MPI communicator, in a duplicate of it.
class communicator final : public channels::communicator {
 public:
  /// Duplicates `ranks` (collective). `chunk` is the maximum number of bytes in one MPI operation; longer texts and blocks
  /// take several.
  explicit communicator(MPI_Comm ranks = MPI_COMM_WORLD, std::int64_t chunk = std::int64_t{1} << 30)
      : world_(ranks, boost::mpi::comm_duplicate), chunk_(chunk) {}

  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }

  std::string library() const override { return library_here(); }

  std::vector<std::string> all_gather(const std::string& text) override {
    meet();
    std::vector<std::int64_t> whole;
    boost::mpi::all_gather(world_, static_cast<std::int64_t>(text.size()), whole);
    const auto largest = *std::max_element(whole.begin(), whole.end());
    std::vector<std::string> out(whole.size());
    std::vector<char> all;
    const std::int64_t most = chunk_ / size();
    for (std::int64_t at = 0; at < largest; at += most) {
      std::vector<int> sizes, begins;
      int total = 0;
      for (const auto n : whole) {
        sizes.push_back(static_cast<int>(std::clamp<std::int64_t>(n - at, 0, most)));
        begins.push_back(total);
        total += sizes.back();
      }
      all.resize(total);
      const char* mine = text.data() + std::min(at, static_cast<std::int64_t>(text.size()));
      boost::mpi::all_gatherv(world_, mine, all.data(), sizes, begins);
      for (std::size_t r = 0; r < out.size(); ++r) out[r].append(all.data() + begins[r], static_cast<std::size_t>(sizes[r]));
    }
    return out;
  }

  /// Asks rank 0 for its time several times, and uses the answer that came fastest.
  std::int64_t clock_offset() override {
    constexpr int rounds = 20, tag = 0;
    meet();
    std::int64_t offset = 0, fastest = INT64_MAX, word = 0;
    if (rank() == 0) {
      for (int r = 1; r < size(); ++r)
        for (int i = 0; i < rounds; ++i) {
          receive(r, tag, &word, sizeof word);
          word = meta::now();
          send(r, tag, &word, sizeof word);
        }
    } else {
      for (int i = 0; i < rounds; ++i) {
        const auto asked = meta::now();
        send(0, tag, &word, sizeof word);
        receive(0, tag, &word, sizeof word);
        const auto answered = meta::now();
        if (answered - asked < fastest) {
          fastest = answered - asked;
          offset = word - (asked + fastest / 2);
        }
      }
    }
    meet();
    return offset;
  }

  std::unique_ptr<channels::endpoint> connect(std::span<const path> paths) override {
    return std::make_unique<endpoint>(world_, paths);
  }

  void send_block(int to, const void* data, std::int64_t bytes) override {
    for (std::int64_t at = 0; at < bytes; at += chunk_)
      send(to, 1, static_cast<const char*>(data) + at, static_cast<int>(std::min(chunk_, bytes - at)));
  }
  void receive_block(int from, void* data, std::int64_t bytes) override {
    for (std::int64_t at = 0; at < bytes; at += chunk_)
      receive(from, 1, static_cast<char*>(data) + at, static_cast<int>(std::min(chunk_, bytes - at)));
  }
  /// What Open MPI reports: whether it was built with CUDA support (4.x), or is set to use it (5.x).
  bool claims_gpu_memory() const override {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
  }
  void pass_around(const void* data, void* received, std::int64_t bytes) override {
    const int n = size();
    MPI_Sendrecv(data, static_cast<int>(bytes), MPI_BYTE, (rank() + 1) % n, 2, received, static_cast<int>(bytes), MPI_BYTE,
                 (rank() + n - 1) % n, 2, world_, MPI_STATUS_IGNORE);
  }
  void stop(const std::string& message) override {
    files::say_last(text::shown(message) + "\n");
    std::fflush(nullptr);
    world_.abort(1);
  }

 private:
  void finish(MPI_Request request) {
    patience p(patience::source::neighbour);
    for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done;) p.pause();
  }
  void send(int to, int tag, const void* data, int bytes) {
    MPI_Request request;
    MPI_Isend(data, bytes, MPI_BYTE, to, tag, world_, &request);
    finish(request);
  }
  void receive(int from, int tag, void* data, int bytes) {
    MPI_Request request;
    MPI_Irecv(data, bytes, MPI_BYTE, from, tag, world_, &request);
    finish(request);
  }
  /// Waits for all ranks without taking the core from those that still work; MPI's blocking functions would take it.
  void meet() {
    MPI_Request request;
    MPI_Ibarrier(world_, &request);
    finish(request);
  }

  boost::mpi::communicator world_;
  const std::int64_t chunk_;
};

}  // namespace dice::channels::mpi
