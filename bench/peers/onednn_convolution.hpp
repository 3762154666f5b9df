// oneDNN's implementations of a convolution of dice.
#pragma once

#include <dice/graph/graph.hpp>

#include <dnnl.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace onednn {

using dnnl::memory;

inline memory::dims dims(const dice::tensor::shape& s) { return {s.dim, s.dim + s.rank}; }

/// A float32 tensor in the layout that oneDNN prefers.
inline memory::desc any(const memory::dims& d) { return {d, memory::data_type::f32, memory::format_tag::any}; }

/// Extents of the weights of a convolution with `channels` input channels.
inline memory::dims kernel_dims(const dice::ops::conv& op, std::int64_t channels) {
  const auto oc = op.channels, g = op.group;
  if (g > 1) return {g, oc / g, channels / g, op.kernel[0], op.kernel[1]};
  return {oc, channels, op.kernel[0], op.kernel[1]};
}

/// How oneDNN can compute `op`: its own choice, or with `all` each of its implementations, including Winograd's, but plain
/// loops only if there are no others. Bias and weights are in the layouts that it prefers.
inline std::vector<dnnl::convolution_forward::primitive_desc> candidates(const dnnl::engine& engine,
                                                                         const dice::ops::conv& op,
                                                                         const memory::desc& source,
                                                                         const memory::desc& result,
                                                                         const dnnl::primitive_attr& attributes, bool all) {
  using dnnl::algorithm, dnnl::convolution_forward;
  const memory::dims strides{op.strides[0], op.strides[1]}, dilates{op.dilations[0] - 1, op.dilations[1] - 1},
      before{op.pads[0], op.pads[1]}, behind{op.pads[2], op.pads[3]};
  std::vector<convolution_forward::primitive_desc> out;
  for (const auto by : {algorithm::convolution_auto, algorithm::convolution_direct, algorithm::convolution_winograd}) {
    if (all == (by == algorithm::convolution_auto)) continue;
    try {
      const convolution_forward::desc d(dnnl::prop_kind::forward_inference, by, source,
                                        any(kernel_dims(op, source.dims()[1])), any({op.channels}), result, strides, dilates,
                                        before, behind);
      convolution_forward::primitive_desc p(d, attributes, engine);
      do
        if (!all || std::string(p.impl_info_str()).find("ref") == std::string::npos) out.push_back(p);
      while (all && p.next_impl());
    } catch (const dnnl::error&) {  // this algorithm does not support it
    }
  }
  if (all && out.empty()) return candidates(engine, op, source, result, attributes, false);
  return out;
}

}  // namespace onednn
