// cuDNN's backend API: the real library judges descriptors and graphs and tells of engines, for an H100 described as text
// because it has no GPU to look at; what a plan is to compute is noted on the way, and computed on the CPU.
#include "emulated.hpp"
#include "numbers.hpp"

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

// The real library

void* library() {
  static void* const handle = [] {
#ifdef __SANITIZE_ADDRESS__
    const __lsan::ScopedDisabler unwatched;
#endif
    void* h = dlopen(DICE_REAL_CUDNN, RTLD_NOW | RTLD_LOCAL);
    if (!h) std::fprintf(stderr, "emulated GPU: the real cuDNN cannot be loaded: %s\n", dlerror()), std::abort();
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
  if (!f || f == emulated) std::fprintf(stderr, "emulated GPU: the real cuDNN has no %s\n", name), std::abort();
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
        tell_h100(d) != CUDNN_STATUS_SUCCESS || REAL(cudnnBackendFinalize)(d) != CUDNN_STATUS_SUCCESS)
      std::fprintf(stderr, "emulated GPU: the real cuDNN does not understand the H100's properties\n"), std::abort();
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

// What was said of descriptors

struct record;
using known = std::shared_ptr<record>;

struct attribute {
  std::vector<std::byte> bytes;
  std::int64_t count = 0;
  std::vector<known> parts;  ///< instead, of descriptors
};
/// A descriptor. It outlives the real one in the records of those that refer to it: nothing changes once it is finalized.
struct record {
  cudnnBackendDescriptorType_t type{};
  std::map<int, attribute> set;
  known graph;  ///< that an engine, a configuration or a plan is for
  bool finalized = false;

  const attribute* find(cudnnBackendAttributeName_t name) const {
    const auto i = set.find(name);
    return i == set.end() ? nullptr : &i->second;
  }
  template <class T> std::vector<T> values(cudnnBackendAttributeName_t name) const {
    const auto* a = find(name);
    std::vector<T> out(a ? a->bytes.size() / sizeof(T) : 0);
    if (!out.empty()) std::memcpy(out.data(), a->bytes.data(), out.size() * sizeof(T));
    return out;
  }
  template <class T> T value(cudnnBackendAttributeName_t name, T otherwise) const {
    const auto* a = find(name);
    if (a && a->bytes.size() >= sizeof(T)) std::memcpy(&otherwise, a->bytes.data(), sizeof(T));
    return otherwise;
  }
  /// Of scales, which are float or double.
  double scale(cudnnBackendAttributeName_t name, double otherwise) const {
    const auto* a = find(name);
    if (!a) return otherwise;
    return a->bytes.size() == sizeof(double) ? value<double>(name, 0) : static_cast<double>(value<float>(name, 0));
  }
  known part(cudnnBackendAttributeName_t name) const {
    const auto* a = find(name);
    return a && !a->parts.empty() ? a->parts[0] : nullptr;
  }
};

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

// What a graph computes

/// Values of a tensor without gaps, whatever its strides.
using values = std::vector<float>;
using extents = std::vector<std::int64_t>;

struct tensor {
  std::int64_t id = 0, alignment = 1;
  std::optional<emulated::number> type;
  extents dims, strides;
  bool is_virtual = false;

  explicit tensor(const record& r)
      : id(r.value<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, 0)),
        alignment(r.value<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1)),
        dims(r.values<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS)),
        strides(r.values<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES)),
        is_virtual(r.value<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL, false)) {
    switch (r.value(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT)) {
      case CUDNN_DATA_FLOAT:
        type = emulated::number::f32;
        break;
      case CUDNN_DATA_HALF:
        type = emulated::number::f16;
        break;
      case CUDNN_DATA_BFLOAT16:
        type = emulated::number::bf16;
        break;
      default:
        break;
    }
  }

  std::int64_t size() const {
    std::int64_t n = 1;
    for (const auto d : dims) n *= d;
    return n;
  }
  /// Bytes from its first element to its last.
  std::size_t reach() const {
    std::int64_t last = 0;
    for (std::size_t k = 0; k < dims.size(); ++k) last += (dims[k] - 1) * strides[k];
    return static_cast<std::size_t>(last + 1) * emulated::bytes_of(*type);
  }
  /// f(index, offset) of all elements in order; strides 0 repeat.
  template <class F> void walk(const extents& by, F f) const {
    const std::int64_t n = size(), inner = dims.empty() ? 1 : dims.back(), step = by.empty() ? 0 : by.back();
    extents at(dims.size(), 0);
    std::int64_t offset = 0;
    for (std::int64_t i = 0; i < n; i += inner) {
      for (std::int64_t j = 0; j < inner; ++j) f(i + j, offset + j * step);
      for (std::size_t k = dims.size() - 1; k-- > 0;) {
        offset += by[k];
        if (++at[k] < dims[k]) break;
        offset -= dims[k] * by[k];
        at[k] = 0;
      }
    }
  }
  values load(const void* from) const {
    values out(static_cast<std::size_t>(size()));
    walk(strides,
         [&](std::int64_t i, std::int64_t at) { out[static_cast<std::size_t>(i)] = emulated::read(*type, from, at); });
    return out;
  }
  void store(void* to, const values& from) const {
    walk(strides,
         [&](std::int64_t i, std::int64_t at) { emulated::write(*type, to, at, from[static_cast<std::size_t>(i)]); });
  }
  /// Strides with which its values go along with another's elements.
  extents along(const tensor& other) const {
    extents out(dims.size());
    std::int64_t stride = 1;
    for (std::size_t k = dims.size(); k-- > 0; stride *= dims[k]) {
      out[k] = dims[k] == 1 ? 0 : stride;
      if (dims.size() != other.dims.size() || (dims[k] != 1 && dims[k] != other.dims[k]))
        throw std::invalid_argument("shapes that do not go together");
    }
    return out;
  }
};

struct convolve {
  std::array<std::int64_t, 2> strides, dilations, pads;
  bool flipped;
  float alpha, beta;

  explicit convolve(const record& r) {
    const auto& how = *r.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
    const auto pair = [&](cudnnBackendAttributeName_t name) {
      const auto v = how.values<std::int64_t>(name);
      if (v.size() != 2) throw std::invalid_argument("a convolution that is not two-dimensional");
      return std::array<std::int64_t, 2>{v[0], v[1]};
    };
    strides = pair(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES), dilations = pair(CUDNN_ATTR_CONVOLUTION_DILATIONS);
    pads = pair(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);  // those behind follow from the result's extents
    flipped = how.value(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION) == CUDNN_CONVOLUTION;
    alpha = static_cast<float>(r.scale(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1));
    beta = static_cast<float>(r.scale(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0));
  }

  /// Input planes are copied with their padding, and taken apart into strides[0] × strides[1] planes of every so many-th
  /// pixel: then each tap of the window is one long loop over all rows, which vectorises. Its results beyond a row's end are
  /// junk.
  values run(const tensor& xs, const tensor& ws, const tensor& ys, const values& x, const values& w,
             const values& before) const {
    const auto n_images = xs.dims[0], channels = ws.dims[1], groups = xs.dims[1] / channels, outputs = ws.dims[0] / groups;
    const auto height = xs.dims[2], width = xs.dims[3], kh = ws.dims[2], kw = ws.dims[3], oh = ys.dims[2], ow = ys.dims[3];
    const auto sy = strides[0], sx = strides[1], dy = dilations[0], dx = dilations[1];
    const auto rows = oh + (kh - 1) * dy / sy + 1, row = ow + (kw - 1) * dx / sx + 1, plane = rows * row;
    const auto whole = oh * row;
    values out(static_cast<std::size_t>(ys.size()));
    values apart(static_cast<std::size_t>(channels * sy * sx * plane + row + chunk));
    for (std::int64_t image = 0; image < n_images; ++image)
      for (std::int64_t group = 0; group < groups; ++group) {
        const float* from = &x[static_cast<std::size_t>((image * groups + group) * channels * height * width)];
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t py = 0; py < sy; ++py)
            for (std::int64_t px = 0; px < sx; ++px) {
              float* to = &apart[static_cast<std::size_t>(((c * sy + py) * sx + px) * plane)];
              for (std::int64_t r = 0; r < rows; ++r)
                for (std::int64_t q = 0; q < row; ++q) {
                  const auto iy = r * sy + py - pads[0], ix = q * sx + px - pads[1];
                  const bool inside = iy >= 0 && iy < height && ix >= 0 && ix < width;
                  to[r * row + q] = inside ? from[(c * height + iy) * width + ix] : 0.0f;
                }
            }
        const float* weights = &w[static_cast<std::size_t>(group * outputs * channels * kh * kw)];
        float* results = &out[static_cast<std::size_t>((image * groups + group) * outputs * oh * ow)];
        const auto work = static_cast<double>(outputs * channels * kh * kw * whole);
        emulated::split((outputs + at_once - 1) / at_once, work, [&](std::int64_t first, std::int64_t last) {
          for (auto k = first * at_once; k < std::min(last * at_once, outputs); k += at_once)
            for (std::int64_t begin = 0; begin < whole; begin += chunk) {
              const auto n = std::min(at_once, outputs - k);
              float sums[at_once][chunk] = {};
              for (std::int64_t c = 0; c < channels; ++c)
                for (std::int64_t ky = 0; ky < kh; ++ky)
                  for (std::int64_t kx = 0; kx < kw; ++kx) {
                    const auto phase = (c * sy + ky * dy % sy) * sx + kx * dx % sx;
                    const float* in =
                        &apart[static_cast<std::size_t>(phase * plane + ky * dy / sy * row + kx * dx / sx + begin)];
                    const auto tap = flipped ? (kh - 1 - ky) * kw + kw - 1 - kx : ky * kw + kx;
                    float factors[at_once] = {};
                    for (std::int64_t i = 0; i < n; ++i) factors[i] = weights[((k + i) * channels + c) * kh * kw + tap];
                    add(sums, in, factors);
                  }
              for (std::int64_t i = 0; i < n; ++i)
                for (auto p = begin; p < std::min(begin + chunk, whole); ++p)
                  if (p % row < ow) results[((k + i) * oh + p / row) * ow + p % row] = alpha * sums[i][p - begin];
            }
        });
      }
    if (beta != 0)
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += beta * before[i];
    return out;
  }

 private:
  static constexpr std::int64_t at_once = 4, chunk = 256;
  // Without sanitizers, which would take most of the time here.
  __attribute__((no_sanitize("address", "undefined", "thread"))) static void add(float (&sums)[at_once][chunk],
                                                                                 const float* __restrict in,
                                                                                 const float (&factors)[at_once]) {
    const float a = factors[0], b = factors[1], c = factors[2], d = factors[3];
    for (std::int64_t i = 0; i < chunk; ++i) {
      const float x = in[i];
      sums[0][i] += a * x, sums[1][i] += b * x, sums[2][i] += c * x, sums[3][i] += d * x;
    }
  }
};

struct pointwise {
  cudnnPointwiseMode_t mode;
  float alpha1, alpha2, lower, upper, slope, elu, swish;
  bool keeps_nan;  ///< in ReLU

  explicit pointwise(const record& r) {
    const auto& how = *r.part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    const auto number = [&](cudnnBackendAttributeName_t name, double otherwise) {
      return static_cast<float>(how.scale(name, otherwise));
    };
    mode = how.value(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_IDENTITY);
    lower = number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0);
    upper = number(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, std::numeric_limits<double>::infinity());
    slope = number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0);
    keeps_nan = how.value(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_NOT_PROPAGATE_NAN) == CUDNN_PROPAGATE_NAN;
    elu = number(CUDNN_ATTR_POINTWISE_ELU_ALPHA, 1), swish = number(CUDNN_ATTR_POINTWISE_SWISH_BETA, 1);
    alpha1 = static_cast<float>(r.scale(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1));
    alpha2 = static_cast<float>(r.scale(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1));
    of(0, 0);  // throws if it is not known here
  }

  float of(float x, float b) const {
    switch (mode) {
      case CUDNN_POINTWISE_ADD:
        return x + b;
      case CUDNN_POINTWISE_SUB:
        return x - b;
      case CUDNN_POINTWISE_MUL:
        return x * b;
      case CUDNN_POINTWISE_DIV:
        return x / b;
      case CUDNN_POINTWISE_MAX:
        return x < b ? b : x;
      case CUDNN_POINTWISE_MIN:
        return x > b ? b : x;
      case CUDNN_POINTWISE_IDENTITY:
        return x;
      case CUDNN_POINTWISE_RELU_FWD:
        if (std::isnan(x) && !keeps_nan) return lower;
        return x < lower ? lower + slope * (x - lower) : x > upper ? upper : x;
      case CUDNN_POINTWISE_SIGMOID_FWD:
        return 1 / (1 + std::exp(-x));
      case CUDNN_POINTWISE_TANH_FWD:
        return std::tanh(x);
      case CUDNN_POINTWISE_ELU_FWD:
        return x < 0 ? elu * std::expm1(x) : x;
      case CUDNN_POINTWISE_SWISH_FWD:
        return x / (1 + std::exp(-swish * x));
      default:
        throw std::invalid_argument("a pointwise operation of mode " + std::to_string(mode));
    }
  }
  values run(const tensor& xs, const tensor* bs, const tensor& ys, const values& x, const values* b) const {
    values out(static_cast<std::size_t>(ys.size()));
    ys.walk(xs.along(ys), [&](std::int64_t i, std::int64_t at) {
      out[static_cast<std::size_t>(i)] = alpha1 * x[static_cast<std::size_t>(at)];
    });
    if (b)
      ys.walk(bs->along(ys), [&](std::int64_t i, std::int64_t at) {
        auto& y = out[static_cast<std::size_t>(i)];
        y = of(y, alpha2 * (*b)[static_cast<std::size_t>(at)]);
      });
    else
      for (auto& y : out) y = of(y, 0);
    return out;
  }
};

struct operation {
  tensor x, y;
  std::optional<tensor> other;  ///< weights, second operand
  std::optional<convolve> convolution;
  std::optional<pointwise> function;
};

class program {
 public:
  explicit program(const record& graph) {
    const auto* all = graph.find(CUDNN_ATTR_OPERATIONGRAPH_OPS);
    if (!all) throw std::invalid_argument("a graph without operations");
    for (const auto& r : all->parts) {
      const auto tensor_of = [&](cudnnBackendAttributeName_t name) { return tensor(*r->part(name)); };
      if (r->type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR) {
        operations_.push_back({tensor_of(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X),
                               tensor_of(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y),
                               tensor_of(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W),
                               convolve(*r),
                               {}});
        if (operations_.back().x.dims.size() != 4) throw std::invalid_argument("a convolution that is not two-dimensional");
      } else if (r->type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) {
        operations_.push_back({tensor_of(CUDNN_ATTR_OPERATION_POINTWISE_XDESC),
                               tensor_of(CUDNN_ATTR_OPERATION_POINTWISE_YDESC),
                               {},
                               {},
                               pointwise(*r)});
        if (r->part(CUDNN_ATTR_OPERATION_POINTWISE_BDESC))
          operations_.back().other = tensor_of(CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
      } else {
        throw std::invalid_argument("an operation of type " + std::to_string(r->type));
      }
    }
    for (const auto& o : operations_)
      for (const auto* t : {&o.x, &o.y, o.other ? &*o.other : &o.x})
        if (!t->type) throw std::invalid_argument("a tensor's data type");
  }

  /// Those in memory.
  std::vector<tensor> tensors() const {
    std::vector<tensor> out;
    for (const auto& o : operations_)
      for (const auto* t : {&o.x, &o.y, o.other ? &*o.other : &o.x})
        if (!t->is_virtual) out.push_back(*t);
    return out;
  }

  void run(const std::map<std::int64_t, void*>& memory) const {
    std::map<std::int64_t, values> done;
    std::vector<const operation*> left;
    for (const auto& o : operations_) left.push_back(&o);
    const auto known_now = [&](const tensor& t) { return !t.is_virtual || done.count(t.id) > 0; };
    const auto get = [&](const tensor& t) -> const values& {
      const auto i = done.find(t.id);
      return i != done.end() ? i->second : done[t.id] = t.load(memory.at(t.id));
    };
    while (!left.empty()) {
      const auto next = std::find_if(left.begin(), left.end(), [&](const operation* o) {
        return known_now(o->x) && (!o->other || known_now(*o->other));
      });
      if (next == left.end()) throw std::invalid_argument("operations that wait for each other");
      const auto& o = **next;
      left.erase(next);
      const auto& x = get(o.x);
      const values* other = o.other ? &get(*o.other) : nullptr;
      values y;
      if (o.convolution) {
        const bool reads = o.convolution->beta != 0 && !o.y.is_virtual;
        y = o.convolution->run(o.x, *o.other, o.y, x, *other, reads ? o.y.load(memory.at(o.y.id)) : values{});
      } else {
        y = o.function->run(o.x, other ? &*o.other : nullptr, o.y, x, other);
      }
      if (!o.y.is_virtual) o.y.store(memory.at(o.y.id), y);
      done[o.y.id] = std::move(y);
    }
  }

 private:
  std::vector<operation> operations_;
};

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
    if (const auto p = find(static_cast<const cudnnBackendDescriptor_t*>(to)[i])) p->graph = r->graph, p->finalized = true;
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
