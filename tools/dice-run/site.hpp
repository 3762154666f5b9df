// The folder of a deployment on its hosts, and its state there. docs/dice-run-hosts.md lists the files.
#pragma once

#include "commands.hpp"
#include "packages.hpp"
#include "remote.hpp"

#include <atomic>
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
  bool planned = true;            ///< the packages here have it; otherwise an earlier deployment had it
  std::string failure;            ///< not reached, or else not able to answer; then all else is empty
  std::string current, previous;  ///< versions, or ""
  words of_previous;              ///< the hosts of the previous version, if its files say so
  words of_current;               ///< the same of the current one,
  words rank_hosts;               ///< and the host of each of its ranks
  words members;                  ///< all hosts that may have something of the deployment
  std::vector<host_process> processes;
  long long clock = 0;                               ///< seconds since 1970
  long long uptime = 0;                              ///< seconds since it was started
  double now = 0;                                    ///< the same, exactly
  long last_number = 0;                              ///< of the last job that it knows of
  std::string last_starter;                          ///< its starting host
  std::map<std::string, std::string> job;            ///< of the last job that this host has started itself
  bool supervised = false;                           ///< a job's supervisor runs here, or bench or measure
  bool reports_status = false;                       ///< the current version's program says how its job is,
  std::string status;                                ///< as JSON: that of the last job whose rank 0 is here, or ""
  long status_number = 0;                            ///< and its number
  std::string of_job(const std::string& key) const;  ///< its value in `job`, or ""
  long number() const;                               ///< of this job
  words job_rank_hosts() const;                      ///< the host of each of its ranks, if `job` says so
  bool is_empty() const { return current.empty() && previous.empty() && processes.empty() && !supervised; }
};

/// The last job, as far as it is known.
struct last_job {
  long number = 0;                 ///< 0: none was started
  std::string starter;             ///< its starting host
  const host_state* on = nullptr;  ///< what this host says about it; nullptr: it is not reached, or never began the job
  bool began = true;
};

class site {
 public:
  explicit site(const common_options& common);
  /// With hosts of another kind, and a token of this dice-run that is unlike all others.
  site(deployment plan, std::string folder, std::unique_ptr<remote> hosts, std::string token);

  deployment plan;
  std::string folder;  ///< the same on all hosts
  std::string job;     ///< names the job of this deployment: its processes have it in their environment
  std::string token;   ///< of this dice-run: what locks the hosts, and what is fenced there
  std::unique_ptr<remote> hosts;

  /// Scripts begin with `prelude`, and their arguments with those that it takes.
  outcome run(const std::string& host, const std::string& script, const words& arguments = {}) const;
  std::vector<outcome> run_all(const words& hosts, const std::string& script, const words& arguments = {}) const;
  std::vector<outcome> run_all(const words& hosts, const std::string& script,
                               const std::function<words(std::size_t)>& arguments) const;
  static std::string with_prelude(const std::string& script);
  words with_place(words arguments) const;

  /// Asks the hosts of the plan and those of `also`, then the hosts that they name, and so on, except those that are
  /// `left_out`. The hosts of the plan come first, in its order.
  std::vector<host_state> survey(const words& left_out = {}, const words& also = {}) const;
  static last_job job_of(const std::vector<host_state>& all);
  /// What `start` starts: the packages here, or, if no host has their version, the hosts' own version: its hosts and their
  /// ranks, as the hosts report them.
  deployment deployed(const std::vector<host_state>& all) const;
  /// The packages' name and version, for messages.
  std::string title() const;

 private:
  mutable std::atomic<long> calls_ = 0;  ///< of scripts: each has a number, by which hosts recognise those that come late
};

}  // namespace dice_run
