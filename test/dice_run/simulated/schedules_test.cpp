// Random schedules: two or three dice-runs on three hosts, which are stopped, killed and cut off. Whatever happens, what
// docs/dice-run-hosts.md says holds, and what the commands say is so.
#include "world.hpp"

#include "../../seeds.hpp"
#include "deploy.hpp"
#include "diagnostics.hpp"
#include "job.hpp"
#include "status.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace simulated {
namespace {

const words every{"a", "b", "c"};

/// A version of a program, on some hosts.
void add_version(world& w, const std::string& version, const words& hosts) {
  std::string list;
  for (const auto& host : hosts) list += host + "\n";
  for (const auto& host : hosts)
    w.packages[version][host] = {
        {"hosts", list}, {"n", "program " + version.substr(0, 3)}, {"run", "run of " + host}, {"weights", "weights"}};
}

/// What commands say, held against what is so.
class judge {
 public:
  judge(world& w, caller& c, const dice_run::site& s) : w_(w), c_(c), s_(s) {}

  /// Runs the command. Returns its exit code.
  int run(int& first_pid) {
    first_pid = w_.next_id();
    std::vector<std::string> failed;
    int code = 1;
    try {
      code = command();
    } catch (const dice_run::run_error& e) {
      failed = e.messages;
    }
    for (auto& text : failed) c_.said.push_back("error: " + text);
    return code;
  }

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
    if (phase == "ended" || phase == "failed") w_.check(is_known, "status says " + phase + ", and there was no such job");
  }

 private:
  world& w_;
  caller& c_;
  const dice_run::site& s_;

  bool is_planned(const std::string& host) const { return std::ranges::count(s_.plan.hosts, host) > 0; }

  int command() {
    const auto& what = c_.command;
    if (what == "deploy") return dice_run::deploy(s_, {});
    if (what == "rollback") return dice_run::rollback(s_);
    if (what == "start") {
      dice_run::start_options opts;
      opts.from = s_.plan.hosts[static_cast<std::size_t>(w_.below(static_cast<int>(s_.plan.hosts.size())))];
      opts.restarts = w_.below(3);
      return dice_run::start(s_, opts);
    }
    if (what == "stop") return dice_run::stop_job(s_);
    if (what == "bench") return dice_run::run_and_fetch(s_, {}, {}), 0;
    const auto all = s_.survey();
    shown(all, dice_run::report_job(s_, all));
    return std::ranges::all_of(all, [](const auto& h) { return h.failure.empty(); }) ? 0 : 1;
  }
};

struct schedule {
  world w;
  std::map<std::string, int> done;  ///< commands that succeeded

  schedule(unsigned seed, chances likely) : w(seed, likely) {
    for (const auto& name : every) w.hosts[name].name = name;
    add_version(w, "111111111111", {"a", "b", "c"});
    add_version(w, "222222222222", {"a", "b", "c"});
    add_version(w, "333333333333", {"a", "b"});
    add_version(w, "444444444444", {"a", "c"});
    add_version(w, "555555555555", {"a"});
    add_version(w, "666666666666", {"a"});
  }

  /// Commands that follow each other, by one user, who mostly has the packages of before.
  void user(int count, std::string version) {
    if (count == 0) return;
    static const std::array what{"deploy", "start", "start", "start", "stop", "status", "status", "rollback", "bench"};
    const std::string command = what[static_cast<std::size_t>(w.below(what.size()))];
    if (command == "deploy") version = std::string(12, static_cast<char>('1' + w.below(5)));
    w.pause();
    begin(command, version, [this, count, version](int) { user(count - 1, version); });
  }

  void begin(const std::string& command, const std::string& version, std::function<void(int)> then) {
    w.begin(command, [this, version, then = std::move(then)](caller& c) {
      int code = 1, first_pid = 0;
      {
        const dice_run::site s(w.plan(version), "/f", w.remote_of(w.shared(c)), c.token);
        judge j(w, c, s);
        code = j.run(first_pid);
        if (c.command == "stop") j.stopped(code, first_pid);
        if (c.command == "deploy" || c.command == "rollback") j.deployed(code);
      }
      if (code == 0) ++done[c.command];
      then(code);
    });
  }

  /// A command when nothing fails any more. Returns what it said.
  std::vector<std::string> at_peace(const std::string& command, const std::string& version) {
    begin(command, version, [](int) {});
    w.run();
    return w.last_caller().said;
  }

  void run() {
    const std::string first = "111111111111";
    if (w.below(4)) begin("deploy", first, [](int) {}), w.run();
    for (int users = 2 + w.below(2); users > 0; --users)
      w.spawn([this, first] { user(2 + w.below(3), first); }, "", nullptr);
    w.run();
    w.heal();
    w.run();
    w.check_promises();
    const auto said = at_peace("stop", "111111111111");
    for (const auto& [name, h] : w.hosts)
      for (const auto& [pid, p] : h.processes)
        w.check(false, "at the end, " + p.program + " is left on " + name + ": " + (said.empty() ? "" : said[0]));
    for (const auto& [version, hosts] :
         {std::pair{"222222222222", words{"a", "b", "c"}}, {"555555555555", {"a"}}, {"666666666666", {"a"}}}) {
      const auto texts = at_peace("deploy", version);
      for (const auto& [name, h] : w.hosts) {
        w.check(w.versions(h).first == (std::ranges::count(hosts, name) > 0 ? version : ""),
                "at the end, deploy does not succeed on " + name + ": " + (texts.empty() ? "" : texts[0]));
        for (const auto& entry : h.files.names(".dice-run/n"))
          w.check(!entry.ends_with(".part") &&
                      (entry[0] < '1' || entry[0] > '6' || entry == w.versions(h).first || entry == w.versions(h).second),
                  "at the end, " + name + " has " + entry);
      }
    }
    for (const auto& name : {"b", "c"})
      w.check(w.versions(w.hosts.at(name)) == std::pair<std::string, std::string>(),
              std::string(name) + " has left, and has a version");
  }
};

/// What fails in a schedule, by its number.
chances chances_of(unsigned seed) {
  switch (seed % 8) {
    case 0:
      return {};
    case 1:
      return {.cut = 5, .late = 50};
    case 2:
      return {.cut = 10, .kill = 5};
    case 3:
      return {.stop = 5, .clock = 50};
    case 4:
      return {.leave = 3};
    case 5:
      return {.power = 2, .clock = 50};
    case 6:
      return {.fill = 10, .kill_script = 5};
    default:
      return {.cut = 4, .kill = 1, .stop = 3, .leave = 1, .power = 1, .fill = 2, .clock = 10, .kill_script = 2, .late = 5};
  }
}

TEST(SimulatedHosts, KeepTheirInvariants) {
  std::map<std::string, int> done;
  int failed = 0;
  auto seeds = test::seeds(test::plans(2000), {});
  if (std::getenv("DICE_SEED")) seeds = {unsigned(std::atoi(std::getenv("DICE_SEED")))};
  for (const unsigned seed : seeds) {
    schedule one(seed, chances_of(seed));
    one.run();
    for (const auto& [command, times] : one.done) done[command] += times;
    if (one.w.wrong.empty()) continue;
    ADD_FAILURE() << "schedule " << seed << ": " << one.w.wrong[0] << (std::getenv("DICE_SHOW") ? one.w.story() : "");
    if (++failed == 20) break;
  }
  for (const auto& [command, times] : done) std::printf("%s: %d\n", command.c_str(), times);
}

}  // namespace
}  // namespace simulated
