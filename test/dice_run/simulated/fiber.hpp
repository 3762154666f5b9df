// Functions that stop in their midst and go on later, all in one thread: the processes of a simulated world.
#pragma once

#include <ucontext.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace simulated {

/// Ends a fiber where it has stopped, as SIGKILL ends a process. Not to be caught by anything but the fiber itself.
struct killed {};

/// Must not stop within a catch block or while it is unwound: all fibers share one stack of exceptions.
class fiber {
 public:
  explicit fiber(std::function<void()> body) : body_(std::move(body)) {
    ::getcontext(&own_);
    own_.uc_stack.ss_sp = stack_.get();
    own_.uc_stack.ss_size = stack_bytes;
    own_.uc_link = &caller_;
    ::makecontext(&own_, &fiber::begin, 0);
  }
  fiber(const fiber&) = delete;
  ~fiber() { kill(); }

  /// Runs it until it stops or ends.
  void resume() {
    fiber* const before = std::exchange(running_, this);
    void* frames = nullptr;
    stack own{stack_.get(), stack_bytes};
    leave(&frames, own);
    ::swapcontext(&caller_, &own_);
    arrive(frames, own);
    running_ = before;
  }
  /// Unwinds it, also if it has not begun. Not from within itself.
  void kill() {
    if (ended_) return;
    doomed_ = true;
    resume();
  }
  bool ended() const { return ended_; }

  /// Of the running fiber. Throws killed if it was ended meanwhile.
  static void stop() {
    fiber& f = *running_;
    void* frames = nullptr;
    leave(&frames, f.callers_);
    ::swapcontext(&f.own_, &f.caller_);
    arrive(frames, f.callers_);
    if (f.doomed_) throw killed();
  }

 private:
  static constexpr std::size_t stack_bytes = 128 << 10;
  static inline fiber* running_ = nullptr;
  std::function<void()> body_;
  std::unique_ptr<char[]> stack_ = std::make_unique_for_overwrite<char[]>(stack_bytes);
  ucontext_t own_{}, caller_{};
  struct stack {
    const void* bottom = nullptr;
    std::size_t bytes = 0;
  } callers_;
  bool doomed_ = false, ended_ = false;

  // AddressSanitizer must know of each switch to another stack, and takes care of what frames it has of this one.
#ifdef __SANITIZE_ADDRESS__
  static void leave(void** frames, const stack& to) { __sanitizer_start_switch_fiber(frames, to.bottom, to.bytes); }
  static void arrive(void* frames, stack& from) { __sanitizer_finish_switch_fiber(frames, &from.bottom, &from.bytes); }
#else
  static void leave(void**, const stack&) {}
  static void arrive(void*, stack&) {}
#endif

  static void begin() {
    fiber& f = *running_;
    arrive(nullptr, f.callers_);
    try {
      if (!f.doomed_) f.body_();
    } catch (const killed&) {
    }
    f.body_ = nullptr;
    f.ended_ = true;
    leave(nullptr, f.callers_);
  }
};

}  // namespace simulated
