// The contract between runtime and transports. A transport gives each rank
//   a communicator: the ranks of the job, for start, end and failures (collective, blocking);
//   an endpoint: this rank's ends of all paths, for frames (non-blocking, without allocation).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace dice::channels {

/// A one-way path of messages of one size between two ranks; they arrive in the order in which they were sent.
struct path {
  int from = 0, to = 0;
  int tag = 0;                            ///< unique among the paths from `from` to `to`
  std::int64_t bytes = 0;                 ///< of one message
  int send_slots = 1, receive_slots = 1;  ///< operations that may be under way at each end
};

/// Thrown in a rank when another one has ended the job.
struct stopped : std::runtime_error {
  stopped() : std::runtime_error("stopped because another rank failed") {}
};

/// This rank's ends of the paths. An operation is named by its path and slot; the slots of a path's end are used in turn
/// (0, 1, …, 0, …), each only when its last operation is done. Memory belongs to the operation until then.
class endpoint {
 public:
  virtual ~endpoint() = default;
  /// Starts sending the path's bytes from `from`.
  virtual void start_send(int path, int slot, const std::byte* from) = 0;
  /// Starts receiving the path's next message into `to`.
  virtual void start_receive(int path, int slot, std::byte* to) = 0;
  /// Whether the last operation in the slot is done, as of the last progress(); true if there was none.
  virtual bool sent(int path, int slot) const = 0;
  virtual bool received(int path, int slot) const = 0;
  /// Advances the operations. Never blocks. Throws stopped.
  virtual void progress() = 0;
  /// Blocks for a short time, leaving the core to others: at most until an operation has completed since the last
  /// progress(), or wake() is called. Throws stopped.
  virtual void wait() = 0;
  /// Ends a wait() of this rank. Any thread may call it.
  virtual void wake() = 0;
  /// Collective, the last call of every rank that did not quit(): receives what was sent and cancels receives for which
  /// nothing was sent. Afterwards no operation is under way.
  virtual void settle() = 0;
  /// Gives up, because this rank failed or was stopped: afterwards no other rank touches the memory of its operations. The
  /// next call is communicator::stop.
  virtual void quit() = 0;
};

/// The ranks of a job, as one of them sees it. Functions are collective, that is, every rank calls them in the same order,
/// except rank, size, stop, claims_gpu_memory and the two for blocks.
class communicator {
 public:
  virtual ~communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Every rank's text, in order of ranks.
  virtual std::vector<std::string> all_gather(const std::string& text) = 0;
  /// Nanoseconds to add to this rank's steady clock to get rank 0's.
  virtual std::int64_t clock_offset() = 0;
  /// This rank's ends of `paths`, which must be the same list on every rank. Once, and again after each endpoint::settle.
  /// Throws std::runtime_error if the transport cannot carry a path.
  virtual std::unique_ptr<endpoint> connect(std::span<const path> paths) = 0;
  /// Transfer a block of known size: rank `from` calls send_block, rank `to` receive_block, other ranks neither.
  virtual void send_block(int to, const void* data, std::int64_t bytes) = 0;
  virtual void receive_block(int from, void* data, std::int64_t bytes) = 0;
  /// Ends the job, called by this rank only: prints `message` once on stderr and stops the other ranks, whatever they are
  /// doing. Returns only if ranks are threads.
  virtual void stop(const std::string& message) = 0;

  /// The library that carries messages, and its version; empty if ranks are threads.
  virtual std::string library() const { return {}; }
  /// Whether the transport claims that blocks and messages may lie in GPU memory; the claim may be wrong either way.
  virtual bool claims_gpu_memory() const { return false; }
  /// Sends to the next rank and receives from the previous one, in a ring; collective.
  virtual void pass_around(const void* /*data*/, void* /*received*/, std::int64_t /*bytes*/) {}
};

}  // namespace dice::channels
