// Single statements of tools/dice-run/scripts/*.sh, on this machine. simulated/model_test.cpp compares what they do as a
// whole.
#include "scripts.hpp"
#include "remote.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace dice_run {
namespace {

namespace fs = std::filesystem;

/// A folder of deployments on this machine, which this dice-run has locked.
class Scripts : public testing::Test {
 protected:
  const fs::path folder = fs::temp_directory_path() / fmt::format("dice_run_scripts_{}", ::getpid());
  const fs::path base = folder / ".dice-run/n";

  Scripts() {
    fs::remove_all(folder);
    fs::create_directories(base);
    fs::create_symlink("t1 0 process 1 on pc", base / "holder");
  }
  ~Scripts() override {
    ::setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder);
  }

  words place(const words& arguments) {
    words out{folder.string(), "n", "dice-run-x", "t1", std::to_string(++calls_)};
    out.insert(out.end(), arguments.begin(), arguments.end());
    return out;
  }
  outcome run(const char* script, const words& arguments = {}, const std::string& host = "localhost",
              const std::string& ssh = "ssh") {
    return remote({.ssh = ssh}).run(host, scripts::prelude + std::string(script), place(arguments));
  }
  /// As a user who is not root.
  outcome run_as_another(const char* script) {
    return run(script, {"me"}, "b", "setpriv --reuid=1 --regid=1 --clear-groups sh -c 'exec sh'");
  }
  void write(const fs::path& file, const std::string& text, fs::perms mode = fs::perms::owner_all) const {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    fs::permissions(file, mode);
  }
  /// Programs that take the place of others, or of all others.
  void use(const fs::path& programs, bool alone = false) const {
    ::setenv("PATH", (programs.string() + (alone ? "" : ":" + path_)).c_str(), 1);
  }

 private:
  const std::string path_ = std::getenv("PATH");
  long calls_ = 0;
};

/// A process that runs until this ends.
class child {
 public:
  child(const fs::path& program, const std::string& argument, uid_t user = ::getuid(), int apart = 0) : pid(::fork()) {
    if (pid != 0) return;
    if (apart != 0 && ::unshare(apart) != 0) ::_exit(1);
    if (std::freopen("/dev/null", "w", stdout) == nullptr || (user != ::getuid() && ::setuid(user) != 0)) ::_exit(1);
    ::execl(program.c_str(), program.c_str(), argument.c_str(), nullptr);
    ::_exit(1);
  }
  child(const child&) = delete;
  ~child() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  /// Waits until it runs its program.
  bool runs(const fs::path& program) const {
    for (int i = 0; i < 100; ++i) {
      std::error_code none;
      if (fs::read_symlink(fmt::format("/proc/{}/exe", pid), none) == program) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }
  const pid_t pid;
};

TEST_F(Scripts, EachProgramThatTheyNeedIsAskedFor) {
  const words needed{"flock", "grep", "setsid", "sha256sum", "stat", "stdbuf", "sync"};
  const auto few = folder / "few";
  for (const auto& name : needed) write(few / name, "#!/bin/sh\n");
  fs::create_symlink("/bin/sh", few / "sh");
  use(few, true);
  for (const auto& name : needed) {
    fs::rename(few / name, folder / name);
    const auto said = run(scripts::survey);
    EXPECT_EQ(said.err, "it has no " + name + "; install it (Debian: coreutils, grep, util-linux)\n");
    EXPECT_EQ(said.status, 1);
    fs::rename(folder / name, few / name);
  }
  EXPECT_EQ(run(scripts::prepare, {"v"}).err, "it has no rsync; install it (Debian: rsync)\n");
}

TEST_F(Scripts, FoldersOfOthersAreNotUsed) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can give folders to others";
  const auto* const other = ::getpwuid(1);
  for (const auto& made : {folder, folder / ".dice-run", base}) {
    ASSERT_EQ(::chown(made.c_str(), 1, 1), 0);
    EXPECT_EQ(run(scripts::lock, {"me"}).err, fmt::format("{} belongs to {}; choose another folder by --to\n", made.string(),
                                                          other == nullptr ? "UNKNOWN" : other->pw_name));
    ASSERT_EQ(::chown(made.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(run(scripts::lock, {"me"}).out, "locked\n");
}

TEST_F(Scripts, AUserNeedsAFolderToWriteTo) {
  const auto* const other = ::getpwuid(1);
  if (::getuid() != 0 || other == nullptr) GTEST_SKIP() << "only root can be another user";
  const auto refusal = fmt::format("{} may not write to {}; let this user write there, or choose another folder by --to\n",
                                   other->pw_name, folder.string());
  fs::remove_all(folder / ".dice-run");
  EXPECT_EQ(run_as_another(scripts::lock).err, refusal);
  fs::permissions(folder, fs::perms::all);  // root's folder is as good as one's own
  EXPECT_EQ(run_as_another(scripts::lock).out, "locked\n");
}

TEST_F(Scripts, AUserMustBeLetIn) {
  const auto* const other = ::getpwuid(1);
  if (::getuid() != 0 || other == nullptr) GTEST_SKIP() << "only root can be another user";
  for (const auto& shut : {base, folder / ".dice-run", folder}) {
    fs::permissions(shut, fs::perms::owner_all);
    for (const auto* script : {scripts::survey, scripts::stop, scripts::lock}) {
      const auto said = run_as_another(script);
      EXPECT_EQ(said.err,
                fmt::format("permission denied: {} may not look into {} for {}; let this user in, or choose another "
                            "folder by --to\n",
                            other->pw_name, shut.string(), folder.string()));
      EXPECT_EQ(said.out, "");
      EXPECT_EQ(said.status, 1);
    }
  }
}

TEST_F(Scripts, AFolderThatCannotBeUsedHasARemedy) {
  const auto locked = [&](const std::string& where) {
    return remote({})
        .run("localhost", scripts::prelude + std::string(scripts::lock), {where, "n", "dice-run-x", "t1", "1", "me"})
        .err;
  };
  const std::string remedy = "\nchoose another folder by --to\n";
  EXPECT_TRUE(locked("/proc/x").ends_with(remedy)) << locked("/proc/x");
  write(folder / "here/.dice-run/n", "");  // where a folder must be
  EXPECT_TRUE(locked(folder / "here").ends_with(remedy)) << locked(folder / "here");
  write(folder / "programs/ln", "#!/bin/sh\necho 'ln: failed to create symbolic link' >&2; exit 1\n");
  use(folder / "programs");
  EXPECT_EQ(locked(folder),
            fmt::format("ln: failed to create symbolic link\nlinks cannot be made in {}; choose another folder "
                        "by --to\n",
                        folder.string()));
}

TEST_F(Scripts, ALockEndsWithItsShell) {
  const remote hosts({});
  auto lock = hosts.start("localhost", scripts::prelude + std::string("echo $$\n") + scripts::lock, place({"me"}));
  const int shell = std::atoi(lock.read_line(10).c_str());
  ASSERT_GT(shell, 0);
  EXPECT_EQ(lock.read_line(10), "locked");
  EXPECT_EQ(fs::read_symlink(base / "holder").string(), "t1 1 me");
  EXPECT_NE(hosts.run("localhost", "flock -n \"$1\" true", {base / "lock"}).status, 0);
  ::kill(shell, SIGKILL);  // what it waits with stays for a while
  EXPECT_EQ(hosts.run("localhost", "flock -w 2 \"$1\" true", {base / "lock"}).status, 0);
}

/// The words of the line that begins with `key`.
words line_of(const std::string& text, const std::string& key) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key + " ")) return split_words(line);
  return {};
}

TEST_F(Scripts, SurveySaysTimesAndWhatProcessesUse) {
  for (const auto* program : {"n", "other"}) {
    fs::create_directories(base / "v1");
    fs::copy("/usr/bin/yes", base / "v1" / program);
  }
  child rank(base / "v1/n", "x"), other(base / "v1/other", "x");
  ASSERT_TRUE(rank.runs(base / "v1/n") && other.runs(base / "v1/other"));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ::kill(rank.pid, SIGSTOP);
  ::kill(other.pid, SIGSTOP);
  int state = 0;
  ::waitpid(rank.pid, &state, WUNTRACED);
  const auto said = run(scripts::survey).out;
  long up = 0, kilobytes = 0, user = 0, system = 0;
  std::ifstream("/proc/uptime") >> up;
  EXPECT_NEAR(std::stol(line_of(said, "uptime").at(1)), up, 5);
  EXPECT_NEAR(std::stol(line_of(said, "clock").at(1)), static_cast<long>(std::time(nullptr)), 5);
  std::ifstream status(fmt::format("/proc/{}/status", rank.pid)), stat(fmt::format("/proc/{}/stat", rank.pid));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) kilobytes = std::atol(line.c_str() + 6);
  std::string word;
  for (int i = 1; i < 14; ++i) stat >> word;
  stat >> user >> system;
  EXPECT_GT(user + system, 0);
  const auto process = [](const child& of) { return fmt::format("process {}", of.pid); };
  EXPECT_EQ(line_of(said, process(rank)), split_words(fmt::format("{} {} {} 1 n", process(rank), user + system, kilobytes)));
  const auto of_other = line_of(said, process(other));
  ASSERT_EQ(of_other.size(), 6u);
  EXPECT_EQ(of_other[4] + of_other[5], "0other");
  fs::remove(base / "v1/n");  // the version was replaced
  EXPECT_EQ(line_of(run(scripts::survey).out, process(rank)).at(4), "1");
}

TEST_F(Scripts, ProcessesOfOthersAreOfNoDeployment) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can be another user";
  fs::create_directories(base / "v1");
  fs::copy("/usr/bin/sleep", base / "v1/n");
  child own(base / "v1/n", "100"), of_another(base / "v1/n", "100", 1);
  ASSERT_TRUE(own.runs(base / "v1/n") && of_another.runs(base / "v1/n"));
  const auto said = run(scripts::survey).out;
  EXPECT_NE(said.find(fmt::format("\nprocess {} ", own.pid)), std::string::npos) << said;
  EXPECT_EQ(said.find(fmt::format("\nprocess {} ", of_another.pid)), std::string::npos) << said;
}

// Hosts of a test bed see each other's processes.
TEST_F(Scripts, ProcessesOfAnotherNetworkAreOfAnotherHost) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can make a network";
  fs::create_directories(base / "v1");
  fs::copy("/usr/bin/sleep", base / "v1/n");
  child own(base / "v1/n", "100"), of_another(base / "v1/n", "100", ::getuid(), CLONE_NEWNET);
  if (!own.runs(base / "v1/n") || !of_another.runs(base / "v1/n")) GTEST_SKIP() << "no network can be made here";
  const auto said = run(scripts::survey).out;
  EXPECT_NE(said.find(fmt::format("\nprocess {} ", own.pid)), std::string::npos) << said;
  EXPECT_EQ(said.find(fmt::format("\nprocess {} ", of_another.pid)), std::string::npos) << said;
}

TEST_F(Scripts, CleanKeepsWhatIsUsed) {
  for (const auto* name : {"bench", "job", "v1", "v2", "v3", "v4", "v5"}) fs::create_directories(base / name);
  fs::copy("/usr/bin/sleep", base / "v1/n");
  fs::create_symlink(".dice-run/n/v4", folder / "n");
  fs::create_symlink("v5", base / "previous");
  {
    child rank(base / "v1/n", "100");
    ASSERT_TRUE(rank.runs(base / "v1/n"));
    EXPECT_EQ(run(scripts::clean, {"v3"}).out, "left v1\nleft v3\nleft v4\nleft v5\nrunning\n");
  }
  EXPECT_EQ(run(scripts::clean, {"v3"}).out, "left v3\nleft v4\nleft v5\n");
  for (const auto* name : {"bench", "job"}) EXPECT_TRUE(fs::exists(base / name)) << name;
  for (const auto* name : {"v1", "v2"}) EXPECT_FALSE(fs::exists(base / name)) << name;
}

TEST_F(Scripts, WhatCannotBeCompletedFails) {
  fs::create_directories(base / "v1");
  write(base / "t1.part/x", "");
  auto said = run(scripts::complete, {"v1", "lacks", "-", "x", "-"});
  EXPECT_EQ(said.status, 1);
  EXPECT_NE(said.err, "");
  EXPECT_TRUE(fs::exists(base / "t1.part/x"));
  write(base / "v2", "in the way");
  said = run(scripts::complete, {"v2", "x", "-"});
  EXPECT_EQ(said.status, 1);
  EXPECT_EQ(said.out, "checked x\n");
}

TEST_F(Scripts, NothingIsSwitchedIfThePreviousVersionCannotBe) {
  for (const auto* name : {"v0", "v1", "v2", "previous.new"}) fs::create_directories(base / name);
  fs::create_symlink(".dice-run/n/v1", folder / "n");
  fs::create_symlink("v0", base / "previous");
  const auto said = run(scripts::switch_to, {"v1", "v0", "v2", "v1"});
  EXPECT_EQ(said.status, 1);
  EXPECT_EQ(said.out, "switches\n");
  EXPECT_EQ(fs::read_symlink(folder / "n").string(), ".dice-run/n/v1");
}

TEST_F(Scripts, PrepareTakesFilesAsTheyAre) {
  write(base / "v1/x", "", fs::perms::owner_read);
  fs::create_symlink(".dice-run/n/v1", folder / "n");
  write(folder / "bin/stat",
        "#!/bin/sh\n[ \"$1\" = -f ] || exec /usr/bin/stat \"$@\"\n"
        "[ \"$3\" = '%b %a %S' ] && echo 10 20 4096\n");
  use(folder / "bin");
  const std::string empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  const auto said = run(scripts::prepare, {"v2", "x", "0", empty, "755", "y", "0", empty, "644"});
  EXPECT_EQ(said.out, "folder " + (base / "t1.part").string() + "\ncurrent v1\nstaged x\nmissing y\nfree 81920\n")
      << said.err;
  EXPECT_TRUE(fs::equivalent(base / "v1/x", base / "t1.part/x"));  // takes no room
  EXPECT_EQ(fs::status(base / "t1.part/x").permissions(), static_cast<fs::perms>(0755));
}

}  // namespace
}  // namespace dice_run
