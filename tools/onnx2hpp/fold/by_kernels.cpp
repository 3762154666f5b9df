#include "fold/by_kernels.hpp"

#include "expect/evaluation.hpp"
#include "fold/broadcast.hpp"

#include "dice/graph/ops/average_pool.hpp"
#include "dice/graph/ops/input.hpp"
#include "dice/graph/ops/lrn.hpp"
#include "dice/graph/ops/max_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace onnx2hpp {

namespace {

namespace ops = dice::ops;

constexpr double most_operations = 1e9;
constexpr std::int64_t most_exact = 1 << 24;

/// A node whose constants are inputs of a network.
class constant_network {
 public:
  constant_network(node_context& n, const known_operator& known) : n_(n) {
    try {
      import(known, false);
    } catch (const refusal&) {
      // Few importers take several activations; a refusal of one explains more.
      try {
        import(known, true);
        return;
      } catch (const refusal&) {
      }
      throw;
    }
  }

  double operations() const {
    double all = 0, elements = 0;
    for (const auto& l : net_.layers) {
      const auto size = static_cast<double>(l.result.elements());
      elements += size;
      if (!is_input(l)) all += std::max(static_cast<double>(net_.macs(l)), size * window(l.op));
    }
    if (elements > folding_limit) n_.refuse("computing it takes tensors of more than 2^26 elements");
    return all;
  }

  /// The node's results, as constants.
  std::map<std::string, value> run() {
    for (const auto& [name, v] : results_) for_each(v, [&](const value& of) { computed_[of.index]; });
    evaluation(net_).run([&](int l) { return inputs_[l].data(); },
                         [&](int l, const float* values) {
                           if (const auto wanted = computed_.find(l); wanted != computed_.end())
                             wanted->second.assign(values, values + result(l).elements());
                         });
    for (auto& [name, v] : results_) for_each(v, [&](value& of) { become_constant(of); });
    return std::move(results_);
  }

 private:
  /// The value, or all items of a sequence.
  template <class Value, class F> static void for_each(Value& v, F f) {
    if (v.is == value::kind::sequence)
      for (auto& item : v.items) f(item);
    else f(v);
  }

  const shape& result(int l) const { return net_.layers[l].result; }

  /// Input 0, or with `all` every input, can only be an activation. The others are constants, or activations where an
  /// importer wants one.
  void import(const known_operator& known, bool all) {
    net_ = {};
    inputs_.clear();
    values_.clear();
    node self = n_.self();
    for (int k = 0; k < n_.inputs(); ++k) {
      if (!n_.given(k)) continue;
      auto& name = self.inputs[k];
      while (values_.contains(name)) name += fmt::format(" (input {})", k);  // Gemm(m, m): an activation and a constant
      for_each(values_[name] = n_.any(k), [&](value& v) {
        add_input(v, k == 0);
        if (v.index >= 0 && (k == 0 || all)) v.is = value::kind::layer;
      });
    }
    node_context inner(self, net_, values_, true);
    known.import(inner);
    inner.require_all_read();
    results_ = std::move(inner.results());
  }

  void add_input(value& v, bool needed) {
    const constant& c = v.data;
    const auto possible = [&](bool holds, const char* otherwise) {
      if (needed) n_.require(holds, otherwise);
      return holds;
    };
    if (!possible(c.rank() <= dice::tensor::max_rank, "its constant has more than 8 axes") ||
        !possible(c.elements() > 0, "its constant has no elements") ||
        !possible(c.elements() <= folding_limit, "its constant has more than 2^26 elements"))
      return;
    if (!is_real(c.type)) {
      const auto [least, most] = std::ranges::minmax(integers(c));
      if (!possible(least >= -most_exact && most <= most_exact, "its constant has integers beyond 2^24")) return;
      v.holds = {.type = c.type, .least = static_cast<double>(least), .most = static_cast<double>(most)};
    }
    v.index = static_cast<int>(net_.layers.size());
    to_float32(c, 0, inputs_.emplace_back(static_cast<std::size_t>(c.elements())));
    net_.layers.push_back({dice::ops::input{.extents = shape_of(c)}, {}, {}, {}, shape_of(c)});
  }

  void become_constant(value& v) {
    if (v.is == value::kind::layer) {
      const std::vector<double> numbers(computed_.at(v.index).begin(), computed_.at(v.index).end());
      const shape& s = result(v.index);
      const auto type = v.holds.type == element::float32 ? type_of_reals() : v.holds.type;
      v = {value::kind::constant, -1, make_constant(type, {s.dim, s.dim + s.rank}, std::span<const double>(numbers))};
    }
    v.index = -1;
    v.holds = {};
  }

  /// Doubles stay double, like other operands of the model.
  element type_of_reals() const {
    for (int k = 0; k < n_.inputs(); ++k)
      if (n_.is_constant(k) && is_real(n_.data(k, "input").type)) return n_.data(k, "input").type;
    return element::float32;
  }

  /// The number of elements that a pooling layer reads for one element of its result.
  static double window(const operation& op) {
    const auto area = [](const auto& pool) { return static_cast<double>(pool.kernel[0]) * pool.kernel[1]; };
    if (const auto* pool = op.get_if<ops::max_pool>()) return area(*pool);
    if (const auto* pool = op.get_if<ops::average_pool>()) return area(*pool);
    if (const auto* lrn = op.get_if<ops::lrn>()) return lrn->size;
    return 1;
  }

  node_context& n_;
  network net_;
  std::vector<std::vector<float>> inputs_;  ///< of the first layers
  std::map<std::string, value> values_, results_;
  std::map<int, std::vector<float>> computed_;  ///< by layer
};

}  // namespace

void compute_by_kernels(node_context& n, const known_operator& known, double& operations) {
  constant_network layers(n, known);
  operations += layers.operations();
  if (operations > most_operations) n.refuse("with it, computing the model's constants takes over 10^9 multiplications");
  n.results() = layers.run();
  for (const auto& [attribute, exists] : known.attributes) n.ignore({attribute.c_str()});  // the importer has read them
}

}  // namespace onnx2hpp
