// What commands about a running job share.
#pragma once

#include "signals.hpp"
#include "site.hpp"

#include <functional>

namespace dice_run {

struct start_options {
  std::string from{};  ///< the host that starts the job, or ""
  int restarts = 0;
  bool foreground = false;
  bool waits = true;    ///< until a frame has come out
  double timeout = 60;  ///< seconds for that
  words program{};      ///< its options
};

/// Starts the job on all hosts of the version that is deployed. Returns the exit code; throws run_error if it is not begun.
int start(const site& s, const start_options& opts);

/// Runs the job with these options and waits for its end; rank 0 writes the files of `fetched`, which come to this machine:
/// names on the host and here. What the job printed is returned, and written to `page_file`, unless that is "". Throws
/// run_error if it fails; then none of the files are written.
std::string run_and_fetch(const site& s, const words& options,
                          const std::vector<std::pair<std::string, std::string>>& fetched,
                          const std::string& page_file = {});

/// Why the job's last failed run did so, from its log on `host`, or "".
std::string reason_on(const site& s, const std::string& host);

/// Prints the last `lines` lines of the log on `host`, with the names from the job's `host_of_rank`. With `follows`, also
/// prints new lines, until the job ends or `follows` returns false.
void print_log(const site& s, const std::string& host, const words& host_of_rank, int lines,
               const std::function<bool()>& follows = {});

/// Ends the job and all its processes on all hosts, including those that are `known` to have it. Returns the exit code.
int stop_job(const site& s, const words& known = {});

/// Throws run_error unless all hosts answer, have the same version, and run nothing of the deployment. Returns what is
/// deployed.
deployment require_ready(const std::vector<host_state>& all, const site& s);

}  // namespace dice_run
