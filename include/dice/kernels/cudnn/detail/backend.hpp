// cuDNN's backend API (graphs of operations, engines, execution plans), with owned descriptors, and errors as exceptions.
// https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/cudnn-graph-library.html
#pragma once

#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dice::kernels::cudnn {

/// cuDNN failed; `status` is one of CUDNN_STATUS_NOT_SUPPORTED… if it cannot compute what was asked for.
struct cudnn_error : std::runtime_error {
  cudnn_error(cudnnStatus_t s, const std::string& text) : std::runtime_error(text), status(s) {}
  cudnnStatus_t status;

  /// The class of the status: 1000 set-up, 2000 a bug in dice, 3000 not supported, 4000 internal, 5000 execution. Before
  /// cuDNN 9 the numbers were different; all but NOT_SUPPORTED (9) count as internal.
  int category() const {
    if (CUDNN_VERSION >= 90000) return static_cast<int>(status) / 1000 * 1000;
    return static_cast<int>(status) == 9 ? 3000 : 4000;
  }
};

/// cuDNN's own words on the last error of this thread, without the final line break; empty if it has none.
inline std::string last_words() {
#if CUDNN_VERSION >= 90000
  char text[1024] = {};
  cudnnGetLastErrorString(text, sizeof text);
  std::string out = text;
  while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
  return out;
#else
  return {};
#endif
}

/// What to do about a status, or "".
inline std::string remedy_for(cudnnStatus_t status) {
#if CUDNN_VERSION >= 90000
  switch (status) {
    case CUDNN_STATUS_NOT_INITIALIZED:
    case CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED:
    case CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE:
      return "; a part of cuDNN is missing: install all of its libraries, in one folder";
    case CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH:
      return "; parts of several versions of cuDNN are found: leave only one, and see LD_LIBRARY_PATH";
    case CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER:
      return "; the NVIDIA driver is too old for this cuDNN: install a newer driver, or an older cuDNN";
    case CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART:
      return "; this cuDNN is for another CUDA: install the one for CUDA " + std::to_string(CUDART_VERSION / 1000);
    case CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH:
      return "; this GPU is too old for this cuDNN (from 9.11 on it needs capability 7.5): install an older cuDNN, or map "
             "the "
             "rank to cpu, cores or threads";
    case CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING:
      return "; a library that cuDNN loads, such as NVRTC, is missing: install the CUDA toolkit's libraries";
    case CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED:
      return "; the GPU has too little memory for cuDNN besides the plan's: give this rank fewer layers or frames in flight";
    default:
      break;
  }
#else
  static_cast<void>(status);
#endif
  return {};
}

/// Throws cudnn_error "cuDNN cannot <doing>: NOT_SUPPORTED … (…)" unless `status` is success.
inline void check(cudnnStatus_t status, const char* doing) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  const auto words = last_words();
  throw cudnn_error(status, std::string("cuDNN cannot ") + doing + ": " + cudnnGetErrorString(status) + " (" +
                                std::to_string(static_cast<int>(status)) + (words.empty() ? "" : ", " + words) + ")" +
                                remedy_for(status));
}

/// Owns a descriptor of the backend API. Descriptors that it refers to may be destroyed once it is finalized: cuDNN keeps
/// what it needs of them (tested with 9.19 under Valgrind).
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(cudnnBackendDescriptorType_t type) {
    check(cudnnBackendCreateDescriptor(type, &handle_), "make a descriptor");
  }
  descriptor(descriptor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~descriptor() {
    if (handle_) cudnnBackendDestroyDescriptor(handle_);
  }
  cudnnBackendDescriptor_t get() const { return handle_; }

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count, const void* values) {
    check(cudnnBackendSetAttribute(handle_, name, type, count, values), "set an attribute");
  }
  void set(cudnnBackendAttributeName_t name, std::int64_t value) { set(name, CUDNN_TYPE_INT64, 1, &value); }
  void set(cudnnBackendAttributeName_t name, bool value) { set(name, CUDNN_TYPE_BOOLEAN, 1, &value); }
  void set(cudnnBackendAttributeName_t name, float value) { set(name, CUDNN_TYPE_FLOAT, 1, &value); }
  void set(cudnnBackendAttributeName_t name, cudnnDataType_t value) { set(name, CUDNN_TYPE_DATA_TYPE, 1, &value); }
  void set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values) {
    set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
  }
  void set(cudnnBackendAttributeName_t name, const descriptor& value) {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.handle_);
  }
  void set(cudnnBackendAttributeName_t name, const std::vector<descriptor>& values) {
    std::vector<cudnnBackendDescriptor_t> handles;
    for (const auto& v : values) handles.push_back(v.handle_);
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(handles.size()), handles.data());
  }
  void finalize(const char* doing) { check(cudnnBackendFinalize(handle_), doing); }

  /// How many values an attribute has.
  std::int64_t count(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const {
    std::int64_t n = 0;
    check(cudnnBackendGetAttribute(handle_, name, type, 0, &n, nullptr), "count the values of an attribute");
    return n;
  }
  /// Copies its values to `to`, which has room for `room`; returns how many were copied.
  std::int64_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t room, void* to) const {
    std::int64_t n = 0;
    check(cudnnBackendGetAttribute(handle_, name, type, room, &n, to), "read an attribute");
    return n < room ? n : room;
  }
  std::int64_t number(cudnnBackendAttributeName_t name) const {
    std::int64_t value = 0;
    get(name, CUDNN_TYPE_INT64, 1, &value);
    return value;
  }
  /// An attribute that is one descriptor of this type.
  descriptor part(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type) const {
    descriptor out(type);
    get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &out.handle_);
    return out;
  }
  /// An attribute that is several, at most `most`: cuDNN reports the number for some attributes, 0 for others (9.19: knobs).
  std::vector<descriptor> parts(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
                                std::int64_t most) const {
    std::vector<descriptor> out;
    std::vector<cudnnBackendDescriptor_t> handles;
    for (std::int64_t i = 0; i < most; ++i) handles.push_back(out.emplace_back(type).handle_);
    out.resize(most == 0 ? 0 : get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, handles.data()));
    return out;
  }

 private:
  cudnnBackendDescriptor_t handle_ = nullptr;
};

}  // namespace dice::kernels::cudnn
