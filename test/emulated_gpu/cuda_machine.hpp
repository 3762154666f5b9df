// The machine of the emulated CUDA runtime: each stream is a thread with a queue, events are marks in queues, GPU memory is
// host memory. A program that breaks CUDA's rules gets CUDA's error.
#pragma once

#include "emulated.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace emulated::cuda {

/// Reached when everything enqueued before it is done.
struct mark {
  bool reached = false;
  std::chrono::steady_clock::time_point at{};
};
using marks = std::vector<std::shared_ptr<mark>>;

struct node {
  std::function<void()> run;
  bool is_kernel = false;
};

/// A stream's recorded work: nodes in the order of the calls, which the streams' dependencies allow.
struct capture {
  cudaStream_t origin;
  cudaStreamCaptureMode mode;
  std::thread::id by;
  bool broken = false, ended = false;
  std::vector<node> nodes;
  /// For each stream of the capture, how many nodes of every stream it comes after (as a number in `nodes`).
  using clock = std::map<cudaStream_t, std::size_t>;
  std::map<cudaStream_t, clock> clocks;
};

struct task {
  node what;
  marks after;
  std::shared_ptr<mark> done;
};

}  // namespace emulated::cuda

struct CUstream_st {
  bool blocking = true;  ///< the legacy stream and this one wait for each other
  bool ends = false;
  std::deque<emulated::cuda::task> tasks;
  std::shared_ptr<emulated::cuda::mark> last;  ///< of what was enqueued last
  std::shared_ptr<emulated::cuda::capture> into;
  std::thread worker;
};
struct CUevent_st {
  bool timed = true;
  std::shared_ptr<emulated::cuda::mark> last;   ///< its latest record; null: none
  std::shared_ptr<emulated::cuda::capture> in;  ///< or the capture that recorded it,
  emulated::cuda::capture::clock seen;          ///< after these of its nodes
};
struct CUgraph_st {
  std::vector<emulated::cuda::node> nodes;
};
struct CUgraphExec_st {
  std::vector<emulated::cuda::node> nodes;
  std::shared_ptr<emulated::cuda::mark> last;  ///< its launches do not overlap
};

namespace emulated::cuda {

struct gpu {
  std::mutex mutex;
  std::condition_variable changed;
  emulated::machine machine;
  std::map<std::string, int> calls;  ///< so far, for each "name#number"
  cudaError_t fault = cudaSuccess;
  std::map<const char*, std::size_t> device, pinned;
  std::size_t used = 0, others = 0;
  std::set<cudaStream_t> streams;  ///< except for the legacy stream
  std::set<cudaEvent_t> events;
  std::set<cudaGraph_t> graphs;
  std::set<cudaGraphExec_t> executables;
  CUstream_st legacy;
};

inline emulated::machine from_environment() {
  emulated::machine out;
  const char* text = std::getenv("DICE_EMULATED_GPU");
  std::istringstream items(text ? text : "");
  for (std::string item; std::getline(items, item, ',');) {
    const auto at = item.find('=');
    const auto name = item.substr(0, at);
    char* rest = nullptr;
    const long long value = at == std::string::npos ? 0 : std::strtoll(item.c_str() + at + 1, &rest, 10);
    const auto is = [&](std::string_view prefix) { return name.compare(0, prefix.size(), prefix) == 0; };
    if (name == "total") {
      const auto unit = std::string_view("KMG").find(*(rest ? rest : ""));
      out.total = static_cast<std::size_t>(value) << (rest && *rest && unit != std::string_view::npos ? 10 * (unit + 1) : 0);
    } else if (name == "driver") {
      out.driver = static_cast<int>(value);
    } else if (name == "runtime") {
      out.runtime = static_cast<int>(value);
    } else if (name == "devices") {
      out.devices = static_cast<int>(value);
    } else if (name == "integrated") {
      out.integrated = value != 0;
    } else if (name == "pauses") {
      out.pauses = value != 0;
    } else if (rest && (is("cuda") || is("cudnn") || is("cublas") || is("kernel"))) {
      out.errors[name] = static_cast<int>(value);
    } else {
      std::fprintf(stderr, "emulated GPU: DICE_EMULATED_GPU: cannot read '%s'\n", item.c_str());
      std::abort();
    }
  }
  return out;
}

/// Never destroyed: threads of streams may outlive main.
inline gpu& the() {
  static gpu& g = []() -> gpu& {
    auto* made = new gpu;
    made->machine = from_environment();
    return *made;
  }();
  return g;
}
using lock = std::unique_lock<std::mutex>;

inline thread_local cudaError_t last_error = cudaSuccess;
inline thread_local int device_of_thread = 0;

inline int injected_now(const std::string& function) {
  auto& g = the();
  auto& errors = g.machine.errors;
  if (errors.empty()) {
    g.calls.clear();
    return 0;
  }
  if (const auto always = errors.find(function); always != errors.end()) return always->second;
  for (auto i = errors.lower_bound(function + '#');
       i != errors.end() && i->first.compare(0, function.size() + 1, function + '#') == 0; ++i) {
    if (++g.calls[i->first] < std::atoi(i->first.c_str() + function.size() + 1)) continue;
    const int code = i->second;
    g.calls.erase(i->first);
    errors.erase(i);
    return code;
  }
  return 0;
}

inline cudaError_t state_now() {
  const auto& g = the();
  if (g.fault != cudaSuccess) return g.fault;
  if (g.machine.driver / 1000 < g.machine.runtime / 1000) return cudaErrorInsufficientDriver;
  return g.machine.devices > 0 ? cudaSuccess : cudaErrorNoDevice;
}

/// After these errors a GPU refuses all further work.
inline bool lasts(cudaError_t code) {
  switch (code) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

/// A call of the runtime: runs `body` with the lock held, unless there is an error already.
template <class Body> cudaError_t call(const char* function, Body body, bool needs_device = true) {
  lock held(the().mutex);
  auto code = static_cast<cudaError_t>(injected_now(function));
  if (lasts(code) && the().fault == cudaSuccess) the().fault = code;
  if (code == cudaSuccess && needs_device) code = state_now();
  if (code == cudaSuccess) code = body(held);
  if (code != cudaSuccess) last_error = code;
  return code;
}

/// A call that releases something: it does so even after a fault.
template <class Body> cudaError_t destroy(const char* function, Body body) {
  return call(
      function,
      [&](lock& held) {
        const cudaError_t code = body(held);
        return code == cudaSuccess ? state_now() : code;
      },
      false);
}
template <class Handle> cudaError_t forget(std::set<Handle>& known, Handle h, cudaError_t otherwise) {
  if (!known.erase(h)) return otherwise;
  delete h;
  return cudaSuccess;
}

inline void work(CUstream_st& s) {
  auto& g = the();
  std::minstd_rand rng(std::random_device{}());
  lock held(g.mutex);
  for (;;) {
    g.changed.wait(held, [&] {
      if (s.tasks.empty()) return s.ends;
      const auto& after = s.tasks.front().after;
      return std::all_of(after.begin(), after.end(), [](const auto& m) { return m->reached; });
    });
    if (s.tasks.empty()) return;
    auto next = std::move(s.tasks.front());
    s.tasks.pop_front();
    const bool runs = next.what.run && g.fault == cudaSuccess, pauses = g.machine.pauses;
    held.unlock();
    if (pauses && rng() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(rng() % 40));
    auto fault = cudaSuccess;
    try {
      if (runs) next.what.run();
    } catch (const emulated::fault& f) {
      fault = f.code;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "emulated GPU: a kernel failed: %s\n", e.what());
      fault = cudaErrorLaunchFailure;
    }
    next.what.run = nullptr;
    held.lock();
    if (g.fault == cudaSuccess) g.fault = fault;
    next.done->reached = true;
    next.done->at = std::chrono::steady_clock::now();
    g.changed.notify_all();
  }
}

/// The stream of a handle; null if there is none.
inline CUstream_st* find(cudaStream_t s) {
  auto& g = the();
  if (s == nullptr || s == cudaStreamLegacy) return &g.legacy;
  return g.streams.count(s) ? s : nullptr;
}

/// Captures in progress.
inline std::set<capture*> captures() {
  std::set<capture*> out;
  for (auto* s : the().streams)
    if (s->into) out.insert(s->into.get());
  return out;
}
/// The error of calls that CUDA forbids during captures (of the process or of the thread, as the captures' modes say).
inline cudaError_t unsafe() {
  auto code = cudaSuccess;
  for (auto* c : captures())
    if (c->mode == cudaStreamCaptureModeGlobal ||
        (c->mode == cudaStreamCaptureModeThreadLocal && c->by == std::this_thread::get_id())) {
      c->broken = true;
      code = cudaErrorStreamCaptureUnsupported;
    }
  return code;
}
inline cudaError_t breaks(capture& c, cudaError_t code) {
  c.broken = true;
  return code;
}

/// Enqueues, or records.
inline cudaError_t put(CUstream_st& s, node what, marks after = {}) {
  auto& g = the();
  if (s.into) {
    if (s.into->broken) return cudaErrorStreamCaptureInvalidated;
    s.into->nodes.push_back(std::move(what));
    s.into->clocks[&s][&s] = s.into->nodes.size();
    return cudaSuccess;
  }
  if (&s == &g.legacy) {
    for (auto* other : g.streams) {
      if (!other->blocking) continue;
      if (other->into) return breaks(*other->into, cudaErrorStreamCaptureImplicit);
      if (other->last) after.push_back(other->last);
    }
  } else if (s.blocking && g.legacy.last) {
    after.push_back(g.legacy.last);
  }
  if (what.is_kernel)
    if (const int code = injected_now("kernel"); code != 0)
      what.run = [code] { throw emulated::fault{static_cast<cudaError_t>(code)}; };
  if (!s.worker.joinable()) s.worker = std::thread([&s] { work(s); });
  s.last = std::make_shared<mark>();
  s.tasks.push_back({std::move(what), std::move(after), s.last});
  g.changed.notify_all();
  return cudaSuccess;
}

inline cudaError_t wait_for(lock& held, const std::shared_ptr<mark>& m) {
  if (m) the().changed.wait(held, [&] { return m->reached; });
  return the().fault;
}
inline void wait_for_all(lock& held) {
  auto& g = the();
  marks all{g.legacy.last};
  for (auto* s : g.streams) all.push_back(s->last);
  for (const auto& m : all) wait_for(held, m);
}

inline bool lies_in(const std::map<const char*, std::size_t>& blocks, const void* p, std::size_t bytes) {
  const auto* at = static_cast<const char*>(p);
  auto i = blocks.upper_bound(at);
  return i != blocks.begin() && (--i, at + bytes <= i->first + i->second);
}
inline bool on_device(const void* p, std::size_t bytes) { return lies_in(the().device, p, bytes); }
inline bool is_pinned(const void* p, std::size_t bytes) { return lies_in(the().pinned, p, bytes); }

/// Memory filled with NaN, so that reads of unwritten memory show. It ends exactly at its size, for AddressSanitizer.
inline char* new_memory(std::size_t bytes) {
  void* at = nullptr;
  if (posix_memalign(&at, 256, bytes) != 0) return nullptr;
  std::memset(at, 0xff, bytes);
  return static_cast<char*>(at);
}

inline cudaError_t copy(lock& held, CUstream_st& s, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return cudaSuccess;
  const bool to_gpu = on_device(to, bytes), from_gpu = on_device(from, bytes);
  const bool to_pinned = is_pinned(to, bytes), from_pinned = is_pinned(from, bytes);
  switch (kind) {
    case cudaMemcpyHostToDevice:
      if (!(to_gpu || to_pinned) || from_gpu) return cudaErrorInvalidValue;
      break;
    case cudaMemcpyDeviceToHost:
      if (!(from_gpu || from_pinned) || to_gpu) return cudaErrorInvalidValue;
      break;
    case cudaMemcpyDeviceToDevice:
      if (!(to_gpu || to_pinned) || !(from_gpu || from_pinned)) return cudaErrorInvalidValue;
      break;
    case cudaMemcpyHostToHost:
      if (to_gpu || from_gpu) return cudaErrorInvalidValue;
      break;
    case cudaMemcpyDefault:
      break;
    default:
      return cudaErrorInvalidMemcpyDirection;
  }
  const bool from_pageable = !from_gpu && !from_pinned, to_pageable = !to_gpu && !to_pinned;
  if (s.into && (from_pageable || to_pageable)) return breaks(*s.into, cudaErrorStreamCaptureUnsupported);
  cudaError_t code;
  if (from_pageable) {
    const auto* bytes_of = static_cast<const char*>(from);
    std::vector<char> staged(bytes_of, bytes_of + bytes);  // the caller may change the bytes once this returns
    code = put(s, {[=, staged = std::move(staged)] { std::memcpy(to, staged.data(), bytes); }});
  } else {
    code = put(s, {[=] { std::memmove(to, from, bytes); }});
  }
  return code == cudaSuccess && to_pageable ? wait_for(held, s.last) : code;
}

inline cudaError_t fill(CUstream_st& s, void* to, int value, std::size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (!on_device(to, bytes) && !is_pinned(to, bytes)) return cudaErrorInvalidValue;
  return put(s, {[=] { std::memset(to, value, bytes); }});
}

inline void end(lock& held, cudaStream_t s) {
  s->ends = true;
  the().changed.notify_all();
  if (!s->worker.joinable()) return;
  held.unlock();
  s->worker.join();
  held.lock();
}

inline cudaError_t make_stream(cudaStream_t* out, unsigned flags) {
  if (!out || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
  *out = new CUstream_st;
  (*out)->blocking = flags == cudaStreamDefault;
  the().streams.insert(*out);
  return cudaSuccess;
}
inline cudaError_t make_event(cudaEvent_t* out, unsigned flags) {
  if (!out) return cudaErrorInvalidValue;
  *out = new CUevent_st;
  (*out)->timed = (flags & cudaEventDisableTiming) == 0;
  the().events.insert(*out);
  return cudaSuccess;
}

inline cudaError_t give_back(lock& held, std::map<const char*, std::size_t>& blocks, void* at) {
  if (at == nullptr) return cudaSuccess;
  if (const auto code = unsafe(); code != cudaSuccess) return code;
  auto i = blocks.find(static_cast<const char*>(at));
  if (i == blocks.end()) return cudaErrorInvalidValue;
  for (auto* c : captures()) c->broken = true;  // of all threads
  wait_for_all(held);
  if (&blocks == &the().device) the().used -= i->second;
  blocks.erase(i);
  std::free(at);
  return cudaSuccess;
}

struct words {
  const char *name, *text;
};
inline const std::map<int, words>& known_errors() {
  static const std::map<int, words> all = {
      {0, {"cudaSuccess", "no error"}},
      {1, {"cudaErrorInvalidValue", "invalid argument"}},
      {2, {"cudaErrorMemoryAllocation", "out of memory"}},
      {3, {"cudaErrorInitializationError", "initialization error"}},
      {34, {"cudaErrorStubLibrary", "CUDA driver is a stub library"}},
      {35, {"cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"}},
      {46, {"cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"}},
      {100, {"cudaErrorNoDevice", "no CUDA-capable device is detected"}},
      {101, {"cudaErrorInvalidDevice", "invalid device ordinal"}},
      {209, {"cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"}},
      {214, {"cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"}},
      {220, {"cudaErrorNvlinkUncorrectable", "uncorrectable NVLink error detected during the execution"}},
      {222, {"cudaErrorUnsupportedPtxVersion", "the provided PTX was compiled with an unsupported toolchain."}},
      {226, {"cudaErrorContained", "Invalid access of peer GPU memory over nvlink or a hardware error"}},
      {400, {"cudaErrorInvalidResourceHandle", "invalid resource handle"}},
      {600, {"cudaErrorNotReady", "device not ready"}},
      {700, {"cudaErrorIllegalAddress", "an illegal memory access was encountered"}},
      {702, {"cudaErrorLaunchTimeout", "the launch timed out and was terminated"}},
      {714, {"cudaErrorHardwareStackError", "hardware stack error"}},
      {719, {"cudaErrorLaunchFailure", "unspecified launch failure"}},
      {802, {"cudaErrorSystemNotReady", "system not yet initialized"}},
      {803, {"cudaErrorSystemDriverMismatch", "system has unsupported display driver / cuda driver combination"}},
      {805, {"cudaErrorMpsConnectionFailed", "MPS client failed to connect to the MPS control daemon or the MPS server"}},
      {900, {"cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"}},
      {901, {"cudaErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture"}},
      {902, {"cudaErrorStreamCaptureMerge", "operation would result in a merge of separate capture sequences"}},
      {903, {"cudaErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began"}},
      {904, {"cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"}},
      {905, {"cudaErrorStreamCaptureIsolation", "dependency created on uncaptured work in another stream"}},
      {906,
       {"cudaErrorStreamCaptureImplicit", "operation would make the legacy stream depend on a capturing blocking stream"}},
      {907, {"cudaErrorCapturedEvent", "operation not permitted on an event last recorded in a capturing stream"}},
      {908,
       {"cudaErrorStreamCaptureWrongThread", "attempt to terminate a thread-local capture sequence from another thread"}},
      {999, {"cudaErrorUnknown", "unknown error"}},
  };
  return all;
}
inline words words_of(cudaError_t code) {
  const auto i = known_errors().find(code);
  return i == known_errors().end() ? words{"unrecognized error code", "unknown error"} : i->second;
}

constexpr auto bad_handle = cudaErrorInvalidResourceHandle;

}  // namespace emulated::cuda
