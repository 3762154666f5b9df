#pragma once

#include "dice/cost/cost.hpp"
#include "dice/kernels/kernel.hpp"

#include <type_traits>

namespace dice::kernels {

/// Whether this program has the kernels of `Backend`. Without, it may have a plan in which other hosts compute by them
/// (DICE_CUDA=ELSEWHERE).
#ifdef DICE_WITH_CUDNN
template <class Backend> inline constexpr bool is_here = true;
#else
template <class Backend> inline constexpr bool is_here = !cost::is_cudnn(Backend::value);
#endif

/// Whether `Backend` can compute the fusion group of anchor `Op`, as far as is known here.
template <class Backend, class Op>
concept computes = !is_here<Backend> || has_kernel<Backend, Op>;

/// The functions of `Group` in `Backend`, none if it is not here; `pack` is null when the kernel reads the weights as they
/// lie in the file.
template <class Backend, class Group>
requires computes<Backend, std::remove_cvref_t<decltype(Group::anchor::op)>>
constexpr entry entry_for() {
  entry e;
  if constexpr (is_here<Backend>) {
    using group_kernel = kernel<Backend, std::remove_cvref_t<decltype(Group::anchor::op)>>;
    e.run = &group_kernel::template run<Group>;
    if constexpr (cost::choose<Backend::value>(Group::anchor::op, Group::inputs, Group::anchor::result).packed_bytes > 0)
      e.pack = &group_kernel::template pack<Group>;
    if constexpr (constexpr int n = cost::variants<Backend::value>(Group::anchor::op, Group::inputs); n > 1) {
      e.variants = n;
      e.variant = [](int number) {
        return cost::variant<Backend::value>(Group::anchor::op, Group::inputs, Group::anchor::result, number);
      };
    }
  }
  return e;
}

}  // namespace dice::kernels
