// The layers of a network alone, as values: what mappings at run time need.
#pragma once

#include "dice/app/backends.hpp"
#include "dice/cost/table.hpp"
#include "dice/kernels/cudnn/open.hpp"
#include "dice/kernels/table.hpp"
#include "dice/model/network.hpp"
#include "dice/runtime/program.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace dice::app {

namespace detail {

/// A layer computed alone by backend B; its pack is there if one of the two ways has something to pack.
template <cost::backend B, class Op>
constexpr kernels::entry alone(const Op& op, graph::shapes in, const tensor::shape& result, const cost::algorithm& chosen,
                               const cost::algorithm& smallest) {
  if constexpr (kernels::computes<kernels::tag<B>, Op>)
    return kernels::entry_for<kernels::tag<B>>(op, in, result, chosen.packed_bytes ? chosen : smallest);
  else return {.variants = 0};
}

template <class Net, cost::backend B>
inline constexpr std::array<kernels::entry, Net::size> kernels_of = []<int... Id>(std::integer_sequence<int, Id...>) {
  return std::array<kernels::entry, Net::size>{alone<B>(Net::template layer<Id>::op, graph::view_of<Net>.operands(Id),
                                                        Net::template layer<Id>::result, cost::algorithms<Net, B>[Id],
                                                        cost::smallest_algorithms<Net, B>[Id])...};
}
(std::make_integer_sequence<int, Net::size>{});

template <class Net> inline constexpr auto parameters_of = []<int... Id>(std::integer_sequence<int, Id...>) {
  return std::array{std::span<const graph::parameter>(Net::template layer<Id>::parameters)...};
}
(std::make_integer_sequence<int, Net::size>{});

/// The function that opens the GPU of a rank.
constexpr auto opener() -> decltype(runtime::program::open) {
#ifdef DICE_WITH_CUDNN
  return &kernels::gpu::open;
#else
  return &open_no_gpu;
#endif
}

template <class Net, bool Gpus> consteval runtime::layer_tables tabulate_layers() {
  runtime::layer_tables out{.algorithms = cost::every_table<Net, Gpus>, .parameters = parameters_of<Net>};
  const auto add = [&]<cost::backend... B>() { ((out.kernels[static_cast<std::size_t>(B)] = kernels_of<Net, B>), ...); };
  add.template operator()<cost::backend_of({})>();
  if constexpr (Gpus) {
    add.template operator()<cost::backend::cudnn, cost::backend::cudnn_fp16, cost::backend::cudnn_bf16>();
    out.open = opener();
  }
  return out;
}

}  // namespace detail

/// The tables of network Net; without `Gpus` they refer to nothing of CUDA's.
template <class Net, bool Gpus>
inline constexpr runtime::layer_tables layer_tables_of = detail::tabulate_layers<Net, Gpus>();

}  // namespace dice::app
