// Convolution. A program compiles what its layers may need: the algorithms differ by kind of layer, and --tune has all that
// a layer can have.
#pragma once

#include "dice/kernels/openmp/detail/base.hpp"
#include "dice/kernels/openmp/detail/direct.hpp"
#include "dice/kernels/openmp/detail/winograd.hpp"

#include <array>
#include <cstddef>

namespace dice::kernels {

namespace host {

/// Convolutions of one kind. Height × Width is the window of those that Winograd's algorithm has sizes for, else 0 × 0.
template <direct_kind Kind, int Height, int Width>
struct convolution_kernel : thin<convolution_kernel<Kind, Height, Width>, true, converted> {
  static constexpr bool winograd = Height > 0;

  /// `variant`: the size of Winograd's algorithm (cost::winograd), 0 for the direct convolution.
  static void prepare(const ops::conv& op, graph::shapes in, const tensor::shape& result, int variant, source from,
                      std::byte* to) {
    if constexpr (winograd)
      if (variant > 0)
        return transform_weights<Height, Width>({variant, op, in[0], result}, from, op.bias, reinterpret_cast<float*>(to));
    prepare_direct(op, {op, in[0], result}, from, reinterpret_cast<float*>(to));
  }
  static void compute(const ops::conv& op, graph::shapes in, const tensor::shape& result, const call& c, const epilogue& e) {
    if constexpr (winograd)
      if (const int variant = c.how->variant; variant > 0)
        return convolve<Height, Width>({variant, op, in[0], result}, c, e);
    direct<Kind>({op, in[0], result}, c, e);
  }
};

/// Calls f with the kernel of this convolution, whose shapes are known at run time only: all kinds are compiled.
template <class F> void with_kernel(const ops::conv& op, graph::shapes in, const tensor::shape& result, const F& f) {
  const auto kind = kind_of({op, in[0], result});
  if (kind == direct_kind::plain) return f(convolution_kernel<direct_kind::plain, 0, 0>());
  if (kind == direct_kind::depthwise) return f(convolution_kernel<direct_kind::depthwise, 0, 0>());
  const auto is = [&]<int Height, int Width>(const convolution_kernel<direct_kind::blocked, Height, Width>& kernel) {
    const bool found = op.kernel == std::array{Height, Width};
    if (found) f(kernel);
    return found;
  };
  const auto among = [&](auto... kernels) { return (is(kernels) || ...); };
  using enum direct_kind;
  if (cost::winograd::sizes(op, in[0]) == 0 ||
      !among(convolution_kernel<blocked, 3, 3>(), convolution_kernel<blocked, 5, 5>(), convolution_kernel<blocked, 1, 7>(),
             convolution_kernel<blocked, 7, 1>(), convolution_kernel<blocked, 1, 3>(), convolution_kernel<blocked, 3, 1>()))
    f(convolution_kernel<blocked, 0, 0>());
}

}  // namespace host

template <> struct kernel<openmp, ops::conv> : host::base<ops::conv> {
  template <class Group> static void run(const call& c) { of<Group>::template run<Group>(c); }
  template <class Group> static void pack(int variant, source from, std::byte* to) {
    of<Group>::template pack<Group>(variant, from, to);
  }

  // Both only for tests and benchmarks, hence templates.
  static constexpr auto prepare = [](const auto& op, graph::shapes in, const tensor::shape& result, int variant, source from,
                                     std::byte* to) {
    host::with_kernel(op, in, result, [&](auto kernel) { kernel.prepare(op, in, result, variant, from, to); });
  };
  template <class Op>
  static void compute(const Op& op, graph::shapes in, const tensor::shape& result, const call& c,
                      const detail::epilogue& e) {
    host::with_kernel(op, in, result, [&](auto kernel) { kernel.compute(op, in, result, c, e); });
  }

 private:
  template <class Group> static constexpr auto choose() {
    constexpr auto& op = Group::anchor::op;
    constexpr bool winograd = cost::winograd::sizes(op, Group::inputs[0]) > 0;
    return host::convolution_kernel < host::kind_of({op, Group::inputs[0], Group::anchor::result}),
           winograd ? op.kernel[0] : 0, winograd ? op.kernel[1] : 0 > ();
  }
  template <class Group> using of = decltype(choose<Group>());
};

}  // namespace dice::kernels
