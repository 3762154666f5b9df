// Pictures with what was found in them. Only with stb.
#pragma once

#include "dice/app/drawing.hpp"
#include "dice/app/output/finding.hpp"
#include "dice/app/rgb_picture.hpp"
#include "dice/files/error.hpp"
#include "dice/files/place.hpp"
#include "dice/this_host/command.hpp"
#include "dice/this_host/cores.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace dice::app {

/// What drawn_pictures writes, and how.
struct drawing_settings {
  std::function<std::string(std::int64_t frame)> file{};  ///< of a frame's picture
  lasting how = lasting::replaced;                        ///< replaced: by the next frame's
  bool all = false;  ///< frames wait until there is time to draw them; else pictures are skipped
  std::vector<std::string> labels{};
  std::set<std::string> read{};  ///< files::place::id of what this rank reads
};

/// Draws boxes or masks into the pictures of frames and writes the files, in a thread of its own. keep(), draw() and ready()
/// are of the rank's thread.
class drawn_pictures {
 public:
  /// Makes the picture of a frame, in the thread that draws.
  using maker = std::function<rgb_picture()>;

  explicit drawn_pictures(drawing_settings s) : settings_(std::move(s)), artist_([this] { work(); }) {}
  drawn_pictures(const drawn_pictures&) = delete;
  drawn_pictures& operator=(const drawn_pictures&) = delete;
  ~drawn_pictures() {
    {
      const std::lock_guard lock(mutex_);
      gives_up_ = true;
    }
    changed_.notify_all();
    artist_.join();
  }

  /// `wake` is called when ready() may have changed.
  void on_change(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }
  /// Whether another frame may enter that is to be drawn.
  bool ready() {
    const std::lock_guard lock(mutex_);
    return !settings_.all || error_ || waiting_.size() < most_waiting;
  }
  /// Frame `frame` has entered: keeps what makes its picture until draw().
  void keep(std::int64_t frame, maker picture) { kept_[frame] = std::move(picture); }
  /// Draws what was found in it, later. Throws the error of an earlier picture.
  void draw(std::int64_t frame, finding found) {
    auto kept = kept_.extract(frame);
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    if (kept.empty()) return;
    if (!settings_.all && !waiting_.empty()) {
      waiting_.pop_front();
      ++skipped_;
    }
    waiting_.push_back({frame, std::move(kept.mapped()), std::move(found)});
    changed_.notify_all();
  }
  /// Waits until all are written. Returns how many were skipped. Throws.
  std::int64_t finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return error_ || (waiting_.empty() && !draws_); });
    if (error_) std::rethrow_exception(error_);
    return skipped_;
  }

 private:
  struct sketch {
    std::int64_t frame = 0;
    maker picture;
    finding found;
  };
  static constexpr std::size_t most_waiting = 2;

  void work() {
    this_host::use_cores(this_host::cores_at_start);
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [&] { return gives_up_ || !waiting_.empty(); });
      if (gives_up_) return;
      const auto next = std::move(waiting_.front());
      waiting_.pop_front();
      draws_ = true;
      lock.unlock();
      std::exception_ptr error;
      try {
        write(next);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      draws_ = false;
      error_ = error;
      changed_.notify_all();
      if (wake_) wake_();
      if (error_) return;
    }
  }

  void write(const sketch& s) const {
    auto picture = s.picture();
    draw_boxes(picture, s.found.boxes, settings_.labels);
    if (s.found.mask)
      draw_mask(picture, *s.found.mask, s.found.axes.value_or(stretched(picture, picture.width, picture.height)));
    const auto path = settings_.file(s.frame);
    if (settings_.read.contains(files::place_of(path).id))
      throw files::error("'" + path + "' is read by this run and would be overwritten; name another file for --picture");
    write_picture(path, picture, settings_.how);
  }

  const drawing_settings settings_;
  std::map<std::int64_t, maker> kept_;  ///< by frame: those in flight

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> wake_;
  std::deque<sketch> waiting_;
  bool draws_ = false, gives_up_ = false;
  std::int64_t skipped_ = 0;
  std::exception_ptr error_;
  std::thread artist_;
};

}  // namespace dice::app
