// What must hold for a network of parts, checked on its values only.
#pragma once

#include "dice/graph/any_operator.hpp"
#include "dice/graph/ops.hpp"
#include "dice/meta/view.hpp"
#include "dice/parts/part.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace dice::parts {

namespace detail {

/// Whether layer l of a network of parts, which is not the network's own, has what it says.
template <class View> constexpr bool piece_matches(const graph::network_view& whole, const View& p, int l) {
  using kind = part::kind;
  const auto& own = p.parts[l];
  const auto& op = p.operators[p.restricted[l]];
  const auto in = p.net.into(l);
  if (in.empty()) return false;
  std::int64_t at = -1, sum = 0;
  for (const auto& e : in) {
    const auto& of = p.parts[e.from];
    if (of.layer != own.layer) return false;
    if (own.what == kind::pick) {  // from one of several
      if (!op.template is<ops::identity>() || of.box != own.box || of.to != 0) return false;
    } else if (own.what == kind::cut || own.what == kind::copy) {
      if (!op.template is<ops::slice>() || !tensor::contains(of.box, own.box) || of.from != own.from || of.to != own.to)
        return false;
      const auto slice = op.template as<ops::slice>();
      for (int a = 0; a < p.net.layers[l].output.rank && a < tensor::region::axes; ++a)
        if (slice.starts[a] != own.box.begin[a] - of.box.begin[a] || slice.steps[a] != 1) return false;
    } else if (own.what == kind::join) {  // one after the other along the axis, and equal on the others
      if (!op.template is<ops::concat>() || of.to != 0) return false;
      tensor::region wanted = own.box;
      const int axis = op.template as<ops::concat>().axis;
      wanted.begin[axis] = at < 0 ? own.box.begin[axis] : at, wanted.end[axis] = at = of.box.end[axis];
      if (of.box != wanted) return false;
      sum = own.box.end[axis];
    } else {  // sums over channels that follow each other
      if (!op.template is<ops::sum>() || of.box != own.box || of.from != (at < 0 ? 0 : at)) return false;
      at = of.to;
    }
  }
  if (own.what == kind::sum) {
    const auto& layer = whole.layers[own.layer];
    sum = whole.layers[whole.into(own.layer)[0].from].output[layer.depth_axis];
  }
  if (own.what == kind::pick) return in.size() > 1;
  return own.what == kind::cut || own.what == kind::copy ? in.size() == 1 : at == sum;
}

}  // namespace detail

/// The regions are right: every layer of a network of parts reads exactly what its operator needs for its region: of each
/// operand of the whole layer that region, as one tensor, computed or put together without gaps; sums have all input
/// channels. Every layer of the whole network that is not split is there once, or once for each replica.
template <std::same_as<parts_view> View>
constexpr bool parts_match(const graph::network_view& whole, meta::view<graph::any_operator> operators, const View& p) {
  using kind = part::kind;
  const auto region_of = [](const auto& op, auto... about) { return graph::input_region(op, about...); };
  meta::array<int> times(whole.size()), wanted(whole.size());
  const auto expected = [&](const part& own) { return own.when.always() ? 1 : p.replicas[own.when.set].members; };
  for (int l = 0; l < p.net.size(); ++l) {
    const auto& own = p.parts[l];
    const auto& out = whole.layers[own.layer].output;
    if (tensor::empty(own.box) || !tensor::contains(tensor::whole(out), own.box)) return false;
    for (int a = 0; a < out.rank; ++a)
      if (p.net.layers[l].output[a] != (a < tensor::region::axes ? own.box.end[a] - own.box.begin[a] : out[a])) return false;
    if (!own.is_own()) {
      if (!detail::piece_matches(whole, p, l)) return false;
      continue;
    }
    if (own.what == kind::whole) {
      if (times[own.layer]++ != std::max(own.when.member, 0)) return false;  // replicas in their order
      wanted[own.layer] = expected(own);
    }
    const auto in = p.net.into(l);
    std::size_t next = 0;
    int k = 0;
    for (const auto& e : whole.into(own.layer)) {
      auto need = tensor::whole(whole.layers[e.from].output);
      if (own.what != kind::whole) need = region_of(operators[own.layer], k, own.box, whole.operands(own.layer), out);
      if (own.what == kind::partial) {
        const int axis = whole.layers[own.layer].depth_axis;
        need.begin[axis] = own.from;
        need.end[axis] = own.to;
      }
      ++k;
      if (tensor::empty(need)) continue;
      if (next == in.size()) return false;
      const auto& of = p.parts[in[next++].from];
      if (of.layer != e.from || of.box != need || of.to != 0) return false;
    }
    if (next != in.size()) return false;
  }
  for (int l = 0; l < whole.size(); ++l)
    if (times[l] != wanted[l] || (times[l] == 0 && (whole.layers[l].is_input || whole.layers[l].is_output))) return false;
  return true;
}

}  // namespace dice::parts
