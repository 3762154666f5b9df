#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dice::kernels {

/// A processor with memory and queues of its own, a GPU: it computes what a rank has started while the rank goes on. One
/// thread calls it. Functions throw std::runtime_error, which names the processor, what it cannot do and the remedy.
class accelerator {
 public:
  virtual ~accelerator() = default;

  /// What a rank will want of its memory, in bytes; `workspace` is a part of `arena`.
  struct wish {
    std::int64_t weights = 0, arena = 0, workspace = 0;
  };
  /// Throws if it has no room for that.
  virtual void expect(const wish&) {}
  /// What it measures of kernels before it chooses among them, it may read from a file beside that of the weights; to be
  /// called before the first record(). The second, after the last, writes that file; returns a warning, or "".
  virtual void remember_beside(const std::string& /*weights*/) {}
  virtual std::string remember() { return {}; }

  /// What it is called; bytes of its memory and of staging that it gave, and of its memory that its libraries took besides.
  struct memory_figures {
    std::string name;
    std::int64_t memory = 0, staging = 0, besides = 0;
  };
  virtual memory_figures told() const { return {}; }

  /// So many bytes of its memory, at a multiple of 256, for as long as it lives.
  virtual std::byte* memory(std::int64_t bytes) = 0;
  /// So many bytes of the host's memory, from and to which it can copy by itself, zeroed; for as long as it lives.
  virtual std::byte* staging(std::int64_t bytes) = 0;
  /// Copies from any of the host's memory to its own, before all jobs that are recorded or started from then on.
  virtual void upload(std::byte* to, const std::byte* from, std::int64_t bytes) = 0;

  /// The number of a job: the kernels that body calls, with places in its memory. It may call body now or whenever the job
  /// starts, from any thread.
  virtual int record(std::function<void()> body) = 0;

  /// How long what body calls takes there, some times, in nanoseconds. Nothing is under way.
  virtual std::vector<std::int64_t> times(std::function<void()> body) = 0;

  /// These start and return at once. A job begins when all that was started before it is done, but for copies out that are
  /// `apart`.
  virtual void start(int job) = 0;
  /// From staging to its memory. `apart`: no job under way uses `to`, so it need not wait for any.
  virtual void copy_in(std::byte* to, const std::byte* from, std::int64_t bytes, bool apart) = 0;
  /// From its memory to staging, when the jobs and copies in that were started before are done. `apart`: no job that is
  /// started before the copy is done writes to `from`.
  virtual void copy_out(std::byte* to, const std::byte* from, std::int64_t bytes, bool apart) = 0;
  /// A mark behind all that was started so far; they are reached in their order.
  virtual std::int64_t mark() = 0;
  virtual bool reached(std::int64_t mark) = 0;
  /// Waits until all that was started is done, or can never be.
  virtual void settle() noexcept = 0;
};

/// One that was opened: incomplete in runtime/program.hpp, so that a program's own file compiles no <memory>.
struct opened_accelerator {
  std::unique_ptr<accelerator> it;
};

}  // namespace dice::kernels
