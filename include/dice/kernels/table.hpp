#pragma once

#include "dice/cost/cost.hpp"
#include "dice/kernels/kernel.hpp"

#include <type_traits>

namespace dice::kernels {

/// Whether `Backend` can compute the fusion group `Group`.
template <class Backend, class Group>
concept computes = has_kernel<Backend, std::remove_cvref_t<decltype(Group::anchor::op)>>;

/// The functions of `Group` in `Backend`; `pack` is null when the kernel reads the weights as they lie in the file.
template <class Backend, class Group>
requires computes<Backend, Group>
constexpr entry entry_for() {
  using group_kernel = kernel<Backend, std::remove_cvref_t<decltype(Group::anchor::op)>>;
  entry e{.run = &group_kernel::template run<Group>};
  if constexpr (cost::choose<Backend::value>(Group::anchor::op, Group::inputs, Group::anchor::result).packed_bytes > 0)
    e.pack = &group_kernel::template pack<Group>;
  if constexpr (constexpr int n = cost::variants<Backend::value>(Group::anchor::op, Group::inputs); n > 1) {
    e.variants = n;
    e.variant = [](int number) {
      return cost::variant<Backend::value>(Group::anchor::op, Group::inputs, Group::anchor::result, number);
    };
  }
  return e;
}

}  // namespace dice::kernels
