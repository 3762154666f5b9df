// The last check of a mapping, which needs the kernels: every fusion group has one in its rank's backend.
#pragma once

#include "dice/app/check_kernels.hpp"
#include "dice/app/layer_tables.hpp"
#include "dice/mapping/error.hpp"
#include "dice/schedule/check.hpp"

#include <algorithm>
#include <type_traits>

namespace dice::app {

namespace detail {

constexpr bool is_gpu(const platform::device& d) { return d.on.on() == platform::processor::gpu; }

/// Whether a rank of right mapping Map computes on a GPU.
template <class Net, class Map>
inline constexpr bool has_gpus = std::any_of(placement::of<Net, Map>.devices.begin(), placement::of<Net, Map>.devices.end(),
                                             is_gpu);

}  // namespace detail

/// The layers of Net for mappings at run time: on GPUs only if right mapping Map is so, or the program would need CUDA.
template <class Net, class Map>
inline constexpr const auto& layer_tables_for = layer_tables_of<Net, detail::has_gpus<Net, Map>>;

/// A null pointer to a function whose return type is the named error for the mapping's first mistake, or int if it has none.
template <class Net, class Map> consteval auto verdict() {
  if constexpr (!std::is_same_v<decltype(schedule::verdict<Net, Map>()()), int>) return schedule::verdict<Net, Map>();
  else if constexpr (constexpr auto f = check_kernels(schedule::plan_of<Net, Map>, placement::of<Net, Map>.devices,
                                                      layer_tables_for<Net, Map>);
                     f)
    return static_cast<error::layer_without_kernel<typename Net::template layer<f.number>,
                                                   remedy::run_it_on_a_unit_whose_backend_has_this_operator> (*)()>(nullptr);
  else return static_cast<int (*)()>(nullptr);
}

/// Whether mapping Map is right for network Net.
template <class Net, class Map>
concept right = std::is_same_v<decltype(verdict<Net, Map>()()), int>;

}  // namespace dice::app
