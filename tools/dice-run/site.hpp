// A deployment's place on its hosts, and what is found there:
//   FOLDER/NAME                        a link to the current version
//   FOLDER/.dice-run/NAME/VERSION/     a version; VERSION.part: not yet complete
//   FOLDER/.dice-run/NAME/previous     a link to the version before
//   FOLDER/.dice-run/NAME/lock         a link that names who deploys now
//   FOLDER/.dice-run/NAME/job/         of the starting host's last job: log, log.1 (of the job before), state, supervise
#pragma once

#include "commands.hpp"
#include "packages.hpp"
#include "remote.hpp"

#include <map>
#include <optional>

namespace dice_run {

/// A process of the deployment.
struct host_process {
  int pid = 0;
  double cpu_seconds = 0;
  long kilobytes = 0;    ///< in memory
  std::string program;   ///< its file's name
  bool is_rank = false;  ///< runs the deployment's program
};

/// What one host says about the deployment.
struct host_state {
  std::string host;
  std::string failure;            ///< not reached, or else not able to answer; then all else is empty
  std::string current, previous;  ///< versions, or ""
  std::vector<host_process> processes;
  long long clock = 0;                               ///< seconds since 1970
  std::map<std::string, std::string> job;            ///< the file job/state, if this host has started the last job
  bool supervised = false;                           ///< the job's supervisor runs
  std::string of_job(const std::string& key) const;  ///< its value in `job`, or ""
};

class site {
 public:
  explicit site(const common_options& common);

  deployment plan;
  std::string folder;  ///< the same on all hosts
  std::string job;     ///< names the job in the command lines of its processes
  remote hosts;

  /// Scripts begin with `prelude`, and their arguments with those that it takes.
  outcome run(const std::string& host, const std::string& script, const words& arguments = {}) const;
  std::vector<outcome> run_all(const std::string& script, const words& arguments = {}) const;
  std::vector<outcome> run_all(const std::string& script, const std::function<words(std::size_t)>& arguments) const;
  static std::string with_prelude(const std::string& script);
  words with_place(words arguments) const;

  std::vector<host_state> survey() const;
  /// The state of the host that has started the last job, or nullptr.
  static const host_state* job_of(const std::vector<host_state>& all);
  /// The packages' name and version, for messages.
  std::string title() const;
};

}  // namespace dice_run
