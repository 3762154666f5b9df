// Bounded queues that carry frames between a rank's thread and the threads of its program.
#pragma once

#include "dice/frames/deadline.hpp"
#include "dice/frames/ends.hpp"
#include "dice/frames/tensor.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dice::frames {

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

  /// Adds the frame that make() returns for input `layer`. Waits for room until `until`; if there is none, returns false
  /// without a call of make(). Throws std::logic_error after close(), the error given to end(), and what make() throws.
  template <class Make> bool push(int layer, const Make& make, deadline until) {
    input& in = inputs_.at(layer);
    if (std::unique_lock lock(mutex_); !has_room(lock, in, until)) return false;
    std::exception_ptr error;
    writer frame;
    try {
      frame = make();  // without the lock: it may take long
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    --in.promised;
    changed_.notify_all();
    if (error) std::rethrow_exception(error);
    require_open();
    in.waiting.push_back(std::move(frame));
    ++in.pushed;
    wake();
    return true;
  }
  /// No more frames.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
    wake();
  }
  /// Ends the stream with the frames under way unfinished; `why` is what the rank's thread throws.
  void stop(std::exception_ptr why = std::make_exception_ptr(stop_request())) {
    const std::lock_guard lock(mutex_);
    if (!stopped_) stopped_ = std::move(why);
    wake();
  }
  /// Waits until all frames pushed so far have left the network on all ranks. Throws the error given to end().
  void drain() {
    std::unique_lock lock(mutex_);
    std::int64_t wanted = 0;
    for (const auto& [layer, in] : inputs_) wanted = std::max(wanted, in.pushed);
    changed_.wait(lock, [&] { return over_ || retired_ >= wanted; });
    if (error_) std::rethrow_exception(error_);
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
    return !inputs_.at(layer).waiting.empty();
  }
  void fill(int layer, std::int64_t, std::byte* to, const dice::tensor::type& as) override {
    writer frame;
    {
      const std::lock_guard lock(mutex_);
      auto& in = inputs_.at(layer);
      frame = std::move(in.waiting.front());
      in.waiting.pop_front();
      changed_.notify_all();
    }
    frame(floats(to, as), as.elements());
  }
  std::int64_t total() override {
    const std::lock_guard lock(mutex_);
    if (stopped_) std::rethrow_exception(stopped_);
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
    std::size_t promised = 0;  ///< frames that are being made and have their place
    std::int64_t pushed = 0;
  };

  /// Waits until there is a place for one more frame, which is then promised.
  bool has_room(std::unique_lock<std::mutex>& lock, input& in, deadline until) {
    const auto room = [&] { return in.waiting.size() + in.promised < capacity_; };
    const bool may = await(changed_, lock, until, [&] { return over_ || closed_ || room(); });
    require_open();
    in.promised += may;
    return may;
  }
  void require_open() const {
    if (error_) std::rethrow_exception(error_);
    if (closed_ || over_) throw std::logic_error("a frame was pushed after close()");
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
  bool closed_ = false, over_ = false;
  std::exception_ptr stopped_, error_;
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

  /// Waits until `until` for the next result of output `layer`; its memory is swapped with `into`'s for reuse. False if
  /// there is none in time, or the stream is over and none is left; then throws the error given to end().
  bool take(int layer, tensor& into, deadline until) {
    std::unique_lock lock(mutex_);
    auto& out = outputs_.at(layer);
    await(changed_, lock, until, [&] { return over_ || !out.waiting.empty(); });
    if (out.waiting.empty()) {
      if (error_) std::rethrow_exception(error_);
      return false;
    }
    std::swap(into, out.waiting.front());
    if (out.spare.size() < capacity_) out.spare.push_back(std::move(out.waiting.front()));
    out.waiting.pop_front();
    wake();
    return true;
  }
  /// From now on, results of output `layer` go to `f`, in the rank's thread; those already waiting go to it in this thread,
  /// or in the one that is handing them out. If `waits`, waits until the function that `f` replaces has returned; functions
  /// themselves must not wait. Throws what `f` throws in this thread.
  void listen(int layer, listener f, bool waits) {
    auto next = std::make_shared<listener>(std::move(f));  // destroyed last: the old function's destructor may do anything
    std::unique_lock lock(mutex_);
    auto& out = outputs_.at(layer);
    std::swap(out.call, next);
    if (waits && out.calls) changed_.wait(lock, [&, old = out.begun] { return !out.calls || out.begun > old; });
    if (out.calls) return;  // whoever called the old function goes on with this one
    while (!out.waiting.empty()) {
      const tensor result = std::move(out.waiting.front());
      const auto frame = out.frames - static_cast<std::int64_t>(out.waiting.size());
      out.waiting.pop_front();
      call(lock, out, frame, result.data());
    }
  }
  /// Lets the outputs have room for any number of results, until as many calls with `false` follow as with `true`.
  void unbounded(bool yes) {
    const std::lock_guard lock(mutex_);
    unbounded_ += yes ? 1 : -1;
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
    return !out.calls && (unbounded_ > 0 || out.waiting.size() < capacity_);
  }
  void take(int layer, std::int64_t frame, const std::byte* at, const dice::tensor::type& as) override {
    const float* const from = floats(at, as);
    std::unique_lock lock(mutex_);
    auto& out = outputs_.at(layer);
    ++out.frames;
    // If results wait although there is a function, listen() is handing them out.
    if (out.call && out.waiting.empty() && !out.calls) return call(lock, out, frame, from);
    tensor result;
    if (!out.spare.empty()) {
      result = std::move(out.spare.back());
      out.spare.pop_back();
    }
    if (static_cast<std::int64_t>(result.size()) != as.elements() || result.dimension() != out.shape.size())
      result = tensor::from_shape(out.shape);
    std::copy_n(from, as.elements(), result.data());
    out.waiting.push_back(std::move(result));
    changed_.notify_all();
  }

 private:
  struct output {
    std::vector<std::size_t> shape;
    std::deque<tensor> waiting;
    std::vector<tensor> spare;  ///< memory for results to come
    std::int64_t frames = 0;    ///< that have left here
    std::shared_ptr<listener> call;
    bool calls = false;      ///< whether a thread is in a call of it
    std::int64_t begun = 0;  ///< calls so far
  };

  /// Calls the output's function, without the lock. It may be replaced meanwhile.
  void call(std::unique_lock<std::mutex>& lock, output& out, std::int64_t frame, const float* from) {
    auto f = out.call;
    std::exception_ptr error;
    out.calls = true;
    ++out.begun;
    lock.unlock();
    try {
      (*f)(frame, from);
    } catch (...) {
      error = std::current_exception();
    }
    f.reset();
    lock.lock();
    out.calls = false;
    changed_.notify_all();
    wake();
    if (error) std::rethrow_exception(error);
  }
  void wake() {
    if (wake_) wake_();
  }

  const std::size_t capacity_;
  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, output> outputs_;
  int unbounded_ = 0;  ///< callers that want it
  bool over_ = false;
  std::exception_ptr error_;
};

}  // namespace dice::frames
