// The words in which users say which device runs which layers.
#pragma once

namespace dice {

/// Layers with ids from First's to Last's, both included.
template <class First, class Last> struct range final {};
/// `Layer` and all later ones.
template <class Layer> struct from final {};
/// All layers up to `Layer`, included.
template <class Layer> struct to final {};
/// Every layer of the network.
struct all final {};

/// The layers of the device before it: layer types, range, from, to, all; their union.
template <class... Entry> struct layers final {};

/// At most N frames are between their entry and their last output at any time. An entry of `mapping` or `split`.
template <int N> struct in_flight final {};

/// Which device runs which layers: `mapping<dev<0, cpu>, layers<…>, dev<1, gpu>, layers<…>, …>`, optionally with
/// in_flight<N>.
template <class... Entry> struct mapping {};

/// Layer ids at which `split` cuts.
template <int... Id> struct points final {};

/// The layers with id < p1 on the first device, those with p1 ≤ id < p2 on the second, and so on: the split-point encoding
/// of the pipeline partitioners. 0 < p1 < p2 < … < network::size.
template <class Network, class Points, class... Dev> struct split {};

}  // namespace dice
