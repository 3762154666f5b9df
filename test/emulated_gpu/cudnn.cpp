// cuDNN's backend API: the real library judges descriptors and graphs and tells of engines, for an H100 described as text
// because it has no GPU to look at; what a plan is to compute is noted on the way, and computed on the CPU.
#include "cudnn_graph.hpp"
#include "emulated.hpp"

#include <cudnn.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

static_assert(CUDNN_VERSION >= 90800, "before cuDNN 9.8 there are no engines without a GPU");

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

namespace {

using namespace emulated::cudnn;

// The real library

void* library() {
  static void* const handle = [] {
#ifdef __SANITIZE_ADDRESS__
    const __lsan::ScopedDisabler unwatched;
#endif
    void* h = dlopen(DICE_REAL_CUDNN, RTLD_NOW | RTLD_LOCAL);
    if (!h) {
      std::fprintf(stderr, "emulated GPU: the real cuDNN cannot be loaded: %s\n", dlerror());
      std::abort();
    }
    return h;
  }();
  return handle;
}
/// A function of it. What it leaks is no fault of dice's.
template <class Result, class... Arguments> struct real_function {
  Result (*function)(Arguments...);
  Result operator()(Arguments... arguments) const {
#ifdef __SANITIZE_ADDRESS__
    const __lsan::ScopedDisabler unwatched;
#endif
    return function(arguments...);
  }
};
template <class Result, class... Arguments>
real_function<Result, Arguments...> real(const char* name, Result (*emulated)(Arguments...)) {
  auto* f = reinterpret_cast<Result (*)(Arguments...)>(dlsym(library(), name));
  if (!f || f == emulated) {
    std::fprintf(stderr, "emulated GPU: the real cuDNN has no %s\n", name);
    std::abort();
  }
  return {f};
}
#define REAL(name)                                    \
  [] {                                                \
    static const auto found = real(#name, &(::name)); \
    return found;                                     \
  }()

/// As cuDNN writes the properties of a GPU itself.
const std::string h100 = R"({"cudaDeviceId": 0, "deviceName": "NVIDIA H100 80GB HBM3", "deviceVer": 900, "driverVer": 13000,
 "isTccDriver": 0, "l2CacheSize": 52428800, "maxCtasPerSM": 32, "maxRegistersPerSM": 65536, "maxSharedMemoryPerBlock": 49152,
 "maxSharedMemoryPerBlockOptin": 232448, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "memClockRateKHz": 2619000,
 "multiProcessorCount": 132, "pciDeviceId": 0, "regsPerBlock": 65536, "reservedSharedMemoryPerBlock": 1024,
 "smClockRateKHz": 1980000, "supportCoopLaunch": 1, "totalGlobalMem": 85000000000, "warpSize": 32,
 "maxBlockSize": [1024, 1024, 64], "maxGridSize": [2147483647, 65535, 65535]})";

cudnnStatus_t tell_h100(cudnnBackendDescriptor_t d) {
  return REAL(cudnnBackendSetAttribute)(d, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                                        static_cast<std::int64_t>(h100.size()) + 1, h100.c_str());
}
cudnnBackendDescriptor_t properties() {
  static const cudnnBackendDescriptor_t made = [] {
    cudnnBackendDescriptor_t d = nullptr;
    if (REAL(cudnnBackendCreateDescriptor)(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &d) != CUDNN_STATUS_SUCCESS ||
        tell_h100(d) != CUDNN_STATUS_SUCCESS || REAL(cudnnBackendFinalize)(d) != CUDNN_STATUS_SUCCESS) {
      std::fprintf(stderr, "emulated GPU: the real cuDNN does not understand the H100's properties\n");
      std::abort();
    }
    return d;
  }();
  return made;
}

// Errors

thread_local std::string own_words;  ///< of the last error, where it is not the real library's

cudnnStatus_t refuse(cudnnStatus_t status, std::string why) {
  own_words = "emulated GPU: " + std::move(why);
  return status;
}
/// What machine::errors wants of a call.
std::optional<cudnnStatus_t> wanted(const std::string& function, const char* kind = nullptr) {
  own_words.clear();
  int code = emulated::injected(function);
  if (code == 0 && kind) code = emulated::injected(function + ':' + kind);
  if (code == 0) return {};
  return refuse(static_cast<cudnnStatus_t>(code), "an error was asked for");
}

std::mutex mutex;
std::map<cudnnBackendDescriptor_t, known> records;

known find(cudnnBackendDescriptor_t d) {
  const std::lock_guard held(mutex);
  const auto i = records.find(d);
  return i == records.end() ? nullptr : i->second;
}

const char* kind_of(cudnnBackendDescriptorType_t type) {
  switch (type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return "tensor";
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
      return "operation";
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return "graph";
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return "heuristics";
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
      return "engine";
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
      return "configuration";
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      return "plan";
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return "pack";
    default:
      return "other";
  }
}

std::size_t bytes_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    case CUDNN_TYPE_FRACTION:
      return 16;
    default:
      return 4;
  }
}

cudnnStatus_t execute(cudaStream_t on, cudnnBackendDescriptor_t plan, const record& planned, const record& pack) {
  if (!planned.graph) return refuse(CUDNN_STATUS_NOT_SUPPORTED, "a plan whose graph is not known (from JSON?)");
  std::shared_ptr<const program> what;
  try {
    what = std::make_shared<program>(*planned.graph);
  } catch (const std::exception& e) {
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, std::string("cannot compute ") + e.what());
  }
  const auto ids = pack.values<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = pack.values<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  std::map<std::int64_t, void*> memory;
  for (std::size_t i = 0; i < ids.size(); ++i) memory[ids[i]] = pointers[i];
  for (const auto& t : what->tensors()) {
    const auto name = "tensor " + std::to_string(t.id);
    const auto at = memory.find(t.id);
    if (at == memory.end() || !at->second) return refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, name + " is nowhere");
    if (reinterpret_cast<std::uintptr_t>(at->second) % static_cast<std::uintptr_t>(t.alignment) != 0)
      return refuse(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, name + " is not aligned as it was said");
    if (!emulated::reachable(at->second, t.reach()))
      return refuse(CUDNN_STATUS_EXECUTION_FAILED, name + " is not wholly within the GPU's memory");
  }
  std::int64_t size = 0, n = 0;
  REAL(cudnnBackendGetAttribute)(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &n, &size);
  const auto room = static_cast<std::size_t>(std::max<std::int64_t>(size, 0));
  auto* workspace = pack.value<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, nullptr);
  if (room > 0 && (!workspace || !emulated::reachable(workspace, room)))
    return refuse(CUDNN_STATUS_EXECUTION_FAILED, "the plan wants a workspace of " + std::to_string(room) + " bytes");
  const auto code = emulated::enqueue(on, [=] {
    // Before and after, so that neither inputs nor results may lie in it.
    if (room > 0) std::memset(workspace, 0xff, room);
    what->run(memory);
    if (room > 0) std::memset(workspace, 0xff, room);
  });
  return code == cudaSuccess ? CUDNN_STATUS_SUCCESS : refuse(CUDNN_STATUS_EXECUTION_FAILED_CUDART, cudaGetErrorString(code));
}

}  // namespace

extern "C" {

std::size_t cudnnGetVersion() { return REAL(cudnnGetVersion)(); }
std::size_t cudnnGetCudartVersion() { return REAL(cudnnGetCudartVersion)(); }
const char* cudnnGetErrorString(cudnnStatus_t status) { return REAL(cudnnGetErrorString)(status); }
void cudnnGetLastErrorString(char* to, std::size_t room) {
  if (own_words.empty()) return REAL(cudnnGetLastErrorString)(to, room);
  std::snprintf(to, room, "%s", own_words.c_str());
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* out) {
  if (const auto status = wanted("cudnnCreate")) return *status;
  if (const auto code = emulated::state(); code != cudaSuccess)
    return refuse(CUDNN_STATUS_NOT_INITIALIZED, cudaGetErrorString(code));
  emulated::synchronize();
  *out = new cudnnContext;
  emulated::count(1);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  if (!handle) return CUDNN_STATUS_SUCCESS;
  emulated::synchronize();
  delete handle;
  emulated::count(-1);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  if (const auto status = wanted("cudnnSetStream")) return *status;
  if (!handle) return refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "there is no handle");
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
  if (const auto status = wanted("cudnnGetStream")) return *status;
  if (!handle) return refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "there is no handle");
  *stream = handle->stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* out) {
  if (const auto status = wanted("cudnnBackendCreateDescriptor", kind_of(type))) return *status;
  // A variant pack is emulated altogether: the real one would look at its pointers.
  if (type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR) *out = new char;
  else if (const auto status = REAL(cudnnBackendCreateDescriptor)(type, out); status != CUDNN_STATUS_SUCCESS) return status;
  auto made = std::make_shared<record>();
  made->type = type;
  {
    const std::lock_guard held(mutex);
    records[*out] = std::move(made);
  }
  emulated::count(1);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t d) {
  const auto r = find(d);
  if (!r) return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor that does not exist");
  {
    const std::lock_guard held(mutex);
    records.erase(d);
  }
  emulated::count(-1);
  if (r->type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR) return REAL(cudnnBackendDestroyDescriptor)(d);
  delete static_cast<char*>(d);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count, const void* from) {
  const auto r = find(d);
  if (!r) return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor that does not exist");
  if (const auto status = wanted("cudnnBackendSetAttribute", kind_of(r->type))) return *status;
  auto status = CUDNN_STATUS_SUCCESS;
  if (type == CUDNN_TYPE_HANDLE || name == CUDNN_ATTR_DEVICEPROP_DEVICE_ID) {
    // The real one has no handles, and no GPU.
    if (type == CUDNN_TYPE_HANDLE && (count != 1 || !from || !*static_cast<const cudnnHandle_t*>(from)))
      return refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "there is no handle");
    if (r->type == CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR) status = tell_h100(d);
  } else if (r->type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR) {
    const bool is_ids = name == CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS;
    if (!is_ids && name != CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS && name != CUDNN_ATTR_VARIANT_PACK_WORKSPACE)
      return refuse(CUDNN_STATUS_NOT_SUPPORTED, "an attribute of variant packs that is not emulated");
    if (type != (is_ids ? CUDNN_TYPE_INT64 : CUDNN_TYPE_VOID_PTR) || r->finalized || !from)
      return refuse(CUDNN_STATUS_BAD_PARAM, "an attribute of a variant pack");
  } else {
    status = REAL(cudnnBackendSetAttribute)(d, name, type, count, from);
  }
  if (status != CUDNN_STATUS_SUCCESS) return status;
  auto& a = r->set[name] = attribute{{}, count, {}};
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto p = find(static_cast<const cudnnBackendDescriptor_t*>(from)[i]);
      if (!p) return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor that does not exist");
      a.parts.push_back(p);
      if (p->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) r->graph = p;
      else if (p->graph) r->graph = p->graph;
    }
  } else if (count > 0) {
    const auto* bytes = static_cast<const std::byte*>(from);
    a.bytes.assign(bytes, bytes + static_cast<std::size_t>(count) * bytes_of(type));
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t room, std::int64_t* count, void* to) {
  const auto r = find(d);
  if (!r) return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor that does not exist");
  if (const auto status = wanted("cudnnBackendGetAttribute", kind_of(r->type))) return *status;
  if (type == CUDNN_TYPE_HANDLE || r->type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, "attributes of variant packs and handles cannot be asked for");
  std::int64_t n = 0;
  const auto status = REAL(cudnnBackendGetAttribute)(d, name, type, room, &n, to);
  if (count) *count = n;
  if (status != CUDNN_STATUS_SUCCESS || type != CUDNN_TYPE_BACKEND_DESCRIPTOR || !to) return status;
  for (std::int64_t i = 0; i < std::min(n, room); ++i)
    if (const auto p = find(static_cast<const cudnnBackendDescriptor_t*>(to)[i])) {
      p->graph = r->graph;
      p->finalized = true;
    }
  return status;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t d) {
  const auto r = find(d);
  if (!r) return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor that does not exist");
  if (const auto status = wanted("cudnnBackendFinalize", kind_of(r->type))) return *status;
  auto status = CUDNN_STATUS_SUCCESS;
  if (r->type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR) {
    const auto *ids = r->find(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS), *at = r->find(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    if (!ids || !at || ids->count != at->count)
      return refuse(CUDNN_STATUS_BAD_PARAM, "a variant pack needs ids and pointers");
  } else {
    const auto wants = r->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR       ? CUDNN_ATTR_ENGINEHEUR_DEVICEPROP
                       : r->type == CUDNN_BACKEND_ENGINE_DESCRIPTOR         ? CUDNN_ATTR_ENGINE_DEVICEPROP
                       : r->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ? CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP
                                                                            : cudnnBackendAttributeName_t{};
    if (wants != cudnnBackendAttributeName_t{} && !r->find(wants)) {
      auto gpu = properties();
      status = REAL(cudnnBackendSetAttribute)(d, wants, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &gpu);
    }
    if (status == CUDNN_STATUS_SUCCESS) status = REAL(cudnnBackendFinalize)(d);
  }
  r->finalized = status == CUDNN_STATUS_SUCCESS;
  return status;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
  if (const auto status = wanted("cudnnBackendExecute")) return *status;
  const auto p = find(plan), v = find(pack);
  if (!handle || !p || !v || p->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ||
      v->type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
    return refuse(CUDNN_STATUS_BAD_PARAM, "a handle, a plan and a variant pack are wanted");
  if (!p->finalized || !v->finalized) return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "a descriptor is not finalized");
  auto capture = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(handle->stream, &capture);
  if (capture == cudaStreamCaptureStatusActive)
    if (const auto status = wanted("cudnnBackendExecute:captured")) return cudaStreamSynchronize(handle->stream), *status;
  return execute(handle->stream, plan, *p, *v);
}

}  // extern "C"
