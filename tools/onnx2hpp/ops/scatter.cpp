// ScatterND and ScatterElements by constant indices, as exporters write x[:, 2:5] = y. Updates that replace a box of the
// tensor are joined with Slices of the rest; others are gathered with the elements that stay.
#include "fold/broadcast.hpp"
#include "fold/places.hpp"
#include "ops/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace onnx2hpp {

namespace {

using dice::tensor::max_rank;
using scatter_index = std::array<std::int64_t, max_rank>;

/// The elements of a tensor with an index of each axis.
template <class F> void each_scattered(const shape& s, F f) {
  scatter_index p{};
  for (std::size_t i = 0, n = static_cast<std::size_t>(s.elements()); i < n; ++i) {
    f(i, p);
    for (int a = s.rank; a-- > 0;) {
      const auto k = static_cast<std::size_t>(a);
      if (++p[k] < s[a]) break;
      p[k] = 0;
    }
  }
}

struct scatter_box {
  scatter_index begin{}, end{};
};

class scattering {
 public:
  scattering(node_context& n, const shape& of, const places& to)
      : n_(n), of_(of), updates_(static_cast<std::int64_t>(to.at.size()) * to.size), from_(elements(of), -1) {
    std::int64_t update = 0;
    for (const auto first : to.at)
      for (std::int64_t e = 0; e < to.size; ++e) from_[first + e] = update++;
    kept_ = std::ranges::count(from_, -1);
  }

  /// Layer x with the updates of layer u.
  int of_layers(int x, int u) const {
    if (const auto replaced = find_box()) return put(x, reshape_unless(n_, u, size_of(*replaced)), *replaced, 0);
    if (kept_ == 0) return picked(u);
    for (int a = 0; a < of_.rank; ++a)
      if (const auto at = along(of_.product(0, a), of_[a], of_.product(a + 1, of_.rank), of_[a])) {
        shape form = of_;
        form[a] = updates_ / (of_.elements() / of_[a]);
        return gather_layer(n_, concat_layer(n_, {x, reshape_unless(n_, u, form)}, a), a, *at);
      }
    const auto run = run_length();
    const auto at = along(1, of_.elements() / run, run, of_.elements() / run);
    const int rows = concat_layer(n_, {in_runs(x, run), in_runs(u, run)}, 0);
    return reshape_unless(n_, gather_layer(n_, rows, 0, *at), of_);
  }
  /// Layer x with constant updates.
  int with_constant(int x, const std::vector<double>& u) const {
    return written_over(x, [&](std::size_t i) { return from_[i] < 0 ? kept : u[from_[i]]; });
  }
  /// A constant with the updates of layer u.
  int in_constant(const std::vector<double>& x, int u) const {
    const auto others = [&](std::size_t i) { return from_[i] < 0 ? x[i] : kept; };
    const auto replaced = find_box();
    if (!replaced) return written_over(picked(u), others);
    const auto first = static_cast<std::size_t>(std::ranges::find(from_, -1) - from_.begin());
    bool uniform = kept_ > 0;
    for (std::size_t i = 0; uniform && i < x.size(); ++i) uniform = from_[i] >= 0 || x[i] == x[first];
    const int y = padded(reshape_unless(n_, u, size_of(*replaced)), *replaced, uniform ? x[first] : 0);
    return uniform ? y : written_over(y, others);
  }

 private:
  static constexpr double kept = std::numeric_limits<double>::quiet_NaN();

  static std::size_t elements(const shape& s) { return folded_size({s.dim, s.dim + s.rank}, "it writes into a tensor"); }
  int in_runs(int x, std::int64_t run) const { return reshape_unless(n_, x, {n_.shape_of(x).elements() / run, run}); }
  shape size_of(const scatter_box& b) const {
    shape out;
    for (std::size_t a = 0; a < static_cast<std::size_t>(of_.rank); ++a) out.push_back(b.end[a] - b.begin[a]);
    return out;
  }

  /// The box that all updates fill, in their order.
  std::optional<scatter_box> find_box() const {
    scatter_box b;
    b.begin.fill(std::numeric_limits<std::int64_t>::max());
    each_scattered(of_, [&](std::size_t i, const scatter_index& p) {
      if (from_[i] < 0) return;
      for (std::size_t a = 0; a < max_rank; ++a) {
        b.begin[a] = std::min(b.begin[a], p[a]);
        b.end[a] = std::max(b.end[a], p[a] + 1);
      }
    });
    bool ordered = size_of(b).elements() == updates_;
    std::int64_t next = 0;
    each_scattered(of_, [&](std::size_t i, const scatter_index& p) {
      bool inside = true;
      for (std::size_t a = 0; a < max_rank; ++a) inside = inside && p[a] >= b.begin[a] && p[a] < b.end[a];
      ordered = ordered && from_[i] == (inside ? next++ : -1);
    });
    return ordered ? std::optional(b) : std::nullopt;
  }

  /// x with u in box b, of which x has the extents along the axes before `axis`.
  int put(int x, int u, const scatter_box& b, int axis) const {
    const auto begin_of = [&](int a) { return b.begin[a]; };
    const auto end_of = [&](int a) { return b.end[a]; };
    const auto whole = [&](int a) { return begin_of(a) == 0 && end_of(a) == of_[a]; };
    while (axis < of_.rank && whole(axis)) ++axis;
    if (axis == of_.rank) return u;
    int next = axis + 1;
    while (next < of_.rank && whole(next)) ++next;
    const auto begin = begin_of(axis), end = end_of(axis), extent = of_[axis];
    std::vector<int> parts;
    if (begin > 0) parts.push_back(slice_layer(n_, x, axis, 0, begin));
    parts.push_back(next == of_.rank ? u : put(slice_layer(n_, x, axis, begin, end - begin), u, b, next));
    if (end < extent) parts.push_back(slice_layer(n_, x, axis, end, extent - end));
    return concat_layer(n_, parts, axis);
  }
  /// Box b within equal numbers.
  int padded(int u, const scatter_box& b, double value) const {
    scatter_index before{}, after{};
    for (int a = 0; a < of_.rank; ++a) {
      const auto k = static_cast<std::size_t>(a);
      before[k] = b.begin[k];
      after[k] = of_[a] - b.end[k];
    }
    return before == after && before == scatter_index{} ? u : pad_layer(n_, u, before, after, static_cast<float>(value));
  }

  /// The indices that give the result from x and u joined along an axis, if it consists of their elements: it has `outer`
  /// times `extent` times `inner` elements, and those of u begin at `first`.
  std::optional<std::vector<std::int64_t>> along(std::int64_t outer, std::int64_t extent, std::int64_t inner,
                                                 std::int64_t first) const {
    if (updates_ % (outer * inner) != 0) return {};
    const auto more = updates_ / (outer * inner);
    std::vector<std::int64_t> out;
    for (std::int64_t k = 0; k < extent; ++k) {
      const auto from = from_[k * inner];
      if (from >= 0 && (from % inner != 0 || from / inner >= more)) return {};
      out.push_back(from < 0 ? k : first + from / inner);
      for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t e = 0; e < inner; ++e)
          if (from_[(o * extent + k) * inner + e] != (from < 0 ? -1 : o * more * inner + from + e)) return {};
    }
    return out;
  }
  /// The most neighbouring elements that always stay together.
  std::int64_t run_length() const {
    for (int a = 1; a < of_.rank; ++a)
      if (const auto run = of_.product(a, of_.rank); along(1, of_.elements() / run, run, 0)) return run;
    return 1;
  }
  /// The updates at their places; elsewhere, any values.
  int picked(int u) const {
    const auto run = run_length();
    auto at = *along(1, of_.elements() / run, run, 0);
    for (std::size_t k = 0; k < at.size(); ++k)
      if (from_[k * static_cast<std::size_t>(run)] < 0) at[k] = 0;
    return reshape_unless(n_, gather_layer(n_, in_runs(u, run), 0, at), of_);
  }

  /// Layer x, or value(i) for element i where that is not NaN.
  template <class F> int written_over(int x, F value) const {
    std::vector<double> all(from_.size());
    std::int64_t numbers = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = value(i);
      numbers += !std::isnan(all[i]);
    }
    if (numbers == 0) return x;
    // Axes along which all elements are alike get extent 1.
    shape s = of_;
    for (int a = 0; a < s.rank; ++a) {
      const auto inner = static_cast<std::size_t>(s.product(a + 1, s.rank)), extent = static_cast<std::size_t>(s[a]);
      std::vector<double> first;
      bool alike = true;
      for (std::size_t i = 0; alike && i < all.size(); ++i) {
        const auto same = i - i / inner % extent * inner;
        alike = all[i] == all[same] || (std::isnan(all[i]) && std::isnan(all[same]));
        if (i == same) first.push_back(all[i]);
      }
      if (alike) {
        all = std::move(first);
        s[a] = 1;
      }
    }
    return replace(n_, x, make_constant(element::float32, {s.dim, s.dim + s.rank}, std::span<const double>(all)));
  }

  node_context& n_;
  const shape of_;
  const std::int64_t updates_;      ///< how many
  std::vector<std::int64_t> from_;  ///< for each element the update that replaces it, or -1
  std::int64_t kept_ = 0;           ///< elements that none replaces
};

/// Input k, a constant among activations: the range of the node's results grows by its numbers.
std::vector<double> scattered_numbers(node_context& n, int k, const char* what) {
  auto out = n.reals(k, what);
  numbers all = n.holds();
  for (const double v : out) {
    if (std::isnan(v)) n.refuse(fmt::format("its constant {} have a NaN", what));
    if (all.type != element::float32 && std::abs(v) > (1 << 24))
      n.refuse(fmt::format("its constant {} have integers beyond 2^24, and dice computes only with float32", what));
    all.least = std::min(all.least, v);
    all.most = std::max(all.most, v);
  }
  if (all.type != element::float32) n.holds(all);
  return out;
}

template <places (*Find)(node_context&, const std::vector<std::int64_t>&)> void import_scatter(node_context& n) {
  require_no_reduction(n);
  const auto layer_of = [&](int k) { return n.is_constant(k) ? -1 : n.moved(k); };
  const int x = layer_of(0), u = layer_of(2);
  const shape of = x < 0 ? shape_of(n.data(0, "input")) : n.shape_of(x);
  const shape given = u < 0 ? shape_of(n.data(2, "updates")) : n.shape_of(u);
  const auto to = Find(n, {of.dim, of.dim + of.rank});
  if (std::vector<std::int64_t>(given.dim, given.dim + given.rank) != to.dims)
    n.refuse(fmt::format("its updates {} do not fit its indices", literal(given)));
  if (to.at.empty()) return n.pass();
  const scattering s(n, of, to);
  if (x < 0) n.result(s.in_constant(scattered_numbers(n, 0, "elements"), u));
  else if (u < 0) n.result(s.with_constant(x, scattered_numbers(n, 2, "updates")));
  else n.result(s.of_layers(x, u));
}

constexpr const char* scatter_notes =
    "indices constant; only reduction = none; becomes Slice and Concat, Gather, Pad, Where and Reshape";
const importer known_scatter[] = {
    {"Scatter", import_scatter<elements_by_index>, {9, 10}, "axis", scatter_notes},
    {"ScatterElements", import_scatter<elements_by_index>, 11, "axis reduction>=16", scatter_notes},
    {"ScatterND", import_scatter<slices_by_index>, 11, "reduction>=16", scatter_notes}};

}  // namespace
}  // namespace onnx2hpp
