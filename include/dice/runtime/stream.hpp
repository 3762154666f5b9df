// Bounded queues that carry frames between a rank's thread and the threads of its program.
#pragma once

#include "dice/runtime/frames.hpp"
#include "dice/runtime/tensor.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

namespace dice::runtime {

/// Thrown in the rank's thread when its program stops the stream early.
struct stop_request : std::runtime_error {
  stop_request() : std::runtime_error("the program stopped the stream") {}
};

/// The graph inputs of a rank, fed by its program. All functions may be called from any thread.
class push_source final : public source {
 public:
  /// Writes a frame's numbers to `to`, in the rank's thread when the frame enters.
  using writer = std::function<void(float* to, std::int64_t elements)>;

  /// Holds up to `capacity` frames for each input.
  explicit push_source(std::size_t capacity) : capacity_(capacity) {}
  void add(int layer) { inputs_[layer]; }
  /// `wake` makes the rank's thread check again.
  void on_change(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }

  /// Adds a frame for input `layer`. If there is no room, waits for it, or returns false if `waits` is false. Throws
  /// std::logic_error after close(), and the error given to fail().
  bool push(int layer, writer frame, bool waits) {
    std::unique_lock lock(mutex_);
    auto& in = inputs_.at(layer);
    const auto may = [&] { return error_ || closed_ || in.waiting.size() < capacity_; };
    if (waits) changed_.wait(lock, may);
    if (error_) std::rethrow_exception(error_);
    if (closed_) throw std::logic_error("a frame was pushed after close()");
    if (!may()) return false;
    in.waiting.push_back(std::move(frame));
    ++in.pushed;
    wake();
    return true;
  }
  /// No more frames.
  void close() { set(closed_); }
  /// Ends the stream with the frames under way unfinished.
  void stop() { set(stopped_); }
  /// Waits until all frames pushed so far have left the network on all ranks. Throws the error given to fail().
  void drain() {
    std::unique_lock lock(mutex_);
    std::int64_t wanted = 0;
    for (const auto& [layer, in] : inputs_) wanted = std::max(wanted, in.pushed);
    changed_.wait(lock, [&] { return error_ || retired_ >= wanted; });
    if (error_) std::rethrow_exception(error_);
  }
  /// The stream is over: push() and drain() throw `error`, also where they wait.
  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    changed_.notify_all();
  }

  bool ready(int layer, std::int64_t) override {
    const std::lock_guard lock(mutex_);
    return !inputs_.at(layer).waiting.empty();
  }
  void fill(int layer, std::int64_t, float* to, std::int64_t elements) override {
    writer frame;
    {
      const std::lock_guard lock(mutex_);
      auto& in = inputs_.at(layer);
      frame = std::move(in.waiting.front());
      in.waiting.pop_front();
      changed_.notify_all();
    }
    frame(to, elements);
  }
  std::int64_t total() override {
    const std::lock_guard lock(mutex_);
    if (stopped_) throw stop_request();
    if (!closed_ || inputs_.empty()) return -1;
    const auto pushed = inputs_.begin()->second.pushed;
    for (const auto& [layer, in] : inputs_)
      if (in.pushed != pushed)
        throw std::runtime_error("the graph inputs got different numbers of frames, " + std::to_string(pushed) + " and " +
                                 std::to_string(in.pushed) + "; push the same number to each");
    return pushed;
  }
  void retired(std::int64_t frames) override {
    const std::lock_guard lock(mutex_);
    retired_ = frames;
    changed_.notify_all();
  }

 private:
  struct input {
    std::deque<writer> waiting;
    std::int64_t pushed = 0;
  };
  void set(bool& flag) {
    const std::lock_guard lock(mutex_);
    flag = true;
    changed_.notify_all();
    wake();
  }
  void wake() {
    if (wake_) wake_();
  }

  const std::size_t capacity_;
  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, input> inputs_;
  std::int64_t retired_ = 0;
  bool closed_ = false, stopped_ = false;
  std::exception_ptr error_;
};

/// The graph outputs of a rank, taken by its program in order of frames, or handed to its functions. All functions may be
/// called from any thread.
class result_sink final : public sink {
 public:
  /// Gets a frame's number and its result, which is valid only during the call.
  using listener = std::function<void(std::int64_t frame, const float* from)>;

  /// Holds up to `capacity` results of each output; then frames wait.
  explicit result_sink(std::size_t capacity) : capacity_(capacity) {}
  void add(int layer, const dice::tensor::shape& one) { outputs_[layer].shape = stacked(one, 1); }
  void on_change(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }

  /// Waits for the next result of output `layer`; its memory is swapped with `into`'s for reuse. When no result is left:
  /// false if the stream is over, or throws the error given to end().
  bool take(int layer, tensor& into) {
    std::unique_lock lock(mutex_);
    auto& out = outputs_.at(layer);
    changed_.wait(lock, [&] { return over_ || !out.waiting.empty(); });
    if (out.waiting.empty()) {
      if (error_) std::rethrow_exception(error_);
      return false;
    }
    std::swap(into, out.waiting.front());
    out.spare.push_back(std::move(out.waiting.front()));
    out.waiting.pop_front();
    wake();
    return true;
  }
  /// From now on, results of output `layer` go to `f`, in the rank's thread; those already waiting, in this thread.
  void listen(int layer, listener f) {
    std::unique_lock lock(mutex_);
    auto& out = outputs_.at(layer);
    while (!out.waiting.empty()) {
      const tensor result = std::move(out.waiting.front());
      const auto frame = out.frames - static_cast<std::int64_t>(out.waiting.size());
      out.waiting.pop_front();
      lock.unlock();
      f(frame, result.data());
      lock.lock();
    }
    out.call = std::move(f);
    wake();
  }
  /// Sets whether there is room for any number of results.
  void unbounded(bool yes) {
    const std::lock_guard lock(mutex_);
    unbounded_ = yes;
    wake();
  }
  /// The stream is over; `error` says why, or is null if all frames are done.
  void end(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    over_ = true;
    error_ = std::move(error);
    changed_.notify_all();
  }

  bool ready(int layer, std::int64_t) override {
    const std::lock_guard lock(mutex_);
    const auto& out = outputs_.at(layer);
    return unbounded_ || out.call || out.waiting.size() < capacity_;
  }
  void take(int layer, std::int64_t frame, const float* from, std::int64_t elements) override {
    std::unique_lock lock(mutex_);
    auto& out = outputs_.at(layer);
    ++out.frames;
    if (out.call) {
      lock.unlock();  // it does not change once it is set
      out.call(frame, from);
      return;
    }
    tensor result;
    if (!out.spare.empty()) result = std::move(out.spare.back()), out.spare.pop_back();
    if (static_cast<std::int64_t>(result.size()) != elements || result.dimension() != out.shape.size())
      result = tensor::from_shape(out.shape);
    std::memcpy(result.data(), from, static_cast<std::size_t>(elements) * sizeof(float));
    out.waiting.push_back(std::move(result));
    changed_.notify_all();
  }

 private:
  struct output {
    std::vector<std::size_t> shape;
    std::deque<tensor> waiting;
    std::vector<tensor> spare;  ///< memory for results to come
    std::int64_t frames = 0;    ///< that have left here
    listener call;
  };

  void wake() {
    if (wake_) wake_();
  }

  const std::size_t capacity_;
  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, output> outputs_;
  bool unbounded_ = false, over_ = false;
  std::exception_ptr error_;
};

}  // namespace dice::runtime
