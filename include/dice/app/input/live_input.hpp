// Frames of one graph input that come as a stream while the ranks compute.
#pragma once

#include "dice/app/ctrl_c.hpp"
#include "dice/app/input/byte_stream.hpp"
#include "dice/app/input/frame_check.hpp"
#include "dice/app/options.hpp"
#include "dice/channels/channel.hpp"
#include "dice/files/error.hpp"
#include "dice/frames/ends.hpp"
#include "dice/frames/npy.hpp"
#include "dice/frames/picture_form.hpp"
#include "dice/frames/pixels.hpp"
#include "dice/frames/tensor.hpp"
#include "dice/meta/clock.hpp"
#include "dice/tensor/type.hpp"
#include "dice/text/print.hpp"
#include "dice/text/table.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace dice::app {

/// What a stream is, and what is done about late and missing frames.
struct live_settings {
  stream_origin from{};
  dice::tensor::type one{};                    ///< a frame, as float32
  std::optional<frames::picture_form> form{};  ///< of pictures, and of float32 frames to be normalised
  frames::pixel_layout pixels{};               ///< what comes
  late_rule late = late_rule::wait;
  int restarts = 0;          ///< how often the source is started again after its end
  std::int64_t timeout = 0;  ///< nanoseconds without a frame after which it counts as ended; 0: none

  /// Bytes of a frame as it comes; if the network takes batches, of all its pictures.
  std::int64_t frame_bytes() const {
    return pixels.format == frames::pixel_format::float32 ? one.bytes() : pixels.bytes() * pictures();
  }
  /// Pictures of a frame.
  std::int64_t pictures() const { return form ? one.elements() / form->elements() : 1; }
  /// "a frame is float32 (1, 3, 224, 224), 602112 bytes", "a frame is rgb24 640×480, 921600 bytes".
  std::string frame_text() const {
    const auto word = std::string(frames::pixel_words[static_cast<std::size_t>(pixels.format)]);
    const auto size = pixels.format == frames::pixel_format::float32
                          ? frames::shape_text(std::vector<std::int64_t>(one.dim, one.dim + one.rank))
                          : std::to_string(pixels.width) + "×" + std::to_string(pixels.height) +
                                (pictures() > 1 ? " times " + std::to_string(pictures()) : "");
    return "a frame is " + word + " " + size + ", " + std::to_string(frame_bytes()) + " bytes";
  }
};

/// Reads a stream in a thread of its own, one frame ahead. The stream ends where its source does, unless that is started
/// again. An error is reported ctrl_c_delay() after it occurred.
class live_input {
 public:
  live_input(live_settings s, const options& o, dice::tensor::number as)
      : settings_(std::move(s)), check_(o, as), stream_(settings_.from) {
    if (settings_.pixels.format != frames::pixel_format::float32) converter_.emplace(settings_.pixels, *settings_.form);
  }
  live_input(const live_input&) = delete;
  live_input& operator=(const live_input&) = delete;
  ~live_input() { stop(); }

  /// Reads no more, and ends a command.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stops_ = true;
    }
    changed_.notify_all();
    if (reader_.joinable()) reader_.join();
    stream_.close();
  }

  /// Begins to read at most `most` frames, not counting dropped ones. Wakes `end` when there is something new.
  [[gnu::cold]] void start(std::int64_t most, channels::endpoint& end) {
    most_ = most;
    reader_ = std::thread([this, &end] {
      this_host::use_cores(this_host::cores_at_start);
      try {
        require_whole_frames();
        while (run(end) && pause()) {
        }
        const std::lock_guard lock(mutex_);
        if (read_ == 0 && !stops_) throw files::error(name() + " holds no frame");
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

  std::string name() const { return settings_.from.name(); }
  const live_settings& settings() const { return settings_; }
  /// From start() on, bytes() are there. Call it before.
  void keep_bytes() { keeps_bytes_ = true; }
  /// Those of the frame that fill() wrote last, as they came.
  const std::vector<char>& bytes() const { return taken_bytes_; }

  bool ready() {
    const std::lock_guard lock(mutex_);
    return full_;
  }
  void fill(float* to) {
    const std::lock_guard lock(mutex_);
    std::copy(next_.begin(), next_.end(), to);
    stamp_ = next_stamp_;
    taken_bytes_.swap(next_bytes_);
    full_ = false;
    ++taken_;
    changed_.notify_all();
  }
  /// Gives no more than so many frames.
  void limit(std::int64_t most) {
    const std::lock_guard lock(mutex_);
    most_ = std::min(most_, most);
    changed_.notify_all();
  }
  /// Of the frame that fill() wrote last.
  frames::frame_stamp stamp() {
    const std::lock_guard lock(mutex_);
    return stamp_;
  }

  struct counts {
    std::int64_t read = 0, dropped = 0;  ///< whole frames that came, and those of them for which there was no room
    std::int64_t restarts = 0;           ///< of the source
    std::int64_t taken = 0;              ///< by the network
    std::int64_t given = 0;              ///< taken, or waiting to be
    bool ended = false;
  };
  /// Throws the error that ended the stream.
  counts count() {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    return {read_, dropped_, restarts_, taken_, taken_ + full_, ended_};
  }

 private:
  static constexpr auto never = std::numeric_limits<std::int64_t>::max();

  bool unwanted() {
    const std::lock_guard lock(mutex_);
    return stops_ || taken_ + full_ >= most_;
  }
  [[noreturn]] void fail(const std::string& is) const { throw files::error(name() + " " + is); }

  /// Reads the stream from the start of its source to its end; false: the last time.
  bool run(channels::endpoint& end) {
    began_ = meta::now();
    stream_.open();
    std::string why;
    try {
      while (!unwanted() && read(why)) offer(end);
    } catch (...) {
      stream_.close();
      throw;
    }
    if (unwanted()) return false;
    const auto left = stream_.close(why.empty() ? std::chrono::seconds(1) : std::chrono::seconds(0));
    if (why.empty() && left && !left->ok())
      why =
          left->late ? "has closed its output, but not ended within 1 s, and was ended" : "has ended (" + left->text() + ")";
    const auto after = " after " + text::count_text(read_, "frame");
    if (settings_.restarts == 0 || restarts_ == settings_.restarts) {
      if (!why.empty())
        fail(why + after + (settings_.restarts > 0 ? ", and was started again as often as --restart-source allows" : ""));
      return false;
    }
    problem_ = name() + " " + (why.empty() ? "has ended" : why) + after;
    return true;
  }
  /// Waits before the source is started again: 1, 2, 4, … 60 s, and 1 s again after it has run for a minute. A pipe need not
  /// wait: it waits for a writer.
  bool pause() {
    if (meta::now() - began_ >= 60'000'000'000) delay_ = 1;
    const bool waits = settings_.from.kind != stream_origin::kinds::pipe;
    ++restarts_;
    text::print_error("dice: warning: " + problem_ + "; " +
                      (waits ? "it is started again in " + std::to_string(delay_) + " s"
                             : std::string("it waits for the next program that writes there")) +
                      " (restart " + std::to_string(restarts_) + " of " + std::to_string(settings_.restarts) + ")");
    std::unique_lock lock(mutex_);
    if (waits && changed_.wait_for(lock, std::chrono::seconds(delay_), [&] { return stops_; })) return false;
    if (waits) delay_ = std::min(2 * delay_, 60);
    beginning_.clear();
    return true;
  }

  /// A file that ends within one of the frames that are wanted is refused before the first.
  [[gnu::cold]] void require_whole_frames() const {
    struct stat about {};
    char begin[6] = {};
    if (settings_.from.kind != stream_origin::kinds::standard_input) return;
    const auto at = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (::fstat(STDIN_FILENO, &about) != 0 || !S_ISREG(about.st_mode) || at < 0) return;
    if (::pread(STDIN_FILENO, begin, sizeof begin, at) == sizeof begin && std::memcmp(begin, "\x93NUMPY", sizeof begin) == 0)
      return;  // read() says more
    const auto one = settings_.frame_bytes();
    const auto bytes = std::max<std::int64_t>(about.st_size - at, 0), rest = bytes % one;
    if (rest == 0 || bytes / one >= most_) return;
    fail("is a file of " + std::to_string(bytes) +
         " bytes, which is not a whole number of frames: " + settings_.frame_text());
  }

  /// Reads the next frame; false where the stream ends, because of `why` if that is an error.
  [[gnu::cold]] bool read(std::string& why) {
    came_.resize(static_cast<std::size_t>(settings_.frame_bytes()));
    std::size_t at = 0;
    const auto until = settings_.timeout > 0 ? meta::now() + settings_.timeout : never;
    const auto how = stream_.read(came_.data(), came_.size(), at, until, [&] { return unwanted(); });
    if (beginning_.size() < npy_head) {
      beginning_.append(came_.data(), std::min(at, npy_head - beginning_.size()));
      if (beginning_.compare(0, 6, "\x93NUMPY") == 0) refuse_npy();
    }
    if (how == byte_stream::outcome::done) return true;
    if (how == byte_stream::outcome::late)
      why = "has given no frame for " + text::number_text(static_cast<double>(settings_.timeout) * 1e-9, "%.6g") +
            " s (--source-timeout)";
    if (how != byte_stream::outcome::ended || at == 0) return false;
    why = "ends within frame " + std::to_string(read_) + ", after " + std::to_string(at) + " of " +
          std::to_string(came_.size()) + " bytes; " + settings_.frame_text();
    if (settings_.restarts == 0) fail(why);
    return false;
  }
  /// Makes the bytes that came the next frame, or drops them.
  [[gnu::cold]] void offer(channels::endpoint& end) {
    const auto stamp = frames::frame_stamp::now(read_);
    std::unique_lock lock(mutex_);
    ++read_;
    if (settings_.late == late_rule::wait) changed_.wait(lock, [&] { return stops_ || !full_; });
    if (stops_) return;
    if (full_ && settings_.late == late_rule::drop_newest) {
      ++dropped_;
      return;
    }
    lock.unlock();  // the frame that waits may be taken meanwhile
    frame_.resize(static_cast<std::size_t>(settings_.one.elements()));
    convert();
    lock.lock();
    dropped_ += full_;
    next_.swap(frame_);
    if (keeps_bytes_) next_bytes_.swap(came_);
    next_stamp_ = stamp;
    full_ = true;
    end.wake();
  }
  void convert() {
    const bool raw = !converter_;
    if (raw) std::memcpy(frame_.data(), came_.data(), came_.size());
    if (!check_.done()) raw ? check_.look(frame_, name()) : look_at_bytes();
    if (!settings_.form) return;
    const auto elements = settings_.form->elements();
    for (std::int64_t i = 0; i < settings_.pictures(); ++i) {
      float* const to = frame_.data() + i * elements;
      if (raw) settings_.form->normalize(to);
      else converter_->convert(reinterpret_cast<const std::uint8_t*>(came_.data()) + i * settings_.pixels.bytes(), to);
    }
  }
  /// Warns if all bytes of the first frame are the same.
  [[gnu::cold]] void look_at_bytes() {
    if (looked_ || std::any_of(came_.begin(), came_.end(), [&](char c) { return c != came_[0]; })) {
      looked_ = true;
      return;
    }
    looked_ = true;
    text::print_error("dice: warning: " + name() + ": all bytes of the first frame are " +
                      std::to_string(static_cast<unsigned char>(came_[0])) +
                      "; is the camera covered, or are format and size (--frames-as) wrong?");
  }

  /// The header of a .npy file would become the numbers of frames.
  [[noreturn, gnu::cold]] void refuse_npy() {
    char more[npy_head];
    std::size_t at = 0;
    stream_.read(more, npy_head - beginning_.size(), at, never, [&] { return unwanted(); });
    beginning_.append(more, at);
    beginning_.resize(npy_head, '\0');  // it may end within
    const auto header = frames::npy_header_bytes(reinterpret_cast<const unsigned char*>(beginning_.data()));
    fail("is a .npy file, but a stream has only the numbers after its header of " + std::to_string(header) +
         " bytes; read it with --input FILE, or leave out the header: tail -c +" + std::to_string(header + 1) +
         " FILE | PROGRAM --input -");
  }

  static constexpr std::size_t npy_head = 12;  ///< bytes of a .npy file that tell the length of its header

  const live_settings settings_;
  std::optional<frames::pixel_converter> converter_;
  frame_check check_;
  byte_stream stream_;
  std::string beginning_;  ///< the first npy_head bytes so far
  std::vector<char> came_;
  std::vector<float> frame_;  ///< in which the next frame is made
  std::string problem_;       ///< why the source is started again
  std::int64_t began_ = 0;
  int delay_ = 1;  ///< seconds before the next restart
  bool looked_ = false, keeps_bytes_ = false;
  std::vector<char> taken_bytes_;  ///< of the rank's thread

  std::mutex mutex_;  // for all that follows, which the reader changes
  std::condition_variable changed_;
  std::vector<float> next_;       ///< the frame that enters next, if full_
  std::vector<char> next_bytes_;  ///< as it came
  frames::frame_stamp next_stamp_, stamp_;
  bool full_ = false;
  std::int64_t most_ = 0, read_ = 0, dropped_ = 0, restarts_ = 0, taken_ = 0;
  bool ended_ = false, stops_ = false;
  std::exception_ptr error_;
  std::thread reader_;
};

}  // namespace dice::app
