// What kernels/kernel.hpp declares of each kernel, for those who compile kernels.
#pragma once

#include "dice/algorithm/table.hpp"
#include "dice/kernels/kernel.hpp"

namespace dice::kernels {

template <class Backend, class Op> void compiled<Backend, Op>::run(const task& t, const buffers& b) {
  kernel<Backend, Op>::run(t, b);
}

template <class Backend, class Op> void compiled<Backend, Op>::pack(const task& t, source from, std::byte* to) {
  constexpr bool packs = requires { kernel<Backend, Op>::pack(t, from, to); };
  static_assert(
      packs || !requires { &kernel<Backend, Op>::prepare; }, "this kernel prepares weights that nothing packs");
  if constexpr (packs) kernel<Backend, Op>::pack(t, from, to);
}

template <class Backend, class Op> algorithm::choice compiled<Backend, Op>::variant(const task& t, int number) {
  return algorithm::variant<Backend::value>(t.as<Op>(), t.inputs, t.result, number);
}

}  // namespace dice::kernels
