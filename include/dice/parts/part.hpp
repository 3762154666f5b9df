// The network of parts: the network that a mapping's ranks compute together.
#pragma once

#include "dice/graph/any_operator.hpp"
#include "dice/graph/network.hpp"
#include "dice/meta/members.hpp"
#include "dice/meta/storage.hpp"
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

/// A network of parts in lists of the kind that Storage is (meta/storage.hpp).
template <class Storage> struct basic_network {
  template <class T, int Number> using list = typename Storage::template list<T, Number>;

  list<graph::layer_info, 0> layers{};
  list<graph::edge, 1> edges{};
  list<tensor::shape, 2> carried{};  ///< by edge
  list<part, 3> parts{};
  list<int, 4> owner{};
  list<int, 5> restricted{};
  list<graph::any_operator, 6> operators{};
  list<int, 7> first_parameter{};
  list<graph::parameter, 8> parameters{};
  list<replica_set, 9> replicas{};
  list<replica, 10> members{};
  DICE_MEMBERS(layers, edges, carried, parts, owner, restricted, operators, first_parameter, parameters, replicas, members)

  constexpr parts_view view() const {
    return {{layers, edges, carried}, parts, owner, restricted, operators, first_parameter, parameters, replicas, members};
  }
};
/// One that owns its lists, and how long they are.
using network = basic_network<meta::in_arrays>;
using network_sizes = basic_network<meta::as_sizes>;

}  // namespace dice::parts
