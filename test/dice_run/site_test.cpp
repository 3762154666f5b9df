// What hosts say of a deployment, and what follows from it.
#include "site.hpp"
#include "answering_hosts.hpp"

#include <gtest/gtest.h>

namespace dice_run {
namespace {

std::unique_ptr<remote> none() { return std::make_unique<remote>(remote::settings{}); }

std::vector<host_state> survey(conversation& c, const words& hosts, const words& left_out = {}, const words& also = {}) {
  return site(plan_of(hosts), "/f", std::make_unique<answering_hosts>(c), "token").survey(left_out, also);
}

TEST(Survey, AllThatAHostSays) {
  conversation c;
  c.answers["survey a"] = {
      says("current 222\nprevious 111\nclock 3000000000\nuptime 5000000000\n"
           "members a\nmembers -oProxyCommand=x\nmembers .x\nmembers a/b\nmembers \n"
           "current_host c.d-e_F9 slots=2\ncurrent_host a\nprevious_host b slots=1\n"
           "current_rank rank 0=a slot=*:*\ncurrent_rank rank 2=b\ncurrent_rank rank 1=-x\ncurrent_rank rank 1=b slot=0\n"
           "process 12 345 678 1 n\nprocess 13 6 7 0 a b\nsupervised\n"
           "job number 5\njob number 6\njob ranks 0=a 1=b 3=c\nlast_job 7 a\nlast\n")};
  const auto all = survey(c, {"a"});
  ASSERT_EQ(all.size(), 1u);
  const auto& a = all[0];
  EXPECT_EQ(a.host + a.failure, "a");
  EXPECT_EQ(a.current + " " + a.previous, "222 111");
  EXPECT_EQ(std::pair(a.clock, a.uptime), std::pair(3'000'000'000LL, 5'000'000'000LL));
  EXPECT_EQ(a.members, words{"a"});
  EXPECT_EQ(a.of_current, (words{"c.d-e_F9", "a"}));
  EXPECT_EQ(a.of_previous, words{"b"});
  EXPECT_EQ(a.rank_hosts, (words{"a", "b"}));
  ASSERT_EQ(a.processes.size(), 2u);
  EXPECT_EQ(fmt::format("{} {} {} {}", a.processes[0].pid, a.processes[0].cpu_seconds, a.processes[0].kilobytes,
                        a.processes[0].program),
            "12 3.45 678 n");
  EXPECT_TRUE(a.processes[0].is_rank);
  EXPECT_EQ(a.processes[1].program, "a b");
  EXPECT_FALSE(a.processes[1].is_rank);
  EXPECT_TRUE(a.supervised);
  EXPECT_FALSE(a.is_empty());
  EXPECT_EQ(a.number(), 5);
  EXPECT_EQ(a.job_rank_hosts(), (words{"a", "b"}));
  EXPECT_EQ(a.of_job("ended"), "");
  EXPECT_EQ(std::pair(a.last_number, a.last_starter), std::pair(7L, std::string("a")));
}

TEST(Survey, HostsAreAskedOnce) {
  conversation c;
  c.answers["survey a"] = {says("members b\nmembers c\nmembers out\n")};
  c.answers["survey b"] = {says("members a\nmembers d\ncurrent_host z\n")};
  c.answers["survey c"] = {says("members d\n")};
  c.answers["survey x"] = {says("current_host y\n")};
  words hosts;
  for (const auto& h : survey(c, {"a"}, {"out"}, {"x", "a", "x"})) hosts.push_back(h.host + (h.planned ? " planned" : ""));
  EXPECT_EQ(hosts, (words{"a planned", "x", "b", "c", "y", "d"}));
  EXPECT_EQ(c.asked.size(), hosts.size());
}

TEST(Survey, AHostIsEmptyWithoutVersionsProcessesAndSupervisor) {
  for (const auto* line : {"current 1\n", "previous 1\n", "process 1 2 3 0 x\n", "supervised\n", "clock 1\n"}) {
    conversation c;
    c.answers["survey a"] = {says(line)};
    EXPECT_EQ(survey(c, {"a"})[0].is_empty(), std::string(line) == "clock 1\n") << line;
  }
}

host_state with_job(const std::string& host, int number, bool supervised = false) {
  host_state out;
  out.host = host;
  out.supervised = supervised;
  if (number > 0) out.job["number"] = std::to_string(number);
  return out;
}

/// "NUMBER STARTER", and what is known of it.
std::string last_of(const std::vector<host_state>& all) {
  const auto job = site::job_of(all);
  EXPECT_TRUE(job.on == nullptr || job.on->host == job.starter);
  return fmt::format("{} {}{}{}", job.number, job.starter, job.on == nullptr ? " not asked" : "",
                     job.began ? "" : " interrupted");
}

TEST(LastJob, IsThatWithTheHighestNumber) {
  EXPECT_EQ(last_of({}), "0  not asked");
  EXPECT_EQ(last_of({with_job("a", 0)}), "0  not asked");
  EXPECT_EQ(last_of({with_job("a", 5), with_job("b", 7), with_job("c", 6)}), "7 b");
  EXPECT_EQ(last_of({with_job("a", 5), with_job("b", 5)}), "5 a");
  // One that runs counts before others; bench has no record.
  EXPECT_EQ(last_of({with_job("a", 5, true), with_job("b", 7), with_job("c", 6, true), with_job("d", 0, true)}), "6 c");
  EXPECT_EQ(last_of({with_job("a", 6, true), with_job("c", 5, true)}), "6 a");
  EXPECT_EQ(last_of({with_job("d", 0, true), with_job("b", 7)}), "7 b");
}

TEST(LastJob, MayBeKnownToOthersOnly) {
  auto a = with_job("a", 5);
  a.last_number = 9;
  a.last_starter = "b";
  auto b = with_job("b", 0);
  EXPECT_EQ(last_of({a, b}), "9 b not asked interrupted");
  EXPECT_EQ(last_of({a}), "9 b not asked");
  b.failure = "it is cut";
  EXPECT_EQ(last_of({a, b}), "9 b not asked");
  b = with_job("b", 9);
  EXPECT_EQ(last_of({a, b}), "9 b");
  a = with_job("a", 5, true);  // runs: what others began later is no matter
  a.last_number = 9;
  a.last_starter = "b";
  EXPECT_EQ(last_of({a}), "5 a");
  a = with_job("a", 0);
  a.job["phase"] = "failed";  // its record is damaged
  a.last_number = 3;
  a.last_starter = "a";
  EXPECT_EQ(last_of({a}), "0 a");
  a.job["number"] = "2";  // of the job before
  EXPECT_EQ(last_of({a}), "3 a not asked interrupted");
  a.last_starter = "b";
  EXPECT_EQ(last_of({a}), "3 b not asked");
}

TEST(Site, WhatIsDeployedIsWhatHostsSay) {
  auto plan = plan_of({"c"});
  plan.folder = "/f";
  const site s(plan, "", none(), "token");
  std::vector<host_state> all(4);
  for (std::size_t i = 0; i < all.size(); ++i) {  // only the last says all
    if (i != 0) all[i].current = fmt::format("11{}", i);
    if (i != 1) all[i].of_current = {"b", "a"};
    if (i != 2) all[i].rank_hosts = {"a", "b", "a"};
  }
  const auto found = s.deployed(all);
  EXPECT_EQ(found.name + " " + found.version + " " + found.folder, "n 113 /f");
  EXPECT_EQ(found.hosts, (words{"b", "a"}));
  EXPECT_EQ(found.host_of_rank, (words{"a", "b", "a"}));
  ASSERT_EQ(found.packages.size(), 2u);
  EXPECT_EQ(found.packages[0].host + found.packages[1].host, "ba");
  EXPECT_EQ(found.packages[0].ranks, std::vector{1});
  EXPECT_EQ(found.packages[1].ranks, (std::vector{0, 2}));
  all[1].current = "222";  // the packages here
  EXPECT_EQ(s.deployed(all).hosts, words{"c"});
  EXPECT_EQ(s.deployed({}).hosts, words{"c"});
  EXPECT_EQ(s.title(), "n 222");
}

TEST(Site, FoldersThatHostsCannotHave) {
  const auto refusal = [](const std::string& to, const std::string& of_plan = "") -> std::string {
    auto plan = plan_of({"a"});
    plan.folder = of_plan;
    try {
      return site(plan, to, none(), "token").folder;
    } catch (const usage_error& e) {
      return e.what();
    }
  };
  const std::string expected = "--to: expected a folder that has the same whole path on all hosts, such as /opt, found ";
  EXPECT_EQ(refusal("opt/"), expected + "\"opt\"");
  EXPECT_EQ(refusal("//"), expected + "\"/\"");
  EXPECT_TRUE(refusal("/a\nb").starts_with(expected));
  EXPECT_EQ(refusal("/opt/", "/opt"), "/opt");
  EXPECT_EQ(refusal("", "/opt"), "/opt");
  EXPECT_EQ(refusal("/var", "/opt"),
            "--to: n was built for the folder \"/opt\" (FOLDER of dice_add_deployment), so it cannot go to \"/var\"");
}

TEST(Site, ScriptsKnowTheirPlaceAndTheirNumber) {
  const site s(plan_of({"a"}), "/f", none(), "token");
  EXPECT_EQ(s.job.substr(0, 9) + std::to_string(s.job.size()), "dice-run-25");
  EXPECT_EQ(s.with_place({"x", ""}), (words{"/f", "n", s.job, "token", "1", "x", ""}));
  EXPECT_EQ(s.with_place({}), (words{"/f", "n", s.job, "token", "2"}));
  EXPECT_NE(site(plan_of({"a"}), "/g", none(), "token").job, s.job);
}

}  // namespace
}  // namespace dice_run
