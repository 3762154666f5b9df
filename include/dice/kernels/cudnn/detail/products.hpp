// Matrix products on a GPU: dice's own kernel or one of cuBLASLt's, whichever is faster for the shapes.
#pragma once

#include "dice/files/host_lock.hpp"
#include "dice/kernels/cudnn/cuda/kernels.hpp"
#include "dice/kernels/cudnn/detail/setting.hpp"
#include "dice/kernels/cudnn/detail/timing.hpp"

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dice::kernels::cudnn {

using lt_operation = owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using lt_layout = owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using lt_preference = owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

class products {
 public:
  explicit products(setting& on) : on_(on) {}
  products(const products&) = delete;
  ~products() {
    const std::lock_guard held(alone());
    if (handle_ && !has_ended()) cublasLtDestroy(handle_);
  }

  /// Enqueues it, with `room` bytes of working memory at a multiple of 256. The first call for these shapes measures the
  /// ways to compute it, which waits for the stream and writes to y. Throws std::runtime_error.
  void run(const matrix& m, std::byte* workspace, std::int64_t room) {
    const auto key = text_of(m, room) + (on_.tf32 ? " TF32" : "");
    for (const auto& k : known_)
      if (k.first == key) return run(m, k.second, workspace, room);
    known_.emplace_back(key, prepare(m, key, workspace, room));
    run(m, known_.back().second, workspace, room);
  }

 private:
  /// An algorithm of cuBLASLt's, or dice's own kernel.
  using way = std::optional<cublasLtMatmulAlgo_t>;

  static std::string text_of(const matrix& m, std::int64_t room) {
    std::ostringstream out;
    out << "product " << m.rows << 'x' << m.depth << " by " << m.columns << (m.bias ? " +bias" : "")
        << (m.end.residual ? " +residual" : "") << " function " << static_cast<int>(m.end.f) << " aligned "
        << alignment_of(m) << " room " << room;
    return out.str();
  }
  static std::uint32_t alignment_of(const matrix& m) {
    const auto all = reinterpret_cast<std::uintptr_t>(m.x) | reinterpret_cast<std::uintptr_t>(m.y) |
                     reinterpret_cast<std::uintptr_t>(m.weights) | reinterpret_cast<std::uintptr_t>(m.bias);
    std::uint32_t out = 256;
    while (all % out) out /= 2;
    return out;
  }

  /// An algorithm as text, and back if cuBLASLt still has it for these shapes.
  static std::string text_of(const way& w) {
    if (!w) return "own";
    std::ostringstream out;
    out << "lt" << std::hex;
    for (const auto word : w->data) out << ' ' << word;
    return out.str();
  }
  std::optional<way> way_of(const std::string& text, const matrix& m, std::int64_t room) {
    if (text == "own") return std::optional<way>(std::in_place);
    std::istringstream in(text);
    std::string name;
    cublasLtMatmulAlgo_t algo{};
    if (!(in >> name) || name != "lt") return {};
    for (auto& word : algo.data)
      if (!(in >> std::hex >> word)) return {};
    const auto p = describe(m);
    cublasLtMatmulHeuristicResult_t result{};
    const bool works = cublasLtMatmulAlgoCheck(handle(), p.operation.get(), p.weights.get(), p.x.get(), p.y.get(), p.y.get(),
                                               &algo, &result) == CUBLAS_STATUS_SUCCESS &&
                       result.workspaceSize <= static_cast<std::size_t>(room) && precise(algo);
    return works ? std::optional<way>(algo) : std::nullopt;
  }

  struct problem {
    lt_operation operation;
    lt_layout weights, x, y;
  };
  /// In cuBLAS's order, columns first: yᵀ = W xᵀ, so that the bias lies along its rows.
  problem describe(const matrix& m) const {
    problem p;
    const auto compute = on_.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    check(cublasLtMatmulDescCreate(p.operation.put(), compute, CUDA_R_32F));
    const auto set = [&](cublasLtMatmulDescAttributes_t name, const auto& value) {
      check(cublasLtMatmulDescSetAttribute(p.operation.get(), name, &value, sizeof value));
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    const bool relu = m.end.f == function::relu && !m.end.residual;
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, m.bias ? relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS
                                       : relu ? CUBLASLT_EPILOGUE_RELU
                                              : CUBLASLT_EPILOGUE_DEFAULT);
    if (m.bias) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, m.bias);
    const auto rows = static_cast<std::uint64_t>(m.rows), columns = static_cast<std::uint64_t>(m.columns),
               depth = static_cast<std::uint64_t>(m.depth);
    check(cublasLtMatrixLayoutCreate(p.weights.put(), CUDA_R_32F, depth, columns, m.depth));
    check(cublasLtMatrixLayoutCreate(p.x.put(), CUDA_R_32F, depth, rows, m.depth));
    check(cublasLtMatrixLayoutCreate(p.y.put(), CUDA_R_32F, columns, rows, m.columns));
    return p;
  }

  bool precise(const cublasLtMatmulAlgo_t& algo) const {
    if (on_.tf32) return true;
    std::uint64_t flags = 0;
    std::size_t written = 0;
    if (cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags, sizeof flags, &written) !=
        CUBLAS_STATUS_SUCCESS)
      return false;
    return (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_OP_INPUT_TYPE_MASK) == CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F &&
           (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK) == 0;
  }

  way prepare(const matrix& m, const std::string& key, std::byte* workspace, std::int64_t room) {
    if (const auto* before = on_.chosen.find(key))
      if (const auto known = way_of(*before, m, room)) return *known;
    const files::host_lock others(on_.turn);
    std::vector<way> ways(1);
    for (const auto& algo : algorithms(m, room)) ways.emplace_back(algo);
    way best;
    float least = std::numeric_limits<float>::infinity();
    for (const auto& w : ways) try {
        const auto ms = time_of(on_, [&] { run(m, w, workspace, room); });
        if (ms < least) {
          least = ms;
          best = w;
        }
      } catch (const std::runtime_error&) {
        if (!w) throw;
        on_.go_on();  // without this one
      }
    on_.chosen.put(key, text_of(best));
    return best;
  }

  /// What cuBLASLt expects to be fastest.
  std::vector<cublasLtMatmulAlgo_t> algorithms(const matrix& m, std::int64_t room) {
    constexpr int most = 8;
    const auto p = describe(m);
    lt_preference preference;
    check(cublasLtMatmulPreferenceCreate(preference.put()));
    const auto set = [&](cublasLtMatmulPreferenceAttributes_t name, const auto& value) {
      check(cublasLtMatmulPreferenceSetAttribute(preference.get(), name, &value, sizeof value));
    };
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(room));
    for (const auto name : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
      set(name, alignment_of(m));
    cublasLtMatmulHeuristicResult_t found[most];
    int count = 0;
    if (cublasLtMatmulAlgoGetHeuristic(handle(), p.operation.get(), p.weights.get(), p.x.get(), p.y.get(), p.y.get(),
                                       preference.get(), most, found, &count) != CUBLAS_STATUS_SUCCESS)
      return {};  // it has none; there is dice's own
    std::vector<cublasLtMatmulAlgo_t> out;
    for (int i = 0; i < count; ++i)
      if (found[i].state == CUBLAS_STATUS_SUCCESS && precise(found[i].algo)) out.push_back(found[i].algo);
    return out;
  }

  void run(const matrix& m, const way& w, std::byte* workspace, std::int64_t room) {
    if (!w) return on_.check(start(m, on_.stream), "compute");
    const auto p = describe(m);
    const float one = 1, zero = 0;
    check(cublasLtMatmul(handle(), p.operation.get(), &one, m.weights, p.weights.get(), m.x, p.x.get(), &zero, m.y,
                         p.y.get(), m.y, p.y.get(), &*w, workspace, static_cast<std::size_t>(room), on_.stream));
    if (m.end.residual || (m.end.f != function::none && m.end.f != function::relu))
      on_.check(start(elements{m.y, m.y, m.rows * m.columns, nullptr, nullptr, 1, 1, m.end}, on_.stream), "compute");
  }

  static void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
      throw std::runtime_error(std::string("cuBLAS cannot multiply: ") + cublasLtGetStatusString(status));
  }
  cublasLtHandle_t handle() {
    if (!handle_) {
      const std::lock_guard held(alone());
      check(cublasLtCreate(&handle_));
    }
    return handle_;
  }

  setting& on_;
  cublasLtHandle_t handle_ = nullptr;
  std::vector<std::pair<std::string, way>> known_;
};

}  // namespace dice::kernels::cudnn
