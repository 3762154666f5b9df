// From a network and its parts to the network of parts.
#pragma once

#include "dice/graph/any_operator.hpp"
#include "dice/graph/ops.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"
#include "dice/parts/crop.hpp"
#include "dice/parts/divide.hpp"
#include "dice/parts/part.hpp"
#include "dice/parts/planned.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace dice::parts {

namespace detail {

/// Writes the network that pieces are. Network is a basic_network, of sufficient size.
template <class Input, class Network> class writer {
 public:
  constexpr writer(const Input& in, const pieces_view& all, Network& out)
      : in_(in),
        all_(all),
        layers_(out.layers.data()),
        edges_(out.edges.data()),
        carried_(out.carried.data()),
        first_parameter_(out.first_parameter.data()),
        out_(out) {}

  constexpr void write() {
    const int n = all_.size();
    for (int i = 0; i < n; ++i) write(i, all_.list.first[i]);
    first_parameter_[n] = parameters_;
    write_replicas();
  }

 private:
  constexpr const graph::layer_info& whole(const piece& p) const { return in_.net.layers.first[p.layer]; }

  constexpr void write(int i, const piece& p) {
    const auto& of = whole(p);
    const int operands = all_.end_of_operands(i) - p.first_operand;
    out_.parts[i] = {p.what, p.layer, p.box, of.output, p.from, p.to, p.when};
    out_.owner[i] = p.rank;
    first_parameter_[i] = parameters_;
    for (int k = p.first_operand, end = k + operands; k < end; ++k) {
      const int from = all_.operands.first[k];
      auto& e = edges_[k];
      e.from = from;
      e.to = i;
      carried_[k] = layers_[from].output;
    }
    auto& l = layers_[i];
    if (p.what == part::kind::whole) {
      l = of;
      int k = l.first_edge = p.first_operand;
      for (const auto& e : in_.net.into(p.layer)) edges_[k++].joins = e.joins;
      out_.restricted[i] = -1;
      return;
    }
    out_.restricted[i] = operators_;
    auto& op = out_.operators[operators_++];
    op = operator_of(p);
    l.name = of.name;
    l.onnx_name = of.onnx_name;
    l.op = op.onnx();
    l.output = of.output;
    for (int a = 0; a < of.output.rank && a < tensor::region::axes; ++a) l.output.dim[a] = p.box.end[a] - p.box.begin[a];
    l.first_edge = p.first_operand;
    l.edges = operands;
    add_parameters(p, l);
    const graph::shapes in(carried_ + l.first_edge, static_cast<std::size_t>(operands));
    if (!graph::describe(op, in, l, edges_ + l.first_edge, true))
      throw std::logic_error("internal error, please report: an operator does not compute a part as it says");
    if (p.what == part::kind::copy) l.view = -1;
  }
  constexpr void write_replicas() {
    int set = 0, members = 0, number = 0;
    for (const auto& w : in_.where.work_items) {
      if (w.has_replicas()) {
        const bool decides = w.dealt == placement::dealing::to_first_free;
        out_.replicas[set++] = {members, w.ranks, decides ? feeder_of(number) : -1};
        for (int i = 0; i < w.ranks; ++i)
          out_.members[members++] = {in_.where.ranks_of(w)[i], w.shares > 0 ? in_.where.shares_of(w)[i] : 1};
      }
      ++number;
    }
  }
  /// A rank that gives the replicas of a work what they read.
  constexpr int feeder_of(int work) const {
    for (int l = 0; l < in_.net.size(); ++l)  // the first layer reads nothing of the work
      if (in_.where.work_of[l] == work) return in_.where.owner[in_.net.into(l)[0].from];
    return -1;
  }

  constexpr graph::any_operator operator_of(const piece& p) const {
    const auto in = in_.net.operands(p.layer);
    const auto& op = in_.operators.first[p.layer];
    const int* from = all_.operands.first + p.first_operand;
    switch (p.what) {
      case part::kind::compute:
        return graph::restrict(op, p.box, in, whole(p).output);
      case part::kind::partial:
        return graph::partial(op, p.from, p.to, p.from == 0, in);
      case part::kind::sum:
        return ops::sum{};
      case part::kind::pick:
        return ops::identity{};
      case part::kind::copy:
      case part::kind::cut: {
        const auto& of = all_.list.first[*from].box;
        ops::slice out{.extents = whole(p).output};
        auto* starts = out.starts.data();
        for (int a = 0; a < tensor::region::axes; ++a) {
          if (a < out.extents.rank) out.extents.dim[a] = p.box.end[a] - p.box.begin[a];
          starts[a] = p.box.begin[a] - of.begin[a];
        }
        return out;
      }
      default: {  // joined along the axis on which the first operand is not all
        const auto& first = all_.list.first[*from].box;
        int axis = 0;
        while (first.end[axis] == p.box.end[axis]) ++axis;
        return ops::concat{.axis = axis};
      }
    }
  }

  /// Adds the parameters of a piece: regions of the whole layer's.
  constexpr void add_parameters(const piece& p, graph::layer_info& l) {
    if (p.what != part::kind::compute && p.what != part::kind::partial) return;
    int q = 0;
    for (const auto& whole_one : in_.parameters.first[p.layer]) {
      auto box = tensor::whole(whole_one.extents);
      if (p.what == part::kind::compute) {
        box = graph::parameter_region(in_.operators.first[p.layer], q, p.box, in_.net.operands(p.layer), whole(p).output,
                                      whole_one.extents);
      } else if (q > 0 && p.from > 0) {
        break;  // the bias belongs to the first
      } else if (q == 0) {
        box.begin[1] = p.from;
        box.end[1] = p.to;
      }
      auto& to = out_.parameters[parameters_++];
      to = crop(whole_one, box);
      l.parameter_bytes += to.bytes();
      ++q;
    }
  }

  const Input& in_;
  const pieces_view& all_;
  graph::layer_info* layers_;
  graph::edge* edges_;
  tensor::shape* carried_;
  int* first_parameter_;
  Network& out_;
  int parameters_ = 0, operators_ = 0;  ///< written so far
};

}  // namespace detail

/// How long the lists of the network of these pieces are.
template <class Input> constexpr network_sizes sizes_of(const Input& in, const pieces_view& all) {
  const auto layers = all.list.count, edges = all.operands.count;
  network_sizes out{.layers = layers,
                    .edges = edges,
                    .carried = edges,
                    .parts = layers,
                    .owner = layers,
                    .restricted = layers,
                    .first_parameter = layers + 1};
  for (const auto& w : in.where.work_items)
    if (w.has_replicas()) {
      ++out.replicas;
      out.members += w.ranks;
    }
  for (const auto& p : all.list) {
    out.operators += p.what != part::kind::whole;
    const auto parameters = in.parameters[p.layer].size();
    if (p.what == part::kind::compute) out.parameters += parameters;
    if (p.what == part::kind::partial) out.parameters += p.from == 0 ? parameters : 1;
  }
  return out;
}

/// Writes the network of parts into `out`, whose arrays have these sizes.
template <class Input, class Network> constexpr void write(const Input& in, const pieces_view& all, Network& out) {
  detail::writer<Input, Network>(in, all, out).write();
}

/// The network of parts. Requires a placement without mistakes.
template <class Input> [[gnu::cold]] constexpr network expand(const Input& in) {
  const auto parts = plan_parts(in);
  const pieces all = divide(in, parts.view());
  network out;
  meta::resize_lists(out, sizes_of(in, all));
  write(in, pieces_view(all), out);
  return out;
}

}  // namespace dice::parts
