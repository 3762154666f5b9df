// The list of transports. A new one is its folder and a line here.
#pragma once

#include "dice/channels/in_process/transport.hpp"
#include "dice/channels/mpi/transport.hpp"
#include "dice/channels/transport.hpp"
#include "dice/channels/transport_info.hpp"

#include <algorithm>
#include <array>

namespace dice::channels {

/// All transports, including those that this build lacks. If a user leaves the choice to dice, it takes the first that this
/// build has.
inline constexpr std::array<const transport_info*, 2> transports{&mpi::about, &in_process::about};

/// `id` is not transport::automatic.
constexpr const transport_info& info_of(transport id) {
  return **std::find_if(transports.begin(), transports.end(), [=](const auto* t) { return t->id == id; });
}

/// How a launcher started this process.
[[gnu::cold]] inline launch launched() {
  for (const auto* t : transports)
    if (t->launched) {
      auto found = t->launched();
      if (found.size > 0 || found.rank > 0) return found.by = t, found;
    }
  return {};
}

/// The transport for a user's choice: if that is automatic, or not in this build, the first one that this build has.
constexpr const transport_info& chosen(transport wanted) {
  if (wanted != transport::automatic && info_of(wanted).available()) return info_of(wanted);
  return **std::find_if(transports.begin(), transports.end(), [](const auto* t) { return t->available(); });
}

/// The launcher of this process, or that of the first transport that has one.
[[gnu::cold]] inline const launcher& usual_launcher() {
  if (const auto* by = launched().by) return by->started_by;
  return (*std::find_if(transports.begin(), transports.end(), [](const auto* t) { return t->processes; }))->started_by;
}

}  // namespace dice::channels
