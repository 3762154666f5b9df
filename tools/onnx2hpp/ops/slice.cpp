#include "ops/slice.hpp"

#include "ops/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace onnx2hpp {

int slice_layer(node_context& n, int x, int axis, std::int64_t start, std::int64_t count, std::int64_t step) {
  slice op;
  op.extents = n.shape_of(x);
  op.extents[axis] = count;
  op.starts[axis] = start;
  op.steps[axis] = count > 1 ? step : 1;
  return n.add(op, {x});
}

std::vector<cut> read_cuts(node_context& n, const std::vector<std::int64_t>& in) {
  const auto rank = static_cast<int>(in.size());
  std::vector<std::int64_t> starts, ends, axes, steps;
  if (n.opset() < 10) {
    starts = n.integers("starts");
    ends = n.integers("ends");
    axes = n.integers("axes");
  } else {
    starts = n.integers(1, "starts");
    ends = n.integers(2, "ends");
    if (n.given(3)) axes = n.integers(3, "axes");
    if (n.given(4)) steps = n.integers(4, "steps");
  }
  if (axes.empty())
    for (std::size_t a = 0; a < starts.size(); ++a) axes.push_back(static_cast<std::int64_t>(a));
  steps.resize(std::max(steps.size(), starts.size()), 1);
  n.require(ends.size() == starts.size() && axes.size() == starts.size() && steps.size() == starts.size(),
            "its starts, ends, axes and steps differ in number");
  std::vector<cut> out;
  for (auto extent : in) out.push_back({0, 1, extent});
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto a = static_cast<std::size_t>(n.axis(axes[i], rank));
    const std::int64_t extent = in[a], step = steps[i];
    n.require(step != 0, "it has a step of 0");
    // ONNX, Slice: negative positions count from the end, then all are clamped to what the direction can reach.
    const auto clamped = [&](std::int64_t at, std::int64_t least, std::int64_t most) {
      if (at < 0) at = at < -extent ? -1 : at + extent;
      return std::max(least, std::min(at, most));
    };
    const auto from = step > 0 ? clamped(starts[i], 0, extent) : clamped(starts[i], 0, extent - 1);
    const auto to = step > 0 ? clamped(ends[i], 0, extent) : clamped(ends[i], -1, extent - 1);
    const std::int64_t room = extent == 0 ? 0 : step > 0 ? to - from : from - to;
    // |step| as unsigned: the smallest integer has no positive counterpart.
    const auto stride = step > 0 ? static_cast<std::uint64_t>(step) : ~static_cast<std::uint64_t>(step) + 1;
    const auto count = room <= 0 ? 0 : static_cast<std::int64_t>((static_cast<std::uint64_t>(room) - 1) / stride) + 1;
    // A single element needs no step, and large ones must not overflow later.
    out[a] = {from, count > 1 ? step : 1, count};
  }
  return out;
}

namespace {

void import_slice(node_context& n) {
  const int x = n.moved(0);
  const shape in = n.shape_of(x);
  slice op;
  std::size_t a = 0;
  for (const cut& c : read_cuts(n, {in.dim, in.dim + in.rank})) {
    n.require(c.count > 0, "its output would be empty");
    op.starts[a] = c.start;
    op.steps[a++] = c.step;
    op.extents.push_back(c.count);
  }
  n.result(n.add(op, {x}));
}

void fold_slice(node_context& n) {
  const constant& c = n.data(0, "input");
  const auto cuts = read_cuts(n, c.dims);
  const auto rank = cuts.size(), width = size_of(c.type);
  std::vector<std::int64_t> dims;
  for (const cut& k : cuts) dims.push_back(k.count);
  std::vector<std::int64_t> at(rank);
  std::vector<std::byte> bytes(static_cast<std::size_t>(element_count(dims)) * width);
  for (std::size_t to = 0; to < bytes.size(); to += width) {
    std::int64_t from = 0;
    for (std::size_t a = 0; a < rank; ++a) from = from * c.dims[a] + cuts[a].start + at[a] * cuts[a].step;
    std::memcpy(bytes.data() + to, c.bytes.data() + static_cast<std::size_t>(from) * width, width);
    for (std::size_t a = rank; a-- > 0;) {
      if (++at[a] < dims[a]) break;
      at[a] = 0;
    }
  }
  n.result(make_constant(c.type, std::move(dims), std::move(bytes)));
}

const importer known_slice("Slice", import_slice, 1, "axes<10 ends<10 starts<10", "starts, ends, axes and steps constant");
const folder folds_slice("Slice", fold_slice);

}  // namespace
}  // namespace onnx2hpp
