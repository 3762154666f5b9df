// What a running job says of itself (dice/job/status.hpp).
#pragma once

#include "site.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dice_run {

/// Numbers below 0 are not known; nor are temperatures that are no_temperature.
struct live_rank {
  static constexpr double no_temperature = -300;
  std::string host{};
  double stage_ms = -1, busy = -1, temperature_c = no_temperature, silent_s = -1;
};
struct live_status {
  std::string phase{};  ///< joining, preparing, waiting, running, ending
  double age_s = 0;     ///< since it was said
  double running_s = 0;
  long long entered = 0, answered = 0, read = 0, dropped = 0, source_restarts = 0;
  double frames_per_second = 0, median_ms = 0, p95_ms = 0;
  double last_frame_s = -1;
  std::vector<live_rank> ranks{};
};

/// The status of the job with this number, if a host has it: the newest. `all`: the result of a survey.
std::optional<live_status> live_status_of(const std::vector<host_state>& all, long number);

/// "frames: 1800 answered, 3 dropped; 29.9 frames/s now; latency median 41.2 ms, p95 55.0 ms; the last one 0.1 s ago", and
/// lines about what is wrong: no frame for long, ranks that say nothing.
std::string live_text(const live_status& s);

/// Why no frame has come out of a job that has run for `limit` seconds: for each host. `missing`: hosts without all of their
/// processes.
std::vector<std::string> why_no_frame(const std::optional<live_status>& s, const words& missing, double limit);

}  // namespace dice_run
