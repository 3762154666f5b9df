// cuBLASLt's products of matrices, with two algorithms for every problem: the second one wants working memory.
#include "emulated.hpp"
#include "numbers.hpp"

#include <cublasLt.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

struct cublasLtContext {};

namespace {

// What is kept within the opaque descriptors.
struct operation {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  std::int32_t pointer_mode, transposed_a, transposed_b;
  std::uint32_t epilogue;
  const void* bias;
};
struct layout {
  std::uint32_t type;
  std::int32_t order;
  std::uint64_t rows, columns;
  std::int64_t pitch;
  std::int32_t batch;
};
struct preference {
  std::uint64_t room, implementations;
  std::uint32_t alignment[4];  ///< of A, B, C, D
};
struct algorithm {
  std::uint64_t magic, number, room, implementation, alignment[4];
};
constexpr std::uint64_t magic = 0x656d756c61746564, second_room = std::uint64_t{4} << 20;

template <class Inside, class Opaque> Inside get(const Opaque& from) {
  static_assert(sizeof(Inside) <= sizeof(Opaque) && std::is_trivially_copyable_v<Inside>);
  Inside out;
  std::memcpy(&out, &from, sizeof out);
  return out;
}
template <class Inside, class Opaque> void put(Opaque& to, const Inside& what) {
  static_assert(sizeof(Inside) <= sizeof(Opaque));
  std::memcpy(&to, &what, sizeof what);
}

std::optional<cublasStatus_t> wanted(const char* function) {
  const int code = emulated::injected(function);
  return code == 0 ? std::nullopt : std::optional(static_cast<cublasStatus_t>(code));
}

template <class Opaque, class Inside> cublasStatus_t create(const char* function, Opaque** out, const Inside& what) {
  if (const auto status = wanted(function)) return *status;
  *out = new Opaque{};
  put(**out, what);
  emulated::count(1);
  return CUBLAS_STATUS_SUCCESS;
}
template <class Opaque> cublasStatus_t destroy(Opaque* what) {
  if (what) emulated::count(-1);
  delete what;
  return CUBLAS_STATUS_SUCCESS;
}
template <class Opaque, class Inside> cublasStatus_t init(Opaque* out, std::size_t size, const Inside& what) {
  if (size < sizeof(Opaque)) return CUBLAS_STATUS_ALLOC_FAILED;
  *out = {};
  put(*out, what);
  return CUBLAS_STATUS_SUCCESS;
}
template <class T> cublasStatus_t assign(T& to, const void* from, std::size_t bytes) {
  if (!from || bytes != sizeof to) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

operation new_operation(cublasComputeType_t compute, cudaDataType_t scale) {
  return {compute, scale, CUBLASLT_POINTER_MODE_HOST, CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, nullptr};
}
layout new_layout(cudaDataType type, std::uint64_t rows, std::uint64_t columns, std::int64_t pitch) {
  return {static_cast<std::uint32_t>(type), CUBLASLT_ORDER_COL, rows, columns, pitch, 1};
}
preference new_preference() { return {0, ~std::uint64_t{0}, {256, 256, 256, 256}}; }

std::optional<emulated::number> number_of(std::uint32_t type) {
  switch (type) {
    case CUDA_R_32F:
      return emulated::number::f32;
    case CUDA_R_16F:
      return emulated::number::f16;
    case CUDA_R_16BF:
      return emulated::number::bf16;
    default:
      return {};
  }
}

struct problem {
  operation how;
  layout a, b, c, d;

  std::int64_t rows() const { return static_cast<std::int64_t>(d.rows); }
  std::int64_t columns() const { return static_cast<std::int64_t>(d.columns); }
  std::int64_t depth() const { return static_cast<std::int64_t>(how.transposed_a == CUBLAS_OP_N ? a.columns : a.rows); }

  cublasStatus_t judge() const {
    for (const auto* l : {&a, &b, &c, &d}) {
      if (l->pitch < static_cast<std::int64_t>(l->rows)) return CUBLAS_STATUS_INVALID_VALUE;
      if (l->order != CUBLASLT_ORDER_COL || l->batch != 1 || !number_of(l->type)) return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    const bool ta = how.transposed_a != CUBLAS_OP_N, tb = how.transposed_b != CUBLAS_OP_N;
    if ((ta ? a.columns : a.rows) != d.rows || (tb ? b.rows : b.columns) != d.columns ||
        (tb ? b.columns : b.rows) != (ta ? a.rows : a.columns) || c.rows != d.rows || c.columns != d.columns)
      return CUBLAS_STATUS_INVALID_VALUE;
    const bool computes = how.compute == CUBLAS_COMPUTE_32F || how.compute == CUBLAS_COMPUTE_32F_PEDANTIC ||
                          how.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    switch (how.epilogue) {
      case CUBLASLT_EPILOGUE_DEFAULT:
      case CUBLASLT_EPILOGUE_RELU:
      case CUBLASLT_EPILOGUE_BIAS:
      case CUBLASLT_EPILOGUE_RELU_BIAS:
        break;
      default:
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    return computes && how.scale == CUDA_R_32F && how.pointer_mode == CUBLASLT_POINTER_MODE_HOST && a.type == b.type
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_NOT_SUPPORTED;
  }
  /// With tensor cores where that was allowed, or inputs are small.
  std::uint64_t implementation() const {
    if (a.type == CUDA_R_32F && how.compute != CUBLAS_COMPUTE_32F_FAST_TF32)
      return CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F |
             CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F;
    return CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F |
           (a.type == CUDA_R_32F   ? CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32
            : a.type == CUDA_R_16F ? CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F
                                   : CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF);
  }
};
problem problem_of(cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                   cublasLtMatrixLayout_t d) {
  return {get<operation>(*how), get<layout>(*a), get<layout>(*b), get<layout>(*c), get<layout>(*d)};
}

/// A matrix as lines of numbers whose products are to be summed; in place if it is that already.
struct lines {
  const float* at;
  std::int64_t pitch;
  std::vector<float> copied;

  lines(const void* from, const layout& l, bool columns) {
    const auto n = static_cast<std::int64_t>(columns ? l.columns : l.rows);
    const auto depth = static_cast<std::int64_t>(columns ? l.rows : l.columns);
    if (columns && l.type == CUDA_R_32F) {
      at = static_cast<const float*>(from);
      pitch = l.pitch;
      return;
    }
    copied.resize(static_cast<std::size_t>(n * depth));
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < depth; ++k)
        copied[i * depth + k] = emulated::read(*number_of(l.type), from, columns ? i * l.pitch + k : k * l.pitch + i);
    at = copied.data();
    pitch = depth;
  }
};

// Without sanitizers, which would take most of the time here.
__attribute__((no_sanitize("address", "undefined", "thread"))) float dot(const float* a, const float* b, std::int64_t n) {
  constexpr std::int64_t lanes = 16;
  float sums[lanes] = {}, total = 0;
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes)
    for (std::int64_t i = 0; i < lanes; ++i) sums[i] += a[k + i] * b[k + i];
  for (; k < n; ++k) total += a[k] * b[k];
  for (const auto s : sums) total += s;
  return total;
}

void compute(const problem& p, float alpha, const void* a, const void* b, float beta, const void* c, void* d) {
  const auto& how = p.how;
  const lines left(a, p.a, how.transposed_a != CUBLAS_OP_N), right(b, p.b, how.transposed_b == CUBLAS_OP_N);
  const bool relu = how.epilogue == CUBLASLT_EPILOGUE_RELU || how.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
  const bool bias = how.epilogue == CUBLASLT_EPILOGUE_BIAS || how.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
  const auto in = *number_of(p.c.type), to = *number_of(p.d.type);
  const auto depth = p.depth(), columns = p.columns();
  emulated::split(p.rows(), static_cast<double>(depth * columns * p.rows()), [&](std::int64_t first, std::int64_t last) {
    for (auto m = first; m < last; ++m)
      for (std::int64_t n = 0; n < columns; ++n) {
        float y = alpha * dot(left.at + m * left.pitch, right.at + n * right.pitch, depth);
        if (beta != 0) y += beta * emulated::read(in, c, n * p.c.pitch + m);
        if (bias) y += emulated::read(to, how.bias, m);
        emulated::write(to, d, n * p.d.pitch + m, relu && !(y > 0) ? 0.0f : y);  // NaN is lost
      }
  });
}

bool reaches(const void* at, const layout& l) {
  const auto last = (static_cast<std::int64_t>(l.columns) - 1) * l.pitch + static_cast<std::int64_t>(l.rows);
  return emulated::reachable(at, static_cast<std::size_t>(last) * emulated::bytes_of(*number_of(l.type)));
}

struct words {
  const char *name, *text;
};
words words_of(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return {"CUBLAS_STATUS_SUCCESS", "success"};
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return {"CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"};
    case CUBLAS_STATUS_ALLOC_FAILED:
      return {"CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"};
    case CUBLAS_STATUS_INVALID_VALUE:
      return {"CUBLAS_STATUS_INVALID_VALUE", "an unsupported value or parameter was passed to the function"};
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return {"CUBLAS_STATUS_ARCH_MISMATCH", "the requested feature is not supported on the device architecture"};
    case CUBLAS_STATUS_MAPPING_ERROR:
      return {"CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"};
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return {"CUBLAS_STATUS_EXECUTION_FAILED", "the GPU program failed to execute"};
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return {"CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"};
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return {"CUBLAS_STATUS_NOT_SUPPORTED", "the requested functionality is not supported"};
    default:
      return {"CUBLAS_STATUS_UNKNOWN", "unknown status"};
  }
}

}  // namespace

extern "C" {

const char* cublasLtGetStatusName(cublasStatus_t status) { return words_of(status).name; }
const char* cublasLtGetStatusString(cublasStatus_t status) { return words_of(status).text; }
const char* cublasGetStatusName(cublasStatus_t status) { return words_of(status).name; }
const char* cublasGetStatusString(cublasStatus_t status) { return words_of(status).text; }
std::size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* out) {
  if (const auto status = wanted("cublasLtCreate")) return *status;
  if (emulated::state() != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  emulated::synchronize();
  *out = new cublasLtContext;
  emulated::count(1);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  if (handle) emulated::synchronize();
  return destroy(handle);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* out, cublasComputeType_t compute, cudaDataType_t scale) {
  return create("cublasLtMatmulDescCreate", out, new_operation(compute, scale));
}
cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t out, std::size_t size, cublasComputeType_t compute,
                                               cudaDataType_t scale) {
  return init(out, size, new_operation(compute, scale));
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d) { return destroy(d); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t name, const void* from,
                                              std::size_t bytes) {
  if (const auto status = wanted("cublasLtMatmulDescSetAttribute")) return *status;
  auto o = get<operation>(*d);
  const auto status = [&] {
    switch (name) {
      case CUBLASLT_MATMUL_DESC_POINTER_MODE:
        return assign(o.pointer_mode, from, bytes);
      case CUBLASLT_MATMUL_DESC_TRANSA:
        return assign(o.transposed_a, from, bytes);
      case CUBLASLT_MATMUL_DESC_TRANSB:
        return assign(o.transposed_b, from, bytes);
      case CUBLASLT_MATMUL_DESC_EPILOGUE:
        return assign(o.epilogue, from, bytes);
      case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
        return assign(o.bias, from, bytes);
      default:
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
  }();
  put(*d, o);
  return status;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* out, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t pitch) {
  return create("cublasLtMatrixLayoutCreate", out, new_layout(type, rows, columns, pitch));
}
cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t out, std::size_t size, cudaDataType type,
                                                 std::uint64_t rows, std::uint64_t columns, std::int64_t pitch) {
  return init(out, size, new_layout(type, rows, columns, pitch));
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l) { return destroy(l); }
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t d, cublasLtMatrixLayoutAttribute_t name,
                                                const void* from, std::size_t bytes) {
  if (const auto status = wanted("cublasLtMatrixLayoutSetAttribute")) return *status;
  auto l = get<layout>(*d);
  const auto status = [&] {
    switch (name) {
      case CUBLASLT_MATRIX_LAYOUT_TYPE:
        return assign(l.type, from, bytes);
      case CUBLASLT_MATRIX_LAYOUT_ORDER:
        return assign(l.order, from, bytes);
      case CUBLASLT_MATRIX_LAYOUT_ROWS:
        return assign(l.rows, from, bytes);
      case CUBLASLT_MATRIX_LAYOUT_COLS:
        return assign(l.columns, from, bytes);
      case CUBLASLT_MATRIX_LAYOUT_LD:
        return assign(l.pitch, from, bytes);
      case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
        return assign(l.batch, from, bytes);
      default:
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
  }();
  put(*d, l);
  return status;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* out) {
  return create("cublasLtMatmulPreferenceCreate", out, new_preference());
}
cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t out, std::size_t size) {
  return init(out, size, new_preference());
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p) { return destroy(p); }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t d, cublasLtMatmulPreferenceAttributes_t name,
                                                    const void* from, std::size_t bytes) {
  if (const auto status = wanted("cublasLtMatmulPreferenceSetAttribute")) return *status;
  auto p = get<preference>(*d);
  const auto status = [&] {
    switch (name) {
      case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
        return assign(p.room, from, bytes);
      case CUBLASLT_MATMUL_PREF_IMPL_MASK:
        return assign(p.implementations, from, bytes);
      case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
        return assign(p.alignment[name - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], from, bytes);
      default:
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
  }();
  put(*d, p);
  return status;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t asked, int most,
                                              cublasLtMatmulHeuristicResult_t out[], int* count) {
  *count = 0;
  if (const auto status = wanted("cublasLtMatmulAlgoGetHeuristic")) return *status;
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (most <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  const auto p = problem_of(how, a, b, c, d);
  if (const auto status = p.judge(); status != CUBLAS_STATUS_SUCCESS) return status;
  const auto w = get<preference>(*asked);
  algorithm next{magic, 1, 0, p.implementation(), {}};
  std::copy(std::begin(w.alignment), std::end(w.alignment), std::begin(next.alignment));
  if ((next.implementation & ~w.implementations) == 0)
    for (const auto room : {std::uint64_t{0}, second_room}) {
      if (room > w.room || *count == most) continue;
      next.room = room;
      auto& result = out[(*count)++] = {};
      put(result.algo, next);
      result.workspaceSize = static_cast<std::size_t>(room);
      result.state = CUBLAS_STATUS_SUCCESS;
      result.wavesCount = 1;
      ++next.number;
    }
  return *count > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t how, cublasLtMatrixLayout_t a,
                                       cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algo, cublasLtMatmulHeuristicResult_t* result) {
  if (const auto status = wanted("cublasLtMatmulAlgoCheck")) return *status;
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto p = problem_of(how, a, b, c, d);
  if (const auto status = p.judge(); status != CUBLAS_STATUS_SUCCESS) return status;
  const auto known = get<algorithm>(*algo);
  if (known.magic != magic || known.number < 1 || known.number > 2) return CUBLAS_STATUS_INVALID_VALUE;
  if (known.implementation != p.implementation()) return CUBLAS_STATUS_NOT_SUPPORTED;
  *result = {};
  result->algo = *algo;
  result->workspaceSize = static_cast<std::size_t>(known.room);
  result->wavesCount = 1;
  return result->state = CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* algo, cublasLtMatmulAlgoCapAttributes_t name,
                                                 void* to, std::size_t bytes, std::size_t* written) {
  if (const auto status = wanted("cublasLtMatmulAlgoCapGetAttribute")) return *status;
  const auto known = get<algorithm>(*algo);
  if (known.magic != magic) return CUBLAS_STATUS_INVALID_VALUE;
  if (name != CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (written) *written = sizeof known.implementation;
  if (bytes == 0) return written ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
  if (!to || bytes != sizeof known.implementation) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, &known.implementation, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t how, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo, void* workspace,
                              std::size_t room, cudaStream_t on) {
  if (const auto status = wanted("cublasLtMatmul")) return *status;
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto p = problem_of(how, a_layout, b_layout, c_layout, d_layout);
  if (const auto status = p.judge(); status != CUBLAS_STATUS_SUCCESS) return status;
  const auto known = algo ? get<algorithm>(*algo) : algorithm{magic, 1, 0, p.implementation(), {}};
  if (known.magic != magic || known.implementation != p.implementation()) return CUBLAS_STATUS_INVALID_VALUE;
  if (known.room > 0 && (known.room > room || !workspace || reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0 ||
                         !emulated::reachable(workspace, known.room)))
    return CUBLAS_STATUS_INVALID_VALUE;
  const float by = *static_cast<const float*>(alpha), keep = *static_cast<const float*>(beta);
  const void* const at[] = {a, b, keep != 0 ? c : d, d};
  const layout* const layouts[] = {&p.a, &p.b, &p.c, &p.d};
  for (int i = 0; i < 4; ++i) {
    // No algorithm of the real one is said to need more than 16 bytes.
    const auto alignment = std::clamp<std::uint64_t>(known.alignment[i], 1, 16);
    if (!at[i] || reinterpret_cast<std::uintptr_t>(at[i]) % alignment != 0) return CUBLAS_STATUS_INVALID_VALUE;
    if (!reaches(at[i], *layouts[i])) return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  const bool bias = p.how.epilogue == CUBLASLT_EPILOGUE_BIAS || p.how.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
  if (bias && (!p.how.bias || !emulated::reachable(p.how.bias, p.d.rows * emulated::bytes_of(*number_of(p.d.type)))))
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto code = emulated::enqueue(on, [=, used = static_cast<std::size_t>(known.room)] {
    if (used > 0) std::memset(workspace, 0xff, used);
    compute(p, by, a, b, keep, c, d);
  });
  return code == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
