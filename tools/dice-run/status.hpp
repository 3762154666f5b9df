// What is known about the last job.
#pragma once

#include "live_status.hpp"
#include "site.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dice_run {

struct job_report {
  std::string host;     ///< that starts it
  std::string phase;    ///< as in docs/dice-run-hosts.md
  std::string version;  ///< "" if its record is damaged or not reached
  std::string reason;   ///< of its last failure, or ""
  long number = 0;
  long long since = 0, now = 0, ended = 0;  ///< by the clock of its host, in seconds since 1970
  int restarts = 0, allowed = 0, exit = -1;
  std::optional<live_status> live{};  ///< what it says of itself, if it runs
};

/// Nothing if no job was started. `all`: the result of a survey.
std::optional<job_report> report_job(const site& s, const std::vector<host_state>& all);

}  // namespace dice_run
