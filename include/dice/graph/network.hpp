// A generated network (onnx2hpp) as types, and the same network as plain values.
//
// A generated layer is a final struct with the members
//   static constexpr int id;                                    its position, 0 … size - 1, after all its operands
//   static constexpr std::string_view name, onnx_name;          its C++ identifier, and the model's name for it
//   static constexpr ops::<operator> op;                        the attributes
//   static constexpr std::array<int, N> operands;               ids of the layers whose outputs it reads
//   static constexpr std::array<graph::parameter, M> parameters;
//   static constexpr tensor::shape result;                      shape of its output; or its tensor::type, if not float32
// and a generated network a final struct with
//   static constexpr int size;                                  number of layers, graph inputs and outputs included
//   static constexpr std::string_view name;
//   static constexpr graph::weights_file weights;
//   template <int Id> using layer;                              the layer type of an id
#pragma once

#include "dice/graph/operator.hpp"
#include "dice/meta/view.hpp"
#include "dice/tensor/tensor.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace dice::graph {

/// A constant tensor of a layer: its place in the data section of the weights file (bytes, 64-byte aligned) and its type.
/// A part of a larger tensor may lie there in runs: `planes` times `rows` of them, `plane_pitch` and `row_pitch` bytes
/// apart; then its offset is only 4-byte aligned.
struct parameter {
  std::int64_t offset = 0;
  tensor::shape extents{};
  std::int64_t rows = 1, row_pitch = 0;
  std::int64_t planes = 1, plane_pitch = 0;
  bool is_part = false;  ///< of a larger tensor
  tensor::number element = tensor::number::float32;

  constexpr std::int64_t runs() const { return rows * planes; }
  constexpr std::int64_t bytes() const { return extents.elements() * tensor::size_of(element); }
  constexpr std::int64_t run_bytes() const { return bytes() / runs(); }
  /// The end of its last byte in the file.
  constexpr std::int64_t end() const { return offset + (planes - 1) * plane_pitch + (rows - 1) * row_pitch + run_bytes(); }
  /// Whether kernels can read it where it lies.
  constexpr bool in_place() const { return runs() == 1 && offset % 64 == 0; }
  friend constexpr bool operator==(const parameter&, const parameter&) = default;
};

/// The weights file that belongs to a network.
struct weights_file {
  std::string_view file;       ///< name without folder
  std::string_view structure;  ///< SHA-256 of all that the program is compiled from, hexadecimal; also in the file's header
  std::int64_t bytes = 0;      ///< size of the data section
  std::string_view pinned{};   ///< the content digest that the file must have; empty: any
};

template <class T>
concept layer_type = requires {
  { T::id } -> std::convertible_to<int>;
  { T::name } -> std::convertible_to<std::string_view>;
  { T::result } -> std::convertible_to<const tensor::shape&>;
  T::op;
  T::operands;
  T::parameters;
};

template <class T>
concept network_type = requires {
  { T::size } -> std::convertible_to<int>;
  { T::name } -> std::convertible_to<std::string_view>;
  { T::weights } -> std::convertible_to<weights_file>;
  typename T::template layer<0>;
};

/// One layer as a value.
struct layer_info {
  std::string_view name, onnx_name, op;
  tensor::type output;
  int first_edge = 0, edges = 0;  ///< its operands in network_view::edges
  std::int64_t macs = 0, parameter_bytes = 0;
  std::int64_t view = -1;  ///< offset in elements at which the output lies within operand 0, or -1
  fusion fuses{};
  bool in_place = false;  ///< the output may overwrite operand 0
  bool is_input = false, is_output = false;
  bool is_concat = false;
  tensor::number number = tensor::number::float32;        ///< of a graph output
  std::array<int, tensor::region::axes - 1> cut_steps{};  ///< cut_step of axes 1, 2, 3 of the output
  int depth_step = 0;                                     ///< steps of partial sums over input channels; 0: there are none
  int depth_axis = -1;                                    ///< where the input channels are: depth_axis()

  /// Where its parts may begin on an axis of its output; 0: it cannot be cut there.
  constexpr std::int64_t cut_step(int axis) const {
    return axis < 1 || axis >= tensor::region::axes ? 0 : cut_steps[axis - 1];
  }
  /// The axis of its output that a mapping's rows, columns and channels are; -1: it has none.
  constexpr int rows_axis() const { return output.rank == 4 ? 2 : -1; }
  constexpr int columns_axis() const { return output.rank == 3 || output.rank == 4 ? output.rank - 1 : -1; }
  constexpr int channels_axis() const { return depth_axis >= 0 ? depth_axis : output.rank > 1 ? 1 : -1; }
};

/// Layer `to` reads the output of layer `from`.
struct edge {
  int from = 0, to = 0;
  std::int64_t joins = -1;  ///< offset in elements at which `from` lies within the output of `to`, or -1 (Concat)
};

/// A network as values: layers in order of their ids, edges in order of `to` and of the operands.
struct network_view {
  meta::view<layer_info> layers;
  meta::view<edge> edges;
  meta::view<tensor::shape> carried{};  ///< shape of each edge's tensor; may be empty if no kernel is called

  constexpr int size() const { return static_cast<int>(layers.size()); }
  constexpr meta::view<edge> into(int layer) const {
    const auto& l = layers.first[layer];
    return {edges.first + l.first_edge, l.edges};
  }
  /// Shapes of the layer's operands, in their order.
  constexpr shapes operands(int layer) const {
    if (carried.count == 0) return {};
    const auto& l = layers.first[layer];
    return {carried.first + l.first_edge, l.edges};
  }
};

/// Fills in what operator `op` says about a layer, whose names, output and edges are already set. Returns whether its output
/// has the shape that `op` infers. Parts are not cut again, so for them it leaves out how to cut them. A template on the
/// operator only: one on the layer would cost the compiler 90 KB for each.
template <class Op> constexpr bool describe(const Op& op, shapes in, layer_info& layer, edge* edges, bool is_part = false) {
  layer.macs = graph::macs(op, in, layer.output);
  layer.view = graph::view(op, in, layer.output);
  layer.fuses = graph::fuses(op, in);
  layer.in_place = graph::in_place(op);
  if constexpr (!requires { Op::is_named(""); }) {
    // Compared once for each operator: string comparison is expensive at compile time.
    constexpr bool input = Op::onnx == "Input", output = Op::onnx == "Output", concat = Op::onnx == "Concat";
    layer.is_input = input;
    layer.is_output = output;
    layer.is_concat = concat;
  }
  if (!is_part) {
    for (int axis = 1; axis < tensor::region::axes; ++axis)
      layer.cut_steps[axis - 1] = static_cast<int>(cut_step(op, axis, in, layer.output));
    layer.depth_step = static_cast<int>(graph::depth_step(op, in));
    layer.depth_axis = graph::depth_axis(op, in);
  }
  if constexpr (requires { op.number; }) layer.number = op.number;
  for (int k = 0; k < layer.edges; ++k) edges[k].joins = graph::joins(op, k, in, layer.output);
  return infer(op, in) == static_cast<const tensor::shape&>(layer.output);
}

namespace detail {

template <class Net> constexpr int edge_count() {
  return []<int... Id>(std::integer_sequence<int, Id...>) {
    int n = 0;
    for (const auto edges : {Net::template layer<Id>::operands.size()...}) n += static_cast<int>(edges);
    return n;
  }
  (std::make_integer_sequence<int, Net::size>{});
}

template <class Net> struct tables {
  std::array<layer_info, Net::size> layers{};
  std::array<edge, edge_count<Net>()> edges{};
  std::array<tensor::shape, edge_count<Net>()> carried{};
  int damaged = -1;  ///< the first layer that does not match its operands or its position, or -1
};

template <class Net> consteval tables<Net> tabulate() {
  return []<int... Id>(std::integer_sequence<int, Id...>) {
    tables<Net> t{.layers{{{.name = Net::template layer<Id>::name,
                            .onnx_name = Net::template layer<Id>::onnx_name,
                            .op = Net::template layer<Id>::op.onnx,
                            .output = tensor::type(Net::template layer<Id>::result)}...}}};
    const meta::view<int> operands[]{
        {Net::template layer<Id>::operands.data(), Net::template layer<Id>::operands.size()}...};
    const meta::view<parameter> parameters[]{
        {Net::template layer<Id>::parameters.data(), Net::template layer<Id>::parameters.size()}...};
    int at = 0;
    for (int l = 0; l < Net::size; ++l) {
      t.layers[l].first_edge = at;
      for (const int from : operands[l]) {
        if (from < 0 || from >= l) return t.damaged = l, t;
        t.edges[at] = {from, l};
        t.carried[at++] = t.layers[from].output;
      }
      t.layers[l].edges = at - t.layers[l].first_edge;
      for (const auto& p : parameters[l]) t.layers[l].parameter_bytes += p.bytes();
    }
    const shapes carried = t.carried;
    const bool fit[]{Net::template layer<Id>::id == Id &&
                     describe(Net::template layer<Id>::op, carried.subview(t.layers[Id].first_edge, t.layers[Id].edges),
                              t.layers[Id], t.edges.data() + t.layers[Id].first_edge)...};
    for (int l = 0; l < Net::size && t.damaged < 0; ++l)
      if (!fit[l]) t.damaged = l;
    return t;
  }
  (std::make_integer_sequence<int, Net::size>{});
}

template <class Net> inline constexpr tables<Net> table = tabulate<Net>();

template <class Net> consteval network_view view() {
  static_assert(table<Net>.damaged < 0, "the generated header is damaged: a layer's shape or operands do not fit");
  return {table<Net>.layers, table<Net>.edges, table<Net>.carried};
}

}  // namespace detail

/// The parameters of the layers of network Net, by id.
template <network_type Net> inline constexpr auto parameters_of = []<int... Id>(std::integer_sequence<int, Id...>) {
  return std::array{meta::view<parameter>(Net::template layer<Id>::parameters)...};
}
(std::make_integer_sequence<int, Net::size>{});

/// The network Net as values.
template <network_type Net> inline constexpr network_view view_of = detail::view<Net>();

}  // namespace dice::graph
