// Fully connected layers of well-known networks, one frame: dice's own kernel and all algorithms that cuBLASLt proposes, as
// JSON, one per line. Weights come from memory, as in a network: runs take turns with several copies, more than the GPU's
// cache holds.
//
//   probe_products [--most N] [--quick]
#include "probe.hpp"

#include <dice/kernels/cudnn/detail/products.hpp>

#include <cublasLt.h>

#include <cstdint>
#include <limits>

namespace {

using namespace dice::kernels;

struct product {
  const char* name;
  int depth, columns;
  int rows = 1;
};
constexpr product all[] = {{"vgg19 fc6", 25088, 4096},
                           {"vgg19 fc7, alexnet fc7", 4096, 4096},
                           {"vgg19 fc8, alexnet fc8", 4096, 1000},
                           {"alexnet fc6", 9216, 4096},
                           {"resnet50, inception_v3", 2048, 1000},
                           {"resnet18", 512, 1000},
                           {"densenet121, mobilenet_v1", 1024, 1000},
                           {"mobilenet_v2", 1280, 1000},
                           {"resnet50, 8 frames", 2048, 1000, 8},
                           {"vgg19 fc6, 8 frames", 25088, 4096, 8}};

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cuBLAS cannot multiply: ") + cublasLtGetStatusString(status));
}

std::uint64_t flags_of(const cublasLtMatmulAlgo_t& algo) {
  std::uint64_t flags = 0;
  std::size_t written = 0;
  cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags, sizeof flags, &written);
  return flags;
}

void measure(probe::bench& on, cublasLtHandle_t handle, const product& p, int most, bool quick) {
  on.clear();
  const auto size = std::int64_t{p.depth} * p.columns;
  constexpr std::int64_t room = std::int64_t{32} << 20, results_room = std::int64_t{1} << 20;
  auto* const workspace = on.room(room);  // memory that is written comes first, so that the rest stays random
  auto* const y = on.numbers(results_room / 4);
  auto* const x = on.numbers(std::int64_t{p.rows} * p.depth);
  auto* const bias = on.numbers(p.columns);
  std::vector<float*> weights;
  do weights.push_back(on.numbers(size));
  while (!quick && static_cast<std::int64_t>(weights.size()) * 4 * size < 3 * on.cache() && on.left() > 4 * size);
  std::size_t turn = 0;
  const auto next = [&] { return weights[turn++ % weights.size()]; };
  const auto told = [&](probe::line& out, const probe::bench::times& t) {
    out.say(t);
    if (t.in_graph > 0) out.say("gb_per_s", static_cast<double>(size) * 4e-6 / static_cast<double>(t.in_graph));
  };
  const auto begin = [&](probe::line& out) -> probe::line& {
    return out.say("product", p.name).say("rows", p.rows).say("depth", p.depth).say("columns", p.columns);
  };
  {
    probe::line out;
    begin(out).say("by", "own").say("copies", weights.size());
    told(out, on.measure(
                  [&] {
                    const cudnn::matrix m{y, x, next(), bias, p.rows, p.columns, p.depth, {.f = cudnn::function::relu}};
                    probe::bench::check(cudnn::start(m, on.stream()), "compute");
                  },
                  std::numeric_limits<float>::infinity(), quick));
  }
  cudnn::lt_operation operation;
  cudnn::lt_layout of_weights, of_x, of_y;
  check(cublasLtMatmulDescCreate(operation.put(), CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const auto set = [&](cublasLtMatmulDescAttributes_t name, const auto& value) {
    check(cublasLtMatmulDescSetAttribute(operation.get(), name, &value, sizeof value));
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_BIAS);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  const auto rows = static_cast<std::uint64_t>(p.rows), columns = static_cast<std::uint64_t>(p.columns),
             depth = static_cast<std::uint64_t>(p.depth);
  check(cublasLtMatrixLayoutCreate(of_weights.put(), CUDA_R_32F, depth, columns, p.depth));
  check(cublasLtMatrixLayoutCreate(of_x.put(), CUDA_R_32F, depth, rows, p.depth));
  check(cublasLtMatrixLayoutCreate(of_y.put(), CUDA_R_32F, columns, rows, p.columns));
  for (const std::int64_t limit : {std::int64_t{0}, room}) {
    cudnn::lt_preference preference;
    check(cublasLtMatmulPreferenceCreate(preference.put()));
    const auto bytes = static_cast<std::uint64_t>(limit);
    check(cublasLtMatmulPreferenceSetAttribute(preference.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                               sizeof bytes));
    std::vector<cublasLtMatmulHeuristicResult_t> found(static_cast<std::size_t>(most));
    int count = 0;
    if (cublasLtMatmulAlgoGetHeuristic(handle, operation.get(), of_weights.get(), of_x.get(), of_y.get(), of_y.get(),
                                       preference.get(), most, found.data(), &count) != CUBLAS_STATUS_SUCCESS)
      count = 0;
    for (int i = 0; i < count; ++i) {
      const auto& f = found[i];
      const auto flags = flags_of(f.algo);
      const bool precise =
          (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_OP_INPUT_TYPE_MASK) == CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F &&
          (flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK) == 0;
      probe::line out;
      begin(out).say("by", "cuBLASLt").say("limit", limit).say("place", i).say("workspace", f.workspaceSize);
      out.say("float32", precise).say("waves", f.wavesCount);
      const float one = 1, zero = 0;
      const auto run = [&] {
        check(cublasLtMatmul(handle, operation.get(), &one, next(), of_weights.get(), x, of_x.get(), &zero, y, of_y.get(), y,
                             of_y.get(), &f.algo, workspace, static_cast<std::size_t>(limit), on.stream()));
      };
      try {
        told(out, on.measure(run, std::numeric_limits<float>::infinity(), quick));
      } catch (const std::runtime_error& e) {
        out.say("error", e.what());
        if (cudaStreamSynchronize(on.stream()) != cudaSuccess) throw;
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const probe::arguments a(argc, argv, {"--most", "--shapes"}, {"--quick"});
  const bool quick = !a["--quick"].empty();
  probe::bench on(std::size_t{quick ? 600u : 2048u} << 20);
  cublasLtHandle_t handle = nullptr;
  check(cublasLtCreate(&handle));
  probe::line().say("gpu", on.name()).say("cublaslt", cublasLtGetVersion()).say("cache", on.cache());
  double left = a.number("--shapes", 1e9);
  // The small ones first, so that a quick run has some.
  for (auto p = std::rbegin(all); p != std::rend(all) && left >= 1; ++p)
    if (!quick || p->columns < 4096) {
      measure(on, handle, *p, static_cast<int>(a.number("--most", 16)), quick);
      --left;
    }
  cublasLtDestroy(handle);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "probe_products: %s\n", e.what());
  return 1;
}
