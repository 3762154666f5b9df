// GFLOP/s of the distinct convolutions of VGG-19 and ResNet-50/101, and of MobileNet's depthwise ones, batch 1.
// OMP_NUM_THREADS=1 ./bench_convolution
#include <dice/kernels/kernels.hpp>

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

namespace {

using namespace dice;

struct free_memory {
  void operator()(void* p) const { std::free(p); }
};
using memory = std::unique_ptr<std::byte, free_memory>;

memory allocate(std::int64_t bytes) {
  return memory(static_cast<std::byte*>(std::aligned_alloc(64, static_cast<std::size_t>((bytes + 4096) / 64 * 64))));
}

memory random(std::int64_t elements) {
  memory m = allocate(elements * 4);
  std::minstd_rand engine(1);
  std::uniform_real_distribution<float> values(-1, 1);
  for (std::int64_t i = 0; i < elements; ++i) reinterpret_cast<float*>(m.get())[i] = values(engine);
  return m;
}

struct layer {
  const char* name;
  std::int64_t in, out;
  int size, kernel, stride;
  std::int64_t group = 1;
};

constexpr layer layers[] = {
    {"vgg/conv1_1", 3, 64, 224, 3, 1},           {"vgg/conv1_2", 64, 64, 224, 3, 1},
    {"vgg/conv2_1", 64, 128, 112, 3, 1},         {"vgg/conv2_2", 128, 128, 112, 3, 1},
    {"vgg/conv3_1", 128, 256, 56, 3, 1},         {"vgg/conv3_2", 256, 256, 56, 3, 1},
    {"vgg/conv4_1", 256, 512, 28, 3, 1},         {"vgg/conv4_2", 512, 512, 28, 3, 1},
    {"vgg/conv5_1", 512, 512, 14, 3, 1},         {"resnet/conv1", 3, 64, 224, 7, 2},
    {"resnet/conv2_1x1a", 64, 64, 56, 1, 1},     {"resnet/conv2_3x3", 64, 64, 56, 3, 1},
    {"resnet/conv2_1x1b", 64, 256, 56, 1, 1},    {"resnet/conv2_1x1c", 256, 64, 56, 1, 1},
    {"resnet/conv3_s2", 128, 128, 56, 3, 2},     {"resnet/conv3_down", 256, 512, 56, 1, 2},
    {"resnet/conv3_3x3", 128, 128, 28, 3, 1},    {"resnet/conv3_1x1b", 128, 512, 28, 1, 1},
    {"resnet/conv3_1x1c", 512, 128, 28, 1, 1},   {"resnet/conv4_s2", 256, 256, 28, 3, 2},
    {"resnet/conv4_3x3", 256, 256, 14, 3, 1},    {"resnet/conv4_1x1b", 256, 1024, 14, 1, 1},
    {"resnet/conv4_1x1c", 1024, 256, 14, 1, 1},  {"resnet/conv5_3x3", 512, 512, 7, 3, 1},
    {"resnet/conv5_1x1b", 512, 2048, 7, 1, 1},   {"resnet/conv5_1x1c", 2048, 512, 7, 1, 1},
    {"mobilenet/dw112", 32, 32, 112, 3, 1, 32},  {"mobilenet/dw112_s2", 64, 64, 112, 3, 2, 64},
    {"mobilenet/dw14", 512, 512, 14, 3, 1, 512},
};

void convolution(benchmark::State& state, const layer& l) {
  using kernel = kernels::kernel<kernels::openmp, ops::conv>;
  const int pad = (l.kernel - 1) / 2;
  const ops::conv op{.channels = l.out,
                     .kernel = {l.kernel, l.kernel},
                     .strides = {l.stride, l.stride},
                     .pads = {pad, pad, pad, pad},
                     .group = l.group,
                     .bias = true};
  const tensor::shape in{1, l.in, l.size, l.size}, result = op.infer({&in, 1});
  const auto algorithm = cost::choose_openmp(op, {&in, 1}, result);
  using tensor::layout;
  const auto stored = algorithm.works == cost::form::first ? layout::plain : layout::blocked;
  const auto input = random(tensor::elements(in, stored)), weights = random(l.out * (l.in / l.group) * l.kernel * l.kernel),
             bias = random(l.out), output = allocate(tensor::bytes(result, layout::blocked)),
             packed = allocate(algorithm.packed_bytes), scratch = allocate(algorithm.scratch_bytes);
  const float* parameters[] = {reinterpret_cast<float*>(weights.get()), reinterpret_cast<float*>(bias.get())};
  const float* inputs[] = {reinterpret_cast<float*>(input.get())};
  kernel::prepare(op, {&in, 1}, result, algorithm.variant, parameters, packed.get());
  const kernels::call c{.inputs = inputs,
                        .output = reinterpret_cast<float*>(output.get()),
                        .parameters = nullptr,
                        .packed = packed.get(),
                        .scratch = scratch.get(),
                        .how = &algorithm,
                        .layouts = &stored,
                        .result = layout::blocked};
  const ops::relu relu;
  const kernels::detail::epilogue e{
      .output = c.output, .activation = &relu, .write = &kernels::detail::write_vectors<ops::relu>, .bounds = {.low = 0}};
  for (auto _ : state) kernel::compute(op, {&in, 1}, result, c, e);
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * static_cast<double>(op.macs({&in, 1}, result)),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

/// The limit: independent multiply-adds in registers, one thread.
void peak(benchmark::State& state) {
  using namespace kernels::detail;
  vec sums[12];
  for (int i = 0; i < 12; ++i) sums[i] = splat(static_cast<float>(i));
  const vec a = splat(0.999f), b = splat(0.001f);
  for (auto _ : state) {
    for (int n = 0; n < 1000; ++n) {
      DICE_UNROLL
      for (int i = 0; i < 12; ++i) sums[i] = fma(sums[i], a, b);
    }
  }
  for (const vec& s : sums) benchmark::DoNotOptimize(s[0]);
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * 12 * 1000 * width, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("peak", peak);
  for (const auto& l : layers)
    benchmark::RegisterBenchmark(l.name, [&l](benchmark::State& s) { convolution(s, l); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
