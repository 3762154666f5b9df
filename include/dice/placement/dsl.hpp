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

/// Devices that `dev` declares elsewhere in the mapping, by their ranks; with those beside it they are a run of devices,
/// whose work follows.
template <int... Rank> struct ranks final {};

/// The layers of the device before it: the union of layer types, range, from, to and all.
template <class... Entry> struct layers final {};

/// Layers that the run of devices before it computes together: of each layer's result, the first device the top rows, the
/// next one the rows below, and so on. Entries are layers as in `layers`; after them shares, exchange_every.
template <class... Entry> struct rows final {};
/// The same with columns, from the left.
template <class... Entry> struct columns final {};
/// The same with a grid of `Rows` by `Columns` tiles, dealt to the devices row by row, in turn if there are more tiles than
/// devices. Option: exchange_every.
template <int Rows, int Columns, class... Entry> struct tiles final {};
/// The same with channels of the result, the lowest first. Option: shares.
template <class... Entry> struct output_channels final {};
/// Layers with weights: each device sums over some channels of the operand, the lowest first, and the sums are added. Other
/// layers: as output_channels. Option: shares.
template <class... Entry> struct input_channels final {};

/// Layers of which each device of the run before it computes whole frames: the devices take the frames in turn, in
/// proportion to their shares, or with first_free whenever they are free. Results keep the order of frames.
template <class... Entry> struct replicas final {};

/// The proportions of the devices' parts (of replicas: of their frames), one number for each device of the run, in its
/// order. Without it they are equal.
template <int... Share> struct shares final {};
/// The devices exchange borders only before every N-th layer with a window, and compute what they need beyond their own
/// parts in between. Without it: before each.
template <int N> struct exchange_every final {};

/// The next frame goes to the replica that will finish it first, judged by the time of its last frames: faster ones take
/// more.
struct first_free final {};

/// At most N frames are between their entry and their last output at any time. An entry of `mapping` or `split`.
template <int N> struct in_flight final {};

/// Which devices run which layers: runs of devices, each with its work, as in `mapping<dev<0, cpu>, layers<…>, dev<1, gpu>,
/// layers<…>, ranks<0, 1>, rows<…>, …>`, optionally with in_flight<N>.
template <class... Entry> struct mapping {};

/// Layer ids at which `split` cuts.
template <int... Id> struct points final {};

/// The layers with id < p1 on the first device, those with p1 ≤ id < p2 on the second, and so on: the split-point encoding
/// of the pipeline partitioners. 0 < p1 < p2 < … < network::size.
template <class Network, class Points, class... Dev> struct split {};

}  // namespace dice
