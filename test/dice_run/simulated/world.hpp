// Hosts in memory, the dice-runs that reach them, and what happens to both: who goes on next is drawn, and so is what fails.
#pragma once

#include "fiber.hpp"
#include "host.hpp"

#include "remote.hpp"
#include "site.hpp"

#include <list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace simulated {

using dice_run::outcome;
using dice_run::words;

/// A dice-run, from its start to its end. `is_stopped`: as by SIGSTOP, or because the lid of its machine is closed.
struct caller {
  std::string token, command;
  bool is_stopped = false, is_killed = false, has_ended = false;
  long began = 0, ended = 0;  ///< in steps of the world
  std::vector<std::string> said;
  /// The hosts that it has locked, with their current and previous versions then.
  std::map<std::string, std::pair<std::string, std::string>> locked;
  std::map<std::string, long> locked_at;  ///< in steps
};

/// A script on a host, and the connection over which a dice-run has started it.
struct call {
  std::shared_ptr<caller> from;
  std::string host, script;
  outcome result;
  int actor = 0;
  bool has_ended = false, is_cut = false, input_is_closed = false, holds = false;
};

/// A job, or bench: what is true of it, whatever the host's files say.
struct job {
  long number = 0;
  std::string host, version;
  std::shared_ptr<caller> by;
  long born = 0, died = 0;                             ///< in steps; died 0: lives
  std::string end = "killed";                          ///< or how its supervisor has ended
  std::string truth = {};                              ///< starting, running, waiting
  std::vector<std::pair<long, std::string>> was = {};  ///< truths before, each with the step in which it ended
};

/// How likely things are, in thousandths of all steps.
struct chances {
  int cut = 0, kill = 0, stop = 0, leave = 0, power = 0, fill = 0, clock = 0, kill_script = 0;
  int slow = 150;  ///< of what begins, most others go before it
  int late = 0;    ///< of scripts, the connection is cut, and they begin at any time
};

class world {
 public:
  explicit world(unsigned seed, chances likely = {});
  world(const world&) = delete;
  ~world();

  std::map<std::string, host> hosts;
  std::list<job> jobs;
  std::map<std::string, std::map<std::string, std::map<std::string, std::string>>> packages;  ///< version, host, file
  std::set<std::string> transitions;                                                          ///< of jobs' states, seen
  std::map<std::string, std::set<std::string>> steps_seen;                                    ///< of scripts
  std::vector<std::string> wrong;                                                             ///< what must not be
  struct stopped {
    long began = 0;
    std::set<std::string> hosts;  ///< that were asked
  };
  std::vector<stopped> stops;  ///< that have said that nothing is left
  struct promise {
    std::string command, token, host;
    std::pair<std::string, std::string> versions;
  };
  std::vector<promise> promises;  ///< of commands that have said that they have switched nothing
  void check_promises();
  long now = 0;          ///< steps
  int kill_after = -1;   ///< steps of scripts; then the script is killed
  int fault_after = -1;  ///< steps; then `fault`, until it returns whether it could
  std::function<bool()> fault;
  bool faithful_jobs = false;  ///< a program neither ends nor fails by itself
  bool jobs_begin = true;      ///< otherwise supervisors and bench do nothing

  /// Something that runs by itself: on a host, or for a dice-run. Returns its number.
  int spawn(std::function<void()> body, const std::string& on_host, std::shared_ptr<caller> of);
  /// Runs all until nothing is left that could go on.
  void run();
  /// From within: others may run, and this one may be killed.
  void step();
  /// From within: until `ready`; false if time is up, if `may_time_out`: usually that is when nothing else can go on.
  bool wait(std::function<bool()> ready, bool may_time_out = false);
  /// From within: until nothing else can go on, or something in between.
  void pause() {
    for (int steps = below(4) * below(100); steps > 0; --steps) step();
  }
  void kill(int id);
  void kill(caller& c);  ///< as by SIGKILL
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool happens(int thousandths) { return below(1000) < thousandths; }
  /// No fault from now on; what was broken is whole again.
  void heal();
  void power_off(host& h);
  /// A process of the deployment on a host. Returns its id.
  int spawn_process(host& h, process p, std::function<void()> body);
  /// The running script is one, until the result is destroyed.
  struct process_guard {
    process_guard(host& on, int id) : h(on), pid(id) {}
    process_guard(const process_guard&) = delete;
    ~process_guard() { h.processes.erase(pid); }
    host& h;
    int pid;
  };
  std::unique_ptr<process_guard> show_process(host& h, process p);
  void check(bool holds, const std::string& what);
  void check_one_job(const job& j);
  bool is_complete(const host& h, const std::string& version) const;
  /// The current and the previous one, or "".
  std::pair<std::string, std::string> versions(const host& h) const;
  /// A dice-run that calls `body`.
  std::shared_ptr<caller> begin(const std::string& command, std::function<void(caller&)> body);
  /// Remote hosts as this dice-run sees them.
  std::unique_ptr<dice_run::remote> remote_of(std::shared_ptr<caller> c);
  /// A deployment of a version, as packages would describe it, whose hosts are those that `packages` has.
  dice_run::deployment plan(const std::string& version) const;
  std::shared_ptr<caller> shared(caller& c) const;
  const caller& last_caller() const { return *callers_.back(); }
  std::shared_ptr<caller> shared_last() const { return callers_.back(); }
  /// Kills a script of a dice-run, or cuts the connection to it; false if none runs but those that hold locks.
  bool kill_script_of(const caller& c);
  bool cut_script_of(const caller& c);
  std::string story() const;
  bool is_live(const job& j) const { return j.died == 0; }
  int current() const { return current_; }
  int next_id() const { return next_; }
  std::shared_ptr<call> connect(std::shared_ptr<caller> from, const std::string& host, const std::string& script,
                                const words& arguments);

 private:
  struct actor {
    int id;
    std::string host;
    std::shared_ptr<caller> of;
    std::unique_ptr<fiber> body;
    bool is_slow;  ///< most others go before it: a busy host, or a slow network
    std::function<bool()> ready = {};
    bool may_time_out = false, is_timed_out = false;
  };
  std::mt19937 random_;
  chances likely_;
  std::list<actor> actors_;
  std::list<std::shared_ptr<call>> calls_;
  std::vector<std::shared_ptr<caller>> callers_;
  int next_ = 1, current_ = 0;
  void faults();
  void cut(const std::string& host);
  call* script_of(const caller& c);
  void check_links(host& h);
  void watch_job(host& h);
  bool wake();  ///< all that are stopped
  actor& at(int id);
};

/// Runs the script of this name here. Returns its exit status.
int run_script(world& w, host& h, call& c, const std::string& script, const words& arguments);
/// Its name, of its text without the prelude. Throws std::logic_error if there is none of this text.
std::string name_of_script(const std::string& text);
/// And the other way.
std::string text_of_script(const std::string& name);

/// Begins a supervisor (supervise.sh), which keeps the job's lock. Returns its process id.
int supervise(world& w, host& h, std::shared_ptr<caller> by, const std::string& name, long number,
              const std::string& version, int restarts, kernel_lock::key lock);
/// Runs the program of a version on all its hosts, as bench does, to the end. Returns its exit status.
int run_bench(world& w, host& h, std::shared_ptr<caller> by, const std::string& name, const std::string& version);

}  // namespace simulated
