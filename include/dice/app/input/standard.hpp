// --input -: frames that come through the standard input while the ranks compute.
#pragma once

#include "dice/app/ctrl_c.hpp"
#include "dice/app/input/frame_check.hpp"
#include "dice/app/input/picture_form.hpp"
#include "dice/app/options.hpp"
#include "dice/channels/channel.hpp"
#include "dice/channels/transports.hpp"
#include "dice/files/error.hpp"
#include "dice/frames/ends.hpp"
#include "dice/frames/npy.hpp"
#include "dice/frames/tensor.hpp"
#include "dice/tensor/shape.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dice::app {

/// Why `--input -` is impossible in the process that has rank `rank` and graph input `input`, or "".
[[gnu::cold]] inline std::string no_standard_input(int rank, const std::string& input) {
  struct stat given {
  }, none{};
  const bool is_null = ::fstat(STDIN_FILENO, &given) == 0 && ::stat("/dev/null", &none) == 0 && S_ISCHR(given.st_mode) &&
                       given.st_rdev == none.st_rdev;
  const auto n = std::to_string(rank);
  if (const auto start = channels::launched(); is_null && start.size > 1) {  // as mpirun does if it feeds another process
    const std::string launcher(start.by->started_by.name), option(start.by->started_by.input);
    return "--input -: input '" + input + "' is in rank " + n + ", but " + launcher +
           " passed its standard input to another rank" +
           (rank == 0 ? "; start it without " + option
                      : " (to rank 0 by default); start it with " + launcher + " " + option + " " + n);
  }
  if (::isatty(STDIN_FILENO))
    return "--input -: the standard input is a terminal; give it a pipe or a file, … | PROGRAM --input -";
  return {};
}

/// The frames of one graph input as raw float32 numbers of this machine, in the order of the input's shape, from the
/// standard input. A thread reads a frame ahead; the stream ends where the standard input does. An error of the standard
/// input is reported ctrl_c_delay() after it occurred.
class standard_input final : public frames::source {
 public:
  /// Of a graph input whose numbers have type `as`, as float32.
  standard_input(const options& o, dice::tensor::number as) : check_(o, as) {}
  standard_input(const standard_input&) = delete;
  standard_input& operator=(const standard_input&) = delete;
  ~standard_input() override {
    {
      const std::lock_guard lock(mutex_);
      stops_ = true;
    }
    changed_.notify_all();
    if (reader_.joinable()) reader_.join();
  }

  /// Begins to read, in the rank that has the graph input: at most `most` frames of shape `one`, normalised to `form` if
  /// there is one. Wakes `end` when there is something new.
  [[gnu::cold]] void start(const dice::tensor::type& one, std::int64_t most, const picture_form* form,
                           channels::endpoint& end) {
    reader_ = std::thread([this, one, most, form, &end] {
      try {
        require_whole_frames(one, most);
        std::vector<float> frame(static_cast<std::size_t>(one.elements()));
        while (read_ < most && read(one, frame)) {
          if (!check_.done()) check_.look(frame, "the standard input");
          for (std::int64_t at = 0; form && at < one.elements(); at += form->elements()) form->normalize(frame.data() + at);
          std::unique_lock lock(mutex_);
          changed_.wait(lock, [&] { return stops_ || next_.empty(); });
          if (stops_) return;
          next_.swap(frame);
          frame.resize(next_.size());
          ++read_;
          end.wake();
        }
        if (read_ == 0) throw files::error("the standard input holds no frame");
      } catch (...) {
        // Ctrl-C also ends the program that writes here, perhaps within a frame. If the run is asked to stop in time, it
        // ends, and this object with it.
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, ctrl_c_delay(), [&] { return stops_; })) return;
        error_ = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      ended_ = true;
      end.wake();
    });
  }

  bool ready(int, std::int64_t) override {
    const std::lock_guard lock(mutex_);
    return !next_.empty();
  }
  void fill(int, std::int64_t, std::byte* to, const dice::tensor::type& as) override {
    const std::lock_guard lock(mutex_);
    std::copy(next_.begin(), next_.end(), frames::floats(to, as));
    next_.clear();
    changed_.notify_all();
  }
  std::int64_t total() override {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    return ended_ ? read_ : -1;
  }

 private:
  /// A file that ends within one of the frames that are wanted is refused before the first.
  [[gnu::cold]] static void require_whole_frames(const dice::tensor::type& one, std::int64_t most) {
    struct stat about {};
    char begin[6] = {};
    const auto at = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (::fstat(STDIN_FILENO, &about) != 0 || !S_ISREG(about.st_mode) || at < 0) return;
    if (::pread(STDIN_FILENO, begin, sizeof begin, at) == sizeof begin && std::memcmp(begin, "\x93NUMPY", sizeof begin) == 0)
      return;  // read() says more
    const auto bytes = std::max<std::int64_t>(about.st_size - at, 0), rest = bytes % one.bytes();
    if (rest == 0 || bytes / one.bytes() >= most) return;
    throw files::error("the standard input is a file of " + std::to_string(bytes) +
                       " bytes, which is not a whole number of frames: " + frame_text(one));
  }
  /// "a frame is float32 (1, 3, 224, 224), 602112 bytes".
  static std::string frame_text(const dice::tensor::type& one) {
    return "a frame is float32 " + frames::shape_text(std::vector<std::int64_t>(one.dim, one.dim + one.rank)) + ", " +
           std::to_string(one.bytes()) + " bytes";
  }
  /// Reads the next frame; false where the standard input has ended.
  [[gnu::cold]] bool read(const dice::tensor::type& one, std::vector<float>& frame) {
    const auto bytes = static_cast<std::size_t>(one.bytes()), at = read(reinterpret_cast<char*>(frame.data()), bytes);
    if (beginning_.size() < npy_head) {
      beginning_.append(reinterpret_cast<const char*>(frame.data()), std::min(at, npy_head - beginning_.size()));
      if (beginning_.compare(0, 6, "\x93NUMPY") == 0) refuse_npy();
    }
    if (at == bytes) return true;
    const std::lock_guard lock(mutex_);
    if (at == 0 || stops_) return false;
    throw files::error("the standard input ends within frame " + std::to_string(read_) + ", after " + std::to_string(at) +
                       " of " + std::to_string(bytes) + " bytes; " + frame_text(one));
  }
  /// Reads so many bytes; fewer where the standard input ends, or when nobody wants them any more.
  std::size_t read(char* to, std::size_t bytes) {
    std::size_t at = 0;
    while (at < bytes) {
      pollfd in{STDIN_FILENO, POLLIN, 0};
      for (int n = 0; (n = ::poll(&in, 1, 100)) == 0 || (n < 0 && errno == EINTR);) {
        const std::lock_guard lock(mutex_);
        if (stops_) return at;
      }
      const auto n = ::read(STDIN_FILENO, to + at, bytes - at);
      if (n < 0 && errno != EINTR && errno != EAGAIN)
        throw files::error(std::string("the standard input cannot be read: ") + std::strerror(errno));
      if (n == 0) break;
      at += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    return at;
  }
  /// The header of a .npy file would become the numbers of frames.
  [[noreturn, gnu::cold]] void refuse_npy() {
    char more[npy_head];
    beginning_.append(more, read(more, npy_head - beginning_.size()));
    beginning_.resize(npy_head, '\0');  // it may end within
    const auto header = frames::npy_header_bytes(reinterpret_cast<const unsigned char*>(beginning_.data()));
    throw files::error("the standard input is a .npy file, but --input - takes only the numbers after its header of " +
                       std::to_string(header) + " bytes; read it with --input FILE, or leave out the header: tail -c +" +
                       std::to_string(header + 1) + " FILE | PROGRAM --input -");
  }

  static constexpr std::size_t npy_head = 12;  ///< bytes of a .npy file that tell the length of its header

  std::string beginning_;  ///< the first npy_head bytes so far
  frame_check check_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<float> next_;  ///< the frame that enters next, or empty
  std::int64_t read_ = 0;    ///< frames so far; changed by the thread that reads
  bool ended_ = false, stops_ = false;
  std::exception_ptr error_;
  std::thread reader_;
};

}  // namespace dice::app
