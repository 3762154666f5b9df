// The emulated cuDNN and cuBLASLt: convolutions whose graphs and engines the real cuDNN judges, and products of matrices,
// against plain loops.
#include "dice/kernels/cudnn/detail/convolution.hpp"
#include "fixture.hpp"

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace cudnn = dice::kernels::cudnn;
using emulated::expect_near;
using emulated::noise;
using emulated::numbers;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
std::int64_t size_of(const std::array<std::int64_t, 4>& s) { return s[0] * s[1] * s[2] * s[3]; }

/// Fills in the result's extents.
cudnn::convolution made(cudnn::convolution c) {
  c.y = {c.x[0], c.w[0], 0, 0};
  for (std::size_t k = 0; k < 2; ++k)
    c.y[k + 2] = (c.x[k + 2] + c.pads[k] + c.pads[k + 2] - c.dilations[k] * (c.w[k + 2] - 1) - 1) / c.strides[k] + 1;
  return c;
}
/// Index of an element in memory.
std::size_t place(const cudnn::convolution& c, const std::array<std::int64_t, 4>& s, std::int64_t n, std::int64_t ch,
                  std::int64_t y, std::int64_t x) {
  return at(c.channels_last ? ((n * s[2] + y) * s[3] + x) * s[1] + ch : ((n * s[1] + ch) * s[2] + y) * s[3] + x);
}
std::vector<float> loops(const cudnn::convolution& c, const std::vector<float>& x, const std::vector<float>& w,
                         const std::vector<float>& z, const std::vector<float>& bias) {
  std::vector<float> out(at(size_of(c.y)));
  const auto outputs = c.w[0] / (c.x[1] / c.w[1]);
  for (std::int64_t n = 0; n < c.y[0]; ++n)
    for (std::int64_t k = 0; k < c.y[1]; ++k)
      for (std::int64_t oy = 0; oy < c.y[2]; ++oy)
        for (std::int64_t ox = 0; ox < c.y[3]; ++ox) {
          double sum = 0;
          for (std::int64_t i = 0; i < c.w[1]; ++i)
            for (std::int64_t ky = 0; ky < c.w[2]; ++ky)
              for (std::int64_t kx = 0; kx < c.w[3]; ++kx) {
                const auto iy = oy * c.strides[0] - c.pads[0] + ky * c.dilations[0],
                           ix = ox * c.strides[1] - c.pads[1] + kx * c.dilations[1];
                if (iy >= 0 && iy < c.x[2] && ix >= 0 && ix < c.x[3])
                  sum += x[place(c, c.x, n, k / outputs * c.w[1] + i, iy, ix)] * w[place(c, c.w, k, i, ky, kx)];
              }
          const auto i = place(c, c.y, n, k, oy, ox);
          if (c.residual) sum += z[i];
          if (c.bias) sum += bias[at(k)];
          out[i] = static_cast<float>(c.relu ? std::max(sum, 0.0) : sum);
        }
  return out;
}

class libraries : public emulated::gpu_test {
 protected:
  void SetUp() override {
    gpu_test::SetUp();
    ASSERT_EQ(cudnnCreate(&handle), CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(cudnnSetStream(handle, stream), CUDNN_STATUS_SUCCESS);
  }
  void TearDown() override {
    cudnnDestroy(handle);
    gpu_test::TearDown();
  }
  cudnn::target here() const { return {handle, nullptr}; }

  /// Where the tensors of one lie.
  struct tensors {
    explicit tensors(const cudnn::convolution& c)
        : x(noise(size_of(c.x))),
          w(noise(size_of(c.w), 2)),
          z(noise(size_of(c.y), 3)),
          bias(noise(c.y[1], 4)),
          dx(x),
          dw(w),
          dz(z),
          dbias(bias),
          dy(size_of(c.y)) {}
    std::vector<float> x, w, z, bias;
    numbers dx, dw, dz, dbias, dy;
  };
  cudnn::descriptor pack_of(const cudnn::convolution& c, const tensors& t, void* workspace, int skip = 0) {
    cudnn::descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    std::vector<std::int64_t> ids{cudnn::names::x, cudnn::names::w, cudnn::names::y};
    std::vector<void*> where{t.dx.at() + skip, t.dw.at(), t.dy.at()};
    if (c.residual) {
      ids.push_back(cudnn::names::z);
      where.push_back(t.dz.at());
    }
    if (c.bias) {
      ids.push_back(cudnn::names::bias);
      where.push_back(t.dbias.at());
    }
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
    pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, static_cast<std::int64_t>(where.size()),
             where.data());
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    pack.finalize("take tensors");
    return pack;
  }
  cudnnStatus_t execute(const cudnn::execution_plan& p, const cudnn::convolution& c, const tensors& t) {
    const numbers room((p.workspace + 3) / 4 + 1);
    const auto pack = pack_of(c, t, room.at());
    return cudnnBackendExecute(handle, p.execution.get(), pack.get());
  }
  /// Plans by the first engines that work.
  std::vector<cudnn::execution_plan> plans(const cudnn::convolution& c, std::size_t most = 3) {
    std::vector<cudnn::execution_plan> out;
    const auto graph = cudnn::graph_of(here(), c);
    for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
      for (const auto& configuration : cudnn::configurations(here(), graph, mode)) {
        if (out.size() == most) return out;
        try {
          out.push_back(cudnn::plan_of(here(), configuration));
        } catch (const cudnn::cudnn_error& e) {
          if (e.category() != 3000) throw;
        }
      }
    return out;
  }
  cudnnHandle_t handle = nullptr;
};

TEST_F(libraries, convolutions_of_all_kinds) {
  const cudnn::convolution plain{.x = {1, 8, 14, 14}, .w = {16, 8, 3, 3}, .pads = {1, 1, 1, 1}};
  std::vector<cudnn::convolution> all;
  const auto add = [&](auto change) {
    auto c = plain;
    change(c);
    all.push_back(made(c));
  };
  add([](auto&) {});
  add([](auto& c) { c.bias = true; });
  add([](auto& c) { c.bias = c.relu = true; });
  add([](auto& c) { c.residual = c.bias = c.relu = true; });
  add([](auto& c) {
    c.x[0] = 3;
    c.bias = true;
    c.channels_last = true;
  });
  add([](auto& c) {
    c.w = {16, 4, 3, 3};
    c.bias = true;
  });  // 2 groups
  add([](auto& c) {
    c.w = {8, 1, 3, 3};
    c.strides = {2, 2};
    c.bias = true;
  });  // depthwise
  add([](auto& c) {
    c.pads = {0, 0, 1, 1};
    c.strides = {2, 2};
    c.bias = c.relu = true;
  });  // TensorFlow's SAME
  add([](auto& c) {
    c.dilations = {2, 2};
    c.pads = {2, 2, 2, 2};
    c.bias = true;
  });
  add([](auto& c) {
    c.dilations = {2, 3};
    c.strides = {3, 2};
    c.bias = true;
  });
  add([](auto& c) {
    c.x = {1, 5, 13, 11};
    c.w = {7, 5, 5, 1};
    c.pads = {2, 0, 2, 0};
    c.alignment = 4;
    c.bias = true;
  });
  add([](auto& c) {
    c.x = {1, 3, 33, 35};
    c.w = {6, 3, 7, 7};
    c.strides = {2, 2};
    c.pads = {3, 3, 3, 3};
    c.relu = c.bias = true;
  });
  add([](auto& c) {
    c.x = {2, 5, 9, 9};
    c.w = {7, 5, 1, 1};
    c.pads = {};
    c.bias = true;
    c.channels_last = true;
  });
  for (const auto& c : all) {
    const tensors t(c);
    const auto expected = loops(c, t.x, t.w, t.z, t.bias);
    const auto made_plans = plans(c);
    EXPECT_FALSE(made_plans.empty()) << &c - all.data();
    for (const auto& p : made_plans) {
      ASSERT_EQ(cudaMemsetAsync(t.dy.at(), 0xff, expected.size() * sizeof(float), stream), cudaSuccess);
      ASSERT_EQ(execute(p, c, t), CUDNN_STATUS_SUCCESS) << cudnn::last_words();
      expect_near(t.dy.get(), expected, 1e-4f);
    }
  }
}

TEST_F(libraries, vgg_layers_take_seconds) {
  const auto c = made({.x = {1, 256, 56, 56}, .w = {256, 256, 3, 3}, .pads = {1, 1, 1, 1}, .bias = true, .relu = true});
  const tensors t(c);
  const auto some = plans(c, 1);
  ASSERT_FALSE(some.empty());
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(execute(some[0], c, t), CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const std::chrono::duration<double> s = std::chrono::steady_clock::now() - begin;
  std::printf("%.1f GMAC/s\n", 256.0 * 256 * 9 * 56 * 56 / 1e9 / s.count());
  EXPECT_LT(s.count(), 20);
}

TEST_F(libraries, an_engine_that_was_written_down_is_found_again) {
  const auto c = made({.x = {1, 64, 28, 28}, .w = {64, 64, 3, 3}, .pads = {1, 1, 1, 1}, .bias = true, .relu = true});
  const tensors t(c);
  const auto graph = cudnn::graph_of(here(), c);
  const auto found = cudnn::configurations(here(), graph, CUDNN_HEUR_MODE_A);
  ASSERT_FALSE(found.empty());
  int planned = 0, with_knobs = 0;
  for (const auto& configuration : found) with_knobs += !cudnn::choice_of(configuration).knobs.empty();
  EXPECT_GT(with_knobs, 10);  // the same engines in other ways
  for (const auto& configuration : found) {
    const auto choice = cudnn::choice_of(configuration);
    std::unique_ptr<cudnn::execution_plan> first, again;
    try {
      first = std::make_unique<cudnn::execution_plan>(cudnn::plan_of(here(), configuration));
      again =
          std::make_unique<cudnn::execution_plan>(cudnn::plan_of(here(), cudnn::configuration_of(here(), graph, choice)));
    } catch (const cudnn::cudnn_error& e) {
      ASSERT_EQ(e.category(), 3000) << e.what();
      continue;
    }
    EXPECT_EQ(first->workspace, again->workspace);
    EXPECT_EQ(cudnn::choice_of(cudnn::configuration_of(here(), graph, choice)), choice);
    if (++planned > 3) break;
    ASSERT_EQ(execute(*again, c, t), CUDNN_STATUS_SUCCESS) << cudnn::last_words();
    expect_near(t.dy.get(), loops(c, t.x, t.w, t.z, t.bias), 1e-4f);
  }
  EXPECT_GT(planned, 0);
  EXPECT_THROW(cudnn::configuration_of(here(), graph, {99999, {}}), cudnn::cudnn_error);
}

TEST_F(libraries, half_precision_in_memory) {
  const std::int64_t channels = 16, pixels = 16;
  const auto tensor_of = [](std::int64_t id, std::vector<std::int64_t> dims) {
    cudnn::descriptor out(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    out.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_HALF);
    out.set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims);
    out.set(CUDNN_ATTR_TENSOR_STRIDES,
            std::vector<std::int64_t>{dims[1] * dims[2] * dims[3], 1, dims[3] * dims[1], dims[1]});
    out.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
    out.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{16});
    out.finalize("describe a tensor");
    return out;
  };
  const auto x = tensor_of(1, {1, channels, 4, 4}), w = tensor_of(2, {channels, channels, 1, 1}),
             y = tensor_of(3, {1, channels, 4, 4});
  cudnn::descriptor how(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const auto mode = CUDNN_CROSS_CORRELATION;
  how.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  how.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
  how.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2});
  for (const auto name : {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_ATTR_CONVOLUTION_DILATIONS})
    how.set(name, std::vector<std::int64_t>{1, 1});
  for (const auto name : {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS})
    how.set(name, std::vector<std::int64_t>{0, 0});
  how.finalize("describe a convolution");
  std::vector<cudnn::descriptor> operations;
  auto& o = operations.emplace_back(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  o.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how);
  o.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
  o.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w);
  o.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y);
  o.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 0.5f);
  o.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0f);
  o.finalize("describe a convolution");
  const auto graph = cudnn::graph_of(here(), operations);
  const auto found = cudnn::configurations(here(), graph, CUDNN_HEUR_MODE_A);
  ASSERT_FALSE(found.empty());
  const auto p = cudnn::plan_of(here(), found[0]);

  // Every x is 2, weights are 1 for the first output and 1.5 for the others.
  const std::vector<std::uint16_t> xs(at(channels * pixels), 0x4000);
  std::vector<std::uint16_t> ws(at(channels * channels), 0x3e00), ys(xs.size());
  std::fill_n(ws.begin(), channels, std::uint16_t{0x3c00});
  const numbers dx(channels * pixels / 2), dw(channels * channels / 2), dy(channels * pixels / 2), room(p.workspace / 4 + 1);
  cudaMemcpy(dx.at(), xs.data(), xs.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(dw.at(), ws.data(), ws.size() * 2, cudaMemcpyHostToDevice);
  cudnn::descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  void *where[] = {dx.at(), dw.at(), dy.at()}, *workspace = room.at();
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::vector<std::int64_t>{1, 2, 3});
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, where);
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
  pack.finalize("take tensors");
  ASSERT_EQ(cudnnBackendExecute(handle, p.execution.get(), pack.get()), CUDNN_STATUS_SUCCESS) << cudnn::last_words();
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  cudaMemcpy(ys.data(), dy.at(), ys.size() * 2, cudaMemcpyDeviceToHost);
  for (std::size_t i = 0; i < ys.size(); ++i) EXPECT_EQ(ys[i], i % at(channels) == 0 ? 0x4c00 : 0x4e00) << i;  // 16 and 24
}

TEST_F(libraries, mistakes_with_pointers_are_refused) {
  const auto c =
      made({.x = {1, 64, 56, 56}, .w = {64, 64, 3, 3}, .pads = {1, 1, 1, 1}, .bias = true, .channels_last = true});
  const tensors t(c);
  auto all = plans(c, 30);
  const auto hungry = std::find_if(all.begin(), all.end(), [](const cudnn::execution_plan& p) { return p.workspace > 0; });
  ASSERT_NE(hungry, all.end());
  const auto run = [&](void* workspace, int skip) {
    const auto pack = pack_of(c, t, workspace, skip);
    return cudnnBackendExecute(handle, hungry->execution.get(), pack.get());
  };
  const numbers room(hungry->workspace / 4 + 1), small(hungry->workspace / 4 - 1);
  EXPECT_EQ(run(nullptr, 0), CUDNN_STATUS_EXECUTION_FAILED);
  EXPECT_NE(cudnn::last_words().find("workspace"), std::string::npos);
  EXPECT_EQ(run(small.at(), 0), CUDNN_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(run(room.at(), 1), CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
  EXPECT_EQ(run(room.at(), 4), CUDNN_STATUS_EXECUTION_FAILED);  // beyond the end
  EXPECT_EQ(run(room.at(), 0), CUDNN_STATUS_SUCCESS);
  EXPECT_TRUE(std::isnan(room.get()[0]));  // the whole workspace was written
}

TEST_F(libraries, convolutions_in_a_captured_graph) {
  const auto c = made({.x = {1, 8, 9, 9}, .w = {8, 8, 3, 3}, .pads = {1, 1, 1, 1}, .bias = true});
  const tensors t(c);
  const auto p = plans(c, 1);
  ASSERT_FALSE(p.empty());
  const numbers room(p[0].workspace / 4 + 1);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  {
    const auto pack = pack_of(c, t, room.at());
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    ASSERT_EQ(cudnnBackendExecute(handle, p[0].execution.get(), pack.get()), CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  }
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_TRUE(std::isnan(t.dy.get()[0]));
  EXPECT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  expect_near(t.dy.get(), loops(c, t.x, t.w, t.z, t.bias), 1e-4f);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(libraries, errors_of_cudnn_that_were_asked_for) {
  const auto c = made({.x = {1, 8, 9, 9}, .w = {8, 8, 3, 3}, .pads = {1, 1, 1, 1}, .bias = true});
  auto& errors = emulated::now().errors;
  errors["cudnnBackendFinalize:plan"] = CUDNN_STATUS_NOT_SUPPORTED;
  EXPECT_TRUE(plans(c).empty());
  errors.clear();
  EXPECT_FALSE(plans(c).empty());
  errors["cudnnBackendFinalize:graph"] = CUDNN_STATUS_INTERNAL_ERROR;
  EXPECT_THROW(plans(c), cudnn::cudnn_error);
  errors.clear();
  errors["cudnnCreate"] = CUDNN_STATUS_NOT_INITIALIZED;
  cudnnHandle_t none = nullptr;
  EXPECT_EQ(cudnnCreate(&none), CUDNN_STATUS_NOT_INITIALIZED);
  EXPECT_NE(cudnn::last_words(), "");
  errors.clear();
  emulated::now().devices = 0;
  EXPECT_EQ(cudnnCreate(&none), CUDNN_STATUS_NOT_INITIALIZED);
}

TEST_F(libraries, mistakes_in_graphs_are_the_real_librarys_to_find) {
  auto c = made({.x = {1, 8, 9, 9}, .w = {8, 8, 3, 3}, .pads = {1, 1, 1, 1}});
  c.y[2] += 1;
  try {
    cudnn::graph_of(here(), c);
    FAIL() << "a result of the wrong shape was taken";
  } catch (const cudnn::cudnn_error& e) {
    EXPECT_EQ(e.category(), 2000) << e.what();
  }
}

// cuBLASLt

struct product {
  cublasLtMatmulDesc_t how = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, y = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  ~product() {
    cublasLtMatmulDescDestroy(how);
    cublasLtMatmulPreferenceDestroy(preference);
    for (auto l : {a, b, y}) cublasLtMatrixLayoutDestroy(l);
  }
};

TEST_F(libraries, products_with_bias_and_relu) {
  cublasLtHandle_t lt = nullptr;
  ASSERT_EQ(cublasLtCreate(&lt), CUBLAS_STATUS_SUCCESS);
  const std::int64_t m = 37, n = 5, depth = 50;
  for (const bool ta : {true, false})
    for (const bool tb : {true, false})
      for (const auto epilogue :
           {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS}) {
        const auto a = noise(m * depth), b = noise(n * depth, 2), bias = noise(m, 3);
        const numbers da(a), db(b), dbias(bias), dy(m * n), room(1 << 20);
        const float* bias_at = dbias.at();
        product p;
        cublasLtMatmulDescCreate(&p.how, CUBLAS_COMPUTE_32F, CUDA_R_32F);
        const auto op_a = ta ? CUBLAS_OP_T : CUBLAS_OP_N, op_b = tb ? CUBLAS_OP_T : CUBLAS_OP_N;
        cublasLtMatmulDescSetAttribute(p.how, CUBLASLT_MATMUL_DESC_TRANSA, &op_a, sizeof op_a);
        cublasLtMatmulDescSetAttribute(p.how, CUBLASLT_MATMUL_DESC_TRANSB, &op_b, sizeof op_b);
        cublasLtMatmulDescSetAttribute(p.how, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
        cublasLtMatmulDescSetAttribute(p.how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias_at, sizeof bias_at);
        const auto layout = [](cublasLtMatrixLayout_t* l, std::int64_t rows, std::int64_t columns) {
          cublasLtMatrixLayoutCreate(l, CUDA_R_32F, at(rows), at(columns), rows);
        };
        layout(&p.a, ta ? depth : m, ta ? m : depth);
        layout(&p.b, tb ? n : depth, tb ? depth : n);
        layout(&p.y, m, n);
        cublasLtMatmulPreferenceCreate(&p.preference);
        cublasLtMatmulHeuristicResult_t found[4];
        int count = 0;
        const auto ask = [&] {
          return cublasLtMatmulAlgoGetHeuristic(lt, p.how, p.a, p.b, p.y, p.y, p.preference, 4, found, &count);
        };
        ASSERT_EQ(ask(), CUBLAS_STATUS_SUCCESS);
        EXPECT_EQ(count, 1);
        const std::uint64_t limit = 4 << 20;
        cublasLtMatmulPreferenceSetAttribute(p.preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof limit);
        ASSERT_EQ(ask(), CUBLAS_STATUS_SUCCESS);
        ASSERT_EQ(count, 2);
        EXPECT_EQ(found[1].workspaceSize, limit);
        std::uint64_t flags = 0;
        std::size_t written = 0;
        EXPECT_EQ(cublasLtMatmulAlgoCapGetAttribute(&found[0].algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags,
                                                    sizeof flags, &written),
                  CUBLAS_STATUS_SUCCESS);
        EXPECT_EQ(flags, CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F |
                             CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F);
        std::vector<float> expected(at(m * n));
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            double y = epilogue & CUBLASLT_EPILOGUE_BIAS ? bias[at(i)] : 0;
            for (std::int64_t k = 0; k < depth; ++k)
              y += a[at(ta ? i * depth + k : k * m + i)] * b[at(tb ? k * n + j : j * depth + k)];
            expected[at(j * m + i)] = static_cast<float>(epilogue & CUBLASLT_EPILOGUE_RELU ? std::max(y, 0.0) : y);
          }
        const float one = 1, zero = 0;
        for (int i = 0; i < count; ++i) {
          cublasLtMatmulHeuristicResult_t checked;
          EXPECT_EQ(cublasLtMatmulAlgoCheck(lt, p.how, p.a, p.b, p.y, p.y, &found[i].algo, &checked), CUBLAS_STATUS_SUCCESS);
          EXPECT_EQ(checked.workspaceSize, found[i].workspaceSize);
          const auto run = [&](std::size_t bytes) {
            return cublasLtMatmul(lt, p.how, &one, da.at(), p.a, db.at(), p.b, &zero, dy.at(), p.y, dy.at(), p.y,
                                  &found[i].algo, room.at(), bytes, stream);
          };
          EXPECT_EQ(run(limit - 1), i == 1 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS);
          ASSERT_EQ(run(limit), CUBLAS_STATUS_SUCCESS);
          expect_near(dy.get(), expected);
        }
        auto other = found[0].algo;
        other.data[0] ^= 1;
        EXPECT_EQ(cublasLtMatmulAlgoCheck(lt, p.how, p.a, p.b, p.y, p.y, &other, &found[0]), CUBLAS_STATUS_INVALID_VALUE);
      }
  emulated::now().errors["cublasLtMatmulDescCreate"] = CUBLAS_STATUS_ALLOC_FAILED;
  cublasLtMatmulDesc_t none = nullptr;
  EXPECT_EQ(cublasLtMatmulDescCreate(&none, CUBLAS_COMPUTE_32F, CUDA_R_32F), CUBLAS_STATUS_ALLOC_FAILED);
  EXPECT_EQ(cublasLtGetStatusName(CUBLAS_STATUS_ALLOC_FAILED), std::string("CUBLAS_STATUS_ALLOC_FAILED"));
  EXPECT_EQ(cublasLtDestroy(lt), CUBLAS_STATUS_SUCCESS);
}

}  // namespace
