// Defines what kernels/kernel.hpp declares for each kernel; included where kernels are compiled.
#pragma once

#include "dice/algorithm/table.hpp"
#include "dice/kernels/kernel.hpp"

namespace dice::kernels {

/// Runs the kernel of Op.
template <class Backend, class Op> [[gnu::always_inline]] inline void run_kernel(const task& t, const buffers& b) {
  using own = kernel<Backend, Op>;
  typename own::execution x(t, b);
  own::compute(t.as<typename own::op_type>(), t.inputs, t.result, x.call, x.finish);
}

template <class Backend, class Op> void compiled<Backend, Op>::run(const task& t, const buffers& b) {
  run_kernel<Backend, Op>(t, b);
}

template <class Backend, class Op> void compiled<Backend, Op>::pack(const task& t, parameter_list all, std::byte* to) {
  using own = kernel<Backend, Op>;
  const auto& op = t.as<typename own::op_type>();
  const floats from(all.data());
  if constexpr (requires { own::prepare(op, t.inputs, t.result, t.how.variant, from, to); })
    own::prepare(op, t.inputs, t.result, t.how.variant, from, to);
}

template <class Backend, class Op> algorithm::choice compiled<Backend, Op>::variant(const task& t, int number) {
  return algorithm::variant<Backend::value>(t.as<Op>(), t.inputs, t.result, number);
}

}  // namespace dice::kernels
