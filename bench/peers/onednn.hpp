// Computes a network of dice by oneDNN, group by group. Convolutions use its own choice, or the fastest of its algorithms as
// measured at the start, including Winograd. Layouts are oneDNN's; residual sums and activations are its post-operations.
#pragma once

#include "onednn_convolution.hpp"

#include <dice/assembly/program_of.hpp>
#include <dice/dice.hpp>
#include <dice/weights/file.hpp>
#include <dice/weights/store.hpp>

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace onednn {

using dice::tensor::shape;
using tag = memory::format_tag;

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
inline tag plain(std::size_t rank) { return rank == 4 ? tag::nchw : rank == 2 ? tag::nc : tag::x; }

/// Runs network Net. Throws dnnl::error, and std::runtime_error for unsupported layers.
template <class Net> class engine {
 public:
  /// `tune`: measure all of oneDNN's algorithms for each convolution.
  engine(const dice::runtime::program& program, const std::string& weights, bool tune)
      : program_(program),
        tune_(tune),
        file_(weights, program.network, program.weights),
        store_(file_, items()),
        values_(Net::size),
        last_use_(Net::size, -1) {
    const auto& groups = program_.plan.groups;
    for (std::size_t g = 0; g < groups.size(); ++g)
      each_operand(groups[g], [&](int t) { last_use_[root(t)] = static_cast<int>(g); });
    [&]<int... Id>(std::integer_sequence<int, Id...>) { (enter<typename Net::template layer<Id>>(), ...); }
    (std::make_integer_sequence<int, Net::size>{});
    for (std::size_t g = 0; g < groups.size(); ++g) {
      at_ = g;
      [&]<int... Id>(std::integer_sequence<int, Id...>) {
        (void)((Id == groups[g].anchor && (add<typename Net::template layer<Id>>(), true)) || ...);
      }
      (std::make_integer_sequence<int, Net::size>{});
    }
    result_ = value(program_.layers.into(output_)[0].from);
  }

  /// Computes one frame from the only input to the only output, both plain.
  void run(const float* in, float* out) {
    const auto& first = values_[input_];
    std::memcpy(first.get_data_handle(), in, first.get_desc().get_size());
    for (auto& s : steps_) s.what.execute(stream_, s.on);
    stream_.wait();
    memory to(of(dims(shape_of(output_)), plain(static_cast<std::size_t>(shape_of(output_).rank))), engine_, out);
    dnnl::reorder(result_, to).execute(stream_, result_, to);
    stream_.wait();
  }

 private:
  using desc = memory::desc;
  struct step {
    dnnl::primitive what;
    std::unordered_map<int, memory> on;
  };

  static desc of(const memory::dims& d, tag t) { return {d, memory::data_type::f32, t}; }

  std::vector<dice::weights::item> items() const {
    std::vector<dice::weights::item> out;
    for (const auto& parameters : program_.parameters) out.push_back({.parameters = parameters});
    return out;
  }
  const float* parameter(int k) const { return static_cast<const float*>(store_.plain(static_cast<int>(at_))[k]); }

  template <class F> void each_operand(const dice::schedule::group& g, F f) const {
    for (const auto& e : program_.layers.into(g.anchor)) f(e.from);
    if (g.residual >= 0) f(program_.layers.into(g.residual)[g.residual_operand].from);
  }
  /// The tensor of which t is a view, or t itself.
  int root(int t) const {
    while (program_.layers.layers[t].view >= 0) t = program_.layers.into(t)[0].from;
    return t;
  }
  const shape& shape_of(int t) const { return program_.layers.layers[t].output; }

  /// Tensor t as oneDNN holds it; a view that flattens is plain.
  memory value(int t) {
    const int from = root(t);
    memory m = values_[from];
    if (shape_of(t) == shape_of(from)) return m;
    m = in(m, of(dims(shape_of(from)), plain(static_cast<std::size_t>(shape_of(from).rank))));
    return memory(of(dims(shape_of(t)), plain(static_cast<std::size_t>(shape_of(t).rank))), engine_, m.get_data_handle());
  }
  memory zeros(const desc& d) {
    memory m(d, engine_);
    std::memset(m.get_data_handle(), 0, d.get_size());
    return m;
  }
  /// m in the layout `wanted`, reordered for each frame if necessary.
  memory in(memory m, const desc& wanted) {
    if (m.get_desc() == wanted) return m;
    memory to = zeros(wanted);
    steps_.push_back({dnnl::reorder(m, to), {{DNNL_ARG_FROM, m}, {DNNL_ARG_TO, to}}});
    return to;
  }
  /// The same, once: for weights.
  memory once(memory m, const desc& wanted) {
    if (m.get_desc() == wanted) return m;
    memory to(wanted, engine_);
    dnnl::reorder(m, to).execute(stream_, m, to);
    stream_.wait();
    return to;
  }
  memory weights(const memory::dims& d, tag t, int k) { return memory(of(d, t), engine_, const_cast<float*>(parameter(k))); }
  memory bias(std::int64_t n, bool given, int k) {
    if (given) return weights({n}, tag::x, k);
    return zeros(of({n}, tag::x));
  }

  const dice::schedule::group& group() const { return program_.plan.groups[at_]; }
  void put(memory m) { values_[group().output()] = m; }

  /// The activation that the group ends with.
  void activate(dnnl::post_ops& post) const {
    using dnnl::algorithm;
    const int l = group().activation;
    if (l < 0) return;
    [&]<int... Id>(std::integer_sequence<int, Id...>) {
      (void)((Id == l && (append(post, Net::template layer<Id>::op), true)) || ...);
    }
    (std::make_integer_sequence<int, Net::size>{});
  }
  template <class Op> static void append(dnnl::post_ops& post, const Op& op) {
    using dnnl::algorithm;
    if constexpr (std::is_same_v<Op, dice::ops::relu>) post.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
    else if constexpr (std::is_same_v<Op, dice::ops::leaky_relu>)
      post.append_eltwise(1, algorithm::eltwise_relu, op.alpha, 0);
    else if constexpr (std::is_same_v<Op, dice::ops::clip>) post.append_eltwise(1, algorithm::eltwise_clip, op.low, op.high);
    else if constexpr (requires { op.onnx; }) throw std::runtime_error("no activation " + std::string(op.onnx) + " here");
  }

  template <class Layer> void enter() {
    if constexpr (Layer::op.onnx == "Input") {
      input_ = Layer::id;
      values_[Layer::id] = memory(of(dims(Layer::result), plain(static_cast<std::size_t>(Layer::result.rank))), engine_);
    }
    if constexpr (Layer::op.onnx == "Output") output_ = Layer::id;
  }

  template <class Layer> void add() {
    using op = std::remove_cvref_t<decltype(Layer::op)>;
    if constexpr (std::is_same_v<op, dice::ops::conv>) convolution(Layer::op, Layer::operands[0], Layer::result);
    else if constexpr (std::is_same_v<op, dice::ops::max_pool>)
      pool(dnnl::algorithm::pooling_max, Layer::op, Layer::operands[0], Layer::result);
    else if constexpr (std::is_same_v<op, dice::ops::average_pool>)
      pool(Layer::op.count_include_pad ? dnnl::algorithm::pooling_avg_include_padding
                                       : dnnl::algorithm::pooling_avg_exclude_padding,
           Layer::op, Layer::operands[0], Layer::result);
    else if constexpr (std::is_same_v<op, dice::ops::global_average_pool> || std::is_same_v<op, dice::ops::reduce>)
      mean(Layer::operands[0], Layer::result);
    else if constexpr (std::is_same_v<op, dice::ops::concat>) concat(Layer::op.axis);
    else if constexpr (std::is_same_v<op, dice::ops::batch_normalization>) normalize(Layer::operands[0]);
    else if constexpr (std::is_same_v<op, dice::ops::gemm>) inner(Layer::op, Layer::operands[0], Layer::result);
    else if constexpr (std::is_same_v<op, dice::ops::add>) sum(Layer::operands);
    else if constexpr (std::is_same_v<op, dice::ops::softmax>) softmax(Layer::operands[0], Layer::op.first);
    else throw std::runtime_error("no layer " + std::string(Layer::op.onnx) + " here");
  }

  void convolution(const dice::ops::conv& op, int from, const shape& result) {
    const auto source = value(from);
    const auto oc = op.channels;
    const auto w = weights(kernel_dims(op, source.get_desc().dims()[1]), op.group > 1 ? tag::goihw : tag::oihw, 0);
    const auto b = bias(oc, op.bias, 1);
    memory other;
    dnnl::post_ops post;
    const bool adds = group().residual >= 0;
    if (adds) {
      const int t = program_.layers.into(group().residual)[group().residual_operand].from;
      other = value(t);
      if (last_use_[root(t)] != static_cast<int>(at_)) {  // the sum overwrites it
        memory copy = zeros(other.get_desc());
        steps_.push_back({dnnl::reorder(other, copy), {{DNNL_ARG_FROM, other}, {DNNL_ARG_TO, copy}}});
        other = copy;
      }
      post.append_sum(1);
    }
    activate(post);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(post);
    const auto ways = candidates(engine_, op, any(source.get_desc().dims()), adds ? other.get_desc() : any(dims(result)),
                                 attributes, tune_);
    std::size_t best = 0;
    double least = std::numeric_limits<double>::max();
    if (ways.size() > 1)
      for (std::size_t k = 0; k < ways.size(); ++k)
        if (const double t = time(ways[k], source, w, b); t < least) {
          least = t;
          best = k;
        }
    if (ways.empty()) throw std::runtime_error("oneDNN has no convolution for a layer");
    const auto& p = ways[best];
    const auto from_memory = in(source, p.src_desc());
    const auto to = adds ? other : zeros(p.dst_desc());
    steps_.push_back({dnnl::convolution_forward(p),
                      {{DNNL_ARG_SRC, from_memory},
                       {DNNL_ARG_WEIGHTS, once(w, p.weights_desc())},
                       {DNNL_ARG_BIAS, b},
                       {DNNL_ARG_DST, to}}});
    put(to);
    if (group().pool >= 0) pool(dnnl::algorithm::pooling_max, to, dims(shape_of(group().output())), {2, 2}, {2, 2}, {0, 0});
  }

  /// The minimum seconds of a candidate over some runs, including the reorder of its input if it needs one.
  double time(const dnnl::convolution_forward::primitive_desc& p, memory source, const memory& w, const memory& b) {
    memory from = zeros(p.src_desc()), to = zeros(p.dst_desc()), packed = once(w, p.weights_desc());
    dnnl::convolution_forward run(p);
    double least = std::numeric_limits<double>::max();
    for (int i = 0; i < 5; ++i) {
      const double begin = seconds();
      if (p.src_desc() != source.get_desc()) dnnl::reorder(source, from).execute(stream_, source, from);
      run.execute(stream_, {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, packed}, {DNNL_ARG_BIAS, b}, {DNNL_ARG_DST, to}});
      stream_.wait();
      least = std::min(least, seconds() - begin);
    }
    return least;
  }

  void pool(dnnl::algorithm by, const memory& source, const memory::dims& result, const memory::dims& strides,
            const memory::dims& kernel, const memory::dims& before) {
    memory::dims behind(2);  // as far as the last windows reach beyond the input
    for (std::size_t a = 0; a < 2; ++a)
      behind[a] = std::max<memory::dim>(
          0, (result[a + 2] - 1) * strides[a] + kernel[a] - source.get_desc().dims()[a + 2] - before[a]);
    dnnl::pooling_forward::desc d(dnnl::prop_kind::forward_inference, by, source.get_desc(), any(result), strides, kernel,
                                  before, behind);
    dnnl::pooling_forward::primitive_desc p(d, engine_);
    memory to = zeros(p.dst_desc());
    steps_.push_back({dnnl::pooling_forward(p), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, to}}});
    put(to);
  }
  template <class Op> void pool(dnnl::algorithm by, const Op& op, int from, const shape& result) {
    pool(by, value(from), dims(result), {op.strides[0], op.strides[1]}, {op.kernel[0], op.kernel[1]},
         {op.pads[0], op.pads[1]});
  }
  /// The mean over height and width.
  void mean(int from, const shape& result) {
    const auto source = value(from);
    const auto d = source.get_desc().dims();
    pool(dnnl::algorithm::pooling_avg_exclude_padding, source, {d[0], d[1], 1, 1}, {1, 1}, {d[2], d[3]}, {0, 0});
    if (result.rank == 4) return;
    auto& m = values_[group().output()];
    m = in(m, of({d[0], d[1], 1, 1}, tag::nchw));
    m = memory(of({d[0], d[1]}, tag::nc), engine_, m.get_data_handle());
  }

  void concat(int axis) {
    std::vector<desc> parts;
    std::unordered_map<int, memory> on;
    each_operand(group(), [&](int t) {
      const auto m = value(t);
      on[DNNL_ARG_MULTIPLE_SRC + static_cast<int>(parts.size())] = m;
      parts.push_back(m.get_desc());
    });
    dnnl::concat::primitive_desc p(axis, parts, engine_);
    memory to = zeros(p.dst_desc());
    on[DNNL_ARG_DST] = to;
    steps_.push_back({dnnl::concat(p), on});
    put(to);
  }

  /// x · a + b: batch normalization with mean 0 and variance 1.
  void normalize(int from) {
    using dnnl::normalization_flags;
    const auto source = value(from);
    const auto n = source.get_desc().dims()[1];
    auto flags = normalization_flags::use_global_stats | normalization_flags::use_scale | normalization_flags::use_shift;
    if (group().activation >= 0) flags |= normalization_flags::fuse_norm_relu;
    dnnl::batch_normalization_forward::desc d(dnnl::prop_kind::forward_inference, source.get_desc(), 0, flags);
    dnnl::batch_normalization_forward::primitive_desc p(d, engine_);
    memory to = zeros(p.dst_desc()), one = zeros(of({n}, tag::x));
    std::fill_n(static_cast<float*>(one.get_data_handle()), n, 1.0f);
    steps_.push_back({dnnl::batch_normalization_forward(p),
                      {{DNNL_ARG_SRC, source},
                       {DNNL_ARG_DST, to},
                       {DNNL_ARG_SCALE, weights({n}, tag::x, 0)},
                       {DNNL_ARG_SHIFT, weights({n}, tag::x, 1)},
                       {DNNL_ARG_MEAN, bias(n, false, 0)},
                       {DNNL_ARG_VARIANCE, one}}});
    put(to);
  }

  void inner(const dice::ops::gemm& op, int from, const shape& result) {
    const auto source = value(from);
    const auto n = result[1], k = source.get_desc().dims()[1];
    const auto w = weights({n, k}, tag::oi, 0), b = bias(n, op.bias, 1);
    dnnl::post_ops post;
    activate(post);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(post);
    dnnl::inner_product_forward::desc d(dnnl::prop_kind::forward_inference, source.get_desc(), any({n, k}), any({n}),
                                        any(dims(result)));
    dnnl::inner_product_forward::primitive_desc p(d, attributes, engine_);
    memory to = zeros(p.dst_desc());
    steps_.push_back(
        {dnnl::inner_product_forward(p),
         {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, once(w, p.weights_desc())}, {DNNL_ARG_BIAS, b}, {DNNL_ARG_DST, to}}});
    put(to);
  }

  void softmax(int from, int axis) {
    const auto source = value(from);
    dnnl::softmax_forward::primitive_desc p({dnnl::prop_kind::forward_inference, source.get_desc(), axis}, engine_);
    memory to = zeros(p.dst_desc());
    steps_.push_back({dnnl::softmax_forward(p), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, to}}});
    put(to);
  }

  template <class Operands> void sum(const Operands& operands) {
    const auto a = value(operands[0]), b = value(operands[1]);
    dnnl::post_ops post;
    activate(post);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(post);
    dnnl::binary::desc d(dnnl::algorithm::binary_add, a.get_desc(), b.get_desc(), any(a.get_desc().dims()));
    dnnl::binary::primitive_desc p(d, attributes, engine_);
    memory to = zeros(p.dst_desc());
    steps_.push_back({dnnl::binary(p), {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, to}}});
    put(to);
  }

  const dice::runtime::program& program_;
  const bool tune_;
  dice::weights::file file_;
  dice::weights::store store_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::vector<memory> values_;  ///< by layer
  std::vector<int> last_use_;   ///< by tensor: the group that reads it last
  std::vector<step> steps_;
  std::size_t at_ = 0;  ///< the group being made
  memory result_;
  int input_ = -1, output_ = -1;
};

}  // namespace onednn
