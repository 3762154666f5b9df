// start and stop, on hosts that answer as a test says. What real hosts do is in test_job.py.
#include "job.hpp"

#include "diagnostics.hpp"
#include "scripts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

namespace dice_run {
namespace {

const std::string version = "111111111111";

struct nothing_held final : held_script {
  bool is_lost() const override { return false; }
};

struct call {
  std::string script, host;
  words arguments;  ///< without the place of the deployment
};

/// What hosts answer and were asked. Time passes only when dice-run waits.
struct told {
  std::function<std::string(const std::string& host)> state;  ///< what survey prints; "": it is not reached
  std::map<std::string, std::function<outcome(const std::string& host, const reader&)>> answers;  ///< of other scripts
  std::mutex guard;
  std::vector<call> calls;
  double now = 0;
  std::atomic<int> waits = 0;

  std::vector<call> calls_of(const std::string& script) {
    const std::lock_guard lock(guard);
    auto out = calls;
    std::erase_if(out, [&](const call& c) { return c.script != script; });
    return out;
  }
  words hosts_of(const std::string& script) {
    words out;
    for (const auto& c : calls_of(script)) out.push_back(c.host);
    return out;
  }
};

class told_hosts final : public remote {
 public:
  explicit told_hosts(told& what) : remote(settings{}), what_(what) {}
  outcome stream(const std::string& host, const std::string& script, const words& arguments,
                 const reader& on_output) const override {
    static const std::map<std::string, const char*> names{
        {scripts::survey, "survey"}, {scripts::announce, "announce"}, {scripts::start, "start"}, {scripts::stop, "stop"},
        {scripts::output, "output"}, {scripts::logs, "logs"},         {scripts::facts, "facts"}};
    const std::string name = names.at(script.substr(std::string_view(scripts::prelude).size()));
    {
      const std::lock_guard lock(what_.guard);
      what_.calls.push_back({name, host, {arguments.begin() + 5, arguments.end()}});
    }
    if (name == "survey") {
      outcome out{.out = what_.state(host)};
      if (out.out.empty()) out.failure = "it is cut";
      return out;
    }
    const auto answer = what_.answers.find(name);
    return answer == what_.answers.end() ? outcome{} : answer->second(host, on_output);
  }
  std::unique_ptr<held_script> hold(const std::string&, const std::string&, const words&, std::string_view) const override {
    return std::make_unique<nothing_held>();
  }
  double seconds() const override { return what_.now; }
  void pause(double seconds) const override {
    what_.now += seconds;
    ++what_.waits;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  told& what_;
};

package package_of(const std::string& host, std::vector<int> ranks) {
  package out;
  out.host = host;
  out.ranks = std::move(ranks);
  return out;
}

/// Rank 0 is on a, ranks 1 and 2 are on b. A job runs on all hosts when it was started.
class Job : public testing::Test {
 protected:
  Job() {
    ::unsetenv("MPIRUN_OPTIONS");
    listener = [this](std::string_view text) { said.emplace_back(text); };
    hosts.state = [this](const std::string& host) {
      return begun() ? text("running", host == "a", host == "a" ? 1 : 2) : text("", false, 0);
    };
  }
  ~Job() override { listener = nullptr; }

  told hosts;
  std::vector<std::string> said;
  site s{deployment{.name = "numbers",
                    .version = version,
                    .folder = "",
                    .packages = {package_of("a", {0}), package_of("b", {1, 2})},
                    .hosts = {"a", "b"},
                    .host_of_rank = {"a", "b", "b"}},
         "/f", std::make_unique<told_hosts>(hosts), "token"};

  bool begun() { return !hosts.calls_of("start").empty(); }
  static std::string text(const std::string& phase, bool supervised, int ranks, const std::string& more = {}) {
    std::string out = "current " + version + "\nmembers a\nmembers b\n" + more;
    if (!phase.empty()) out += "job phase " + phase + "\njob number 1\n";
    if (supervised) out += "supervised\n";
    for (int i = 0; i < ranks; ++i) out += "process 7 0 1 1 numbers\n";
    return out;
  }
  /// A start when the state of the starting host is this.
  int start_in(const std::string& phase, bool supervised) {
    hosts.state = [=, this](const std::string& host) {
      return begun() && host == "a" ? text(phase, supervised, 0) : text("", false, 0);
    };
    hosts.calls.clear();
    hosts.now = 0;
    said.clear();
    return start(s, {});
  }
  words errors_of(const start_options& opts) {
    try {
      start(s, opts);
      return {};
    } catch (const run_error& e) {
      return e.messages;
    }
  }
};

TEST_F(Job, RunsWhenAllRanksHaveRunForTwoSeconds) {
  EXPECT_EQ(start(s, {}), 0);
  EXPECT_EQ(said, words{"numbers runs on 2 hosts, started on a\n"});
  EXPECT_EQ(hosts.now, 2.5);
}

TEST_F(Job, HostsWithoutTheirRanksAreNamedAfterTwentySeconds) {
  hosts.state = [&](const std::string& host) {
    return begun() ? text("running", host == "a", host == "b") : text("", false, 0);
  };
  EXPECT_EQ(start(s, {}), 0);
  EXPECT_EQ(said, words{"warning: the job runs, but not yet on a, b; dice-run logs -f and dice-run status show more"});
  EXPECT_EQ(hosts.now, 20);
}

/// Time-outs may be shorter than what ranks get that must only run, and longer.
TEST_F(Job, OfWhichNoFrameComesOutIsEndedInTime) {
  for (const double timeout : {3, 60}) {
    hosts.calls.clear();
    hosts.now = 0;
    hosts.state = [&](const std::string& host) {
      const bool runs = begun() && hosts.calls_of("stop").empty();
      return text(runs ? "running" : "", runs && host == "a", !runs ? 0 : host == "a" ? 1 : 2, "reports_status\n");
    };
    EXPECT_EQ(start(s, {.timeout = timeout}), 1);
    EXPECT_EQ(hosts.now, timeout);
    EXPECT_EQ(hosts.hosts_of("stop").size(), 2u);
  }
}

TEST_F(Job, AHostThatWasLostForAWhileIsNotLost) {
  hosts.state = [&](const std::string& host) {
    if (host == "b" && hosts.now > 0 && hosts.now < 5) return std::string();
    return begun() ? text("running", host == "a", host == "a") : text("", false, 0);
  };
  EXPECT_EQ(start(s, {}), 0);
  EXPECT_EQ(said.back(), "warning: the job runs, but not yet on b; dice-run logs -f and dice-run status show more");
}

TEST_F(Job, StartSaysHowItEnds) {
  EXPECT_EQ(start_in("ended", false), 0);
  EXPECT_EQ(said, words{"the job has ended already, without an error; dice-run logs shows its output\n"});
  EXPECT_EQ(start_in("stopped", false), 1);
  EXPECT_EQ(said, words{"error: the job was stopped"});
  EXPECT_EQ(start_in("running", false), 1);
  EXPECT_EQ(said, words{"error: the job was killed on a"});
  EXPECT_EQ(hosts.now, 0.5);
  EXPECT_EQ(start_in("failed", false), 1);
  EXPECT_EQ(said, words{"error: the job has failed; dice-run logs shows more"});
  hosts.answers["output"] = [](const std::string& host, const reader&) {
    return outcome{.out = "t t dice-run: starts version v\n[1,0]<stderr>:no weights on " + host +
                          "\nt t dice-run: the job has failed after 1 s: exit status 2\n"};
  };
  EXPECT_EQ(start_in("waiting", true), 1);
  EXPECT_EQ(said, words{"error: the job has failed: no weights on a (exit status 2); it will be started again (dice-run "
                        "status, dice-run stop)"});
}

TEST_F(Job, GetsANumberThatAllHostsKnow) {
  for (const auto& [of_a, of_b, number] : {std::tuple{"last_job 7 b\n", "job number 3\n", "8"},
                                           {"last_job 7 b\n", "job number 9\njob phase ended\n", "10"},
                                           {"", "", "1"}}) {
    hosts.calls.clear();
    hosts.state = [&, of_a = of_a, of_b = of_b](const std::string& host) {
      if (host == "c") return std::string("members c\n");  // was a host of an earlier version
      return begun() ? text("running", host == "b", host == "a" ? 1 : 2)
                     : text("", false, 0, "members c\n" + std::string(host == "a" ? of_a : of_b));
    };
    EXPECT_EQ(start(s, {.from = "b", .restarts = 4, .program = {"--x", ""}}), 0);
    EXPECT_EQ(hosts.hosts_of("start"), words{"b"});
    EXPECT_EQ(hosts.calls_of("start")[0].arguments, (words{number, "4", "", version, scripts::supervise, "", "--x", ""}));
    auto told = hosts.hosts_of("announce");
    std::ranges::sort(told);
    EXPECT_EQ(told, (words{"a", "b", "c"}));
    for (const auto& c : hosts.calls_of("announce")) EXPECT_EQ(c.arguments, (words{number, "b"}));
  }
}

TEST_F(Job, IsNotStartedUnlessAllHostsKnowIt) {
  hosts.answers["announce"] = [](const std::string& host, const reader&) {
    return outcome{.status = host == "b" ? 1 : 0, .err = "this call comes too late\n"};
  };
  EXPECT_EQ(errors_of({}), words{"b: this call comes too late"});
  EXPECT_FALSE(begun());
}

TEST_F(Job, MayHaveBeenStartedIfStartFails) {
  const std::string maybe = "the job may have been started: dice-run status";
  for (const auto& [answer, errors] :
       {std::pair{outcome{.status = 1, .err = "a disk is full\n"}, words{"a: a disk is full"}},
        {outcome{.status = 1, .out = "starts\n"}, words{"a: exit status 1", maybe}},
        {outcome{.status = 255, .failure = "it is cut"}, words{"a: it is cut", maybe}}}) {
    hosts.calls.clear();
    hosts.answers["start"] = [&answer = answer](const std::string&, const reader&) { return answer; };
    EXPECT_EQ(errors_of({}), errors);
  }
}

TEST_F(Job, EndsIfCtrlCHasCutItsStart) {
  hosts.answers["start"] = [](const std::string&, const reader&) {
    std::raise(SIGINT);
    return outcome{.status = 255, .failure = "it is cut"};
  };
  hosts.state = [&](const std::string&) { return text("", false, 0); };
  EXPECT_EQ(start(s, {.foreground = true}), 1);
  EXPECT_EQ(said, words{"numbers does not run on any host\n"});
  EXPECT_EQ(hosts.hosts_of("stop").size(), 2u);
  EXPECT_TRUE(hosts.hosts_of("logs").empty());
}

TEST_F(Job, InTheForegroundSucceedsIfItHasEnded) {
  for (const auto& [phase, code] : {std::pair{"ended", 0}, {"stopped", 1}, {"failed", 1}, {"", 1}}) {
    hosts.calls.clear();
    hosts.state = [&, phase = std::string(phase)](const std::string& host) {
      if (hosts.calls_of("logs").empty()) return begun() ? text("running", host == "a", 2) : text("", false, 0);
      return phase.empty() ? "" : host == "a" ? text(phase, false, 0) : text("", false, 0);
    };
    EXPECT_EQ(start(s, {.foreground = true}), code) << phase;
    ASSERT_EQ(hosts.hosts_of("logs"), words{"a"});
    EXPECT_EQ(hosts.calls_of("logs")[0].arguments, (words{"1000000", "follow"}));
  }
}

/// A log that goes on until nobody reads it.
TEST_F(Job, CtrlCEndsItAndWaitsForItsLastWords) {
  std::atomic<int> before = 0;
  hosts.answers["logs"] = [](const std::string&, const reader& on_output) {
    std::raise(SIGTERM);
    while (on_output({})) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return outcome{};
  };
  hosts.answers["stop"] = [&](const std::string&, const reader&) {
    before = hosts.waits.load();
    return outcome{.out = "found 2\nkilled 1\n"};
  };
  hosts.state = [&, runs = hosts.state](const std::string& host) {
    return hosts.calls_of("stop").empty() ? runs(host) : text("stopped", false, 0);
  };
  EXPECT_EQ(start(s, {.foreground = true}), 1);
  EXPECT_EQ(hosts.waits - before, 50);
  EXPECT_EQ(said.back(), "numbers is stopped; no process of it is left on any host\n");
  EXPECT_EQ(std::ranges::count(said, "b: 1 of its processes did not end in order, and had to be ended\n"), 1);
}

/// What breaks off while the job is ended is no error.
TEST_F(Job, CtrlCMayCutTheLog) {
  hosts.answers["start"] = [](const std::string&, const reader&) {
    std::raise(SIGINT);
    return outcome{};
  };
  hosts.answers["logs"] = [](const std::string&, const reader&) { return outcome{.failure = "it is cut"}; };
  hosts.state = [&, runs = hosts.state](const std::string& host) {
    return hosts.calls_of("stop").empty() ? runs(host) : text("stopped", false, 0);
  };
  EXPECT_EQ(start(s, {.foreground = true}), 1);
  EXPECT_EQ(said, words{"numbers does not run on any host\n"});  // and not that it does not run yet
  hosts.calls.clear();
  hosts.answers["logs"] = [](const std::string&, const reader&) -> outcome { throw std::runtime_error("nobody reads"); };
  EXPECT_EQ(start(s, {.foreground = true}), 1);
}

TEST_F(Job, WhoseLogBreaksOffMayRun) {
  hosts.answers["logs"] = [](const std::string&, const reader&) { return outcome{.failure = "it is cut"}; };
  EXPECT_EQ(errors_of({.foreground = true}), (words{"a: it is cut", "the job may still run: dice-run status"}));
  hosts.calls.clear();
  hosts.answers["logs"] = [](const std::string&, const reader&) -> outcome { throw std::runtime_error("nobody reads"); };
  EXPECT_THROW(start(s, {.foreground = true}), std::runtime_error);
}

TEST_F(Job, ThatBeginsAgainAndAgainIsNotStopped) {
  hosts.state = [](const std::string&) { return text("", false, 1); };
  hosts.answers["stop"] = [](const std::string&, const reader&) { return outcome{.out = "found 1\nkilled 0\n"}; };
  EXPECT_EQ(stop_job(s), 1);
  EXPECT_EQ(said, words{"error: new processes of it begin again and again; another dice-run starts them"});
  EXPECT_EQ(hosts.hosts_of("stop").size(), 3u * 2);
  for (const auto& c : hosts.calls_of("stop")) EXPECT_EQ(c.arguments, words{"8"});
}

TEST_F(Job, IsStoppedOnceWhereHostsDoNotAnswer) {
  hosts.state = [](const std::string& host) { return host == "a" ? text("", false, 1, "members c\n") : ""; };
  hosts.answers["stop"] = [](const std::string&, const reader&) {
    return outcome{.status = 1, .out = "found 1\nkilled 1\n", .err = "these processes do not end: 7\n"};
  };
  EXPECT_EQ(stop_job(s), 1);
  EXPECT_EQ(said,
            (words{"a: 1 of its processes did not end in order, and had to be ended\n", "error: b: it is cut",
                   "error: c: it is cut; an earlier version ran there. If it is gone for good: dice-run deploy --forget c",
                   "error: a: these processes do not end: 7",
                   "error: what still runs there is not known; run dice-run stop again when they answer"}));
  EXPECT_EQ(hosts.hosts_of("stop"), words{"a"});
}

TEST_F(Job, IsStoppedIfNothingIsLeft) {
  hosts.state = [](const std::string&) { return text("", false, 0); };
  EXPECT_EQ(stop_job(s), 0);
  EXPECT_EQ(said, words{"numbers does not run on any host\n"});
  EXPECT_EQ(hosts.hosts_of("stop").size(), 2u);  // also what no survey shows, as a job that is being started
}

}  // namespace
}  // namespace dice_run
