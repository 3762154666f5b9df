// Where records of results go while the ranks compute: the standard output, a command, a file.
#pragma once

#include "dice/app/ctrl_c.hpp"
#include "dice/app/options.hpp"
#include "dice/files/error.hpp"
#include "dice/files/interrupts.hpp"
#include "dice/files/writer.hpp"
#include "dice/text/foreign.hpp"
#include "dice/this_host/command.hpp"
#include "dice/this_host/cores.hpp"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace dice::app {

namespace detail {

struct standard_output_use {
  std::mutex mutex;
  std::condition_variable changed;
  bool in_use = false;
};

}  // namespace detail

/// The standard output, which takes one record at a time, whichever destinations of this process write to it.
class standard_output {
 public:
  /// Waits while others write their records, and asks `gives_up` every 100 ms. It is this one's while the object lives, if
  /// taken().
  template <class GivesUp> explicit standard_output(GivesUp gives_up) {
    std::unique_lock lock(all_.mutex);
    while (!all_.changed.wait_for(lock, std::chrono::milliseconds(100), [] { return !all_.in_use; }))
      if (gives_up()) return;
    all_.in_use = taken_ = true;
  }
  standard_output(const standard_output&) = delete;
  standard_output& operator=(const standard_output&) = delete;
  ~standard_output() {
    if (!taken_) return;
    const std::lock_guard lock(all_.mutex);
    all_.in_use = false;
    all_.changed.notify_one();
  }
  bool taken() const { return taken_; }

 private:
  static inline auto& all_ = *new detail::standard_output_use;  // never destroyed: threads may wait when the program exits
  bool taken_ = false;
};

/// Writes records in a thread of its own, so that a slow reader does not keep a rank from its other frames. Holds up to
/// `capacity` of them; then frames wait.
class destination {
 public:
  /// Opens the file, or starts the command. Throws files::error, std::runtime_error.
  destination(const result_sink& to, std::size_t capacity) : to_(to), capacity_(capacity) {
    if (to.kind == result_sink::kinds::file) file_.emplace(to.what, files::writer::keeps::partial);
    if (to.kind == result_sink::kinds::command)
      command_ = std::make_unique<this_host::command>(to.what, this_host::command::pipe_to::input);
    writer_ = std::thread([this] { work(); });
  }
  destination(const destination&) = delete;
  destination& operator=(const destination&) = delete;
  ~destination() {
    {
      const std::lock_guard lock(mutex_);
      gives_up_ = true;
    }
    changed_.notify_all();
    writer_.join();
  }

  /// `wake` is called when there is room again.
  void on_change(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }
  /// Whether put() has room.
  bool ready() {
    const std::lock_guard lock(mutex_);
    return error_ || waiting_.size() < capacity_;
  }
  /// Throws the error of an earlier record.
  void put(std::string record) {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    waiting_.push_back(std::move(record));
    changed_.notify_all();
  }
  /// After the last record: waits until all are written, gives a file its name, and waits for the end of a command. Throws.
  void finish() {
    std::unique_lock lock(mutex_);
    constexpr std::chrono::seconds patience(10);
    const auto done = [&] { return error_ || (waiting_.empty() && !writes_); };
    if (!command_) changed_.wait(lock, done);
    for (auto before = taken_.load(); !changed_.wait_for(lock, patience, done); before = taken_)
      if (taken_ == before) throw files::error(name() + " has not read its last results within 10 s, and was ended");
    if (error_) std::rethrow_exception(error_);
    if (file_) file_->commit();
    if (!command_) return;
    const auto began = std::chrono::steady_clock::now();
    const auto end = command_->end(patience);
    if (std::chrono::steady_clock::now() - began >= patience)
      throw files::error(name() + " has not ended within 10 s after its last result, and was ended");
    if (!end.ok()) throw files::error(name() + " has ended with an error (" + end.text() + ")");
  }

 private:
  std::string name() const { return "the sink '" + text::shown(to_.what) + "'"; }

  void work() {
    this_host::use_cores(this_host::cores_at_start);
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [&] { return gives_up_ || !waiting_.empty(); });
      if (gives_up_) return;
      const auto record = std::move(waiting_.front());
      waiting_.pop_front();
      writes_ = true;
      if (wake_) wake_();
      lock.unlock();
      std::exception_ptr error;
      try {
        if (file_) file_->write(record);
        else if (command_) write(command_->pipe(), record);
        else if (const standard_output mine([this] { return gives_up(); }); mine.taken()) write(STDOUT_FILENO, record);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      writes_ = false;
      error_ = error;
      changed_.notify_all();
      if (error_ && wake_) wake_();
      if (error_) return;
    }
  }

  bool gives_up() {
    const std::lock_guard lock(mutex_);
    return gives_up_;
  }
  /// Writes to the pipe or the standard output, until nobody wants it any more.
  void write(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      pollfd to{fd, POLLOUT, 0};
      for (int n = 0; (n = ::poll(&to, 1, 100)) == 0 || (n < 0 && errno == EINTR);)
        if (gives_up()) return;
      // The standard output may block, but has room for so much.
      const auto n = ::write(fd, bytes.data(), command_ ? bytes.size() : std::min<std::size_t>(bytes.size(), PIPE_BUF));
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (n < 0) return fail(errno);
      bytes.remove_prefix(static_cast<std::size_t>(n));
      taken_ += n;
    }
  }
  /// Ctrl-C also ends the programs that read here: then nothing is wrong.
  void fail(int why) {
    if (why == EPIPE && files::interrupts::stop_signal_within(ctrl_c_delay()) != 0) return;
    if (!command_) throw files::error(std::string("the standard output cannot be written: ") + std::strerror(why));
    if (why != EPIPE) throw files::error(name() + " cannot be written to: " + std::strerror(why));
    const auto end = command_->end(std::chrono::milliseconds(500));
    throw files::error(name() + (end.late ? " has closed its input" : " has ended (" + end.text() + ")") +
                       " and takes no more results");
  }

  const result_sink to_;
  const std::size_t capacity_;
  std::optional<files::writer> file_;
  std::unique_ptr<this_host::command> command_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> wake_;
  std::deque<std::string> waiting_;
  bool writes_ = false, gives_up_ = false;
  std::atomic<std::int64_t> taken_{0};  ///< bytes by the reader
  std::exception_ptr error_;
  std::thread writer_;
};

}  // namespace dice::app
