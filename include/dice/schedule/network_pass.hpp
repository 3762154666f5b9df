// The first pass of a plan: what all ranks share.
#pragma once

#include "dice/algorithm/choice.hpp"
#include "dice/graph/network.hpp"
#include "dice/meta/array.hpp"
#include "dice/schedule/deliveries.hpp"
#include "dice/schedule/fuse.hpp"
#include "dice/schedule/layouts.hpp"
#include "dice/schedule/plan_input.hpp"
#include "dice/schedule/program.hpp"

namespace dice::schedule::detail {

/// Finds the fusion groups, the layouts, what each layer's step reads, and the messages.
class network_pass {
 public:
  constexpr explicit network_pass(const plan_input& in)
      : input_(in), net_(in.net), n_(in.net.size()), turns_(!in.replicas.empty()), uses_(n_) {
    for (int e = 0, end = static_cast<int>(net_.edges.count); e < end; ++e) ++uses_.first[net_.edges.first[e].from];
    groups_ = fuse(net_, in.owner, in.algorithms, uses_, [&](int a, int b) { return !turns_ || when(a) == when(b); });
    layouts_ = choose_layouts(net_, groups_, in.algorithms);
    list_layers();
    list_operands();
    delivered_ = deliveries(in, layouts_, {first_read_.first, reads_.first});
    link_messages();
  }

 protected:
  /// The frames for which layer l is computed.
  constexpr parts::turn when(int l) const { return turns_ ? input_.parts.first[l].when : parts::turn{}; }

  constexpr int message_to(int tensor, int rank) const {
    for (int m = sent_.first[tensor]; m < sent_.first[tensor + 1]; ++m)
      if (plan_.messages.first[m].to == rank) return m;
    return -1;
  }

  const plan_input& input_;
  const graph::network_view& net_;
  int n_;
  bool turns_;  ///< whether there are replicas
  meta::array<int> uses_;
  fusion_groups groups_;
  meta::array<tensor::layout> layouts_;  ///< of each layer's output
  meta::array<char> visible_;            ///< whether a layer is the result of a step
  meta::array<int> first_read_, reads_;  ///< the tensors that the step of each layer reads
  meta::array<char> converts_read_;      ///< whether each of these must be converted for it
  meta::array<char> converts_result_;    ///< whether the result of a layer's kernel must be converted
  meta::array<char> converts_;           ///< whether one of those of a layer must be
  deliveries delivered_;
  meta::array<int> sent_;            ///< first message of each tensor
  meta::array<int> layers_, begin_;  ///< layers by rank, and the first one of each rank
  built_plan plan_;                  ///< with the messages

 private:
  /// Notes which layers are results of steps (not inside a fusion group), and the tensors that these steps read: the group's
  /// operands in the kernel's order.
  constexpr void list_operands() {
    const auto* layers = net_.layers.first;
    const auto* edges = net_.edges.first;
    visible_ = meta::array<char>(n_);
    first_read_ = meta::array<int>(n_ + 1, 0);
    reads_.reserve(static_cast<int>(net_.edges.size()));
    for (int l = 0; l < n_; ++l) {
      first_read_.first[l] = reads_.size();
      const int g = groups_.of_layer.first[l];
      const group* of = g < 0 ? nullptr : groups_.list.first + g;
      if (of && of->output() != l) continue;
      visible_.first[l] = 1;
      const int anchor = of ? of->anchor : l;
      for (int e = layers[anchor].first_edge, end = e + layers[anchor].edges; e < end; ++e) reads_.push_back(edges[e].from);
      if (of && of->residual >= 0) reads_.push_back(edges[layers[of->residual].first_edge + of->residual_operand].from);
    }
    first_read_.first[n_] = reads_.size();
    find_conversions();
  }
  /// Written out, since calls are expensive at compile time.
  constexpr void find_conversions() {
    const auto* layers = net_.layers.first;
    const auto* layouts = layouts_.first;
    converts_read_ = meta::array<char>(reads_.size());
    converts_result_ = converts_ = meta::array<char>(n_);
    for (int l = 0; l < n_; ++l) {
      if (groups_.of_layer.first[l] < 0 || !visible_.first[l]) continue;
      const int anchor = groups_.list.first[groups_.of_layer.first[l]].anchor;
      const auto& how = input_.algorithms.first[anchor];
      if (!how.converts) continue;
      auto in = tensor::layout::plain, out = in;  // those in which the kernel works
      if (how.works == algorithm::form::either) in = out = layouts[l];
      if (how.works == algorithm::form::blocked) in = out = tensor::layout::blocked;
      if (how.works == algorithm::form::first) out = tensor::layout::blocked;
      const int begin = first_read_.first[l], residual = begin + layers[anchor].edges;
      for (int k = begin, end = first_read_.first[l + 1]; k < end; ++k) {
        const int t = reads_.first[k];
        const auto as = k < residual ? in : out;
        if (layouts[t] != as && algorithm::must_convert(layers[t].output, layouts[t], as))
          converts_read_.first[k] = converts_.first[l] = 1;
      }
      if (layouts[l] != out && algorithm::must_convert(layers[l].output, layouts[l], out))
        converts_result_.first[l] = converts_.first[l] = 1;
    }
  }
  /// Sorts the layers by rank.
  constexpr void list_layers() {
    const int ranks = static_cast<int>(input_.devices.size());
    begin_ = meta::array<int>(ranks + 1);
    for (int l = 0; l < n_; ++l) ++begin_.first[input_.owner.first[l] + 1];
    for (int r = 0; r < ranks; ++r) begin_.first[r + 1] += begin_.first[r];
    layers_ = meta::array<int>(n_);
    meta::array<int> filled(ranks);
    for (int l = 0; l < n_; ++l) {
      const int rank = input_.owner.first[l];
      layers_.first[begin_.first[rank] + filled.first[rank]++] = l;
    }
  }

  /// One message for each delivery of its own; a tensor's messages are consecutive, from `sent_[tensor]` on.
  constexpr void link_messages() {
    const int ranks = static_cast<int>(input_.devices.size());
    meta::array<int> pair_tags(ranks * ranks);
    sent_ = meta::array<int>(n_ + 1);
    for (int t = 0; t < n_; ++t) {
      sent_.first[t] = plan_.messages.size();
      for (const auto& d : delivered_.of(t)) {
        if (d.within >= 0) continue;
        const int to = d.to, from = input_.owner.first[t];
        plan_.messages.push_back({.from = from,
                                  .to = to,
                                  .tag = ++pair_tags.first[from * ranks + to],
                                  .layer = t,
                                  .bytes = tensor::bytes(net_.layers.first[t].output, layouts_.first[t]),
                                  .at_sender = {},
                                  .at_receiver = {},
                                  .made = when(t),
                                  .read = d.read});
      }
    }
    sent_.first[n_] = plan_.messages.size();
  }
};

}  // namespace dice::schedule::detail
