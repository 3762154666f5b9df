#include "remote.hpp"

#include "diagnostics.hpp"
#include "host_facts.hpp"
#include "job_log.hpp"
#include "process.hpp"
#include "signals.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <atomic>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace dice_run {
namespace {

const words hostile{"", "a b", "it's", "\"", "$HOME", "`id`", ";", "a\nb", "\\", "*", "-n", "!", "#", "ä", "'\\''"};

TEST(Remote, QuotesForSh) {
  const remote here({});
  const auto result = here.run("localhost", "for a; do printf '%s\\0' \"$a\"; done", hostile);
  std::string expected;
  for (const auto& word : hostile) expected += word + '\0';
  EXPECT_EQ(result.out, expected);
  EXPECT_EQ(sh_quote("/var/tmp/x-1"), "/var/tmp/x-1");
  const std::string_view plain = "_-+=./,:@%";
  for (char c = 1; c > 0; ++c) {
    const std::string one(1, c);
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || plain.find(c) != std::string_view::npos;
    EXPECT_EQ(sh_quote(one) == one, is_plain) << one;
  }
}

TEST(Remote, ScriptsReadNoInput) {
  const auto result = remote({}).run("localhost", "cat; echo end; exit 3");
  EXPECT_EQ(result.out, "end\n");
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(failure_of("localhost", remote({}).run("localhost", "exit 255")), "localhost: exit status 255");  // no ssh
}

TEST(Remote, CtrlCThatIsAwaitedDoesNotReachScripts) {
  const auto group = [] {
    return remote({}).run("localhost", "read -r pid name state parent group rest </proc/self/stat; echo $group").out;
  };
  const auto own = std::to_string(::getpgrp()) + "\n";
  EXPECT_EQ(group(), own);
  {
    const interruption awaited;
    EXPECT_NE(group(), own);
  }
  EXPECT_EQ(group(), own);
}

TEST(Remote, AHostThatPrintsForEverIsGivenUp) {
  EXPECT_EQ(failure_of("a", remote({}).run("localhost", "exec yes")), "a: it prints without an end");
  EXPECT_EQ(failure_of("a", remote({}).run("localhost", "yes | head -c 100000000 >&2")), "a: it prints without an end");
}

/// The end of a message: what to try if this script is ssh.
std::string try_by_hand(const std::string& ssh) { return "ry sh -c '" + ssh + "' b"; }

/// What is said of a host whose ssh is this script.
std::string said_of(const std::string& ssh, const std::string& script = "echo done") {
  const remote hosts({.ssh = "sh -c '" + ssh + "'", .begin_s = 0.5, .silent_s = 0.6});
  const auto result = hosts.run("b", script);
  return result.ok() ? result.out : failure_of("b", result);
}

/// Why nothing is held on a host whose ssh is this script.
std::string why_not_held(const std::string& ssh, double begin_s = 0.5,
                         const std::string& script = "echo locked; read line") {
  try {
    remote({.ssh = "sh -c '" + ssh + "'", .begin_s = begin_s}).hold("b", script, {}, "locked");
    return {};
  } catch (const run_error& e) {
    return e.what();
  }
}

TEST(Remote, AHostThatDoesNotRunTheScriptHasNotAnswered) {
  EXPECT_EQ(said_of("exec sh"), "done\n");
  EXPECT_EQ(said_of("echo current 1; exec sh"), "done\n");  // a shell that prints
  EXPECT_EQ(said_of("cat >/dev/null"), "b: its shell runs no script; t" + try_by_hand("cat >/dev/null") + " sh");
  EXPECT_EQ(said_of("cat"), "b: its shell runs no script, and prints \"dice_run() {\"; t" + try_by_hand("cat") + " sh");
  EXPECT_EQ(said_of("echo This account is currently not available.; exit 1"),
            "b: its shell runs no script, and prints \"This account is currently not available.\"; t" +
                try_by_hand("echo This account is currently not available.; exit 1") + " sh");
  EXPECT_EQ(said_of("exit 3"), "b: 'sh -c 'exit 3'' ended with exit status 3 and said nothing; t" + try_by_hand("exit 3"));
  EXPECT_EQ(
      said_of("echo Host key verification failed. >&2; exit 255"),
      "b: its host key is not known here yet; log in once: sh -c 'echo Host key verification failed. >&2; exit 255' b");
  EXPECT_EQ(why_not_held("exit 1"),
            "b: 'sh -c 'exit 1'' ended with exit status 1 and said nothing; t" + try_by_hand("exit 1"));
  EXPECT_EQ(why_not_held("exit 0"), "b: its shell runs no script; t" + try_by_hand("exit 0") + " sh");
  EXPECT_EQ(why_not_held("echo Permission denied >&2; exit 255"), "b: it refuses this user's key; let it in: ssh-copy-id b");
  EXPECT_EQ(why_not_held("echo Welcome; exec sh"),
            "b: its shell prints \"Welcome\", and what is printed before a command disturbs ssh and rsync; let ~/.bashrc or "
            "~/.cshrc there print only in interactive shells");
  EXPECT_EQ(said_of("echo no sh >&2; exit 127"), "b: no sh");
  EXPECT_EQ(said_of("echo a warning >&2; cat >/dev/null"),
            "b: its shell runs no script; t" + try_by_hand("echo a warning >&2; cat >/dev/null") + " sh");
  const std::string banner = "echo All is logged. >&2; exec sh";
  EXPECT_EQ(said_of(banner, "echo why >&2; exit 1"), "b: why");
  EXPECT_EQ(said_of(banner, "exit 7"), "b: exit status 7");
  EXPECT_EQ(why_not_held(banner, 0.5, "echo why >&2; exit 1"), "b: why");
  const auto junk = remote({.ssh = "sh -c 'echo junk; echo why >&2; exit 1'"}).run("b", "echo x");
  EXPECT_EQ(junk.out + failure_of("b", junk), "b: why");
  std::string heard;
  EXPECT_TRUE(remote({.ssh = "sh -c 'echo junk; sleep 0.4; exec sh'"})
                  .stream("b", "echo x", {},
                          [&](std::string_view text) {
                            heard += text;
                            return true;
                          })
                  .ok());
  EXPECT_EQ(heard, "x\n");
}

TEST(Remote, AHostThatHangsIsGivenUp) {
  const std::string late = "b: its shell does not begin within 0.5 s; is it overloaded, or its disk broken? T";
  for (const auto* ssh : {"exec sleep 100", "while echo x; do sleep 0.1; done"})
    EXPECT_EQ(said_of(ssh), late + try_by_hand(ssh) + " sh");
  EXPECT_EQ(said_of("exec sh", "echo x; exec sleep 100"),
            "b: what it was asked does not end, for 0.6 s; is it overloaded, or its disk broken?");
  EXPECT_EQ(said_of("exec sh", "for i in 1 2 3 4 5 6 7; do sleep 0.2; done; echo done"),
            "b: what it was asked does not end, for 0.6 s; is it overloaded, or its disk broken?");
  EXPECT_EQ(said_of("exec sh", "for i in 1 2 3 4 5; do echo $i; sleep 0.2; done"), "1\n2\n3\n4\n5\n");
  EXPECT_EQ(why_not_held("exec sleep 100"),
            "b: what it was asked does not end, for 0.5 s; is it overloaded, or its disk broken?");
  int heard = 0;
  remote({.silent_s = 0.5}).stream("localhost", "sleep 1.2; echo x", {}, [&](std::string_view text) {
    return heard += text == "x\n", true;
  });
  EXPECT_EQ(heard, 1);  // as logs -f of a job that is silent
}

/// ssh ends with 255 by SIGTERM.
TEST(Remote, WhyAHostIsGivenUpIsSaid) {
  const std::string ssh = "trap \"exit 255\" TERM; while :; do sleep 0.1; done";
  EXPECT_EQ(said_of(ssh),
            "b: its shell does not begin within 0.5 s; is it overloaded, or its disk broken? T" + try_by_hand(ssh) + " sh");
}

/// What a script does when it has begun has its own time.
TEST(Remote, SilenceIsThatOfTheScript) {
  const remote hosts({.ssh = "sh -c 'sleep 1.2; exec sh'", .begin_s = 30, .silent_s = 2});
  EXPECT_EQ(hosts.run("b", "sleep 1.2; echo done").out, "done\n");
}

TEST(Remote, AHostThatPrintsAndHangsIsAskedForFiveSeconds) {
  EXPECT_EQ(why_not_held("echo x; exec sleep 100", 20),
            "b: what it was asked does not end, for 5 s; is it overloaded, or its disk broken?");
}

TEST(HostFacts, AScriptThatFailsSaysNothing) {
  const auto facts = ask_host(remote({.ssh = "sh -c 'echo ready; echo architecture x86_64; exit 3'"}), "b", "/tmp", {});
  EXPECT_EQ(facts.failure, "exit status 3");
  EXPECT_EQ(facts.architecture, "");
}

TEST(Remote, WhatIsHeldIsFreeAtItsEnd) {
  const auto lock = testing::TempDir() + "dice_run_lock." + std::to_string(::getpid());
  const remote hosts({.ssh = "sh -c sh"});
  const auto begin = hosts.seconds();
  for (int i = 0; i < 5; ++i)
    EXPECT_NO_THROW(hosts.hold("b", "exec 9>>\"$1\"; flock -n 9 && echo locked; read line; sleep 0.1", {lock}, "locked"));
  EXPECT_LT(hosts.seconds() - begin, 5);
  std::filesystem::remove(lock);
}

TEST(Remote, WhatIsHeldGetsASignOfLifeEachFiveSeconds) {
  const std::filesystem::path seen = testing::TempDir() + "dice_run_beats." + std::to_string(::getpid());
  std::filesystem::remove(seen);
  const remote hosts({});
  const auto lives = hosts.hold("localhost", "echo held; head -c 2 >/dev/null; : >\"$1\"; cat >/dev/null", {seen}, "held");
  // Its shell ends, and another process keeps its standard input.
  const auto ends = hosts.hold("localhost", "exec 3<&0; echo held; sleep 7 <&3 >/dev/null 2>&1 &", {}, "held");
  const auto begin = hosts.seconds();
  while (!std::filesystem::exists(seen) && hosts.seconds() - begin < 20) hosts.pause(0.1);
  EXPECT_GT(hosts.seconds() - begin, 4);
  EXPECT_LT(hosts.seconds() - begin, 9);
  for (int tenths = 0; tenths < 15 && !ends->is_lost(); ++tenths) hosts.pause(0.1);
  EXPECT_TRUE(ends->is_lost());
  EXPECT_FALSE(lives->is_lost());
  std::filesystem::remove(seen);
}

std::string mistake_of(const auto& work) {
  try {
    work();
    return {};
  } catch (const usage_error& e) {
    return e.what();
  }
}

TEST(Remote, SplitsTheCommandOfSsh) {
  EXPECT_EQ(split_words("ssh  -F 'my file' -o \"a b\"c"), (words{"ssh", "-F", "my file", "-o", "a bc"}));
  EXPECT_EQ(split_words(" \t a\tb  '' c'\"'\"it's\" "), (words{"a", "b", "", "c\"it's"}));
  EXPECT_EQ(mistake_of([] { split_words("ssh 'x"); }), "--ssh: \"ssh 'x\" has an opening quote without a closing one");
  EXPECT_EQ(mistake_of([] { remote({.ssh = " "}); }), "--ssh: expected a command, found none");
}

TEST(Remote, RefusesNamesThatAreNoHosts) {
  for (const auto* name : {"", "-oProxyCommand=x", "a\nb", "a\x1f", "a\x7f"})
    EXPECT_THROW(remote::require_name(name), usage_error) << name;
  EXPECT_EQ(mistake_of([] { remote({}).run("-b", ""); }), "\"-b\" cannot be a host; expected a name or an address");
  EXPECT_NO_THROW(remote::require_name("user@board-1.local"));
}

/// A program that is called in place of rsync: it keeps what it is given, prints a progress, says `message` and ends.
class imitated_rsync {
 public:
  explicit imitated_rsync(int status = 0, const std::string& message = "") {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "rsync") << "#!/bin/sh\ncd " << sh_quote(folder_.string())
                                     << "\nprintf '%s\\n' \"$@\" >words\ntr '\\0' '\\n' >input\n"
                                        "printf '     32  9%%  1.00kB/s\\r'; sleep 0.1; printf '  1,234 10'; sleep 0.1; "
                                        "printf '0%%  1.00kB/s\\r'\necho "
                                     << sh_quote(message) << " >&2\nexit " << status << "\n";
    std::filesystem::permissions(folder_ / "rsync", std::filesystem::perms::owner_all);
    ::setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
  }
  imitated_rsync(const imitated_rsync&) = delete;
  ~imitated_rsync() {
    ::setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  /// The lines of a file that the last call has written, and of none later.
  words take(const std::string& name) const {
    std::ifstream in(folder_ / name);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::filesystem::remove(folder_ / name);
    return lines_of(text);
  }

 private:
  std::string path_ = std::getenv("PATH");
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / fmt::format("dice_run_rsync_{}", ::getpid());
};

/// rsync ends with `status` and says `message`.
outcome sent(int status, const std::string& message) {
  const imitated_rsync imitated(status, message);
  return remote({}).send({"x"}, "/from", "b", "/to", "");
}

TEST(Remote, GivesRsyncAllItNeeds) {
  const imitated_rsync imitated;
  const remote hosts({.ssh = "my \"it's a\""});
  EXPECT_TRUE(hosts.send({"x", "#y z"}, "/from a", "b", "/to b", "").ok());
  const words to_b{"-e",
                   "'my' 'it''s a' '-o' 'BatchMode=yes' '-o' 'ConnectTimeout=5' '-o' 'ServerAliveInterval=2' '-o' "
                   "'ServerAliveCountMax=3'",
                   "--timeout=10"};
  auto expected = to_b;
  expected.insert(expected.end(),
                  {"-s", "-p", "--ignore-times", "--partial", "--from0", "--files-from=-", "/from a/", "b:/to b/"});
  EXPECT_EQ(imitated.take("words"), expected);
  EXPECT_EQ(imitated.take("input"), (words{"./x", "./#y z"}));
  std::vector<int> percents;
  EXPECT_TRUE(hosts.send({"x"}, "/from", "fe80::1", "/to", "/old", [&](int percent) { percents.push_back(percent); }).ok());
  expected.resize(to_b.size() + 6);
  expected.insert(expected.end(), {"--info=progress2", "--outbuf=N", "--copy-dest=/old", "/from/", "[fe80::1]:/to/"});
  EXPECT_EQ(imitated.take("words"), expected);
  EXPECT_EQ(percents, (std::vector<int>{9, 100}));
  expected = to_b;
  expected.insert(expected.end(), {"-s", "b:/x y", (std::filesystem::current_path() / "c:d").string()});
  EXPECT_TRUE(hosts.fetch("b", "/x y", "c:d").ok());
  EXPECT_EQ(imitated.take("words"), expected);
  EXPECT_EQ(imitated.take("input"), words());
  EXPECT_TRUE(hosts.fetch("localhost", "/x", "/y").ok());
  EXPECT_EQ(imitated.take("words"), (words{"-s", "/x", "/y"}));
  EXPECT_THROW(hosts.fetch("-b", "/x", "/y"), usage_error);
  EXPECT_TRUE(hosts.send({"x"}, "/from", "localhost", "/to").ok());
  expected = {"-s", "-p", "--ignore-times", "--partial", "--from0", "--files-from=-", "/from/", "/to/"};
  EXPECT_EQ(imitated.take("words"), expected);
}

TEST(Remote, ShowsWhatItRuns) {
  const imitated_rsync imitated;
  const auto shown = [](const auto& work) {
    testing::internal::CaptureStderr();
    work();
    return testing::internal::GetCapturedStderr();
  };
  const std::string
      script =
          " <<'END'\ndice_run() {\necho x\n}\necho dice-run \"begins\" >&2; echo dice-run \"begins\"; dice_run 'a b' "
          "</dev/null; exit\nEND\n",
      ssh = "+ my -o BatchMode=yes -o ConnectTimeout=5 -o ServerAliveInterval=2 -o ServerAliveCountMax=3 -- b 'sh -s'";
  const remote dry({.ssh = "my", .dry_run = true}), verbose({.verbose = true}), silent({});
  EXPECT_EQ(shown([&] { EXPECT_EQ(dry.run("b", "echo x", {"a b"}).out, ""); }), ssh + script);
  EXPECT_EQ(shown([&] { EXPECT_EQ(verbose.run("localhost", "echo x", {"a b"}).out, "x\n"); }), "+ sh -s" + script);
  EXPECT_EQ(shown([&] { silent.run("localhost", "echo x"); }), "");
  const std::string reads = " <<'END'\ndice_run() {\necho x\n}\necho dice-run \"begins\" >&2; dice_run; exit\nEND\n",
                    copies = "+ rsync -s /x /y\n";
  EXPECT_EQ(shown([&] { EXPECT_FALSE(dry.hold("b", "echo x", {}, "x")->is_lost()); }), ssh + reads);
  EXPECT_EQ(shown([&] { verbose.hold("localhost", "echo x", {}, "x"); }), "+ sh -s" + reads);
  EXPECT_EQ(shown([&] { silent.hold("localhost", "echo x", {}, "x"); }), "");
  EXPECT_EQ(shown([&] { EXPECT_TRUE(dry.fetch("localhost", "/x", "/y").ok()); }), copies);
  EXPECT_EQ(imitated.take("words"), words());
  EXPECT_EQ(shown([&] { EXPECT_TRUE(verbose.fetch("localhost", "/x", "/y").ok()); }), copies);
  EXPECT_EQ(imitated.take("words"), (words{"-s", "/x", "/y"}));
  EXPECT_EQ(shown([&] { silent.fetch("localhost", "/x", "/y"); }), "");
  const std::string sends =
      "+ rsync -s -p --ignore-times --partial --from0 --files-from=- /x/ /y/ <<'END'\n./a b\\x00\nEND\n";
  EXPECT_EQ(shown([&] { EXPECT_TRUE(dry.send({"a b"}, "/x", "localhost", "/y").ok()); }), sends);
}

TEST(Remote, SaysWhyAHostIsNotReached) {  // by what ssh(1) prints
  const auto said = [](const std::string& message) {
    const remote hosts({.ssh = "sh -c 'echo \"$0\" >&2; exit 255' '" + message + "'"});
    return failure_of("a b", hosts.run("a b", "")) + "\n";
  };
  const auto by_hand = [](const std::string& message) {
    return "sh -c 'echo \"$0\" >&2; exit 255' '" + message + "' 'a b'\n";
  };
  for (const auto& [message, why] : std::vector<std::pair<std::string, std::string>>{
           {"ssh: Could not resolve hostname b: Name or service not known",
            "this name is unknown; add it to ~/.ssh/config or /etc/hosts, or check the plan's cluster\n"},
           {"WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! Host key verification failed.",
            "its host key has changed, as after a new installation; if that is so: ssh-keygen -R 'a b', then "},
           {"WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!",
            "its host key has changed, as after a new installation; if that is so: ssh-keygen -R 'a b', then "},
           {"Host key verification failed.", "its host key is not known here yet; log in once: "},
           {"b: Permission denied (publickey).", "it refuses this user's key; let it in: ssh-copy-id 'a b'\n"},
           {"connect to host b port 22: Connection refused",
            "it is up, but has no ssh server; install and start one (Debian: openssh-server)\n"},
           {"connect to host b port 22: Connection timed out", "it does not answer; check its power and its cable\n"},
           {"connect to host b port 22: No route to host", "it does not answer; check its power and its cable\n"},
           {"Timeout, server b not responding.", "it does not answer; check its power and its cable\n"},
           {"Connection to b closed by remote host.",
            "the connection was cut; check its power and its cable, and try again\n"},
           {"Read from remote host b: Connection reset by peer",
            "the connection was cut; check its power and its cable, and try again\n"},
           {"client_loop: send disconnect: Broken pipe",
            "the connection was cut; check its power and its cable, and try again\n"},
           {"Connection closed by 10.0.0.2 port 22",
            "the connection was cut; check its power and its cable, and try again\n"},
           {"", "ssh fails: without a message; try "},
           {"first\nlast", "ssh fails: last; try "}})
    EXPECT_EQ(said(message), "a b: " + (why.ends_with('\n') ? why : why + by_hand(message)));
}

TEST(Remote, AllFailuresAreSaid) {
  outcome good, silent{.status = 3}, talks{.status = 1, .err = "one\n\ntwo\n"},
      cut{.status = 1, .err = "x", .failure = "it is cut"};
  EXPECT_NO_THROW(require_all({"a", "b"}, std::vector{good, good}));
  try {
    require_all({"a", "b", "c", "d"}, std::vector{silent, good, talks, cut});
    FAIL();
  } catch (const run_error& e) {
    EXPECT_EQ(e.messages, (words{"a: exit status 3", "c: one; two", "d: it is cut"}));
  }
}

TEST(Remote, SaysWhyRsyncFailed) {  // by the exit statuses of rsync(1)
  const std::string silent = "it does not answer; check its power and its cable";
  EXPECT_EQ(sent(30, "rsync error: timeout in data send/receive (code 30)").failure, silent);
  EXPECT_EQ(sent(255, "ssh: connect to host b port 22: Connection timed out").failure, silent);
  for (const int cut : {10, 12, 255})
    EXPECT_EQ(sent(cut, "rsync: connection unexpectedly closed by remote host").failure,
              "the connection was cut; check its power and its cable, and try again");
  EXPECT_EQ(sent(12, "sh: 1: rsync: not found").failure, "it has no rsync; install it (Debian: rsync)");
  for (const int status : {11, 12, 23}) {
    const auto other = sent(status, "rsync: write failed: No space left on device (28)");
    EXPECT_EQ(other.failure, "");
    EXPECT_EQ(failure_of("b", other), "b: rsync: write failed: No space left on device (28)");
  }
  const imitated_rsync imitated(12, "rsync: not found");
  EXPECT_EQ(remote({}).send({"x"}, "/from", "localhost", "/to").failure, "");  // there is no connection
}

TEST(Remote, WorkOnAllHostsEndsBeforeTheFirstFailureIsThrown) {
  std::atomic<int> done = 0;
  try {
    for_all(4, [&](std::size_t i) {
      if (i < 2) throw run_error(i == 0 ? "a fails" : "b fails");
      remote({}).pause(0.1);
      ++done;
    });
    FAIL();
  } catch (const run_error& e) {
    ASSERT_EQ(e.messages.size(), 1u);
    EXPECT_TRUE(e.messages[0].ends_with(" fails")) << e.messages[0];
  }
  EXPECT_EQ(done, 2);
}

TEST(JobLog, NamesTheRanksOfOpenMpi4And5) {
  for (const auto* line :
       {"Mon May  4 10:08:43 2026[1,2]<stdout>:16 frames", "[Mon May  4 10:08:43 2026][1,2]<stdout>: 16 frames"})
    EXPECT_EQ(named(parse_log_line(line), {"pc", "pi", "pi5"}, "pc"), "pi5 #2    | Mon May  4 10:08:43 2026 16 frames");
  const std::string after_the_end = std::string(1, '\0') + "2026-05-04 10:08:43 dice-run: the job has ended after 2 s";
  EXPECT_EQ(named(parse_log_line(after_the_end), {"pc", "pi"}, "pc"),
            "dice-run  | 2026-05-04 10:08:43 the job has ended after 2 s");
}

}  // namespace
}  // namespace dice_run
