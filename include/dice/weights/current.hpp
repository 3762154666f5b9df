// Packed weights beside the program, and a weights file that was brought later.
#pragma once

#include "dice/files/error.hpp"
#include "dice/graph/network.hpp"
#include "dice/weights/file.hpp"
#include "dice/weights/packed.hpp"
#include "dice/weights/search.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace dice::weights {

/// Throws files::error if `packed`, which nobody named, and the weights file that would be read without it are of different
/// trainings: new weights have come, and `packed` is old. Returns a warning about a weights file that cannot be read, or "".
[[gnu::cold]] inline std::string require_current(const packed_file& packed, std::string_view network,
                                                 const graph::weights_file& wanted, std::string_view build_folder) {
  std::string looked;
  const auto path = find_plain(wanted, build_folder, looked);
  if (path.empty()) return {};
  std::optional<file> plain;
  try {
    plain.emplace(path, network, wanted);
  } catch (const files::error& e) {
    return std::string("reads packed weights, because ") + e.what();
  }
  packed.require_weights_of(*plain);
  return {};
}

}  // namespace dice::weights
