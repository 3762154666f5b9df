// What an engine does, without the network's types: the ranks of this process, each in a thread of its own.
#pragma once

#include "dice/channels/processes.hpp"
#include "dice/frames/deadline.hpp"
#include "dice/frames/tensor.hpp"
#include "dice/job/engine_error.hpp"
#include "dice/job/transport.hpp"
#include "dice/meta/library.hpp"
#include "dice/runtime/program.hpp"
#include "dice/this_host/refuse_cpu.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace dice {

/// How an engine runs.
struct engine_options {
  std::string mapping{};       ///< replaces the program's own; text or a file (see --mapping); empty: its own
  std::string weights{};       ///< the .safetensors file; empty: where --weights looks by default
  std::string packed{};        ///< the file that --pack wrote, in place of `weights`; both empty: one next to the program
  int in_flight = 0;           ///< most frames under way; 0: as many as the plan allows
  int queue = 0;               ///< most frames, and results, that wait in addition; 0: as many as may be in flight
  bool verify = false;         ///< compare the weights with the digests in their file at the start, as --verify does
  bool check_numbers = false;  ///< fail at the first frame or result that is not finite, as --check-numbers does
  job::transport by =
      job::transport::automatic;  ///< in_process: all ranks as threads of this process; else MPI if there are several
  std::function<void(const std::string&)> warn{};  ///< gets warnings (in one rank); without it they go to stderr. What it
                                                   ///< throws ends the start, as an engine_error in all ranks
};

namespace job {

/// A running stream. Constructed collectively: by every process of the job.
class stream_job {
 public:
  using writer = std::function<void(float* to, std::int64_t elements)>;
  using maker = std::function<writer()>;
  using listener = std::function<void(std::int64_t frame, const float* from)>;

  /// Runs all ranks in this process if the plan has one rank (unless options.mapping is given to several processes) or
  /// options.by says so, else one rank of all processes (MPI_COMM_WORLD). Throws engine_error, and std::runtime_error if the
  /// transport cannot be joined, for example if MPI's thread level is too low.
  stream_job(const runtime::program& p, const engine_options& o);
  /// One rank of `ranks`.
  stream_job(const runtime::program& p, const engine_options& o, const channels::processes& ranks);
  stream_job(const stream_job&) = delete;
  stream_job& operator=(const stream_job&) = delete;
  ~stream_job();

  /// Whether graph input or output `layer` is in a rank of this process.
  bool holds(int layer) const;
  int rank() const;

  /// Pushes the frame that make() returns; false, without a call of make(), if there is no room until `until`.
  bool push(int layer, const maker& make, frames::deadline until);
  bool take(int layer, frames::tensor& into, frames::deadline until);
  void listen(int layer, listener f);
  void close();
  void stop();
  void drain();
  bool ended() const;
  void wait();

 private:
  class ranks;
  std::unique_ptr<ranks> ranks_;
};

}  // namespace job
}  // namespace dice

#ifdef DICE_HEADER_ONLY
#include "dice/job/stream_job.ipp"
#endif
