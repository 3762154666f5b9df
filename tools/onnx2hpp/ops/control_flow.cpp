// If, Loop, Scan and SequenceMap: where the model's constants decide which nodes are computed and how often, these take the
// node's place.
#include "graph/node_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace onnx2hpp {

namespace {

using value_names = std::vector<std::string>;

constexpr std::int64_t most_loop_iterations = 1000;

constant loop_constant(std::vector<std::int64_t> dims, std::int64_t value, element type = element::int64) {
  return make_constant(type, std::move(dims), std::span<const std::int64_t>(&value, 1));
}

/// Nodes that join what the graphs inside a node compute.
class loop_joints {
 public:
  explicit loop_joints(node_context& n) : n_(n) {}

  std::string constant_node(const constant& c) {
    attribute value;
    value.type = attribute::kind::tensor;
    value.t.value = c;
    return add("Constant", {}, {{"value", std::move(value)}});
  }
  /// Gives output k of the node a value, if anything reads it.
  void give(int k, const std::string& name) {
    const auto& outputs = n_.self().outputs;
    if (k < n_.outputs() && !outputs[k].empty()) add("Identity", {name}, {}, outputs[k]);
  }
  /// The values joined along a new axis.
  std::string stacked(const value_names& values, std::int64_t axis) {
    value_names wide;
    const bool by_attribute = n_.opset() < 13;
    for (const auto& v : values)
      wide.push_back(by_attribute ? add("Unsqueeze", {v}, {{"axes", integers({axis})}})
                                  : add("Unsqueeze", {v, constant_node(loop_constant({1}, axis))}));
    return wide.size() == 1 ? wide[0] : add("Concat", wide, {{"axis", integer(axis)}});
  }
  /// A sequence of the values.
  std::string sequence(const value_names& values) {
    return values.empty() ? add("SequenceEmpty", {}) : add("SequenceConstruct", values);
  }
  /// Tensor `at` of a sequence.
  std::string item(const std::string& sequence, std::int64_t at) {
    return add("SequenceAt", {sequence, constant_node(loop_constant({}, at))});
  }
  /// Element `at` of a value along an axis, which the result lacks.
  std::string element_of(const std::string& value, std::int64_t at, std::int64_t axis) {
    return add("Gather", {value, constant_node(loop_constant({}, at))}, {{"axis", integer(axis)}});
  }

 private:
  static attribute integer(std::int64_t i) {
    attribute out;
    out.type = attribute::kind::integer;
    out.i = i;
    return out;
  }
  static attribute integers(std::vector<std::int64_t> all) {
    attribute out;
    out.type = attribute::kind::integers;
    out.ints = std::move(all);
    return out;
  }
  std::string add(const char* op, value_names in, std::map<std::string, attribute> attributes = {}, std::string out = "") {
    const auto& self = n_.self();
    node made;
    made.name = self.name.empty() ? self.outputs.at(0) : self.name;
    made.operator_name = op;
    made.inputs = std::move(in);
    made.outputs = {out.empty() ? n_.graphs().fresh(made.name + "/" + op) : std::move(out)};
    made.attributes = std::move(attributes);
    made.opset = n_.opset();
    out = made.outputs[0];
    n_.graphs().convert(std::move(made));
    return out;
  }

  node_context& n_;
};

std::int64_t loop_number(node_context& n, int k, const char* what) {
  const auto all = n.integers(k, what);
  if (all.size() != 1) n.refuse(fmt::format("its {} has {} elements, expected one", what, all.size()));
  return all[0];
}

bool loop_condition(node_context& n, int k) {
  if (const auto type = n.data(k, "condition").type; type != element::boolean)
    n.refuse(fmt::format("its condition holds {}, not BOOL", name_of(type)));
  return loop_number(n, k, "condition") != 0;
}

void require_inputs_and_outputs(node_context& n, const subgraph& body, std::size_t inputs, std::size_t outputs) {
  if (body.inputs.size() != inputs || body.outputs.size() < outputs)
    n.refuse(fmt::format("its graph has {} inputs and {} outputs, expected {} and {}", body.inputs.size(),
                         body.outputs.size(), inputs, outputs),
             "export the model again");
}

void require_few(node_context& n, std::int64_t iterations) {
  if (iterations >= most_loop_iterations)
    n.refuse(fmt::format("it has more than {} iterations; each becomes nodes of its own", most_loop_iterations),
             "export the model with fewer iterations");
}

void import_if(node_context& n) {
  const bool holds = loop_condition(n, 0);
  n.ignore({"then_branch", "else_branch"});
  const subgraph& branch = n.graph(holds ? "then_branch" : "else_branch");
  require_inputs_and_outputs(n, branch, 0, static_cast<std::size_t>(n.outputs()));
  const auto out = n.graphs().convert(n.self(), branch, {}, "");
  for (int k = 0; k < n.outputs(); ++k) loop_joints(n).give(k, out[k]);
}

/// The condition after iteration `i` of a Loop, whose name is `name`.
bool goes_on(node_context& n, const std::string& name, std::int64_t i) {
  const value& v = n.graphs().at(name);
  if (v.is == value::kind::unknown) throw unknown_input{};
  if (v.is != value::kind::constant || v.data.elements() != 1)
    n.refuse(fmt::format("whether it goes on after iteration {} is computed at run time, not constant", i));
  return integers(v.data)[0] != 0;
}

/// The outputs of a Loop without any iteration.
void give_initial_values(node_context& n, std::size_t carried) {
  for (std::size_t k = 0; k < n.self().outputs.size(); ++k) {
    value& out = n.results()[n.self().outputs[k]];
    if (k < carried) out = n.any(static_cast<int>(k) + 2);
    else out = {value::kind::missing, -1, {}, "it is empty, because the Loop has no iteration"};
  }
}

void import_loop(node_context& n) {
  const auto count = n.given(0) ? loop_number(n, 0, "trip count") : std::numeric_limits<std::int64_t>::max();
  bool on = !n.given(1) || loop_condition(n, 1);
  const subgraph& body = n.graph("body");
  const auto carried = static_cast<std::size_t>(std::max(n.inputs() - 2, 0));
  require_inputs_and_outputs(n, body, carried + 2,
                             std::max<std::size_t>(static_cast<std::size_t>(n.outputs()), carried) + 1);
  for (int k = 2; k < n.inputs(); ++k) n.ignore_input(k);
  if (count <= 0 || !on) return give_initial_values(n, carried);
  loop_joints join(n);
  value_names state(n.self().inputs.begin() + std::min(n.inputs(), 2), n.self().inputs.end());
  std::vector<value_names> scans(body.outputs.size() - 1 - carried);
  for (std::int64_t i = 0; i < count && on; ++i) {
    require_few(n, i);
    value_names given{join.constant_node(loop_constant({}, i)), join.constant_node(loop_constant({}, 1, element::boolean))};
    given.insert(given.end(), state.begin(), state.end());
    const auto out = n.graphs().convert(n.self(), body, given, std::to_string(i));
    on = goes_on(n, out[0], i);
    state.assign(out.begin() + 1, out.begin() + 1 + static_cast<std::ptrdiff_t>(carried));
    for (std::size_t k = 0; k < scans.size(); ++k) scans[k].push_back(out[1 + carried + k]);
  }
  for (int k = 0; k < n.outputs(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (at < carried) join.give(k, state[at]);
    else if (!n.self().outputs[at].empty()) join.give(k, join.stacked(scans[at - carried], 0));
  }
}

/// Scan: the body for each element of some tensors, along an axis of each.
class scanner {
 public:
  explicit scanner(node_context& n)
      : n_(n),
        join_(n),
        first_(n.opset() < 9 ? 1 : 0),
        scans_(n.integer("num_scan_inputs", 0)),
        carried_(n.inputs() - first_ - scans_),
        body_(n.graph("body")) {
    n.require(scans_ >= 1 && carried_ >= 0, "its num_scan_inputs is out of range");
    require_inputs_and_outputs(n, body_, size(carried_ + scans_), std::max(size(n.outputs()), size(carried_)));
    made_ = static_cast<std::int64_t>(body_.outputs.size()) - carried_;
    backwards_ = listed(n.opset() < 9 ? "directions" : "scan_input_directions", scans_);
    axes_ = listed("scan_input_axes", scans_);
    out_axes_ = listed("scan_output_axes", made_);
    out_backwards_ = listed("scan_output_directions", made_);
  }

  void run() {
    auto all = inputs();
    if (n_.opset() >= 9) return give(scan(all, count(axes_, 0), ""));
    // Before opset 9, axis 0 of all tensors is a batch.
    const auto batch = extent(first_, 0), length = count(axes_, 1);
    if (n_.given(0))
      n_.require(std::ranges::all_of(n_.integers(0, "sequence lengths"), [&](auto n) { return n == length; }),
                 "its sequences are padded");
    std::vector<value_names> whole(size(carried_ + made_));
    for (std::int64_t b = 0; b < batch; ++b) {
      value_names one;
      for (const auto& name : all) one.push_back(join_.element_of(name, b, 0));
      const auto out = scan(one, length, std::to_string(b) + "/");
      for (std::size_t k = 0; k < out.size(); ++k) whole[k].push_back(out[k]);
    }
    value_names joined;
    for (const auto& w : whole) joined.push_back(join_.stacked(w, 0));
    give(joined);
  }

 private:
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

  std::vector<std::int64_t> listed(const char* attribute, std::int64_t count) {
    auto all = n_.integers(attribute);
    if (all.empty()) all.resize(size(count));
    if (all.size() != size(count))
      n_.refuse(fmt::format("its attribute {} has {} elements, expected {}", attribute, all.size(), count));
    return all;
  }

  /// The values that the body begins with, and those that are scanned.
  value_names inputs() const {
    for (std::int64_t k = 0; k < carried_; ++k) n_.ignore_input(static_cast<int>(first_ + k));
    const auto& all = n_.self().inputs;
    return {all.begin() + static_cast<std::ptrdiff_t>(first_), all.end()};
  }

  /// The extent of an axis of input k.
  std::int64_t extent(std::int64_t k, std::int64_t axis) const {
    const value& v = n_.any(static_cast<int>(k));
    n_.require(v.is == value::kind::constant || v.is == value::kind::layer, "its input is a sequence of tensors");
    const auto of_axis = [&](int rank) { return n_.axis(axis, rank); };
    if (v.is == value::kind::constant) return v.data.dims[size(of_axis(v.data.rank()))];
    return n_.shape_of(v.index)[of_axis(n_.shape_of(v.index).rank)];
  }
  /// The number of elements that are scanned, along `axes`, counted from axis `from` on.
  std::int64_t count(const std::vector<std::int64_t>& axes, std::int64_t from) const {
    const auto first = extent(first_ + carried_, axes[0] + from);
    for (std::int64_t k = 1; k < scans_; ++k)
      n_.require(extent(first_ + carried_ + k, axes[size(k)] + from) == first, "the tensors that it scans differ in length");
    n_.require(first > 0, "the tensors that it scans are empty");
    return first;
  }

  /// The outputs for the values `in`.
  value_names scan(const value_names& in, std::int64_t count, const std::string& part) {
    value_names state(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(carried_));
    std::vector<value_names> results(size(made_));
    for (std::int64_t i = 0; i < count; ++i) {
      require_few(n_, i);
      value_names given = state;
      for (std::size_t k = 0; k < size(scans_); ++k)
        given.push_back(join_.element_of(in[size(carried_) + k], backwards_[k] ? count - 1 - i : i, axes_[k]));
      const auto out = n_.graphs().convert(n_.self(), body_, given, part + std::to_string(i));
      state.assign(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(carried_));
      for (std::size_t k = 0; k < results.size(); ++k) results[k].push_back(out[size(carried_) + k]);
    }
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (out_backwards_[k]) std::ranges::reverse(results[k]);
      state.push_back(join_.stacked(results[k], out_axes_[k]));
    }
    return state;
  }

  void give(const value_names& all) {
    for (int k = 0; k < n_.outputs(); ++k) join_.give(k, all[size(k)]);
  }

  node_context& n_;
  loop_joints join_;
  const std::int64_t first_, scans_, carried_;  ///< first input, scanned inputs, values carried from element to element
  const subgraph& body_;
  std::int64_t made_ = 0;  ///< outputs that have an element for each one that is scanned
  std::vector<std::int64_t> backwards_, axes_, out_axes_, out_backwards_;
};

void import_scan(node_context& n) { scanner(n).run(); }

/// The body for each tensor of a sequence, and of other sequences of the same length.
void import_sequence_map(node_context& n) {
  const subgraph& body = n.graph("body");
  require_inputs_and_outputs(n, body, static_cast<std::size_t>(n.inputs()), static_cast<std::size_t>(n.outputs()));
  const auto count = n.sequence(0).size();
  loop_joints join(n);
  std::vector<value_names> results(body.outputs.size());
  for (std::size_t i = 0; i < count; ++i) {
    value_names given;
    for (int k = 0; k < n.inputs(); ++k) {
      const auto& name = n.self().inputs[k];
      const bool is_sequence = n.any(k).is == value::kind::sequence;
      n.require(!is_sequence || n.sequence(k).size() == count, "its sequences differ in length");
      given.push_back(is_sequence ? join.item(name, static_cast<std::int64_t>(i)) : name);
    }
    const auto out = n.graphs().convert(n.self(), body, given, std::to_string(i));
    for (std::size_t k = 0; k < results.size(); ++k) results[k].push_back(out[k]);
  }
  for (int k = 0; k < n.outputs(); ++k) join.give(k, join.sequence(results[k]));
}

const graph_importer known_control_flow[] = {
    {"If", import_if, 1, "else_branch then_branch", "condition constant; becomes the nodes of its branch"},
    {"Loop", import_loop, 1, "body",
     "trip count and conditions constant; at most 1000 iterations; becomes the nodes of each iteration, Reshape and Concat"},
    {"Scan", import_scan, 8,
     "body directions<9 num_scan_inputs scan_input_axes>=9 scan_input_directions>=9 scan_output_axes>=9 "
     "scan_output_directions>=9",
     "at most 1000 iterations; becomes the nodes of each iteration, Slice, Reshape and Concat"},
    {"SequenceMap", import_sequence_map, 17, "body", "becomes the nodes for each tensor"}};

}  // namespace
}  // namespace onnx2hpp
