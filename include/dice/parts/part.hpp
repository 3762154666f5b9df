// The network of parts: the network that a mapping's ranks compute together.
#pragma once

#include "dice/graph/any_operator.hpp"
#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/meta/view.hpp"
#include "dice/parts/turn.hpp"
#include "dice/tensor/region.hpp"

#include <cstddef>
#include <cstdint>

namespace dice::parts {

/// What a layer of the network of parts computes: a region of the result of one layer of the whole network.
struct part {
  enum class kind : std::uint8_t {
    whole,    ///< all of it
    compute,  ///< the region
    partial,  ///< the region, summed over input channels [from, to) only
    sum,      ///< the region, from all partial sums
    cut,      ///< the region, out of a larger one
    join,     ///< the region, put together from smaller ones
    copy,     ///< the region, copied
    pick,     ///< the region, from the replica that computed the frame: from its first operand in frames of member 0, …
  };
  kind what = kind::whole;
  int layer = -1;                 ///< in the whole network
  tensor::region box{};           ///< of that layer's result
  tensor::shape of{};             ///< shape of that result
  std::int64_t from = 0, to = 0;  ///< of a partial sum and what is cut out of it: the input channels
  turn when{};                    ///< the frames for which it is computed

  /// Whether it computes the layer's own operator.
  constexpr bool is_own() const { return what == kind::whole || what == kind::compute || what == kind::partial; }
  friend constexpr bool operator==(const part&, const part&) = default;
};

/// Views of a network of parts.
struct parts_view {
  graph::network_view net;
  meta::view<part> parts{};      ///< by layer; empty if no layer is split: then it is the whole network
  meta::view<int> owner{};       ///< rank of each layer
  meta::view<int> restricted{};  ///< by layer: index into `operators`, or -1 for the whole layer's operator
  meta::view<graph::any_operator> operators{};
  meta::view<int> first_parameter{};          ///< by layer, and the end: index into `parameters`
  meta::view<graph::parameter> parameters{};  ///< of layers with operators of their own
  meta::view<replica_set> replicas{};
  meta::view<replica> members{};  ///< of all sets

  /// The layer of the whole network to whose result layer l belongs.
  constexpr int whole(int l) const { return parts.empty() ? l : parts[l].layer; }
  /// Whether layer l computes the operator of that layer.
  constexpr bool is_own(int l) const { return parts.empty() || parts[l].is_own(); }
};

/// How much a network of parts has of what.
struct network_sizes {
  std::size_t layers = 0, edges = 0, operators = 0, parameters = 0, replicas = 0, members = 0;
};

/// A network of parts that owns its arrays.
struct network {
  network() = default;
  constexpr explicit network(const network_sizes& n)
      : layers(static_cast<int>(n.layers)),
        edges(static_cast<int>(n.edges)),
        carried(edges.size()),
        parts(layers.size()),
        owner(layers.size()),
        restricted(layers.size()),
        operators(static_cast<int>(n.operators)),
        first_parameter(layers.size() + 1),
        parameters(static_cast<int>(n.parameters)),
        replicas(static_cast<int>(n.replicas)),
        members(static_cast<int>(n.members)) {}

  meta::array<graph::layer_info> layers;
  meta::array<graph::edge> edges;
  meta::array<tensor::shape> carried;
  meta::array<part> parts;
  meta::array<int> owner;
  meta::array<int> restricted;
  meta::array<graph::any_operator> operators;
  meta::array<int> first_parameter;
  meta::array<graph::parameter> parameters;
  meta::array<replica_set> replicas;
  meta::array<replica> members;

  constexpr parts_view view() const {
    return {{layers, edges, carried}, parts, owner, restricted, operators, first_parameter, parameters, replicas, members};
  }
};

}  // namespace dice::parts
