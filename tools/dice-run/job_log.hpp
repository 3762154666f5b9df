// What mpirun, the program and the supervisor write to the job's log.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dice_run {

struct log_line {
  std::string time;  ///< as it was written, or ""
  int rank = -1;     ///< -1: mpirun, or the supervisor
  bool supervisor = false;
  std::string text;
};

/// Lines of ranks begin with "[job,RANK]<stdout>:" (mpirun's --tag-output) and, if the program has printed them, "TIME "
/// (DICE_TIMESTAMP_OUTPUT), or "TIME[job,RANK]<stdout>:" if the user has given mpirun --timestamp-output; those of the
/// supervisor begin with "TIME dice-run: ".
log_line parse_log_line(const std::string& line);

/// Why a run with these lines failed, in one line that names the host if there is one; "" if they are empty. If mpirun
/// itself failed, the line also has `mpirun_options`, those that the user added.
std::string reason_in(std::span<const std::string> lines, const std::string& mpirun_options);

/// Why the last failed run failed, in one line that names the host if there is one; "" if no run failed.
std::string failure_reason(const std::vector<std::string>& log);

/// The line with a name before it: that of the rank's host, of `starter` for mpirun, or "dice-run".
std::string named(const log_line& line, const std::vector<std::string>& host_of_rank, const std::string& starter);

}  // namespace dice_run
