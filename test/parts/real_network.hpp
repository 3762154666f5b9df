// Small networks of real operators as values, how they are divided among ranks at random, and what they compute.
#pragma once

#include "dice/graph/any_operator.hpp"
#include "dice/graph/network.hpp"
#include "dice/graph/ops.hpp"
#include "dice/kernels/run_converted.hpp"
#include "dice/kernels/table.hpp"
#include "dice/parts/part.hpp"
#include "dice/placement/assignment.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace test {

using namespace dice;

/// A network that grows by add(), with its constants.
struct real_network {
  std::vector<graph::layer_info> layers;
  std::vector<graph::edge> edges;
  std::vector<tensor::shape> carried;
  std::vector<graph::any_operator> operators;
  std::vector<std::vector<graph::parameter>> constants;
  std::vector<float> data;
  bool has_data = true;  ///< whether add() fills constants

  graph::network_view view() const { return {layers, edges, carried}; }
  std::vector<meta::view<graph::parameter>> parameters() const { return {constants.begin(), constants.end()}; }
  meta::view<graph::any_operator> all_operators() const { return {operators.data(), operators.size()}; }
  int size() const { return static_cast<int>(layers.size()); }
  const tensor::shape& shape(int l) const { return layers[l].output; }

  template <class Op> int add(const Op& op, const std::vector<int>& from, const std::vector<tensor::shape>& with = {}) {
    graph::layer_info l;
    l.name = l.onnx_name = l.op = Op::onnx;
    l.first_edge = static_cast<int>(edges.size());
    l.edges = static_cast<int>(from.size());
    for (const int f : from) {
      edges.push_back({f, size()});
      carried.push_back(shape(f));
    }
    const auto in = std::span<const tensor::shape>(carried).subspan(static_cast<std::size_t>(l.first_edge));
    l.output = tensor::type(graph::infer(op, in));
    if (!graph::describe(op, in, l, edges.data() + l.first_edge)) throw std::logic_error("shape");
    std::vector<graph::parameter> own;
    for (const auto& s : with) {
      own.push_back({.offset = static_cast<std::int64_t>(data.size() * 4), .extents = s});
      for (std::int64_t i = 0; has_data && i < (s.elements() + 15) / 16 * 16; ++i)
        data.push_back(static_cast<float>(static_cast<int>(draw_() % 2001) - 1000) / 1000);
      l.parameter_bytes += own.back().bytes();
    }
    constants.push_back(own);
    operators.push_back(graph::any_operator(op));
    layers.push_back(l);
    return size() - 1;
  }

 private:
  std::mt19937 draw_{5};
};

/// Convolutions of all kinds, pools, sums, joins and channels for the fully connected end.
struct random_real_network : real_network {
  explicit random_real_network(unsigned seed, int size) {
    std::mt19937 draw(seed);
    const auto below = [&](int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); };
    const auto channels = [&] { return below(3) ? 16 * (1 + below(4)) : 3 + below(60); };
    add(ops::input{.extents = {1, channels(), 9 + below(14), 8 + below(12)}}, {});
    const auto image = [&](int l) { return shape(l).rank == 4; };
    const auto pick = [&] {
      for (int i = 0;; ++i) {
        const int n = this->size(), l = below(3) && i < 20 ? n - 1 - below(std::min(n, 3)) : below(n);
        if (image(l) && (shape(l)[2] > 3 && shape(l)[3] > 3)) return l;
      }
    };
    while (this->size() < size) {
      const int a = pick();
      const auto s = shape(a);
      const auto c = s[1];
      switch (below(14)) {
        case 0:
        case 1:
        case 2:
        case 3: {
          const int k = std::array{1, 3, 3, 5, 4}[below(5)], pad = below(k / 2 + 1), stride = 1 + (below(4) == 0);
          conv({.channels = channels(),
                .kernel = {k, k},
                .strides = {stride, stride},
                .pads = {pad, k / 2, k / 2, pad},
                .bias = below(2) != 0},
               a);
          if (below(2)) add(ops::relu{}, {this->size() - 1});
          break;
        }
        case 4:
          conv({.channels = c, .kernel = {3, 3}, .dilations = {1 + below(2), 1}, .pads = {1, 1, 1, 1}, .group = c}, a);
          break;
        case 5: {
          std::int64_t g = 1 + below(4);
          while (c % g) --g;
          conv({.channels = g * (4 + below(20)), .kernel = {1, 3}, .pads = {0, 1, 0, 1}, .group = g, .bias = true}, a);
          break;
        }
        case 6:
          if (s[2] > 4 && s[3] > 4) add(ops::max_pool{.kernel = {2, 2}, .strides = {2, 2}, .ceil_mode = below(2) != 0}, {a});
          break;
        case 7:
          add(
              ops::average_pool{
                  .kernel = {3, 3}, .strides = {1 + below(2), 1}, .pads = {1, 1, 1, 1}, .count_include_pad = below(2) != 0},
              {a});
          break;
        case 8:
          add(ops::batch_normalization{}, {a}, {{c}, {c}});
          break;
        case 9:
        case 10: {
          std::vector<int> same;
          for (int i = 0; i < this->size(); ++i)
            if (shape(i) == s) same.push_back(i);
          add(ops::add{}, {a, same[below(static_cast<int>(same.size()))]});
          if (below(2)) add(ops::relu{}, {this->size() - 1});
          break;
        }
        case 11: {
          std::vector<int> same;
          for (int i = 0; i < this->size(); ++i)
            if (image(i) && shape(i)[2] == s[2] && shape(i)[3] == s[3] && shape(i)[1] + c < 150) same.push_back(i);
          if (!same.empty()) add(ops::concat{.axis = 1}, {a, same[below(static_cast<int>(same.size()))]});
          break;
        }
        case 12:
          if (s[2] * s[3] < 300) add(ops::resize{.factors = {1, 1, 2, 2, 1, 1, 1, 1}}, {a});
          break;
        default:
          add(ops::pad{.before = {0, 0, 1, 0}, .after = {0, 0, 0, 2}, .value = 0.5f}, {a});
      }
    }
    int last = pick();
    if (below(2)) {  // a fully connected end
      if (below(2)) last = add(ops::global_average_pool{}, {last});
      last = add(ops::flatten{}, {last});
      for (int i = 0; i < 2; ++i) {
        const auto depth = shape(last)[1];
        const std::int64_t columns = 20 + below(60);
        last = add(ops::gemm{.columns = columns, .depth = depth, .bias = true}, {last}, {{columns, depth}, {columns}});
        last = add(ops::relu{}, {last});
      }
    }
    add(ops::output{}, {last});
    if (below(2)) add(ops::output{}, {pick()});
  }

 private:
  void conv(const ops::conv& op, int from) {
    const auto& s = shape(from);
    if (s[2] + op.pads[0] + op.pads[2] < op.dilations[0] * (op.kernel[0] - 1) + 1 ||
        s[3] + op.pads[1] + op.pads[3] < op.kernel[1])
      return;
    std::vector<tensor::shape> with{{op.channels, s[1] / op.group, op.kernel[0], op.kernel[1]}};
    if (op.bias) with.push_back({op.channels});
    add(op, {from}, with);
  }
};

/// An assignment that grows.
struct assigned {
  std::vector<int> owner, work_of, run_ranks, shares;
  std::vector<placement::work_item> work_items;
  placement::assignment view() const { return {owner, work_of, {work_items.data(), work_items.size()}, run_ranks, shares}; }
};

/// Works on runs of ranks, at random: layers that can be divided are, most of the time. With `replicas`, many are computed
/// by these, and work items come again after others, so that a set of replicas has layers before and behind those of others.
inline assigned random_work_items(const real_network& net, int ranks, unsigned seed, bool sums_channels,
                                  bool replicas = false) {
  using placement::geometry;
  std::mt19937 draw(seed);
  const auto below = [&](int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); };
  assigned out;
  out.owner.resize(net.layers.size());
  out.work_of.resize(net.layers.size());
  const auto add_work = [&](int word) {
    const auto& is = placement::work_words[word];
    placement::work_item w{.cut = is.cut,
                           .dealt = is.dealt,
                           .first_rank = static_cast<int>(out.run_ranks.size()),
                           .first_share = static_cast<int>(out.shares.size())};
    w.ranks = word == 0 ? 1 : 2 + below(ranks - 1);
    std::vector<int> all;
    for (int r = 0; r < ranks; ++r) all.push_back(r);
    std::shuffle(all.begin(), all.end(), draw);
    for (int i = 0; i < w.ranks; ++i) out.run_ranks.push_back(all[i]);
    if (is.cut == geometry::grid) {
      w.down = 1 + below(3);
      w.across = 1 + (w.ranks + w.down - 1) / w.down - below(2);
    }
    if (is.cut == geometry::grid && w.down * w.across < w.ranks) w.across = (w.ranks + w.down - 1) / w.down;
    if (is.has(placement::option::shares) && below(2)) {
      w.shares = w.ranks;
      for (int i = 0; i < w.ranks; ++i) out.shares.push_back(1 + below(7));
    }
    if (w.has_replicas() && w.shares == 0 && below(2)) w.dealt = placement::dealing::to_first_free;
    if (is.has(placement::option::exchange_every)) w.exchange_every = below(3) ? 1 : 1 + below(3);
    out.work_items.push_back(w);
    return static_cast<int>(out.work_items.size()) - 1;
  };
  const auto fits = [&](int l, const placement::work_item& w) {
    const auto& of = net.layers[l];
    if (!w.has_parts() && !w.has_replicas()) return true;
    if (of.is_input || of.is_output) return false;
    if (w.has_replicas()) {  // first_free ones do not read others
      for (int k = 0; w.dealt == placement::dealing::to_first_free && k < of.edges; ++k) {
        const int t = net.edges[of.first_edge + k].from;
        const auto& by = out.work_items[out.work_of[t]];
        if (by.has_replicas() && by != w) return false;
      }
      return true;
    }
    const auto units = [&](int axis, std::int64_t step, int parts) {
      return axis >= 0 && axis < of.output.rank && step > 0 && (of.output[axis] + step - 1) / step >= parts;
    };
    const bool four = of.output.rank == 4, images = of.output.rank >= 3;
    switch (w.cut) {
      case geometry::rows:
        return four && units(2, of.cut_step(2), w.ranks);
      case geometry::columns:
        return images && units(of.output.rank - 1, of.cut_step(of.output.rank - 1), w.ranks);
      case geometry::grid:
        return four && units(2, of.cut_step(2), w.down) && units(3, of.cut_step(3), w.across);
      default:
        if (!units(of.channels_axis(), of.cut_step(of.channels_axis()), w.ranks)) return false;
        if (w.cut == geometry::input_channels && of.depth_step > 0) {
          const auto depth = net.carried[of.first_edge][of.depth_axis];
          return depth / of.depth_step >= w.ranks;
        }
        return true;
    }
  };
  const int words = sums_channels ? 6 : 5;
  const auto draw_word = [&] { return replicas && below(2) ? placement::word_number("replicas") : below(words); };
  int now = -1, whole = -1;
  for (int l = 0; l < net.size(); ++l) {
    if (replicas && now >= 0 && below(3) == 0) now = below(static_cast<int>(out.work_items.size()));
    else if (now < 0 || below(5) == 0) now = add_work(draw_word());
    int mine = now;
    for (int i = 0; i < 8 && !fits(l, out.work_items[mine]); ++i) mine = now = add_work(draw_word());
    if (!fits(l, out.work_items[mine])) mine = whole = whole < 0 || below(2) ? add_work(0) : whole;
    out.work_of[l] = mine;
    out.owner[l] = out.run_ranks[out.work_items[mine].first_rank];
  }
  return out;
}

/// The results of all layers of a network, computed by backend B one layer after the other. `how`: the algorithms.
template <class Backend> class evaluation {
 public:
  /// `constants(l)`: the parameters of layer l; `op(l)`: its operator. Inputs are random, the same for each graph input.
  template <class Constants, class Operator>
  evaluation(const graph::network_view& net, std::span<const algorithm::choice> how, const std::vector<float>& data,
             const Constants& constants, const Operator& op)
      : net_(net) {
    unsigned input = 0;
    for (int l = 0; l < net.size(); ++l) {
      const auto& layer = net.layers[l];
      auto& out = results_.emplace_back(memory(layer.output.bytes()));
      if (layer.is_input) {
        std::mt19937 draw(++input);
        for (std::int64_t i = 0; i < layer.output.elements(); ++i)
          out.data()[i] = static_cast<float>(static_cast<int>(draw() % 2001) - 1000) / 1000;
        continue;
      }
      if (layer.is_output) {
        std::memcpy(out.data(), result(net.into(l)[0].from), static_cast<std::size_t>(layer.output.bytes()));
        continue;
      }
      compute(l, how[l], data, constants(l), op(l), out);
    }
  }
  const float* result(int l) const { return results_[l].data(); }

 private:
  struct memory {
    explicit memory(std::int64_t bytes) : content(static_cast<std::size_t>(bytes / 4 + 64)) {}
    float* data() {
      const auto at = reinterpret_cast<std::uintptr_t>(content.data());
      return content.data() + (64 - at % 64) % 64 / 4;
    }
    const float* data() const { return const_cast<memory*>(this)->data(); }
    std::vector<float> content;
  };

  void compute(int l, const algorithm::choice& how, const std::vector<float>& data, meta::view<graph::parameter> with,
               const graph::any_operator& op, memory& out) {
    std::vector<memory> parameters;
    std::vector<const void*> plain, in;
    for (const auto& p : with) {
      auto& to = parameters.emplace_back(memory(p.bytes()));
      auto* at = to.data();
      for (std::int64_t y = 0; y < p.planes; ++y)
        for (std::int64_t x = 0; x < p.rows; ++x, at += p.run_bytes() / 4)
          std::memcpy(at, data.data() + (p.offset + y * p.plane_pitch + x * p.row_pitch) / 4,
                      static_cast<std::size_t>(p.run_bytes()));
    }
    for (const auto& p : parameters) plain.push_back(p.data());
    for (const auto& e : net_.into(l)) in.push_back(result(e.from));
    const auto operands = net_.operands(l);
    const auto& shape = net_.layers[l].output;
    memory scratch(how.scratch_bytes), packed(how.packed_bytes);
    op.visit([&]<class Op>(const Op& o) {
      if constexpr (kernels::has_kernel<Backend, Op>) {
        kernels::entry e = kernels::entry_for<Backend>(o, operands, shape, how);
        if (e.by.pack) e.by.pack(e.what, plain, reinterpret_cast<std::byte*>(packed.data()));
        memory copies(kernels::converted_bytes(e.what, shape));
        kernels::run_converted(e.by, e.what, shape,
                               {in.data(), out.data(), plain.data(), reinterpret_cast<const std::byte*>(packed.data()),
                                reinterpret_cast<std::byte*>(scratch.data())},
                               kernels::converts_by<Backend>, reinterpret_cast<std::byte*>(copies.data()));
      }
    });
  }

  const graph::network_view& net_;
  std::vector<memory> results_;
};

}  // namespace test
