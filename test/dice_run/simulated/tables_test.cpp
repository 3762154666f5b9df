// The table of docs/dice-run-hosts.md that says what each command does in each state, tried on simulated hosts.
#include "tables.hpp"
#include "judge.hpp"

#include <gtest/gtest.h>

namespace simulated {
namespace {

const std::string first = "111111111111", second = "222222222222";

class tried {
 public:
  explicit tried(const std::string& state) : w_(1) {
    w_.faithful_jobs = true;
    for (const auto* name : {"a", "b", "c"}) w_.hosts[name].name = name;
    add_version(w_, first, {"a", "b", "c"});
    add_version(w_, second, {"a", "b", "c"});
    make(state);
  }

  /// Its exit code and what it has said.
  std::pair<int, std::string> run(const std::string& command, const std::string& version = first) {
    int code = -1;
    const auto c = w_.begin(command, [&](caller& me) { code = perform(w_, me, version); });
    w_.run();
    std::string said;
    for (const auto& text : c->said) said += text + "\n";
    return {code, said};
  }
  const world& seen() const { return w_; }

 private:
  world w_;

  void require(const std::string& command, const std::string& version = first) {
    const auto [code, said] = run(command, version);
    EXPECT_EQ(code, 0) << command << ": " << said;
  }
  void make(const std::string& state) {
    if (state == "nothing is deployed") return;
    require("deploy", second);
    if (state == "another version") return;
    require("deploy");
    auto& b = w_.hosts.at("b");
    if (state == "one host is between") b.files.point("n", ".dice-run/n/" + second);
    if (state == "a job runs" || state == "a job was killed") require("start");
    if (state == "a job was killed") {
      w_.power_off(w_.hosts.at("a"));
      w_.hosts.at("a").is_on = true;
    }
    if (state == "a host is not reached") b.is_reached = false;
    if (state == "another is at work") {
      auto& a = w_.hosts.at("a");
      a.files.point(".dice-run/n/holder", "x 1 another");
      other_ = a.lock.take();
    }
    w_.run();
  }
  kernel_lock::key other_;
};

TEST(CommandsInStates, AreAsThePageSays) {
  const auto table = read_table("what a command does");
  ASSERT_GT(table.size(), 5u);
  for (std::size_t row = 1; row < table.size(); ++row)
    for (std::size_t column = 1; column < table[0].size(); ++column) {
      const auto command = without_marks(table[row][0]), state = without_marks(table[0][column]), cell = table[row][column];
      SCOPED_TRACE(command + ", " + state);
      tried one(state);
      const auto [code, said] = one.run(command);
      EXPECT_EQ(std::to_string(code), cell.substr(0, 1)) << said;
      EXPECT_NE(said.find(cell.substr(std::min(cell.size(), std::size_t{3}))), std::string::npos) << said << cell;
      EXPECT_TRUE(one.seen().wrong.empty()) << one.seen().wrong[0];
    }
}

/// Two versions on different hosts.
struct two_versions {
  world w{1};
  two_versions(const words& of_first, const words& of_second) {
    w.faithful_jobs = true;
    for (const auto* name : {"a", "b", "c"}) {
      w.hosts[name].name = name;
      w.hosts[name].files.make_folder(".dice-run/n");
      w.hosts[name].files.write(".dice-run/n/members", "a\nb\nc\n");
    }
    add_version(w, first, of_first);
    add_version(w, second, of_second);
    run("deploy", first);
    run("deploy", second);
  }
  /// The last that it says. Its exit code must be `expected`.
  std::string run(const std::string& command, const std::string& version, int expected = 0) {
    int code = -1;
    const auto c = w.begin(command, [&](caller& me) { code = perform(w, me, version); });
    w.run();
    EXPECT_EQ(code, expected) << command << w.story();
    return c->said.back();
  }
};

TEST(Rollback, SaysWhichHostsHaveWhichVersions) {
  EXPECT_EQ(two_versions({"a", "b"}, {"a", "c"}).run("rollback", second),
            "n 111111111111 is now on a, b, and 222222222222 is the previous version\n");
  EXPECT_EQ(two_versions({"a", "b"}, {"b"}).run("rollback", first),
            "n 111111111111 is now on all hosts, and 222222222222 is the previous version\n");
}

/// After a rollback, the packages here are for one host, and only its list of members names the others.
TEST(Start, FindsItsHostsWhenTheHostThatNamesThemIsLost) {
  for (const auto& [host, code, said] : {std::tuple{"c", 0, "n runs on 2 hosts, started on a\n"},
                                         {"b", 1,
                                          "error: the job has failed; dice-run logs shows more; it will be started again "
                                          "(dice-run status, dice-run stop)"}}) {
    two_versions one({"a", "b"}, {host});
    one.run("rollback", first);
    one.w.fault_after = 0;
    one.w.fault = [&w = one.w, &lost = one.w.hosts.at(host)] { return !w.jobs.empty() && !(lost.is_reached = false); };
    EXPECT_EQ(one.run("start", second, code), said);
  }
}

/// Of the two ranks of host a, only one begins.
TEST(Start, WaitsForAllRanksOfAHost) {
  two_versions one({"a", "b"}, {"a", "b"});
  auto plan = one.w.plan(second);
  plan.packages[0].ranks = {0, 2};
  plan.host_of_rank.emplace_back("a");
  const auto c = one.w.begin("start", [&](caller& me) {
    const dice_run::site s(plan, "/f", one.w.remote_of(one.w.shared(me)), me.token);
    EXPECT_EQ(dice_run::start(s, {}), 0);
  });
  one.w.run();
  EXPECT_EQ(c->said.back(), "warning: the job runs, but not yet on a; dice-run logs -f and dice-run status show more");
}

/// All connections are cut when a part of the answer has come.
class half final : public dice_run::remote {
 public:
  half() : remote(settings{}) {}
  outcome stream(const std::string&, const std::string&, const words&, const dice_run::reader&) const override {
    outcome out;
    out.status = 255;
    out.out = "current 111111111111\nmembers x\nsupervised\n";
    out.failure = "the connection was cut";
    return out;
  }
};

TEST(Survey, AnAnswerInPartIsNone) {
  world w(0);
  add_version(w, first, {"a"});
  const auto all = dice_run::site(w.plan(first), "/f", std::make_unique<half>(), "token").survey({}, {"a"});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].failure, "a: the connection was cut");
  EXPECT_TRUE(all[0].is_empty());
}

}  // namespace
}  // namespace simulated
