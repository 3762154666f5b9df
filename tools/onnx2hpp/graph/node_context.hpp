// The node being converted, as an importer (ops/<operator>.cpp) or a folder (fold/*.cpp) sees it.
#pragma once

#include "diagnostics.hpp"
#include "graph/initialiser.hpp"
#include "graph/inner_graphs.hpp"
#include "graph/network.hpp"
#include "graph/registry.hpp"
#include "read/model.hpp"

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace onnx2hpp {

/// What an activation holds for the model. dice computes it in float32, where integers are exact up to 2^24.
struct numbers {
  element type = element::float32;
  double least = 0, most = 0;  ///< of integers: what they may be
  bool rounded = true;         ///< of integers: the layer has integers; else reals that become integers in an output
  bool or_nan = false;         ///< of bools: the layer may have NaN, which stands for false
};
/// What a tensor of an integer type, or BOOL, may hold; nothing for other types.
std::optional<numbers> integers_of(element type);

/// What a name of the model stands for.
struct value {
  enum class kind {
    layer,     ///< the output of layer `index`
    constant,  ///< `data`
    sequence,  ///< `items`, each a layer or a constant
    missing,   ///< not available, for `reason`
    unknown,   ///< follows from a problem already reported
  };
  kind is = kind::unknown;
  int index = -1;  ///< of a constant: the layer that has it, if it is also an input (fold/by_kernels.hpp)
  constant data{};
  std::string reason{};
  numbers holds{};
  std::vector<value> items{};
};

/// Thrown when an input is of kind unknown.
struct unknown_input {};

/// One node being converted. Inputs are counted from 0; an input may be left out ("" or too few).
class node_context {
 public:
  node_context(const node& n, network& net, const std::map<std::string, value>& values, bool fold,
               inner_graphs* graphs = nullptr)
      : node_(n), net_(net), values_(values), fold_(fold), graphs_(graphs) {}

  [[noreturn]] static void refuse(std::string reason, std::string remedy = "") {
    throw refusal{std::move(reason), std::move(remedy)};
  }
  static void require(bool holds, const char* reason) {
    if (!holds) refuse(reason);
  }

  const node& self() const { return node_; }
  std::int64_t opset() const { return node_.opset; }
  /// Whether nodes that do nothing at inference may be removed.
  bool fold() const { return fold_; }

  int inputs() const { return static_cast<int>(node_.inputs.size()); }
  bool given(int k) const;
  bool is_constant(int k) const;
  /// Input k with its shape, as messages name it: "w" {4, 3, 3, 3}.
  std::string shown(int k) const;
  /// Whether all inputs are constants, or sequences of constants.
  bool only_constants() const;
  /// Input k, a constant; `what` names it in the refusal if it is computed at run time.
  const constant& data(int k, const char* what) const;
  /// Its elements, of an integer or real constant.
  std::vector<std::int64_t> integers(int k, const char* what) const;
  std::vector<double> reals(int k, const char* what) const;
  /// A constant with one element.
  double real(int k, const char* what) const;
  /// The layer that computes input k, or a refusal if it is a constant or holds integers.
  int activation(int k) const;
  /// The tensors of input k, a sequence.
  const std::vector<value>& sequence(int k) const;
  /// The same for an operator that only moves numbers: it may hold integers, and then so do the node's results.
  int moved(int k);
  /// The same for a layer of a sequence.
  int moved(const value& v);
  /// What the activation k holds, and what the node's results hold: float32, unless they are moved.
  const numbers& numbers_of(int k) const { return use(k).holds; }
  const numbers& holds() const { return holds_; }
  void holds(const numbers& results) { holds_ = results; }
  const network& layers() const { return net_; }
  const shape& shape_of(int layer) const { return net_.layers[layer].result; }

  /// Attributes that the importer declares; at opsets that lack them, they are not given.
  bool has(const char* attribute) const { return look_up(attribute); }
  std::int64_t integer(const char* attribute, std::int64_t otherwise);
  float real(const char* attribute, float otherwise);
  std::string text(const char* attribute, const char* otherwise);
  std::vector<std::int64_t> integers(const char* attribute, std::vector<std::int64_t> otherwise = {});
  std::vector<double> reals(const char* attribute);
  const attribute* find(const char* name);
  /// A graph inside the node; refuses the node if there is none.
  const subgraph& graph(const char* attribute);
  /// Converts such graphs.
  inner_graphs& graphs() { return *graphs_; }
  /// Says that input k has no influence here.
  void ignore_input(int k) { used_.insert(k); }
  /// Says that `names` have no influence here.
  void ignore(std::initializer_list<const char*> names);
  /// Refuses the node if it has inputs or attributes that were neither read nor ignored: their meaning would be lost.
  void require_all_read() const;
  /// `axis` of a tensor with `rank` axes, counted from the end if negative; at most rank - 1, or rank if `cut` (a cut
  /// between axes).
  static int axis(std::int64_t axis, int rank, bool cut = false);
  /// A number that the model states; refuses large ones.
  static int small(std::int64_t n, const char* what);

  /// Adds a layer that reads `operands` and returns its index. Refuses what the operator's shape rule refuses.
  int add(operation op, std::vector<int> operands, std::vector<parameter> parameters = {});
  int outputs() const { return static_cast<int>(node_.outputs.size()); }
  /// Output k is what layer `index` computes.
  void result(int index, int k = 0);
  /// Output k is a constant.
  void result(constant c, int k = 0);
  /// Output 0 is `v`.
  void result(value v);
  /// Input k, whatever it is.
  const value& any(int k) const { return use(k); }
  /// Output 0 is input 0, whatever that is.
  void pass();
  std::map<std::string, value>& results() { return results_; }

 private:
  const value& at(int k) const;
  const value& use(int k) const;
  std::string described(int k, const char* what) const;
  bool declared(const char* attribute) const;
  const attribute* look_up(const char* name) const;

  const node& node_;
  network& net_;
  const std::map<std::string, value>& values_;
  bool fold_;
  inner_graphs* graphs_;        ///< null if the node is not one of the model's
  std::set<std::string> read_;  ///< attributes
  mutable std::set<int> used_;  ///< inputs
  std::map<std::string, value> results_;
  numbers holds_{};
  bool moves_ = false;
};

/// The extents of a constant as a tensor's shape; refuses more than 8 axes.
shape shape_of(const constant& c);

}  // namespace onnx2hpp
