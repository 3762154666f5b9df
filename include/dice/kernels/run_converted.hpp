// A kernel on tensors that lie in other layouts than it works in: what the steps of a plan do, as one call, for measurements
// and tests.
#pragma once

#include "dice/kernels/kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dice::kernels {

namespace detail {

/// The layout in which the kernel wants the k-th of buffers::inputs.
constexpr tensor::layout wanted(const task& t, std::size_t k) {
  return k < t.inputs.size() ? t.how.reads(t.output.layout) : t.how.writes(t.output.layout);
}
constexpr const tensor::shape& shape_of(const task& t, std::size_t k) {
  return k < t.inputs.size() ? t.inputs[k] : t.result;
}
/// Bytes of a copy of a tensor that must be converted; else 0.
constexpr std::int64_t copy_bytes(const task& t, const tensor::shape& s, tensor::layout from, tensor::layout to) {
  if (!t.how.converts || !algorithm::must_convert(s, from, to)) return 0;
  return (tensor::bytes(s, tensor::storage{to}) + 63) / 64 * 64;
}

}  // namespace detail

/// Bytes of memory that run_converted() needs for copies. `written`: the shape of what the group writes.
constexpr std::int64_t converted_bytes(const task& t, const tensor::shape& written) {
  auto bytes = detail::copy_bytes(t, written, t.output.layout, t.how.writes(t.output.layout));
  for (std::size_t k = 0; k < t.inputs.size() + t.residual; ++k)
    bytes += detail::copy_bytes(t, detail::shape_of(t, k), t.input(k).layout, detail::wanted(t, k));
  return bytes;
}

/// Runs a kernel on the tensors of `b`, which lie as task::stored and task::output say, with copies in `memory`, 64-byte
/// aligned.
inline void run_converted(const functions& by, const task& t, const tensor::shape& written, const buffers& b,
                          converter convert, std::byte* memory) {
  if (!t.how.converts) return by.run(t, b);
  std::vector<const void*> inputs(b.inputs, b.inputs + t.inputs.size() + t.residual);
  std::vector<tensor::storage> stored;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const auto& s = detail::shape_of(t, k);
    auto as = t.input(k);
    if (const auto bytes = detail::copy_bytes(t, s, as.layout, detail::wanted(t, k)); bytes > 0) {
      const tensor::storage to{detail::wanted(t, k)};
      convert({s, as, to}, inputs[k], memory);
      inputs[k] = memory;
      as = to;
      memory += bytes;
    }
    stored.push_back(as);
  }
  auto what = t;
  what.stored = stored;
  auto at = b;
  at.inputs = inputs.data();
  const bool converts = detail::copy_bytes(t, written, t.output.layout, t.how.writes(t.output.layout)) > 0;
  if (converts) {
    what.output = {t.how.writes(t.output.layout)};
    at.output = memory;
  }
  by.run(what, at);
  if (converts) convert({written, what.output, t.output}, memory, b.output);
}

}  // namespace dice::kernels
