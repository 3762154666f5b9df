// Threads and warps of kernels on the CPU: lanes are fibers of one thread of the operating system.
#include "emulated.hpp"
#include "on_host.hpp"

#include <setjmp.h>
#include <ucontext.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace emulated {
namespace {

constexpr int lanes_of_warp = 32, block = 128;

void place(int n_blocks) {
  blockDim = dim3(block);
  gridDim = dim3(static_cast<unsigned>(n_blocks));
}

/// The fibers of one thread; they stay for the warps to come, because making them costs more than most warps.
class fibers {
 public:
  fibers() {
    for (int i = 0; i < lanes_of_warp; ++i) prepare(lanes_[i], i);
    lanes_[caller].entered = true;
#ifdef __SANITIZE_THREAD__
    lanes_[caller].tsan = __tsan_get_current_fiber();
#endif
  }
  fibers(const fibers&) = delete;
  ~fibers() {
    ends_ = true;
    for (int i = 0; i < lanes_of_warp; ++i) {
      if (lanes_[i].begun) go(caller, i);  // so that AddressSanitizer gets its own stack back
#ifdef __SANITIZE_THREAD__
      __tsan_destroy_fiber(lanes_[i].tsan);
#endif
    }
  }

  void run(const std::function<void()>& body) {
    body_ = &body;
    first_ = threadIdx.x;
    for (auto& l : lanes_) {
      l.returned = false;
      l.shuffles = 0;
    }
    left_ = lanes_of_warp;
    go(caller, 0);
    body_ = nullptr;
  }

  std::uint64_t exchange(std::uint64_t own, int distance) {
    if (!body_) stop("a lane shuffles outside emulated::warps(): start its kernel with launch_warps");
    const int me = current_, other = me ^ distance;
    const int nth = lanes_[me].shuffles++, turn = nth % 2;  // of two: lanes are at most one shuffle ahead of each other
    given_[turn][me] = own;
    if (const int to = next(me); to != me) go(me, to);
    if (other < 0 || other >= lanes_of_warp || lanes_[other].shuffles <= nth)
      stop("a lane shuffles with one that has returned: what it reads is undefined");
    return given_[turn][other];
  }

 private:
  static constexpr int caller = lanes_of_warp;
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;
  struct lane {
    ucontext_t at{};
    jmp_buf jump;
    bool entered = false;  // or else it begins as `at` says
    std::unique_ptr<char[]> stack;
    const void* bottom = nullptr;
    std::size_t size = 0;
    void* fake_stack = nullptr;  // AddressSanitizer's
    void* tsan = nullptr;
    bool begun = false, returned = false;
    int shuffles = 0;
  };

  [[noreturn]] static void stop(const char* why) {
    std::fprintf(stderr, "emulated GPU: %s\n", why);
    std::abort();
  }

  static void prepare(lane& l, int i) {
    l.stack = std::unique_ptr<char[]>(new char[stack_bytes]);
    l.bottom = l.stack.get();
    l.size = stack_bytes;
#ifdef __SANITIZE_THREAD__
    l.tsan = __tsan_create_fiber(0);
#endif
    getcontext(&l.at);
    l.at.uc_stack.ss_sp = l.stack.get();
    l.at.uc_stack.ss_size = stack_bytes;
    l.at.uc_link = nullptr;
    makecontext(&l.at, reinterpret_cast<void (*)()>(&fibers::begin), 1, i);
  }

  /// The next lane that has not returned.
  int next(int from) const {
    int to = from;
    do to = (to + 1) % lanes_of_warp;
    while (lanes_[to].returned && to != from);
    return to;
  }

  /// Suspends one and goes on with another. The last time, its fake stack is given up.
  void go(int from, int to, [[maybe_unused]] bool for_good = false) {
    auto &a = lanes_[from], &b = lanes_[to];
    b.begun = true;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(for_good ? nullptr : &a.fake_stack, b.bottom, b.size);
#endif
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(b.tsan, 0);
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    swapcontext(&a.at, &b.at);
#else
    // swapcontext() asks the system for the mask of signals each time, which takes ten times as long as all else.
    if (_setjmp(a.jump) == 0) {
      if (std::exchange(b.entered, true)) _longjmp(b.jump, 1);
      setcontext(&b.at);
    }
#endif
    arrive(from);
  }
  void arrive(int at) {
#ifdef __SANITIZE_ADDRESS__
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(lanes_[at].fake_stack, &bottom, &size);
    if (lanes_[caller].bottom == nullptr) {
      lanes_[caller].bottom = bottom;
      lanes_[caller].size = size;
    }
#endif
    current_ = at;
    if (at != caller) threadIdx.x = first_ + static_cast<unsigned>(at);
  }

  static void begin(int i);
  void live(int i) {
    arrive(i);
    while (!ends_) {
      (*body_)();
      lanes_[i].returned = true;
      go(i, --left_ == 0 ? static_cast<int>(caller) : next(i));
    }
    go(i, caller, true);
  }

  std::array<lane, lanes_of_warp + 1> lanes_;
  std::uint64_t given_[2][lanes_of_warp] = {};
  const std::function<void()>* body_ = nullptr;
  unsigned first_ = 0;
  int current_ = caller, left_ = 0;
  bool ends_ = false;
};

fibers& of_this_thread() {
  static thread_local fibers f;
  return f;
}
void fibers::begin(int i) { of_this_thread().live(i); }

}  // namespace

cudaError_t each(std::function<void()> body, int n, cudaStream_t on) {
  if (n <= 0) return cudaSuccess;
  return enqueue(on, [body = std::move(body), n] {
    const int blocks = (n - 1) / block + 1;
    place(blocks);
    for (int b = 0; b < blocks; ++b)
      for (int t = 0; t < block; ++t) {
        blockIdx.x = static_cast<unsigned>(b);
        threadIdx.x = static_cast<unsigned>(t);
        body();
      }
  });
}

cudaError_t warps(std::function<void()> body, int n, cudaStream_t on) {
  if (n <= 0) return cudaSuccess;
  return enqueue(on, [body = std::move(body), n] {
    const int of_block = block / lanes_of_warp, blocks = (n - 1) / of_block + 1;
    place(blocks);
    for (int b = 0; b < blocks; ++b)
      for (int w = 0; w < of_block; ++w) {
        blockIdx.x = static_cast<unsigned>(b);
        threadIdx.x = static_cast<unsigned>(w * lanes_of_warp);
        of_this_thread().run(body);
      }
  });
}

std::uint64_t exchange(std::uint64_t own, int distance) { return of_this_thread().exchange(own, distance); }

}  // namespace emulated
