// The distinct convolutions of nine networks (convolutions.inc), with bias and Relu, batch 1: the minimum time, GFLOP/s
// counted as for a direct convolution, their share of the peak of multiply-adds in registers, and dice's algorithm. For
// comparison, oneDNN's fastest implementation in the layouts that it prefers; both take turns, run after run.
// OMP_NUM_THREADS=1 ./bench_convolution [--benchmark_filter=resnet101] [--benchmark_format=json]
#include "machine.hpp"

#ifdef DICE_BENCH_ONEDNN
#include "onednn_convolution.hpp"
#endif

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

namespace {

using namespace dice;
using bench::allocate, bench::block_of;

constexpr double seconds_each = 0.4;  ///< in which both compute a layer in turn

struct layer {
  const char* networks;
  tensor::shape in;
  ops::conv op;
  tensor::shape result() const { return op.infer({&in, 1}); }
};

constexpr layer layers[] = {
#include "convolutions.inc"
};

std::string by(std::int64_t a, std::int64_t b) { return std::to_string(a) + "x" + std::to_string(b); }

/// "resnet50+resnet101/64>256,56x56,1x1": networks, channels, extents, window, and uncommon attributes.
std::string name_of(const layer& l) {
  const auto& o = l.op;
  return std::string(l.networks) + "/" + std::to_string(l.in[1]) + ">" + std::to_string(o.channels) + "," +
         by(l.in[2], l.in[3]) + "," + by(o.kernel[0], o.kernel[1]) +
         (o.strides[0] > 1 ? ",stride" + std::to_string(o.strides[0]) : "") +
         (o.pads[0] == 0 && o.pads[1] == 0 && o.kernel[0] * o.kernel[1] > 1 ? ",unpadded" : "") +
         (o.group > 1 ? ",groups" + std::to_string(o.group) : "");
}

block_of<float> random(std::int64_t elements) {
  auto m = allocate<float>(elements);
  std::minstd_rand engine(1);
  std::uniform_real_distribution<float> values(-1, 1);
  for (std::int64_t i = 0; i < elements; ++i) m[i] = values(engine);
  return m;
}

/// A layer computed by dice, ready to run.
class by_dice {
 public:
  by_dice(const layer& l, const float* weights, const float* bias)
      : layer_(l),
        how_(algorithm::choose_openmp(l.op, {&l.in, 1}, result_)),
        stored_{.layout = how_.works == algorithm::form::first ? tensor::layout::plain : tensor::layout::blocked},
        input_(random(tensor::elements(l.in, stored_.layout))) {
    const std::vector<const void*> parameters{weights, bias};
    by_.pack(what_, parameters, packed_.get());
  }

  void run() const {
    const void* inputs[] = {input_.get()};
    by_.run(what_, {.inputs = inputs,
                    .output = output_.get(),
                    .parameters = nullptr,
                    .packed = packed_.get(),
                    .scratch = scratch_.get()});
  }

  std::string algorithm() const {
    if (how_.variant > 0) {
      const algorithm::winograd w(how_.variant, op_, layer_.in, result_);
      return "F(" + by(w.y.outputs, w.x.outputs) + ")";
    }
    return algorithm::convolution(op_, layer_.in, result_).depthwise ? "depthwise" : "direct";
  }

 private:
  const layer& layer_;
  ops::conv op_ = [this] {
    auto op = layer_.op;
    op.bias = true;
    return op;
  }();
  tensor::shape result_ = layer_.result();
  algorithm::choice how_;
  tensor::storage stored_;
  kernels::functions by_ = kernels::functions_for(kernels::openmp::backend{}, op_, {&layer_.in, 1}, result_);
  kernels::task what_{.op = &op_,
                      .inputs = {&layer_.in, 1},
                      .result = result_,
                      .activation = {graph::activation::kind::relu},
                      .how = how_,
                      .stored = {&stored_, 1},
                      .output = {.layout = tensor::layout::blocked}};
  block_of<float> input_, output_ = allocate<float>(tensor::elements(result_, tensor::layout::blocked));
  block_of<std::byte> packed_ = allocate<std::byte>(how_.packed_bytes), scratch_ = allocate<std::byte>(how_.scratch_bytes);
};

#ifdef DICE_BENCH_ONEDNN
/// The same by oneDNN: its fastest implementations.
class by_onednn {
 public:
  by_onednn(const layer& l, float* weights, float* bias) {
    using dnnl::memory;
    using tag = memory::format_tag;
    dnnl::post_ops post;
    post.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(post);
    const auto source = onednn::any(onednn::dims(l.in)), result = onednn::any(onednn::dims(l.result()));
    for (const auto& p : onednn::candidates(engine_, l.op, source, result, attributes, true)) {
      memory from({onednn::kernel_dims(l.op, l.in[1]), memory::data_type::f32, l.op.group > 1 ? tag::goihw : tag::oihw},
                  engine_, weights),
          in(p.src_desc(), engine_), packed(p.weights_desc(), engine_), added(p.bias_desc(), engine_, bias),
          out(p.dst_desc(), engine_);
      const auto values = random(static_cast<std::int64_t>(in.get_desc().get_size() / sizeof(float)));
      std::copy_n(values.get(), in.get_desc().get_size() / sizeof(float), static_cast<float*>(in.get_data_handle()));
      dnnl::reorder(from, packed).execute(stream_, from, packed);
      ways_.push_back({dnnl::convolution_forward(p),
                       {{DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, packed}, {DNNL_ARG_BIAS, added}, {DNNL_ARG_DST, out}},
                       p.impl_info_str()});
      auto& way = ways_.back();
      for (int i = 0; i < 4; ++i) way.least = std::min(way.least, bench::time([&] { run(way); }));
    }
    std::sort(ways_.begin(), ways_.end(), [](const way& a, const way& b) { return a.least < b.least; });
    while (ways_.size() > 1 && ways_.back().least > 1.3 * ways_[0].least) ways_.pop_back();
    for (auto& w : ways_) w.least = std::numeric_limits<double>::max();
  }

  void run() {
    for (auto& w : ways_) w.least = std::min(w.least, bench::time([&] { run(w); }));
  }
  /// The fastest implementation's name, and its minimum time.
  std::pair<std::string, double> fastest() const {
    const auto& w =
        *std::min_element(ways_.begin(), ways_.end(), [](const way& a, const way& b) { return a.least < b.least; });
    return {w.name, w.least};
  }

 private:
  struct way {
    dnnl::convolution_forward what;
    std::unordered_map<int, dnnl::memory> on;
    std::string name;
    double least = std::numeric_limits<double>::max();
  };
  void run(way& w) {
    w.what.execute(stream_, w.on);
    stream_.wait();
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::vector<way> ways_;
};
#endif

struct ratio {
  std::string name;
  double value;  ///< oneDNN's time / dice's
};

void convolution(benchmark::State& state, const layer& l, double peak, std::vector<ratio>& ratios) {
  const auto weights = random(l.op.channels * (l.in[1] / l.op.group) * l.op.kernel[0] * l.op.kernel[1]),
             bias = random(l.op.channels);
  const by_dice dice(l, weights.get(), bias.get());
  std::string how = dice.algorithm();
#ifdef DICE_BENCH_ONEDNN
  by_onednn peer(l, weights.get(), bias.get());
#endif
  for (auto _ : state) {
    double least = std::numeric_limits<double>::max();
    const double end = bench::seconds() + seconds_each;
    for (int i = 0; i < 5 || bench::seconds() < end; ++i) {
      least = std::min(least, bench::time([&] { dice.run(); }));
#ifdef DICE_BENCH_ONEDNN
      peer.run();
#endif
    }
    state.SetIterationTime(least);
    const double rate = 2.0 * static_cast<double>(l.op.macs({&l.in, 1}, l.result())) / least;
    state.counters["GFLOP/s"] = rate * 1e-9;
    state.counters["of_peak"] = rate / peak;
#ifdef DICE_BENCH_ONEDNN
    const auto [name, time] = peer.fastest();
    how += " | " + name;
    state.counters["oneDNN/dice"] = time / least;
    ratios.push_back({name_of(l), time / least});
#else
    (void)ratios;
#endif
  }
  state.SetLabel(how);
}

/// Prints to stderr, so that the JSON stays valid.
void summarize(std::vector<ratio>& ratios) {
  if (ratios.empty()) return;
  double logarithms = 0;
  for (const auto& r : ratios) logarithms += std::log(r.value);
  std::fprintf(stderr, "oneDNN's time / dice's: geometric mean of %zu convolutions %.3f; the least:\n", ratios.size(),
               std::exp(logarithms / static_cast<double>(ratios.size())));
  std::sort(ratios.begin(), ratios.end(), [](const ratio& a, const ratio& b) { return a.value < b.value; });
  for (std::size_t i = 0; i < std::min<std::size_t>(5, ratios.size()); ++i)
    std::fprintf(stderr, "  %.3f  %s\n", ratios[i].value, ratios[i].name.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const int threads = kernels::team::available_threads();
  const double peak = bench::peak(threads);
  benchmark::AddCustomContext("peak GFLOP/s", std::to_string(peak * 1e-9));
  benchmark::AddCustomContext("threads", std::to_string(threads));
  std::vector<ratio> ratios;
  for (const auto& l : layers)
    benchmark::RegisterBenchmark(name_of(l).c_str(), [&](benchmark::State& s) { convolution(s, l, peak, ratios); })
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(1)
        ->UseManualTime();
  benchmark::RunSpecifiedBenchmarks();
  summarize(ratios);
}
