// The functions of the CUDA runtime, on the emulated machine.
#include "cuda_machine.hpp"

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

using namespace emulated::cuda;

namespace emulated {

machine& now() { return the().machine; }

void reset() {
  auto& g = the();
  lock held(g.mutex);
  wait_for_all(held);
  g.fault = cudaSuccess;
  g.calls.clear();
  g.machine = from_environment();
  last_error = cudaSuccess;
}

std::size_t alive() {
  auto& g = the();
  const lock held(g.mutex);
  return g.streams.size() + g.events.size() + g.graphs.size() + g.executables.size() + g.device.size() + g.pinned.size() +
         g.others;
}
void count(int change) {
  const lock held(the().mutex);
  the().others += static_cast<std::size_t>(change);
}

cudaError_t enqueue(cudaStream_t on, std::function<void()> kernel) {
  return call("cudaLaunchKernel", [&](lock&) {
    auto* s = find(on);
    return s ? put(*s, {std::move(kernel), true}) : bad_handle;
  });
}
int injected(const std::string& function) {
  const lock held(the().mutex);
  return injected_now(function);
}
cudaError_t state() {
  const lock held(the().mutex);
  return state_now();
}
void synchronize() {
  lock held(the().mutex);
  for (auto* c : captures()) c->broken = true;
  wait_for_all(held);
}
bool reachable(const void* p, std::size_t bytes) {
  const lock held(the().mutex);
  return on_device(p, bytes) || is_pinned(p, bytes);
}

}  // namespace emulated

extern "C" {

// Versions and devices

cudaError_t cudaDriverGetVersion(int* version) {
  return call(
      "cudaDriverGetVersion", [&](lock&) { return *version = the().machine.driver, cudaSuccess; }, false);
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return call(
      "cudaRuntimeGetVersion", [&](lock&) { return *version = the().machine.runtime, cudaSuccess; }, false);
}
cudaError_t cudaGetDeviceCount(int* n) {
  *n = 0;
  return call("cudaGetDeviceCount", [&](lock&) { return *n = the().machine.devices, cudaSuccess; });
}
cudaError_t cudaSetDevice(int device) {
  return call("cudaSetDevice", [&](lock&) {
    if (device < 0 || device >= the().machine.devices) return cudaErrorInvalidDevice;
    device_of_thread = device;
    return cudaSuccess;
  });
}
cudaError_t cudaGetDevice(int* device) {
  return call("cudaGetDevice", [&](lock&) { return *device = device_of_thread, cudaSuccess; });
}
cudaError_t cudaSetDeviceFlags(unsigned) {
  return call("cudaSetDeviceFlags", [](lock&) { return cudaSuccess; });
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  return call("cudaGetDeviceProperties", [&](lock&) {
    const auto& m = the().machine;
    if (device < 0 || device >= m.devices) return cudaErrorInvalidDevice;
    *p = cudaDeviceProp{};
    std::strcpy(p->name, "Emulated GPU");
    p->totalGlobalMem = m.total;
    p->sharedMemPerBlock = 49152;
    p->regsPerBlock = 65536;
    p->warpSize = 32;
    p->maxThreadsPerBlock = 1024;
    p->maxThreadsPerMultiProcessor = 2048;
    p->major = 9;
    p->minor = 0;
    p->multiProcessorCount = 132;
    p->l2CacheSize = 52428800;
    p->memoryBusWidth = 5120;
    p->integrated = m.integrated;
    p->canMapHostMemory = 1;
    p->unifiedAddressing = 1;
    p->concurrentKernels = 1;
    p->asyncEngineCount = 3;
    p->pciBusID = device + 1;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (const auto code = cudaGetDeviceProperties(&p, device); code != cudaSuccess) return code;
  return call("cudaDeviceGetAttribute", [&](lock&) {
    switch (attribute) {
      case cudaDevAttrMultiProcessorCount:
        *value = p.multiProcessorCount;
        break;
      case cudaDevAttrComputeCapabilityMajor:
        *value = p.major;
        break;
      case cudaDevAttrComputeCapabilityMinor:
        *value = p.minor;
        break;
      case cudaDevAttrIntegrated:
        *value = p.integrated;
        break;
      case cudaDevAttrWarpSize:
        *value = p.warpSize;
        break;
      case cudaDevAttrL2CacheSize:
        *value = p.l2CacheSize;
        break;
      case cudaDevAttrClockRate:
        *value = 1980000;
        break;
      case cudaDevAttrMemoryClockRate:
        *value = 2619000;
        break;
      case cudaDevAttrCanMapHostMemory:
      case cudaDevAttrUnifiedAddressing:
      case cudaDevAttrConcurrentKernels:
        *value = 1;
        break;
      default:
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int room, int device) {
  return call("cudaDeviceGetPCIBusId", [&](lock&) {
    if (device < 0 || device >= the().machine.devices) return cudaErrorInvalidDevice;
    const int length = std::snprintf(text, static_cast<std::size_t>(room), "0000:%02X:00.0", device + 1);
    return length < room ? cudaSuccess : cudaErrorInvalidValue;
  });
}
cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", [](lock& held) {
    const auto all = captures();
    for (auto* c : all) c->broken = true;
    if (!all.empty()) return cudaErrorStreamCaptureUnsupported;
    wait_for_all(held);
    return the().fault;
  });
}

// Errors

cudaError_t cudaPeekAtLastError() {
  const lock held(the().mutex);
  return the().fault != cudaSuccess ? the().fault : last_error;
}
cudaError_t cudaGetLastError() {
  const auto code = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return code;
}
const char* cudaGetErrorName(cudaError_t code) { return words_of(code).name; }
const char* cudaGetErrorString(cudaError_t code) { return words_of(code).text; }

// Memory

cudaError_t cudaMalloc(void** out, std::size_t bytes) {
  return call("cudaMalloc", [&](lock&) {
    auto& g = the();
    *out = nullptr;
    if (const auto code = unsafe(); code != cudaSuccess) return code;
    if (bytes == 0) return cudaSuccess;
    if (bytes > g.machine.total || g.used > g.machine.total - bytes) return cudaErrorMemoryAllocation;
    auto* at = new_memory(bytes);
    if (!at) return cudaErrorMemoryAllocation;
    g.device[at] = bytes;
    g.used += bytes;
    *out = at;
    return cudaSuccess;
  });
}
cudaError_t cudaFree(void* at) {
  return destroy("cudaFree", [&](lock& held) { return give_back(held, the().device, at); });
}
cudaError_t cudaHostAlloc(void** out, std::size_t bytes, unsigned) {
  return call("cudaHostAlloc", [&](lock&) {
    *out = nullptr;
    if (const auto code = unsafe(); code != cudaSuccess) return code;
    if (bytes == 0) return cudaSuccess;
    auto* at = new_memory(bytes);
    if (!at) return cudaErrorMemoryAllocation;
    the().pinned[at] = bytes;
    *out = at;
    return cudaSuccess;
  });
}
cudaError_t cudaFreeHost(void* at) {
  return destroy("cudaFreeHost", [&](lock& held) { return give_back(held, the().pinned, at); });
}
cudaError_t cudaHostGetDevicePointer(void** out, void* at, unsigned flags) {
  return call("cudaHostGetDevicePointer", [&](lock&) {
    if (flags != 0 || !is_pinned(at, 1)) return cudaErrorInvalidValue;
    *out = at;
    return cudaSuccess;
  });
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call("cudaMemGetInfo", [&](lock&) {
    const auto& g = the();
    *total = g.machine.total, *free = g.used > g.machine.total ? 0 : g.machine.total - g.used;
    return cudaSuccess;
  });
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call("cudaMemcpy", [&](lock& held) {
    if (const auto code = unsafe(); code != cudaSuccess) return code;
    const auto code = copy(held, the().legacy, to, from, bytes, kind);
    return code == cudaSuccess ? wait_for(held, the().legacy.last) : code;
  });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t on) {
  return call("cudaMemcpyAsync", [&](lock& held) {
    auto* s = find(on);
    return s ? copy(held, *s, to, from, bytes, kind) : bad_handle;
  });
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return call("cudaMemset", [&](lock&) {
    const auto code = unsafe();
    return code == cudaSuccess ? fill(the().legacy, to, value, bytes) : code;
  });
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t on) {
  return call("cudaMemsetAsync", [&](lock&) {
    auto* s = find(on);
    return s ? fill(*s, to, value, bytes) : bad_handle;
  });
}

// Streams

cudaError_t cudaStreamCreate(cudaStream_t* out) {
  return call("cudaStreamCreate", [&](lock&) { return make_stream(out, cudaStreamDefault); });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags) {
  return call("cudaStreamCreateWithFlags", [&](lock&) { return make_stream(out, flags); });
}
/// Unlike CUDA's it waits for the work of the stream.
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  return destroy("cudaStreamDestroy", [&](lock& held) {
    if (!the().streams.count(s)) return bad_handle;
    if (s->into) s->into->broken = true;
    end(held, s);
    the().streams.erase(s);
    delete s;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t on) {
  return call("cudaStreamSynchronize", [&](lock& held) {
    auto* s = find(on);
    if (!s) return bad_handle;
    if (s->into) return breaks(*s->into, cudaErrorStreamCaptureUnsupported);
    const auto code = unsafe();
    return code == cudaSuccess ? wait_for(held, s->last) : code;
  });
}
cudaError_t cudaStreamQuery(cudaStream_t on) {
  return call("cudaStreamQuery", [&](lock&) {
    auto* s = find(on);
    if (!s) return bad_handle;
    if (s->into) return breaks(*s->into, cudaErrorStreamCaptureUnsupported);
    if (const auto code = unsafe(); code != cudaSuccess) return code;
    return !s->last || s->last->reached ? cudaSuccess : cudaErrorNotReady;
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t on, cudaEvent_t e, unsigned) {
  return call("cudaStreamWaitEvent", [&](lock&) {
    auto* s = find(on);
    if (!s || !the().events.count(e)) return bad_handle;
    if (e->in) {
      if (e->in->ended || s == &the().legacy) return cudaErrorCapturedEvent;
      if (e->in->broken) return cudaErrorStreamCaptureInvalidated;
      if (s->into && s->into != e->in) return e->in->broken = true, breaks(*s->into, cudaErrorStreamCaptureMerge);
      s->into = e->in;  // from now on this stream is captured, too
      auto& clock = e->in->clocks[s];
      for (const auto& [of, n] : e->seen) clock[of] = std::max(clock[of], n);
      return cudaSuccess;
    }
    if (!e->last) return cudaSuccess;
    if (s->into) return breaks(*s->into, cudaErrorStreamCaptureIsolation);
    return put(*s, {}, {e->last});
  });
}

// Events

cudaError_t cudaEventCreate(cudaEvent_t* out) {
  return call("cudaEventCreate", [&](lock&) { return make_event(out, cudaEventDefault); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned flags) {
  return call("cudaEventCreateWithFlags", [&](lock&) { return make_event(out, flags); });
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  return destroy("cudaEventDestroy", [&](lock&) { return forget(the().events, e, bad_handle); });
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t on) {
  return call("cudaEventRecord", [&](lock&) {
    auto* s = find(on);
    if (!s || !the().events.count(e)) return bad_handle;
    if (s->into) {
      if (s->into->broken) return cudaErrorStreamCaptureInvalidated;
      e->in = s->into;
      e->seen = s->into->clocks[s];
      e->last = nullptr;
      return cudaSuccess;
    }
    if (const auto code = put(*s, {}); code != cudaSuccess) return code;
    e->in = nullptr;
    e->last = s->last;
    return cudaSuccess;
  });
}
cudaError_t cudaEventQuery(cudaEvent_t e) {
  return call("cudaEventQuery", [&](lock&) {
    if (!the().events.count(e)) return bad_handle;
    if (e->in) return breaks(*e->in, cudaErrorCapturedEvent);
    if (const auto code = unsafe(); code != cudaSuccess) return code;
    return !e->last || e->last->reached ? cudaSuccess : cudaErrorNotReady;
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  return call("cudaEventSynchronize", [&](lock& held) {
    if (!the().events.count(e)) return bad_handle;
    if (e->in) return breaks(*e->in, cudaErrorCapturedEvent);
    if (const auto code = unsafe(); code != cudaSuccess) return code;
    const auto last = e->last;
    return wait_for(held, last);
  });
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
  return call("cudaEventElapsedTime", [&](lock&) {
    for (auto* e : {from, to})
      if (!the().events.count(e) || !e->timed || !e->last) return bad_handle;
    if (!from->last->reached || !to->last->reached) return cudaErrorNotReady;
    *ms = std::chrono::duration<float, std::milli>(to->last->at - from->last->at).count();
    return cudaSuccess;
  });
}

// Capture and graphs

cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode mode) {
  return call("cudaStreamBeginCapture", [&](lock&) {
    if (s == nullptr || s == cudaStreamLegacy) return cudaErrorStreamCaptureUnsupported;
    if (!find(s)) return bad_handle;
    if (s->into) return cudaErrorIllegalState;
    s->into = std::make_shared<capture>(capture{s, mode, std::this_thread::get_id(), false, false, {}, {}});
    s->into->clocks[s];
    return cudaSuccess;
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t* out) {
  return call("cudaStreamEndCapture", [&](lock&) {
    *out = nullptr;
    if (!the().streams.count(s)) return bad_handle;
    const auto c = s->into;
    if (!c) return cudaErrorIllegalState;
    if (c->origin != s) return breaks(*c, cudaErrorStreamCaptureUnmatched);
    if (c->mode != cudaStreamCaptureModeRelaxed && c->by != std::this_thread::get_id())
      return breaks(*c, cudaErrorStreamCaptureWrongThread);
    auto code = c->broken ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
    for (auto& [of, clock] : c->clocks)
      if (code == cudaSuccess && clock[of] > c->clocks[s][of]) code = cudaErrorStreamCaptureUnjoined;
    for (auto* other : the().streams)
      if (other->into == c) other->into = nullptr;
    c->ended = true;
    if (code != cudaSuccess) return code;
    *out = new CUgraph_st{std::move(c->nodes)};
    the().graphs.insert(*out);
    return cudaSuccess;
  });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t on, cudaStreamCaptureStatus* status) {
  return call("cudaStreamIsCapturing", [&](lock&) {
    const auto* s = find(on);
    if (!s) return bad_handle;
    *status = !s->into          ? cudaStreamCaptureStatusNone
              : s->into->broken ? cudaStreamCaptureStatusInvalidated
                                : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphGetNodes(cudaGraph_t g, cudaGraphNode_t* nodes, std::size_t* n) {
  return call("cudaGraphGetNodes", [&](lock&) {
    if (!the().graphs.count(g)) return cudaErrorInvalidValue;
    if (nodes)
      for (std::size_t i = 0; i < *n; ++i)
        nodes[i] = i < g->nodes.size() ? reinterpret_cast<cudaGraphNode_t>(&g->nodes[i]) : nullptr;
    *n = nodes ? std::min(*n, g->nodes.size()) : g->nodes.size();
    return cudaSuccess;
  });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t g, unsigned long long) {
  return call("cudaGraphInstantiate", [&](lock&) {
    *out = nullptr;
    if (!the().graphs.count(g)) return cudaErrorInvalidValue;
    *out = new CUgraphExec_st{g->nodes, nullptr};
    the().executables.insert(*out);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t x, cudaStream_t on) {
  return call("cudaGraphUpload", [&](lock&) {
    if (!the().executables.count(x)) return cudaErrorInvalidValue;
    return find(on) ? cudaSuccess : bad_handle;
  });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t on) {
  return call("cudaGraphLaunch", [&](lock&) {
    if (!the().executables.count(x)) return cudaErrorInvalidValue;
    auto* s = find(on);
    if (!s) return bad_handle;
    auto code = cudaSuccess;
    if (!s->into && x->last) code = put(*s, {}, {x->last});
    for (const auto& n : x->nodes)
      if (code == cudaSuccess) code = put(*s, n);
    if (!s->into) x->last = s->last;
    return code;
  });
}
cudaError_t cudaGraphDestroy(cudaGraph_t g) {
  return destroy("cudaGraphDestroy", [&](lock&) { return forget(the().graphs, g, cudaErrorInvalidValue); });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t x) {
  return destroy("cudaGraphExecDestroy", [&](lock&) { return forget(the().executables, x, cudaErrorInvalidValue); });
}

}  // extern "C"
