#include "graph/node_context.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace onnx2hpp {

namespace {

/// Tensors up to 64 GiB: no 64-bit product of extents, windows and weights can overflow then.
constexpr std::int64_t largest_tensor = std::int64_t{1} << 34;
constexpr std::int64_t largest_filter = std::int64_t{1} << 28;

void check_size(const shape& s) {
  std::int64_t n = 1;
  for (int a = 0; a < s.rank; ++a) {
    if (s[a] < 1) node_context::refuse("its output would be empty");
    if (s[a] > largest_tensor / n) node_context::refuse("its output would be larger than 64 GiB");
    n *= s[a];
  }
}

}  // namespace

std::optional<numbers> integers_of(element type) {
  const auto of = [type]<class T>(T) {
    return numbers{type, static_cast<double>(std::numeric_limits<T>::min()),
                   static_cast<double>(std::numeric_limits<T>::max())};
  };
  switch (type) {
    case element::int8:
      return of(std::int8_t());
    case element::uint8:
      return of(std::uint8_t());
    case element::int16:
      return of(std::int16_t());
    case element::uint16:
      return of(std::uint16_t());
    case element::int32:
      return of(std::int32_t());
    case element::uint32:
      return of(std::uint32_t());
    case element::int64:
      return of(std::int64_t());
    case element::uint64:
      return of(std::uint64_t());
    case element::boolean:
      return of(bool());
    default:
      return {};
  }
}

bool node_context::given(int k) const { return k < inputs() && !node_.inputs[k].empty(); }

const value& node_context::at(int k) const {
  if (!given(k)) refuse(fmt::format("its input {} is missing", k));
  const std::string& name = node_.inputs[k];
  const auto found = values_.find(name);
  if (found == values_.end())
    throw refusal{fmt::format("no node produces its input {}", quote(name)), "export the model again", false};
  if (found->second.is == value::kind::unknown) throw unknown_input{};
  if (found->second.is == value::kind::missing)
    throw refusal{fmt::format("its input {} is not available: {}", quote(name), found->second.reason), "", false};
  return found->second;
}

const value& node_context::use(int k) const {
  used_.insert(k);
  return at(k);
}

bool node_context::is_constant(int k) const { return given(k) && at(k).is == value::kind::constant; }

std::string node_context::described(int k, const char* what) const {
  return fmt::format("its input {} ({})", quote(node_.inputs[k]), what);
}

std::string node_context::shown(int k) const {
  const value& v = at(k);
  const auto name = quote(node_.inputs[k]);
  if (v.is == value::kind::constant) return fmt::format("{} {{{}}}", name, fmt::join(v.data.dims, ", "));
  return v.index < 0 ? name : fmt::format("{} {}", name, literal(shape_of(v.index)));
}

bool node_context::only_constants() const {
  const auto fixed = [](const value& v) { return v.is == value::kind::constant; };
  for (int k = 0; k < inputs(); ++k)
    if (given(k) && !fixed(at(k)) && (at(k).is != value::kind::sequence || !std::ranges::all_of(at(k).items, fixed)))
      return false;
  return true;
}

const constant& node_context::data(int k, const char* what) const {
  const value& v = use(k);
  if (v.is != value::kind::constant) refuse(described(k, what) + " is computed at run time, not constant");
  return v.data;
}

std::vector<std::int64_t> node_context::integers(int k, const char* what) const {
  const constant& c = data(k, what);
  if (is_real(c.type)) refuse(fmt::format("{} holds {}, not integers", described(k, what), name_of(c.type)));
  if (c.elements() > 1 << 20) refuse(fmt::format("{} has {} elements", described(k, what), c.elements()));
  return onnx2hpp::integers(c);
}

std::vector<double> node_context::reals(int k, const char* what) const { return onnx2hpp::reals(data(k, what)); }

double node_context::real(int k, const char* what) const {
  const constant& c = data(k, what);
  if (c.elements() != 1) refuse(fmt::format("{} has {} elements, expected one", described(k, what), c.elements()));
  return onnx2hpp::reals(c)[0];
}

int node_context::activation(int k) const {
  const auto& v = use(k);
  const auto name = [&] { return quote(node_.inputs[k]); };
  if (v.index < 0)
    refuse(fmt::format("its input {} is a {}", name(), v.is == value::kind::sequence ? "sequence of tensors" : "constant"));
  if (v.holds.type != element::float32)
    refuse(fmt::format("its input {} holds {}, and dice computes only with float32", name(), name_of(v.holds.type)));
  return v.index;
}

int node_context::moved(int k) {
  const auto& v = use(k);
  return v.index >= 0 ? moved(v) : activation(k);
}

int node_context::moved(const value& v) {
  const auto before = std::exchange(holds_, v.holds);
  if (std::exchange(moves_, true)) {
    require(before.type == holds_.type, "its inputs hold different types");
    holds_.least = std::min(before.least, holds_.least);
    holds_.most = std::max(before.most, holds_.most);
    holds_.rounded = holds_.rounded && before.rounded;
    holds_.or_nan = holds_.or_nan || before.or_nan;
  }
  return v.index;
}

const std::vector<value>& node_context::sequence(int k) const {
  const value& v = use(k);
  if (v.is != value::kind::sequence)
    refuse(fmt::format("its input {} is not a sequence of tensors", quote(node_.inputs[k])));
  return v.items;
}

/// Whether the node's opset has the attribute.
bool node_context::declared(const char* name) const {
  const auto& all = operators().at(node_.operator_name).attributes;
  const auto found = all.find(name);
  if (found == all.end())
    throw std::logic_error(fmt::format("the importer of {} reads {}, which it does not declare", node_.operator_name, name));
  return found->second.contain(node_.opset);
}

const attribute* node_context::look_up(const char* name) const {
  const auto found = node_.attributes.find(name);
  const bool known = declared(name) && found != node_.attributes.end() && found->second.type != attribute::kind::none;
  return known ? &found->second : nullptr;
}

const attribute* node_context::find(const char* name) {
  ignore({name});
  return look_up(name);
}

namespace {

const attribute* typed(const attribute* a, attribute::kind type, const char* name) {
  if (a && a->type != type) node_context::refuse(fmt::format("its attribute {} has the wrong type", name));
  return a;
}

}  // namespace

std::int64_t node_context::integer(const char* name, std::int64_t otherwise) {
  const auto* a = typed(find(name), attribute::kind::integer, name);
  return a ? a->i : otherwise;
}

float node_context::real(const char* name, float otherwise) {
  const auto* a = typed(find(name), attribute::kind::real, name);
  return a ? a->f : otherwise;
}

std::string node_context::text(const char* name, const char* otherwise) {
  const auto* a = typed(find(name), attribute::kind::text, name);
  return a ? a->s : otherwise;
}

std::vector<std::int64_t> node_context::integers(const char* name, std::vector<std::int64_t> otherwise) {
  const auto* a = typed(find(name), attribute::kind::integers, name);
  return a ? a->ints : std::move(otherwise);
}

std::vector<double> node_context::reals(const char* name) {
  const auto* a = typed(find(name), attribute::kind::reals, name);
  return a ? std::vector<double>(a->floats.begin(), a->floats.end()) : std::vector<double>();
}

const subgraph& node_context::graph(const char* name) {
  const auto* a = typed(find(name), attribute::kind::graph, name);
  if (!a) refuse(fmt::format("it has no attribute {}", name));
  return *a->g;
}

void node_context::ignore(std::initializer_list<const char*> names) {
  for (const char* n : names)
    if (declared(n)) read_.insert(n);
}

void node_context::require_all_read() const {
  for (const auto& [name, a] : node_.attributes)
    if (!read_.contains(name) && a.type != attribute::kind::none)
      refuse(fmt::format("the operator has no attribute {} at this opset", quote(name)));
  for (int k = 0; k < inputs(); ++k)
    if (given(k) && !used_.contains(k)) refuse(fmt::format("the operator has no input {} at this opset", k));
}

int node_context::axis(std::int64_t axis, int rank, bool cut) {
  const std::int64_t end = cut ? rank + 1 : rank;
  if (axis < -rank || axis >= end) refuse(fmt::format("its axis {} does not exist: the input has {} axes", axis, rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

int node_context::small(std::int64_t n, const char* what) {
  if (n < -(1 << 24) || n > 1 << 24) refuse(fmt::format("its {} {} is out of range", what, n));
  return static_cast<int>(n);
}

int node_context::add(operation op, std::vector<int> operands, std::vector<parameter> parameters) {
  std::vector<shape> in;
  for (int k : operands) in.push_back(shape_of(k));
  for (const auto& p : parameters) {
    check_size(p.extents);
    if (p.extents.rank > 0 && p.extents.product(1, p.extents.rank) > largest_filter) refuse("its weights are too large");
  }
  shape result;
  try {
    result = op.infer(in);
  } catch (const std::logic_error& e) {  // dice::graph::model_error, or std::length_error of a shape
    std::string shapes;
    for (const auto& s : in) shapes += (shapes.empty() ? "" : ", ") + literal(s);
    for (const int k : used_)
      if (!parameters.empty() && is_constant(k)) shapes += ", constant " + shown(k);
    refuse(fmt::format("{} (input {})", e.what(), shapes));
  }
  check_size(result);
  net_.layers.push_back({std::move(op), std::move(operands), std::move(parameters), node_.name, result});
  auto& l = net_.layers.back();
  if (!node_.outputs.empty()) l.output = node_.outputs[0];
  if (l.onnx_name.empty()) l.onnx_name = l.output;
  return static_cast<int>(net_.layers.size()) - 1;
}

void node_context::result(int index, int k) {
  if (k < outputs()) results_[node_.outputs[k]] = {value::kind::layer, index, {}, {}, holds_};
}

void node_context::result(constant c, int k) {
  if (c.dims.size() > max_axes) refuse(fmt::format("its output has {} axes", c.dims.size()));
  if (k < outputs()) results_[node_.outputs[k]] = {value::kind::constant, -1, std::move(c)};
}

void node_context::result(value v) {
  if (!node_.outputs.empty()) results_[node_.outputs[0]] = std::move(v);
}

void node_context::pass() {
  if (use(0).is == value::kind::sequence) refuse("its input is a sequence of tensors");
  if (!node_.outputs.empty()) results_[node_.outputs[0]] = use(0);
}

shape shape_of(const constant& c) {
  if (c.rank() > dice::tensor::max_rank)
    node_context::refuse(
        fmt::format("one of its constants has {} axes; dice's tensors have at most {}", c.rank(), dice::tensor::max_rank));
  shape out;
  for (auto d : c.dims) out.push_back(d);
  return out;
}

}  // namespace onnx2hpp
