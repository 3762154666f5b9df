#pragma once

#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

namespace dice::this_host {

inline constexpr std::int64_t no_temperature = std::numeric_limits<std::int64_t>::min();

/// The highest temperature of the host's thermal zones, in thousandths of a degree Celsius; no_temperature if it has none.
/// `zones`: the kernel's files without their number.
inline std::int64_t temperature(const std::string& zones = "/sys/class/thermal/thermal_zone") {
  auto highest = no_temperature;
  for (int i = 0;; ++i) {
    std::ifstream in(zones + std::to_string(i) + "/temp");
    if (!in) return highest;
    // Zones of devices that are off say 0 or less.
    if (std::int64_t value = 0; in >> value && value > 0 && value < 200'000 && value > highest) highest = value;
  }
}

}  // namespace dice::this_host
