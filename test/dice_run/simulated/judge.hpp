// Commands of dice-run on simulated hosts, and whether what they say is so.
#pragma once

#include "world.hpp"

#include "deploy.hpp"
#include "diagnostics.hpp"
#include "job.hpp"
#include "status.hpp"

#include <algorithm>
#include <optional>

namespace simulated {

/// A version of a program, on some hosts.
inline void add_version(world& w, const std::string& version, const words& hosts) {
  std::string list, ranks;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    list += hosts[i] + "\n";
    ranks += "rank " + std::to_string(i) + "=" + hosts[i] + " slot=*:*\n";
  }
  for (const auto& host : hosts)
    w.packages[version][host] = {{"hosts", list},
                                 {"n", "program " + version.substr(0, 3)},
                                 {"ranks", ranks},
                                 {"run", "run of " + host},
                                 {"weights", "weights"}};
}

/// What commands say, held against what is so.
class judge {
 public:
  judge(world& w, caller& c, const dice_run::site& s) : w_(w), c_(c), s_(s) {}

  /// Runs the command. Returns its exit code.
  int run() {
    const int first_pid = w_.next_id();
    std::vector<std::string> failed;
    int code = 1;
    try {
      code = command();
    } catch (const dice_run::run_error& e) {
      failed = e.messages;
    } catch (const dice_run::usage_error& e) {  // --from a host that the deployed version does not have
      failed = {e.what()};
    }
    for (auto& text : failed) c_.said.push_back("error: " + text);
    if (c_.command == "stop") stopped(code, first_pid);
    if (c_.command == "deploy" || c_.command == "rollback") deployed(code);
    if (c_.command == "start" || c_.command == "bench") started(code);
    return code;
  }

 private:
  world& w_;
  caller& c_;
  const dice_run::site& s_;

  bool is_planned(const std::string& host) const { return std::ranges::count(s_.plan.hosts, host) > 0; }

  void stopped(int code, int first_pid) {
    if (code != 0) return;
    std::set<std::string> asked;
    for (const auto& [name, h] : w_.hosts)
      if (h.is_on && h.is_reached && (is_planned(name) || !h.files.text(".dice-run/n/members").empty())) asked.insert(name);
    for (const auto& j : w_.jobs)
      w_.check(!w_.is_live(j) || !asked.contains(j.host) || j.by->locked_at.at(j.host) >= c_.began,
               "stop says that nothing is left, and a job runs on " + j.host);
    for (const auto& name : asked)
      for (const auto& [pid, p] : w_.hosts.at(name).processes)
        w_.check(pid >= first_pid || !p.is_rank, "stop says that nothing is left, and a rank runs on " + name);
    w_.stops.push_back({c_.began, asked});
  }

  void started(int code) {
    const bool says_so =
        std::ranges::any_of(c_.said, [](const auto& text) { return text.find("the job ") != std::string::npos; });
    for (const auto& j : w_.jobs)
      w_.check(code == 0 || says_so || !w_.is_live(j) || j.by.get() != &c_,
               c_.command + " fails without a word of the job, which runs on " + j.host);
  }

  void deployed(int code) {
    const auto nothing_done = [&] {
      return std::ranges::any_of(c_.said, [](const auto& text) { return text.find("nothing was ") != std::string::npos; });
    };
    for (const auto& [name, found] : c_.locked) {
      auto& h = w_.hosts.at(name);
      if (!h.files.target(".dice-run/n/holder").starts_with(c_.token + " ")) continue;  // another's since
      if (code == 0 && c_.command == "deploy")
        w_.check(w_.versions(h).first == (is_planned(name) ? s_.plan.version : ""),
                 "deploy succeeds, and " + name + " has " + w_.versions(h).first);
      if (code != 0 && nothing_done()) w_.promises.push_back({c_.command, c_.token, name, found});
    }
    w_.check_promises();
  }

  void shown(const std::vector<dice_run::host_state>& all, const std::optional<dice_run::job_report>& job) {
    const auto is_asked = [&](const std::string& host) {
      return std::ranges::any_of(all, [&](const auto& h) { return h.host == host && h.failure.empty(); });
    };
    const auto phase = job ? job->phase : "none";
    const bool is_live = phase == "starting" || phase == "running" || phase == "waiting" || phase == "unsaved";
    bool was_live = false, is_known = false;
    for (const auto& j : w_.jobs) {
      const bool throughout = j.born < c_.began && j.died == 0, some_time = j.died == 0 || j.died >= c_.began;
      if (j.number > 0 && throughout && is_asked(j.host))
        w_.check(is_live, "status says " + phase + ", and a job runs on " + j.host);
      if (!job || j.number != job->number || j.host != job->host) continue;
      is_known = true;
      was_live = was_live || some_time;
      if (is_live) {
        bool is_so = j.truth == phase;
        for (const auto& [until, truth] : j.was) is_so = is_so || (until >= c_.began && truth == phase);
        w_.check(is_so, "status says " + phase + ", and the job is " + j.truth);
      } else if (phase != "interrupted" && phase != "unknown") {
        w_.check(j.died != 0, "status says " + phase + ", and the job is " + j.truth);
        w_.check(j.end == phase || (j.end == "killed" && (phase == "lost" || phase == "stopped")),
                 "status says " + phase + ", and the job was " + j.end);
      }
    }
    if (is_live)
      w_.check(was_live, "status says " + phase + ", and no job " + std::to_string(job->number) + " runs on " + job->host);
    if (phase == "running")
      w_.check(job->since <= job->now && job->now - job->since <= w_.now,
               "status says that the job runs for " + std::to_string(job->now - job->since) + " s");
    if (phase == "ended" || phase == "failed") w_.check(is_known, "status says " + phase + ", and there was no such job");
  }

  int command() {
    const auto& what = c_.command;
    if (what == "deploy") return dice_run::deploy(s_, {});
    if (what == "rollback") return dice_run::rollback(s_);
    if (what == "start") {
      dice_run::start_options opts;
      if (!w_.faithful_jobs) opts.from = s_.plan.hosts[w_.below(static_cast<int>(s_.plan.hosts.size()))];
      opts.restarts = w_.faithful_jobs ? 2 : w_.below(3);
      return dice_run::start(s_, opts);
    }
    if (what == "stop") return dice_run::stop_job(s_);
    if (what == "bench") return dice_run::run_and_fetch(s_, {}, {}), 0;
    const auto all = s_.survey();
    const auto job = dice_run::report_job(s_, all);
    shown(all, job);
    c_.said.push_back("job: " + (job ? job->phase : "none"));
    return std::ranges::all_of(all, [](const auto& h) { return h.failure.empty(); }) ? 0 : 1;
  }
};

/// Runs the caller's command with the packages of a version. Returns its exit code.
inline int perform(world& w, caller& c, const std::string& version) {
  const dice_run::site s(w.plan(version), "/f", w.remote_of(w.shared(c)), c.token);
  return judge(w, c, s).run();
}

}  // namespace simulated
