// Fusion groups of a network: what entry_for() gives, run as the runtime runs it.
#include "kernels/harness.hpp"
#include "sample.hpp"

namespace {

using namespace harness;

template <class Backend> struct group : ::testing::Test {
  static constexpr bool on_gpu = algorithm::processor_of(Backend::value) == platform::processor::gpu;
};
TYPED_TEST_SUITE(group, backends);

/// The kernel of Layer on Backend.
template <class Backend, class Layer>
constexpr kernels::entry alone = kernels::entry_for<Backend>(Layer::op, graph::view_of<sample::network>.operands(Layer::id),
                                                             Layer::result,
                                                             algorithm::choices<sample::network, Backend::value>[Layer::id]);

template <class Backend>
std::vector<float> run(const kernels::entry& group, [[maybe_unused]] bool on_gpu,
                       const std::vector<std::vector<float>>& inputs, const std::vector<std::vector<float>>& parameters) {
  const auto& algorithm = group.what.how;
  const auto& result = group.what.result;
#ifdef DICE_TESTS_GPU
  if (on_gpu) {
    auto& there = gpu_bench::get();
    there.clear();
    std::vector<const void*> in, from;
    for (const auto& x : inputs) in.push_back(there.put(x));
    for (const auto& x : parameters) from.push_back(there.put(x));
    std::vector<float> y(static_cast<std::size_t>(result.elements()));
    float* const output = there.put(y);
    auto* const scratch = there.room(algorithm.scratch_bytes);
    there.run([&] {
      group.run({.inputs = in.data(), .output = output, .parameters = from.data(), .packed = nullptr, .scratch = scratch});
    });
    return there.get(output, y.size());
  }
#endif
  std::vector<buffer> memory;
  std::vector<const void*> in, from;
  for (const auto& x : inputs) in.push_back(memory.emplace_back(x).floats());
  for (const auto& x : parameters) from.push_back(memory.emplace_back(x).floats());
  buffer packed(algorithm.packed_bytes), scratch(algorithm.scratch_bytes), output(tensor::type(result).bytes());
  const bool packs = algorithm.packed_bytes > 0;
  EXPECT_EQ(group.by.pack != nullptr, packs);
  if (packs) group.by.pack(group.what, from, packed.data());
  const buffer copies(kernels::converted_bytes(group.what, result));
  kernels::run_converted(group.by, group.what, result,
                         {.inputs = in.data(),
                          .output = output.floats(),
                          .parameters = packs ? nullptr : from.data(),
                          .packed = packed.data(),
                          .scratch = scratch.data()},
                         kernels::converts_by<Backend>, copies.data());
  return {output.floats(), output.floats() + result.elements()};
}

TYPED_TEST(group, convolution_with_residual_and_activation) {
  const auto x = values(256, 1), residual = values(256, 2), weights = values(16, 3);
  auto fused = alone<TypeParam, sample::conv2>;
  fused.what.residual = true;
  fused.what.activation = sample::relu2::op.activation();
  const auto y = run<TypeParam>(fused, this->on_gpu, {x, residual}, {weights});
  for (std::size_t i = 0; i < 256; ++i) {
    double expected = residual[i];
    for (std::size_t c = 0; c < 4; ++c) expected += static_cast<double>(weights[i / 64 * 4 + c]) * x[c * 64 + i % 64];
    ASSERT_NEAR(y[i], std::max(expected, 0.0), 1e-5) << i;
  }
}

TYPED_TEST(group, single_layers) {
  const auto x = values(192, 1), weights = values(108, 2), bias = values(4, 3);
  const auto op = sample::conv1::op;
  const problem<ops::conv> p{.op = op, .in = {{1, 3, 8, 8}}, .inputs = {x}, .parameters = {weights, bias}, .residual = {}};
  EXPECT_LE(error(run<TypeParam>(alone<TypeParam, sample::conv1>, this->on_gpu, {x}, {weights, bias}),
                  compute<kernels::reference::backend>(p)),
            tolerance);

  const auto y = values(128, 4), w = values(1280, 5), b = values(10, 6);
  const auto scores = run<TypeParam>(alone<TypeParam, sample::fc1>, this->on_gpu, {y}, {w, b});
  for (std::size_t n = 0; n < 10; ++n) {
    double expected = b[n];
    for (std::size_t k = 0; k < 128; ++k) expected += static_cast<double>(w[n * 128 + k]) * y[k];
    EXPECT_NEAR(scores[n], expected, 1e-5);
  }
  EXPECT_EQ(run<TypeParam>(alone<TypeParam, sample::flatten1>, this->on_gpu, {y}, {}), y);
}

// Every operator except the graph's inputs and outputs.
template <class Backend> constexpr bool complete() {
#define DICE_HAS(name) \
  if (!kernels::has_kernel<Backend, ops::name>) return false;
  DICE_COMPUTED_OPERATORS(DICE_HAS)
#undef DICE_HAS
  return true;
}
template <class Backend>
constexpr bool ends = kernels::has_kernel<Backend, ops::input> || kernels::has_kernel<Backend, ops::output>;
static_assert(complete<kernels::reference::backend>() && !ends<kernels::reference::backend>);
#ifdef DICE_COMPARES
static_assert(complete<compared>() && !ends<compared>);
#endif

}  // namespace
