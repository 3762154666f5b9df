// A generated network (onnx2hpp) as types, and the same network as plain values.
//
// A generated layer is a final struct with the members
//   static constexpr int id;                                    its position, 0 … size - 1, after all its operands
//   static constexpr std::string_view name, onnx_name;          its C++ identifier, and the model's name for it
//   static constexpr ops::<operator> op;                        the attributes
//   static constexpr std::array<int, N> operands;               ids of the layers whose outputs it reads
//   static constexpr std::array<graph::parameter, M> parameters;
//   static constexpr tensor::shape result;                      shape of its output
// and a generated network a final struct with
//   static constexpr int size;                                  number of layers, graph inputs and outputs included
//   static constexpr std::string_view name;
//   static constexpr graph::weights_file weights;
//   template <int Id> using layer;                              the layer type of an id
#pragma once

#include "dice/model/operator.hpp"
#include "dice/tensor/tensor.hpp"

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace dice::graph {

/// A constant tensor of a layer: its place in the data section of the weights file (bytes, 64-byte aligned) and its shape.
struct parameter {
  std::int64_t offset = 0;
  tensor::shape extents{};
};

/// The weights file that belongs to a network.
struct weights_file {
  std::string_view file;    ///< name without folder
  std::string_view digest;  ///< SHA-256 of the data section, hexadecimal; also in the file's header
  std::int64_t bytes = 0;   ///< size of the data section
};

template <class T>
concept layer_type = requires {
  { T::id } -> std::convertible_to<int>;
  { T::name } -> std::convertible_to<std::string_view>;
  { T::result } -> std::convertible_to<tensor::shape>;
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
  tensor::shape output;
  int first_edge = 0, edges = 0;  ///< its operands in network_view::edges
  std::int64_t macs = 0, parameter_bytes = 0;
  std::int64_t view = -1;  ///< offset in elements at which the output lies within operand 0, or -1
  fusion fuses{};
  bool in_place = false;  ///< the output may overwrite operand 0
  bool is_input = false, is_output = false;
};

/// Layer `to` reads the output of layer `from`.
struct edge {
  int from = 0, to = 0;
  std::int64_t joins = -1;  ///< offset in elements at which `from` lies within the output of `to`, or -1 (Concat)
};

/// A network as values: layers in order of their ids, edges in order of `to` and of the operands.
struct network_view {
  std::span<const layer_info> layers;
  std::span<const edge> edges;
  std::span<const tensor::shape> carried{};  ///< shapes of what the edges carry; may be empty where no kernel is called

  constexpr int size() const { return static_cast<int>(layers.size()); }
  constexpr std::span<const edge> into(int layer) const {
    return edges.subspan(layers[layer].first_edge, layers[layer].edges);
  }
  /// Shapes of the layer's operands, in their order.
  constexpr shapes operands(int layer) const {
    return carried.empty() ? shapes{} : carried.subspan(layers[layer].first_edge, layers[layer].edges);
  }
};

namespace detail {

template <class Net, class Layer> constexpr auto operand_shapes() {
  constexpr int n = static_cast<int>(Layer::operands.size());
  return []<int... K>(std::integer_sequence<int, K...>) {
    return std::array<tensor::shape, n>{Net::template layer<Layer::operands[K]>::result...};
  }
  (std::make_integer_sequence<int, n>{});
}

template <class Net, class Layer> constexpr bool consistent() {
  const auto in = operand_shapes<Net, Layer>();
  for (int k : Layer::operands)
    if (k >= Layer::id) return false;
  return infer(Layer::op, in) == Layer::result;
}

template <class Net, class Layer> constexpr layer_info describe() {
  static_assert(consistent<Net, Layer>(), "the generated header is damaged: a layer's shape or operands do not fit");
  const auto in = operand_shapes<Net, Layer>();
  layer_info out{.name = Layer::name, .onnx_name = Layer::onnx_name, .op = Layer::op.onnx, .output = Layer::result};
  out.edges = static_cast<int>(in.size());
  out.macs = graph::macs(Layer::op, in, Layer::result);
  for (const auto& p : Layer::parameters) out.parameter_bytes += p.extents.bytes();
  out.view = graph::view(Layer::op, in, Layer::result);
  out.fuses = graph::fuses(Layer::op, in);
  out.in_place = graph::in_place(Layer::op);
  out.is_input = out.op == "Input";
  out.is_output = out.op == "Output";
  return out;
}

template <class Net, class Layer> constexpr void connect(edge* out, tensor::shape* carried) {
  const auto in = operand_shapes<Net, Layer>();
  for (int k = 0; k < static_cast<int>(in.size()); ++k) {
    out[k] = {Layer::operands[k], Layer::id, graph::joins(Layer::op, k, in, Layer::result)};
    carried[k] = in[k];
  }
}

template <class Net> constexpr int edge_count() {
  return []<int... Id>(std::integer_sequence<int, Id...>) {
    int n = 0;
    int each[] = {(n += static_cast<int>(Net::template layer<Id>::operands.size()))...};
    (void)each;
    return n;
  }
  (std::make_integer_sequence<int, Net::size>{});
}

template <class Net> struct tables {
  std::array<layer_info, Net::size> layers;
  std::array<edge, edge_count<Net>()> edges;
  std::array<tensor::shape, edge_count<Net>()> carried;
};

template <class Net> consteval tables<Net> tabulate() {
  return []<int... Id>(std::integer_sequence<int, Id...>) {
    tables<Net> t{{describe<Net, typename Net::template layer<Id>>()...}, {}, {}};
    int at = 0;
    for (auto& l : t.layers) l.first_edge = at, at += l.edges;
    int each[] = {(connect<Net, typename Net::template layer<Id>>(t.edges.data() + t.layers[Id].first_edge,
                                                                  t.carried.data() + t.layers[Id].first_edge),
                   0)...};
    (void)each;
    return t;
  }
  (std::make_integer_sequence<int, Net::size>{});
}

template <class Net> inline constexpr tables<Net> table = tabulate<Net>();

}  // namespace detail

/// The network Net as values.
template <network_type Net>
inline constexpr network_view view_of{detail::table<Net>.layers, detail::table<Net>.edges, detail::table<Net>.carried};

}  // namespace dice::graph
