#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dice::kernels {

/// A processor with memory and queues of its own, such as a GPU: it computes what a rank has started while the rank
/// continues. Only one thread calls it. Functions throw std::runtime_error, which names the processor, what it cannot do and
/// the remedy.
class accelerator {
 public:
  virtual ~accelerator() = default;

  /// How much of its memory a rank will need, in bytes; `workspace` is a part of `arena`.
  struct memory_request {
    std::int64_t weights = 0, arena = 0, workspace = 0;
  };
  /// Throws if it has no room for that.
  virtual void expect(const memory_request&) {}
  /// Lets it read the timings by which it chooses kernels from a file next to the weights file; call it before the first
  /// record(). remember(), called after the last record(), writes that file and returns a warning, or "".
  virtual void remember_beside(const std::string& /*weights*/) {}
  virtual std::string remember() { return {}; }

  /// Its name; bytes of its memory and of staging memory that it handed out; bytes of its memory that its libraries took in
  /// addition.
  struct memory_figures {
    std::string name;
    std::int64_t memory = 0, staging = 0, besides = 0;
  };
  virtual memory_figures memory_used() const { return {}; }

  /// Returns `bytes` bytes of its memory, aligned to 256, valid as long as it lives.
  virtual std::byte* memory(std::int64_t bytes) = 0;
  /// Returns `bytes` zeroed bytes of the host's memory, to and from which it can copy by itself, valid as long as it lives.
  virtual std::byte* staging(std::int64_t bytes) = 0;
  /// Copies from anywhere in the host's memory to its own, before any job that is recorded or started from then on.
  virtual void upload(std::byte* to, const std::byte* from, std::int64_t bytes) = 0;

  /// Returns the number of a new job: the kernels that body calls, with addresses in its memory. It may call body now or
  /// whenever the job starts, from any thread.
  virtual int record(std::function<void()> body) = 0;

  /// Measures what body calls several times, in nanoseconds. Only while nothing is under way.
  virtual std::vector<std::int64_t> times(std::function<void()> body) = 0;

  /// These start and return at once. A job begins when everything started before it is done, except copies out that are
  /// `apart`.
  virtual void start(int job) = 0;
  /// From staging to its memory. `apart`: no job under way uses `to`, so the copy waits for none.
  virtual void copy_in(std::byte* to, const std::byte* from, std::int64_t bytes, bool apart) = 0;
  /// From its memory to staging, once all jobs and copies in that were started before are done. `apart`: no job that is
  /// started before the copy is done writes to `from`.
  virtual void copy_out(std::byte* to, const std::byte* from, std::int64_t bytes, bool apart) = 0;
  /// A mark after everything started so far; marks are reached in order.
  virtual std::int64_t mark() = 0;
  virtual bool reached(std::int64_t mark) = 0;
  /// Waits until everything started is done, or can no longer complete.
  virtual void settle() noexcept = 0;
};

/// An opened accelerator. Incomplete in runtime/program.hpp, so that a program's own file does not compile <memory>.
struct opened_accelerator {
  std::unique_ptr<accelerator> it;
};

}  // namespace dice::kernels
