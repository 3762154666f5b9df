// Random schedules: two or three dice-runs on three hosts, which are stopped, killed and cut off. Whatever happens, what
// docs/dice-run-hosts.md says holds, and what the commands say is so.
#include "judge.hpp"
#include "tables.hpp"

#include "../../seeds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace simulated {
namespace {

const words every{"a", "b", "c"};

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
    const std::string command = what[w.below(what.size())];
    if (command == "deploy") version = std::string(12, static_cast<char>('1' + w.below(5)));
    w.pause();
    begin(command, version, [this, count, version](int) { user(count - 1, version); });
  }

  void begin(const std::string& command, const std::string& version, std::function<void(int)> then) {
    w.begin(command, [this, version, then = std::move(then)](caller& c) {
      const int code = perform(w, c, version);
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
    if (w.below(4)) at_peace("deploy", first);
    for (int users = 2 + w.below(2); users > 0; --users)
      w.spawn([this, first] { user(2 + w.below(3), first); }, "", nullptr);
    w.run();
    w.heal();
    w.run();
    repair();
  }

  /// A job fails, waits, and has no room when it is to begin again.
  void run_out_of_room() {
    w.faithful_jobs = true;
    at_peace("deploy", "111111111111");
    at_peace("start", "111111111111");
    auto &a = w.hosts.at("a"), &b = w.hosts.at("b");
    w.power_off(b);
    b.is_on = true;
    a.files.is_full = true;
    w.run();
    at_peace("status", "111111111111");
    w.heal();
    repair();
  }

  /// A job fails, and its host, too, while it waits.
  void lose_the_host_of_a_waiting_job() {
    w.faithful_jobs = true;
    at_peace("deploy", "111111111111");
    at_peace("start", "111111111111");
    auto &a = w.hosts.at("a"), &b = w.hosts.at("b");
    w.power_off(b);
    b.is_on = true;
    w.fault_after = 0;
    w.fault = [&] {
      if (!a.job.ends_with(" waiting")) return false;
      w.power_off(a);
      a.is_on = true;
      return true;
    };
    w.run();
    w.fault_after = -1;
    at_peace("status", "111111111111");
    w.heal();
    repair();
  }

  /// One command, to which something happens at a step. Returns whether it came to that step.
  bool run(const std::string& state, const std::string& command, const std::string& what, int step) {
    at_peace("deploy", "222222222222");
    at_peace("deploy", "111111111111");
    w.faithful_jobs = state != "deployed";
    if (w.faithful_jobs) at_peace("start", "111111111111");
    auto& a = w.hosts.at("a");
    if (state == "a job was killed") {
      w.power_off(a);
      a.is_on = true;
    }
    begin(command, command == "deploy" ? "333333333333" : "111111111111", [](int) {});
    w.fault_after = step;
    w.fault = [&, c = w.shared_last()] {
      if (c->has_ended) return false;
      if (what == "its script is killed") return w.kill_script_of(*c);
      if (what == "a connection is cut") return w.cut_script_of(*c);
      if (what == "it is killed") w.kill(*c);
      if (what == "the disk is full") a.files.is_full = true;
      if (what == "the power fails") {
        w.power_off(a);
        a.is_on = true;
      }
      return true;
    };
    w.run();
    const bool happened = w.fault_after < 0;
    w.fault_after = -1;
    at_peace("status", "111111111111");
    w.heal();
    repair();
    return happened;
  }

  /// Whatever has happened, these commands succeed.
  void repair() {
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
  std::set<std::string> transitions;
  std::map<std::string, std::set<std::string>> steps_seen;
  int failed = 0;
  const auto judge = [&](schedule& one, const std::string& name) {
    for (const auto& [command, times] : one.done) done[command] += times;
    transitions.merge(one.w.transitions);
    for (auto& [script, steps] : one.w.steps_seen) steps_seen[script].merge(steps);
    if (!one.w.wrong.empty() && ++failed < 20) ADD_FAILURE() << name << ": " << one.w.wrong[0] << one.w.story();
  };
  // Each command in these states, when something happens at each of its steps.
  const bool all = test::plans(0) > 500;
  for (const std::string state : {"deployed", "a job runs", "a job was killed"})
    for (const std::string command : {"deploy", "rollback", "start", "stop", "bench", "status"})
      for (const std::string what :
           {"its script is killed", "a connection is cut", "it is killed", "the disk is full", "the power fails"}) {
        bool happened = true;
        const bool cheap = command == "start" || command == "status" || what == "a connection is cut";
        for (int step = 0; happened; step += all || cheap ? 1 : 23) {
          schedule one(static_cast<unsigned>(step), {});
          happened = one.run(state, command, what, step);
          judge(one, state + ", " + command + ", step " + std::to_string(step) + ": " + what);
        }
      }
  schedule waits(0, {});
  waits.run_out_of_room();
  judge(waits, "a job waits on a full disk");
  schedule lost(0, {});
  lost.lose_the_host_of_a_waiting_job();
  judge(lost, "a job waits on a host that is lost");
  for (const unsigned seed : test::seeds(test::plans(100), {})) {
    schedule one(seed, chances_of(seed));
    one.run();
    judge(one, "schedule " + std::to_string(seed));
  }
  // All of it happens, and nothing else.
  for (const auto* command : {"deploy", "rollback", "start", "bench", "stop", "status"})
    EXPECT_GT(done[command], 0) << command;
  std::set<std::string> next;
  for (const auto& row : read_table("phase"))
    for (const auto& phase : codes(row[2])) next.insert(without_marks(row[0]) + " → " + phase);
  EXPECT_EQ(transitions, next);
  steps_seen["complete"].insert("mend");  // in model_test.cpp
  std::map<std::string, std::set<std::string>> steps;
  for (const auto& row : read_table("script"))
    if (row[0] != "script") steps[without_marks(row[0])] = codes(row[1]);
  EXPECT_EQ(steps_seen, steps);
}

}  // namespace
}  // namespace simulated
