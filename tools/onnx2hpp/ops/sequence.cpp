// Sequences of tensors, which PyTorch's dynamo exporter writes for a Split if it does not optimise, and TorchScript for
// lists, to which a Loop appends: they exist only during the conversion.
#include "ops/layers.hpp"

#include <algorithm>

namespace onnx2hpp {

namespace {

constexpr std::int64_t longest_sequence = 256;

/// The sizes of the parts: as listed, or all `split` (but for the last one), or 1.
std::vector<std::int64_t> part_sizes(node_context& n, std::int64_t extent) {
  std::int64_t each = 1;
  if (n.given(1)) {
    auto sizes = n.integers(1, "split");
    if (n.data(1, "split").rank() > 0) return sizes;
    n.require(sizes.size() == 1 && sizes[0] > 0, "its split is not positive");
    each = std::min(sizes[0], extent);
  }
  const auto parts = (extent + each - 1) / each;
  n.require(parts <= longest_sequence, "its sequence has more than 256 tensors");
  std::vector<std::int64_t> out(static_cast<std::size_t>(parts), each);
  out.back() = extent - (parts - 1) * each;
  return out;
}

shape without(const shape& s, int axis) {
  shape out;
  for (int a = 0; a < s.rank; ++a)
    if (a != axis) out.push_back(s[a]);
  return out;
}

void import_split_to_sequence(node_context& n) {
  const int x = n.moved(0);
  const shape in = n.shape_of(x);
  const int axis = n.axis(n.integer("axis", 0), in.rank);
  const bool keep = n.integer("keepdims", 1) != 0 || n.given(1);
  value out{.is = value::kind::sequence};
  std::int64_t from = 0;
  for (const auto size : part_sizes(n, in[axis])) {
    n.require(size > 0, "one of its parts is empty");
    n.require(size <= in[axis] - from, "its parts are larger than its input");
    int part = size == in[axis] ? x : slice_layer(n, x, axis, from, size);
    if (!keep) part = reshape_layer(n, part, without(n.shape_of(part), axis));
    out.items.push_back({.is = value::kind::layer, .index = part, .holds = n.holds()});
    from += size;
  }
  n.require(from == in[axis], "its parts are smaller than its input");
  n.result(std::move(out));
}

void import_sequence_construct(node_context& n) {
  value out{.is = value::kind::sequence};
  for (int k = 0; k < n.inputs(); ++k) {
    out.items.push_back(n.any(k));
    n.require(out.items.back().is != value::kind::sequence, "it is a sequence of sequences");
  }
  n.result(std::move(out));
}

/// Input k, a position of a sequence of `size` tensors, counted from the end if negative; `otherwise` if it is left out.
std::size_t position_of(node_context& n, int k, std::size_t size, std::size_t otherwise) {
  if (!n.given(k)) return otherwise;
  const auto position = n.integers(k, "position");
  n.require(position.size() == 1, "its position is not one number");
  const auto all = static_cast<std::int64_t>(size);
  n.require(position[0] >= -all && position[0] < all, "its position is not in the sequence");
  return static_cast<std::size_t>(position[0] < 0 ? position[0] + all : position[0]);
}

void import_sequence_at(node_context& n) {
  const auto& items = n.sequence(0);
  n.require(n.given(1), "its position is left out");
  n.result(items[position_of(n, 1, items.size(), 0)]);
}

void fold_sequence_empty(node_context& n) {
  n.ignore({"dtype"});
  n.result(value{.is = value::kind::sequence});
}

/// The new tensor comes before the one at the position, or last.
void import_sequence_insert(node_context& n) {
  value out{.is = value::kind::sequence, .items = n.sequence(0)};
  const value& item = n.any(1);
  n.require(item.is != value::kind::sequence, "it makes a sequence of sequences");
  n.require(out.items.size() < longest_sequence, "its sequence has more than 256 tensors");
  const auto behind = n.given(2) && n.integers(2, "position") == std::vector{static_cast<std::int64_t>(out.items.size())};
  if (behind) out.items.push_back(item);
  else
    out.items.insert(out.items.begin() + static_cast<std::ptrdiff_t>(position_of(n, 2, out.items.size(), out.items.size())),
                     item);
  n.result(std::move(out));
}

void import_sequence_erase(node_context& n) {
  value out{.is = value::kind::sequence, .items = n.sequence(0)};
  n.require(!out.items.empty(), "its sequence is empty");
  out.items.erase(out.items.begin() +
                  static_cast<std::ptrdiff_t>(position_of(n, 1, out.items.size(), out.items.size() - 1)));
  n.result(std::move(out));
}

void import_sequence_length(node_context& n) {
  const auto size = static_cast<std::int64_t>(n.sequence(0).size());
  n.result(make_constant(element::int64, {}, std::span(&size, 1)));
}

void import_concat_from_sequence(node_context& n) {
  std::vector<int> layers;
  for (const value& v : n.sequence(0)) {
    n.require(v.is == value::kind::layer, "its sequence has constants");
    layers.push_back(n.moved(v));
  }
  n.require(!layers.empty(), "its sequence is empty");
  const bool stack = n.integer("new_axis", 0) != 0;
  const shape in = n.shape_of(layers[0]);
  const int axis = n.axis(n.integer("axis", 0), in.rank + (stack ? 1 : 0));
  if (stack) {
    shape wide;
    for (int a = 0; a <= in.rank; ++a) wide.push_back(a == axis ? 1 : in[a < axis ? a : a - 1]);
    for (int& l : layers) {
      n.require(n.shape_of(l) == in, "the tensors of its sequence differ in shape");
      l = reshape_layer(n, l, wide);
    }
  }
  n.result(layers.size() == 1 ? layers[0] : concat_layer(n, layers, axis));
}

constexpr const char* while_converting = "exists only while the model is converted; at most 256 tensors";
const importer known_sequence[] = {
    {"ConcatFromSequence", import_concat_from_sequence, 11, "axis new_axis", "becomes Concat or Reshape"},
    {"SequenceAt", import_sequence_at, 11, "", "position constant"},
    {"SequenceConstruct", import_sequence_construct, 11, "", while_converting},
    {"SequenceErase", import_sequence_erase, 11, "", "position constant"},
    {"SequenceInsert", import_sequence_insert, 11, "", "position constant; at most 256 tensors"},
    {"SequenceLength", import_sequence_length, 11, ""},
    {"SplitToSequence", import_split_to_sequence, 11, "axis keepdims", "split constant; becomes Slice, Reshape"}};

const folder folds_sequence_empty("SequenceEmpty", fold_sequence_empty, 11, "dtype", while_converting);

}  // namespace
}  // namespace onnx2hpp
