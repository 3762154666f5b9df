// Constants that nodes state or that follow from shapes: Constant, ConstantOfShape, Shape, Size.
#include "fold/broadcast.hpp"

#include <algorithm>

namespace onnx2hpp {
namespace {

template <class T> constant one_axis(element type, const std::vector<T>& values) {
  return make_constant(type, {static_cast<std::int64_t>(values.size())}, std::span<const T>(values));
}

const constant& read(const stored_tensor& t) {
  if (!t.remedy.empty()) throw unknown_input{};  // damage is reported for all tensors together
  if (!t.error.empty()) throw refusal{"its value cannot be read: " + t.error, "", false};
  return t.value;
}

void fold_constant(node_context& n) {
  if (const auto* a = n.find("value"); a && a->type == attribute::kind::tensor) {
    return n.result(read(a->t));
  }
  if (const auto* a = n.find("sparse_value"); a && a->type == attribute::kind::tensor) {
    return n.result(read(a->t));
  }
  if (n.has("value_float")) {
    const double v = n.real("value_float", 0.0f);
    return n.result(make_constant(element::float32, {}, std::span(&v, 1)));
  }
  if (n.has("value_int")) {
    const std::int64_t v = n.integer("value_int", 0);
    return n.result(make_constant(element::int64, {}, std::span(&v, 1)));
  }
  if (n.has("value_ints")) return n.result(one_axis(element::int64, n.integers("value_ints")));
  if (const auto* a = n.find("value_floats"); a && a->type == attribute::kind::reals)
    return n.result(one_axis(element::float32, std::vector<double>(a->floats.begin(), a->floats.end())));
  // Networks have no use for text; nodes that read it are refused.
  for (const char* text : {"value_string", "value_strings"})
    if (n.find(text)) {
      for (const auto& name : n.self().outputs) n.results()[name] = {value::kind::missing, -1, {}, "it is text"};
      return;
    }
  n.refuse("it has no value");
}

void fold_constant_of_shape(node_context& n) {
  const auto dims = n.integers(0, "shape");
  constant one = make_constant(element::float32, {1}, std::vector<std::byte>(4));
  if (const auto* a = n.find("value"); a && a->type == attribute::kind::tensor) {
    one = read(a->t);
  }
  n.require(one.elements() == 1, "its value does not have exactly one element");
  const auto size = folded_size(dims);
  std::vector<std::byte> bytes;
  bytes.reserve(size * one.bytes.size());
  for (std::size_t i = 0; i < size; ++i) bytes.insert(bytes.end(), one.bytes.begin(), one.bytes.end());
  n.result(make_constant(one.type, dims, std::move(bytes)));
}

std::vector<std::int64_t> dims_of(node_context& n) {
  if (n.is_constant(0)) return n.data(0, "input").dims;
  const shape s = n.shape_of(n.moved(0));
  return {s.dim, s.dim + s.rank};
}

void fold_shape(node_context& n) {
  const auto dims = dims_of(n);
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto clamped = [&](std::int64_t a) { return std::clamp<std::int64_t>(a < 0 ? a + rank : a, 0, rank); };
  const auto from = clamped(n.integer("start", 0)), to = std::max(from, clamped(n.integer("end", rank)));
  n.result(one_axis(element::int64, std::vector<std::int64_t>(dims.begin() + from, dims.begin() + to)));
}

void fold_size(node_context& n) {
  const std::int64_t size = element_count(dims_of(n));
  n.result(make_constant(element::int64, {}, std::span(&size, 1)));
}

const folder folds_constants[] = {{"Constant", fold_constant, 1,
                                   "sparse_value>=11 value value_float>=12 value_floats>=12 value_int>=12 value_ints>=12 "
                                   "value_string>=12 value_strings>=12",
                                   "text is refused where it is read"},
                                  {"ConstantOfShape", fold_constant_of_shape, 9, "value"}};
const shape_folder folds_shapes[] = {{"Shape", fold_shape, 1, "end>=15 start>=15"}, {"Size", fold_size, 1, ""}};

}  // namespace
}  // namespace onnx2hpp
