// GB/s, read and written, of operators that move more than they compute, on plain and on blocked tensors; conversions count
// as time only. For comparison, a copy of the same size. OMP_NUM_THREADS=1 ./bench_bandwidth
#include <dice/kernels/compiled.hpp>
#include <dice/kernels/openmp/openmp.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace dice;
using tensor::layout;

struct free_memory {
  void operator()(float* p) const { std::free(p); }
};
using memory = std::unique_ptr<float, free_memory>;

memory ones(std::int64_t bytes) {
  const auto rounded = static_cast<std::size_t>((bytes + 64) / 64 * 64);
  memory m(static_cast<float*>(std::aligned_alloc(64, rounded)));
  std::fill_n(m.get(), rounded / sizeof(float), 1.0f);
  return m;
}

template <class Op>
void add(const std::string& name, const Op& op, const std::vector<tensor::shape>& in,
         const std::vector<tensor::shape>& parameters = {}) {
  for (const auto as : {layout::plain, layout::blocked})
    benchmark::RegisterBenchmark(
        (name + (as == layout::plain ? "/plain" : "/blocked")).c_str(),
        [=](benchmark::State& state) {
          const auto result = graph::infer(op, in);
          const auto how = algorithm::choose_openmp(op, in, result);
          std::vector<memory> all;
          std::vector<const void*> inputs, weights;
          const auto size = [](const tensor::shape& s, layout l) { return tensor::bytes(tensor::type(s), l); };
          std::int64_t bytes = size(result, as), scratch = size(result, layout::blocked);
          for (const auto& s : in) {
            inputs.push_back(all.emplace_back(ones(size(s, as))).get());
            // A Slice reads no more than it writes.
            bytes += std::is_same_v<Op, ops::slice> ? size(result, as) : size(s, as);
            scratch += size(s, layout::blocked) + 64;
          }
          for (const auto& s : parameters) weights.push_back(all.emplace_back(ones(size(s, layout::plain))).get());
          const auto output = ones(size(result, as)), work = ones(scratch);
          const std::vector<tensor::storage> stored(in.size(), {as});
          const kernels::task what{.op = &op, .inputs = in, .result = result, .how = how, .stored = stored, .output = {as}};
          const kernels::buffers at{.inputs = inputs.data(),
                                    .output = output.get(),
                                    .parameters = weights.data(),
                                    .packed = nullptr,
                                    .scratch = reinterpret_cast<std::byte*>(work.get())};
          for (auto _ : state) kernels::compiled<kernels::openmp::backend, Op>::run(what, at);
          state.SetBytesProcessed(state.iterations() * bytes);
        })
        ->Unit(benchmark::kMicrosecond)
        ->UseRealTime();
}

void copy(benchmark::State& state) {
  const auto from = ones(state.range(0)), to = ones(state.range(0));
  for (auto _ : state) {
    std::memcpy(to.get(), from.get(), static_cast<std::size_t>(state.range(0)));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(2 * state.iterations() * state.range(0));
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("copy", copy)
      ->Arg(1 << 18)
      ->Arg(1 << 20)
      ->Arg(1 << 22)
      ->Arg(1 << 24)
      ->Unit(benchmark::kMicrosecond);
  const auto window = [](int kernel, int stride, int pad) {
    return ops::max_pool{.kernel = {kernel, kernel}, .strides = {stride, stride}, .pads = {pad, pad, pad, pad}};
  };
  add("max_pool/resnet 3x3 s2", window(3, 2, 1), {{1, 64, 112, 112}});
  add("max_pool/vgg 2x2 s2", window(2, 2, 0), {{1, 64, 224, 224}});
  add("max_pool/vgg 2x2 s2 small", window(2, 2, 0), {{1, 512, 14, 14}});
  add("max_pool/inception 3x3 s2", window(3, 2, 0), {{1, 288, 35, 35}});
  add("max_pool/3x3 s1", window(3, 1, 1), {{1, 480, 14, 14}});
  add("average_pool/inception 3x3 s1", ops::average_pool{.kernel = {3, 3}, .pads = {1, 1, 1, 1}}, {{1, 288, 35, 35}});
  add("average_pool/densenet 2x2 s2", ops::average_pool{.kernel = {2, 2}, .strides = {2, 2}}, {{1, 256, 28, 28}});
  add("global_average_pool/resnet", ops::global_average_pool{}, {{1, 2048, 7, 7}});
  const tensor::shape s{1, 256, 56, 56}, small{1, 256, 14, 14}, each{1, 256, 1, 1};
  add("add/same shape", ops::add{}, {s, s});
  add("add/same shape, small", ops::add{}, {small, small});
  add("mul/for each channel", ops::mul{}, {s, each});
  add("batch_normalization", ops::batch_normalization{}, {s}, {{256}, {256}});
  add("batch_normalization/small", ops::batch_normalization{}, {small}, {{256}, {256}});
  add("relu", ops::relu{}, {s});
  add("concat", ops::concat{}, {{1, 64, 35, 35}, {1, 64, 35, 35}, {1, 96, 35, 35}, {1, 32, 35, 35}});
  add("concat/rows with halos", ops::concat{.axis = 2}, {{1, 512, 1, 14}, {1, 512, 14, 14}, {1, 512, 1, 14}});
  add("concat/rows", ops::concat{.axis = 2}, {{1, 64, 56, 112}, {1, 64, 56, 112}});
  add("concat/columns", ops::concat{.axis = 3}, {{1, 64, 112, 56}, {1, 64, 112, 56}});
  const auto cut = [](const tensor::shape& extents, std::int64_t row, std::int64_t column) {
    return ops::slice{.starts = {0, 0, row, column}, .extents = extents};
  };
  add("slice/one row", cut({1, 512, 1, 28}, 13, 0), {{1, 512, 28, 28}});
  add("slice/one column", cut({1, 512, 28, 1}, 0, 13), {{1, 512, 28, 28}});
  add("slice/half of the rows", cut({1, 64, 56, 112}, 56, 0), {{1, 64, 112, 112}});
  add("slice/half of the columns", cut({1, 64, 112, 56}, 0, 56), {{1, 64, 112, 112}});
  add("resize/by 2", ops::resize{.factors = {1, 1, 2, 2}}, {{1, 128, 26, 26}});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
