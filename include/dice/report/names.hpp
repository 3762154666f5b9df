// How reports name units, layers and groups of layers.
#pragma once

#include "dice/placement/text/write.hpp"
#include "dice/runtime/program.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace dice::report {

/// "cpu", "cores<0, 1>", "threads<4>", "gpu", "gpu_at<1>", "gpu, precision<fp16>".
inline std::string unit_text(const runtime::program& p, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  const auto u = r < p.units.size() ? p.units[r] : platform::unit{};
  const auto in = placement::precision_text(u.precision);
  return placement::unit_text(u, r < p.cores.size() ? p.cores[r] : std::span<const int>(), "") +
         (in.empty() ? "" : ", precision<" + std::string(in) + ">");
}

/// "conv1+add1+relu1": the layers of fusion group `g`.
inline std::string group_text(const runtime::program& p, std::size_t g) {
  const auto& group = p.plan.groups[g];
  std::string out;
  for (int l : group.layers())
    if (l >= 0) out += (out.empty() ? "" : "+") + std::string(p.layers.layers[l].name);
  return out;
}

/// Ids owned by `rank`, ascending.
inline std::vector<int> layers_of(const runtime::program& p, int rank) {
  std::vector<int> out;
  for (std::size_t l = 0; l < p.plan.owner.size(); ++l)
    if (p.plan.owner[l] == rank) out.push_back(static_cast<int>(l));
  return out;
}

/// "conv1 … pool3, fc1": runs of ids that follow each other.
[[gnu::cold]] inline std::string runs_text(const runtime::program& p, const std::vector<int>& ids) {
  const auto name = [&](int l) { return std::string(p.layers.layers[l].name); };
  constexpr int most = 6;
  std::string out;
  int runs = 0;
  for (std::size_t i = 0, j; i < ids.size(); i = j) {
    for (j = i + 1; j < ids.size() && ids[j] == ids[j - 1] + 1;) ++j;
    if (++runs > most) return out + ", …";
    out += (out.empty() ? "" : ", ") + name(ids[i]);
    if (j - i > 1) out += (j - i > 2 ? " … " : ", ") + name(ids[j - 1]);
  }
  return out;
}

}  // namespace dice::report
