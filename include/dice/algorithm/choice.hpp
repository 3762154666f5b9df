#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/meta/view.hpp"
#include "dice/tensor/layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace dice::algorithm {

/// Version of the forms in which the kernels of all backends pack weights: incremented whenever one of them writes different
/// bytes for the same algorithm, so that older files of packed weights are rejected (test/kernels/packed_test.cpp notices).
inline constexpr int packed_form = 1;

/// The layouts in which a kernel reads its operands and writes its result, for tensors that have a blocked layout.
enum class form : std::uint8_t {
  plain,    ///< all plain
  blocked,  ///< all blocked
  first,    ///< plain operands, blocked result: convolutions of a few channels
  either,   ///< one layout for all, that of the result
};

/// How a backend computes one fusion group, as a value: what the plan must know about it.
struct choice {
  std::int64_t packed_bytes = 0;   ///< weights in the form that the kernel reads; 0: it reads the plain file in place
  std::int64_t scratch_bytes = 0;  ///< working memory in the arena during the step, for any number of threads
  form works = form::plain;
  bool converts = false;   ///< its backend converts operands and results of the other layout, as steps of the plan
  int variant = 0;         ///< the kernel's own number for the chosen algorithm
  bool pools_2x2 = false;  ///< can end with the largest of each 2 × 2 results (graph::fusion)
  bool pitched = false;    ///< can read and write bands of rows of larger tensors (kernels::task::output_pitch)
  /// Rows and columns of results that are computed from one another's products: a part of a layer has the same results as
  /// the whole if it begins at multiples of them.
  std::array<std::int8_t, 2> tile{1, 1};
  /// Rows and columns of results that are computed one after the other: a region of the result that begins at multiples of
  /// them can be computed by itself (kernels::buffers::part), in about as much time as within the whole. 0: no region can.
  std::array<std::int16_t, 2> block{0, 0};

  /// Layout in which the kernel reads operands and the residual's operand, for a result that is stored in layout `stored`.
  constexpr tensor::layout reads(tensor::layout stored) const {
    if (works == form::either) return stored;
    return works == form::blocked ? tensor::layout::blocked : tensor::layout::plain;
  }
  constexpr tensor::layout writes(tensor::layout stored) const {
    if (works == form::either) return stored;
    return works == form::plain ? tensor::layout::plain : tensor::layout::blocked;
  }
  /// Whether the output, a tensor of shape `s` stored in layout `stored`, may be a band of the rows of a larger tensor; and
  /// whether an operand of that shape, stored in layout `is`, or the residual's, may be one. Tensors that are converted may
  /// not be bands.
  constexpr bool writes_pitched(const tensor::shape& s, tensor::layout stored) const {
    return pitched && tensor::has_blocks(s) && writes(stored) == stored;
  }
  constexpr bool reads_pitched(const tensor::shape& s, tensor::layout is, tensor::layout stored) const {
    return pitched && tensor::has_blocks(s) && reads(stored) == is;
  }
  constexpr bool adds_pitched(const tensor::shape& s, tensor::layout is, tensor::layout stored) const {
    return pitched && tensor::has_blocks(s) && writes(stored) == is;
  }
};

/// How each method computes the layers of a network as the anchors of groups, by id; empty for backends that are not used.
struct tables {
  by_method<meta::view<choice>> chosen{};
  by_method<meta::view<choice>> smallest{};  ///< with the smallest weights or working memory
  by_method<meta::view<choice>> direct{};    ///< for devices with direct_convolutions
};

/// Whether a tensor of shape `s` in layout `from` must be converted for a kernel that wants layout `to`.
constexpr bool must_convert(const tensor::shape& s, tensor::layout from, tensor::layout to) {
  if (from == to || !tensor::has_blocks(s)) return false;
  return s[0] != 1 || s.product(2, s.rank) != 1 || s[1] % tensor::block != 0;  // else both layouts are the same
}

}  // namespace dice::algorithm
