// What deploy and rollback ask of hosts, step by step, and what they say.
#include "deploy.hpp"
#include "answering_hosts.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <algorithm>

namespace dice_run {
namespace {

const std::string this_machine = [] {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return std::string(name);
}();
std::string lock_of(const std::string& host) {
  return fmt::format("lock {} 'process {} on {}'", host, ::getpid(), this_machine);
}

words deployed(conversation& c, const deployment& plan, const words& forgotten = {}, bool dry_run = false) {
  return said_by(
      c, plan, [&](const site& s) { return deploy(s, forgotten); }, dry_run);
}
words rolled_back(conversation& c, const words& hosts) { return said_by(c, plan_of(hosts), rollback); }

/// What was asked by one of these scripts.
words asked(const conversation& c, const words& scripts) {
  words out;
  for (const auto& one : c.asked)
    if (std::ranges::count(scripts, one.substr(0, one.find(' '))) > 0) out.push_back(one);
  return out;
}

/// Hosts that have version 222 and all its files, and 111 before.
conversation all_have_it(const words& hosts) {
  conversation out;
  std::string state = "current 222\nprevious 111\n";
  for (const auto& host : hosts) state += "members " + host + "\n";
  for (const auto& host : hosts) {
    out.answers["survey " + host] = {says(state)};
    out.answers["prepare " + host] = {says("folder /t\ncurrent 222\n")};
    out.answers["clean " + host] = {says("left 222\nleft 111\n")};
  }
  return out;
}

const words no_room_is_needed{"a: has all files already\n", "n 222 is on all hosts already, in /f; 0 B copied\n"};
const std::string nothing_switched = "error: nothing was switched on any host",
                  goes_on = nothing_switched + "; the next deploy goes on with what has been copied";

TEST(Deploy, StepByStep) {
  conversation c;
  c.answers["survey b"] = {says("current \nprevious \n")};
  c.answers["survey a"] = {says("current 111\nprevious 000\n")};
  c.answers["prepare b"] = {
      says("folder /t/b\nmissing sh\nmissing weights\nmissing passwd\nfree 1072576\n")};  // just enough
  c.answers["prepare a"] = {says("folder /t/a\ncurrent 111\nstaged sh\nmissing weights\nfree 99999999\n")};
  EXPECT_EQ(deployed(c, plan_of({"b", "a"})),
            (words{"b: 2 of 2 files copied, 23.4 KiB\n", "a: 1 of 2 files copied, 4000 B\n",
                   "n 222 is now on all hosts, in /f; 27.3 KiB copied\n"}));
  EXPECT_EQ(c.asked, (words{"facts b", "facts a", lock_of("b"), lock_of("a"), "survey b", "survey a",
                            "prepare b 222 sh 20000 of-sh 755 weights 4000 of-b 644",
                            "prepare a 222 sh 20000 of-sh 755 weights 4000 of-a 644", "send b /bin /t/b '' sh weights",
                            "send a /bin /t/a ../111 weights", "complete b 222 sh of-sh weights of-b",
                            "complete a 222 weights of-a sh -", "remember b b a", "remember a b a",
                            "switch_to b '' '' 222 ''", "switch_to a 111 000 222 111", "clean b", "clean a"}));
}

TEST(Deploy, WhatIsThereAlready) {
  auto c = all_have_it({"b", "a"});
  c.answers["survey a"][0].out += "process 1 2 3 1 n\n";  // nothing changes, so its job is no matter
  c.answers["prepare a"] = {says("folder /t\ncurrent 222\nmissing sh\n")};
  EXPECT_EQ(deployed(c, plan_of({"b", "a"})), (words{"b: has all files already\n", "a: 1 of 2 files copied, 19.5 KiB\n",
                                                     "n 222 is on all hosts already, in /f; 19.5 KiB copied\n"}));
  EXPECT_EQ(asked(c, {"send", "complete", "remember", "switch_to", "clean"}),
            (words{"send a /bin /t '' sh", "complete b 222", "complete a 222 sh of-sh", "clean b", "clean a"}));
}

/// b runs a job and keeps version 111, c is not reached, d has nothing any more, e has nothing current.
conversation four_have_left() {
  auto c = all_have_it({"a"});
  c.answers["survey a"] = {says("current 111\nprevious \nmembers a\nmembers b\nmembers c\nmembers d\nmembers e\n")};
  c.answers["survey b"] = {says("current 111\nprevious 000\nsupervised\njob version 333\n")};
  c.answers["survey c"] = {is_cut()};
  c.answers["survey d"] = {says("current \nprevious \njob version 444\n")};
  c.answers["survey e"] = {says("current \nprevious 111\n")};
  c.answers["clean b"] = {says("left 111\nrunning\n")};
  return c;
}

TEST(Deploy, HostsLeave) {
  auto c = four_have_left();
  c.answers["clean e"] = {fails("no")};
  EXPECT_EQ(
      deployed(c, plan_of({"a"})),
      (words{"a: has all files already\n", "warning: old versions are left: e: no",
             "n 222 is now on all hosts, in /f; 0 B copied\n", "note: b has no ranks any more; it keeps 111 for rollback",
             "warning: c: it is cut; an earlier version ran there; later commands ask it again. If it is gone for good: "
             "dice-run deploy --forget c",
             "warning: a job is running, with the version that it was started with; to run the new version: dice-run "
             "stop, then dice-run start"}));
  EXPECT_EQ(asked(c, {"lock", "remember", "switch_to", "clean"}), (words{lock_of("a"),
                                                                         lock_of("b"),
                                                                         lock_of("d"),
                                                                         lock_of("e"),
                                                                         "remember a a b c d e",
                                                                         "remember b a b c d e",
                                                                         "remember d a b c d e",
                                                                         "remember e a b c d e",
                                                                         "switch_to a 111 '' 222 111",
                                                                         "switch_to b 111 000 '' 111",
                                                                         "switch_to d '' '' '' ''",
                                                                         "switch_to e '' 111 '' ''",
                                                                         "clean a 333",
                                                                         "clean b 333",
                                                                         "clean d 333",
                                                                         "clean e 333",
                                                                         "remember a a b c e",
                                                                         "remember b a b c e",
                                                                         "remember d a b c e",
                                                                         "remember e a b c e"}));
}

TEST(Deploy, AHostThatDoesNotForgetAnotherAsksItAgain) {
  auto c = four_have_left();
  c.answers["remember d"] = {outcome{}, fails("no room")};
  const auto said = deployed(c, plan_of({"a"}));
  ASSERT_GT(said.size(), 2u);
  EXPECT_EQ(said[1], "warning: hosts that it has left are asked again: d: no room");
  EXPECT_EQ(said[2], "n 222 is now on all hosts, in /f; 0 B copied\n");
  c = four_have_left();
  c.answers["remember b"] = {fails("no room")};
  EXPECT_EQ(deployed(c, plan_of({"a"})), (words{"a: has all files already\n", "error: b: no room", nothing_switched}));
  EXPECT_EQ(asked(c, {"switch_to", "clean"}), words());
}

TEST(Deploy, FullDisks) {
  auto c = all_have_it({"b", "a"});
  c.answers["prepare b"] = {
      says("folder /t\nmissing weights\nfree 1052575\n")};  // 4000 bytes, and 1 MiB for the file system
  c.answers["prepare a"] = {fails("no", "folder /t\nmissing weights\nfree 0\n")};
  EXPECT_EQ(deployed(c, plan_of({"b", "a"})),
            (words{"error: a: no",
                   "error: b: the disk of /f is full: 1027.9 KiB are free, 1027.9 KiB are needed; remove something",
                   nothing_switched}));
  c = all_have_it({"a"});
  c.answers["prepare a"] = {says("folder /t\nfree 0\n")};
  EXPECT_EQ(deployed(c, plan_of({"a"})), no_room_is_needed);
  c.answers["prepare a"] = {says("folder /t\nmissing sh\nfree 0\n")};
  EXPECT_EQ(deployed(c, plan_of({"a"}))[0],
            "error: a: the disk of /f is full: 0 B are free, 1043.5 KiB are needed; remove something");
  c = all_have_it({"b", "a"});  // another writes there meanwhile
  for (const auto* host : {"b", "a"}) c.answers[std::string("prepare ") + host] = {says("folder /t\nmissing sh\n")};
  c.answers["send a"] = {fails("rsync: write failed: No space left on device (28)")};
  c.answers["send b"] = {fails("rsync: no")};
  EXPECT_EQ(deployed(c, plan_of({"b", "a"})),
            (words{"error: b: rsync: no", "error: a: the disk of /f is full; remove something", goes_on}));
  EXPECT_EQ(asked(c, {"discard", "complete"}), words{"discard a"});
}

TEST(Deploy, WhatDoesNotArriveAsItShouldIsNotUsed) {
  auto c = all_have_it({"b", "a"});
  c.answers["complete a"] = {fails("sh is not the file")};
  EXPECT_EQ(deployed(c, plan_of({"b", "a"})), (words{"error: a: sh is not the file", nothing_switched}));
  EXPECT_EQ(asked(c, {"remember", "switch_to"}), words());
}

TEST(Deploy, AFailedSwitchIsTakenBack) {
  for (const bool is_back : {true, false}) {
    conversation c;
    for (const auto* host : {"a", "b", "c", "d"})
      c.answers[std::string("survey ") + host] = {says(fmt::format("current 11{}\nprevious 00{}\n", host, host))};
    c.answers["switch_to a"] = {says("switches\n")};
    c.answers["switch_to b"] = {fails("no room", "switches\n"), is_back ? outcome{} : fails("no room")};
    c.answers["switch_to c"] = {fails("has another version")};
    c.answers["switch_to d"] = {is_cut(), outcome{}};
    const auto said = deployed(c, plan_of({"a", "b", "c", "d"}));
    ASSERT_GT(said.size(), 4u);
    EXPECT_EQ(words(said.begin() + 4, said.end()),
              (words{"error: b: no room", "error: c: has another version", "error: d: it is cut",
                     is_back ? nothing_switched
                             : "error: hosts may have different versions now (dice-run status shows them); when all hosts "
                               "answer again, deploy again"}));
    EXPECT_EQ(asked(c, {"switch_to", "clean"}),
              (words{"switch_to a 11a 00a 222 11a", "switch_to b 11b 00b 222 11b", "switch_to c 11c 00c 222 11c",
                     "switch_to d 11d 00d 222 11d", "switch_to a 222 11a 11a 00a", "switch_to b 222 11b 11b 00b",
                     "switch_to d 222 11d 11d 00d"}));
  }
}

TEST(Deploy, HostsThatAreForgotten) {
  const auto forgotten = [](const words& names, conversation c) { return deployed(c, plan_of({"a"}), names); };
  const auto known = all_have_it({"a"});
  EXPECT_EQ(forgotten({"x", "a"}, known),
            words{"usage: --forget: \"a\" is a host of these packages; take it out of the plan first"});
  for (const auto* line : {"supervised\n", "current \nprocess 1 2 3 0 n\n"}) {
    auto c = known;
    c.answers["survey y"] = {says(line)};
    EXPECT_EQ(forgotten({"x", "y"}, c),
              words{"error: --forget is for hosts that are gone, and on y a process of n runs; dice-run stop ends it"});
  }
  auto c = known;
  c.answers["survey a"] = {says("current 222\ncurrent_host z slots=1\nprevious_host c slots=1\nprevious_host a\n")};
  EXPECT_EQ(
      forgotten({"x", "z", "y"}, c),
      (words{"error: --forget: none of the hosts that answer remembers \"x\"; they remember a, c, z",
             "error: --forget: none of the hosts that answer remembers \"y\"; they remember a, c, z", nothing_switched}));
  c.answers["survey a"][0].out += "members a\n";
  EXPECT_EQ(forgotten({"c"}, c),  // was forgotten before
            (words{"error: --forget: none of the hosts that answer remembers \"c\"; they remember a, z", nothing_switched}));
  c.answers["survey a"] = {says("current 222\n")};
  EXPECT_EQ(
      forgotten({"x"}, c),
      (words{"error: --forget: none of the hosts that answer remembers \"x\"; n is not deployed there", nothing_switched}));
  c.answers["survey a"] = {says("current 222\nprevious 111\nmembers a\nmembers c\nmembers z\n")};
  EXPECT_EQ(deployed(c, plan_of({"a"}), {"z", "c"}),
            (words{no_room_is_needed[0], no_room_is_needed[1], "z is forgotten\n", "c is forgotten\n"}));
  EXPECT_EQ(asked(c, {"survey", "lock", "remember"}),
            (words{"survey z", "survey c", lock_of("a"), "survey a", "remember a a"}));
}

TEST(Deploy, ADryRunShowsAllSteps) {
  conversation c;
  auto plan = plan_of({"b", "a"});
  plan.packages[1].unlisted = {"it\x1b", "z"};
  EXPECT_EQ(deployed(c, plan, {"z"}, true),
            (words{"warning: \"/bin/it\\x1b\" is not copied, because manifest.json does not list it",
                   "warning: \"/bin/z\" is not copied, because manifest.json does not list it",
                   "b: 2 of 2 files copied, 0 B\n", "a: 2 of 2 files copied, 0 B\n"}));
  EXPECT_EQ(asked(c, {"send", "complete", "remember", "switch_to", "clean"}),
            (words{"send b /bin /f/.dice-run/n/token.part '' sh weights",
                   "send a /bin /f/.dice-run/n/token.part '' sh weights", "complete b 222 sh of-sh weights of-b",
                   "complete a 222 sh of-sh weights of-a", "switch_to b '' '' 222 ''", "switch_to a '' '' 222 ''"}));
}

/// What a terminal shows, if `work` writes to it as its standard error.
template <class Work> words shown_by(const Work& work) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY), before = ::dup(STDERR_FILENO);
  ::grantpt(terminal);
  ::unlockpt(terminal);
  const int end = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
  ::dup2(end, STDERR_FILENO);
  work();
  ::dup2(before, STDERR_FILENO);
  for (const int one : {end, before}) ::close(one);
  std::string all;
  char text[4096];
  for (ssize_t size = 0; (size = ::read(terminal, text, sizeof text)) > 0;) all.append(text, static_cast<std::size_t>(size));
  ::close(terminal);
  const std::string clear = "\r\033[K";
  words out;
  for (std::size_t at = 0; at != std::string::npos;) {
    const auto next = all.find(clear, at);
    out.push_back(all.substr(at, next - at));
    at = next == std::string::npos ? next : next + clear.size();
  }
  return out;
}

TEST(Deploy, ATerminalShowsTheSlowest) {
  auto c = all_have_it({"b", "c", "a"});
  c.answers["prepare b"] = {says("folder /t\nmissing sh\nmissing weights\n")};
  c.answers["prepare a"] = {says("folder /t\nmissing weights\n")};
  c.percents = {{"b", {50, 250}}, {"a", {-5, 100}}};
  std::string said;
  const auto shown = shown_by([&] {
    testing::internal::CaptureStdout();
    deploy(site(plan_of({"b", "c", "a"}), "/f", std::make_unique<answering_hosts>(c), "token"), {});
    said = testing::internal::GetCapturedStdout();
  });
  EXPECT_EQ(shown, (words{"", "copying: 11.7 KiB of 27.3 KiB; a: 0 %", "copying: 23.4 KiB of 27.3 KiB; a: 0 %",
                          "copying: 23.4 KiB of 27.3 KiB; a: 0 %", "copying: 27.3 KiB of 27.3 KiB; a: 100 %",
                          "the hosts check what they have got", ""}));
  EXPECT_TRUE(said.ends_with("\nn 222 is on all hosts already, in /f; 27.3 KiB copied\n")) << said;
}

TEST(HostLocks, OneThatFailsEndsTheCommand) {
  auto c = all_have_it({"b", "a", "c"});
  c.locked = {{"b", "b: another is at work"}, {"a", "a: another"}, {"c", "c: another"}};
  const std::string nothing_changed = "error: nothing was changed on any host";
  EXPECT_EQ(rolled_back(c, {"b", "a", "c"}), (words{"error: b: another is at work", nothing_changed}));
  EXPECT_EQ(c.asked, words{lock_of("b")});  // of two that begin at once, one has it
  c.locked.erase("b");
  EXPECT_EQ(rolled_back(c, {"b", "a", "c"}), (words{"error: a: another", "error: c: another", nothing_changed}));
  c = all_have_it({"b", "a"});
  c.answers["survey a"] = {is_cut()};
  EXPECT_EQ(rolled_back(c, {"b", "a"}), (words{"error: a: it is cut", nothing_changed}));
}

TEST(HostLocks, OneThatIsLostEndsTheCommand) {
  auto c = all_have_it({"b", "a", "c"});
  c.lost = {"c", "a"};
  const std::string lost = ": the connection that keeps its lock was lost; try again";
  EXPECT_EQ(rolled_back(c, {"b", "a", "c"}), (words{"error: a" + lost, "error: c" + lost, nothing_switched}));
  EXPECT_EQ(asked(c, {"switch_to"}), words());
}

TEST(Rollback, StepByStep) {
  auto c = all_have_it({"b", "a", "c"});
  c.answers["survey a"][0].out += "supervised\n";
  c.answers["survey c"] = {is_cut()};
  EXPECT_EQ(
      rolled_back(c, {"b", "a"}),
      (words{"n 111 is now on all hosts, and 222 is the previous version\n",
             "warning: c: it is cut; an earlier version ran there; later commands ask it again. If it is gone for good: "
             "dice-run deploy --forget c",
             "warning: a job is running, with the version that it was started with; to run this version: dice-run stop, "
             "then dice-run start"}));
  EXPECT_EQ(asked(c, {"switch_to"}), (words{"switch_to b 222 111 111 222", "switch_to a 222 111 111 222"}));
  c.answers["survey b"] = {says("current \nprevious 111\n")};  // after a deploy to other hosts
  EXPECT_EQ(rolled_back(c, {"b"}), words{"n 111 is now on all hosts\n"});
}

TEST(Rollback, AllHostsOfThePreviousVersionAreNeeded) {
  conversation c;
  c.answers["survey a"] = {
      says("current 222\nprevious 111\nprevious_host gone\nprevious_host cut\nprevious_host a\n"
           "previous_host other\nprevious_host none\nmembers a\nmembers cut\nmembers other\nmembers none\n")};
  c.answers["survey cut"] = {is_cut()};
  c.answers["survey other"] = {says("previous 000\nprevious_host other\n")};
  EXPECT_EQ(
      rolled_back(c, {"a"}),
      (words{"error: gone: the previous version needs this host, which was forgotten; deploy the version that you need",
             "error: cut: it is cut",
             "error: a has the previous version 111, other has 000; deploy the version that you need",
             "error: none: there is no previous version", nothing_switched}));
  c.answers["survey a"] = {says("current 222\nmembers a\nmembers other\n")};  // only a host that has left has one
  EXPECT_EQ(rolled_back(c, {"a"}), (words{"error: a: there is no previous version", nothing_switched}));
}

}  // namespace
}  // namespace dice_run
