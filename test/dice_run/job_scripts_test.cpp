// The scripts of jobs in a folder of this machine, with what hosts rarely do.
#include "scripts.hpp"

#include "diagnostics.hpp"
#include "remote.hpp"
#include "site.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>

namespace dice_run {
namespace {

namespace fs = std::filesystem;

class JobScripts : public testing::Test {
 protected:
  JobScripts() { fs::create_directories(base / "job"); }
  ~JobScripts() override { fs::remove_all(folder); }

  const fs::path folder = fs::temp_directory_path() / fmt::format("dice_run_scripts_{}", ::getpid());
  const fs::path base = folder / ".dice-run/n";
  const std::string job = fmt::format("dice-run-scripts-{}", ::getpid());

  /// `before`: commands that come first, such as other functions in place of programs.
  outcome run(const std::string& script, const words& arguments, const std::string& before = {}) {
    words all{folder.string(), "n", job, "token", std::to_string(++calls_)};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return remote({}).run("localhost", before + "\n" + site::with_prelude(script), all);
  }
  void write(const fs::path& file, const std::string& text) const { std::ofstream(base / file) << text; }
  /// This dice-run has the lock.
  void lock() const { fs::create_symlink("token 0 process 7 on pc", base / "holder"); }

 private:
  int calls_ = 0;
};

const std::string quick = "sleep() { :; }";

/// Nothing ends it here.
TEST_F(JobScripts, StopSaysWhatDoesNotEnd) {
  lock();
  process left({"env", "OMPI_MCA_dice_run_job=" + job, "sh", "-c", "echo ready; read line"});
  EXPECT_EQ(left.read_line(10), "ready");
  const auto signals = (folder / "signals").string();
  auto stopped = run(scripts::stop, {"0"}, quick + "; kill() { echo \"$1 $#\" >>" + sh_quote(signals) + "; }");
  const auto pids = lines_of(stopped.err);
  EXPECT_TRUE(pids.size() == 1 && pids[0].starts_with("these processes do not end: ")) << stopped.err;
  EXPECT_EQ(stopped.out, "found 1\nkilled 1\n");
  EXPECT_EQ(stopped.status, 1);
  std::ifstream in(signals);
  std::string expected = "-TERM 2\n";  // after two seconds
  for (int tenths = 20; tenths < 60; tenths += 2) expected += "-KILL 2\n";
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), expected);
}

TEST_F(JobScripts, StopWaitsForAJobThatIsBeingStarted) {
  lock();
  process starts({"flock", (base / "job.lock").string(), "sh", "-c", "echo ready; read line"});
  EXPECT_EQ(starts.read_line(10), "ready");
  const auto stopped = run(scripts::stop, {"0"}, quick);
  EXPECT_EQ(stopped.out, "found 0\nkilled 0\n");
  EXPECT_EQ(failure_of("a", stopped), "a: a job is still being started; try again");
}

TEST_F(JobScripts, OutputIsTheEndOfTheLog) {
  std::string older, newer;
  for (int i = 0; i < 1500; ++i) older += fmt::format("{}\n", i), newer += fmt::format("{}\n", 1500 + i);
  write("job/log.1", older);
  write("job/log", newer);
  const auto lines = lines_of(run(scripts::output, {}).out);
  ASSERT_EQ(lines.size(), 2000u);
  EXPECT_EQ(lines.front(), "1000");
  EXPECT_EQ(lines.back(), "2999");
}

TEST_F(JobScripts, LogsOfTheJobBeforeHaveAsManyLines) {
  write("job/before.log", "a\nb\nc\n");
  const auto lines = lines_of(run(scripts::logs, {"2", "follow"}).out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].ends_with(" dice-run: the last job has no log; this is the log of the job before")) << lines[0];
  EXPECT_EQ(lines[1] + lines[2], "bc");
}

TEST_F(JobScripts, NothingIsStartedWhereNothingCanBeWritten) {
  lock();
  fs::create_directory(base / "v");
  write("v/ranks", "rank 0=a slot=*:*\n");
  const auto why = [&](const std::string& before) {
    return failure_of("a", run(scripts::start, {"1", "0", "", "v", "exit 0", ""}, before));
  };
  const auto full = fmt::format("a: the disk of {} is full; remove something. Nothing was started", folder.string());
  fs::remove(base / "job");
  write("job", "");
  const auto unknown = fmt::format("a: {}/job cannot be written (mkdir: ", base.string());
  const auto stat = [](const std::string& blocks) {
    return "stat() { [ \"$1\" != -f ] && command stat \"$@\" || echo " + blocks + "; }";
  };
  EXPECT_TRUE(why("").starts_with(unknown) && why("").ends_with("). Nothing was started")) << why("");
  EXPECT_EQ(why(stat("9 15 4096")), full);
  EXPECT_TRUE(why(stat("9 16 4096")).starts_with(unknown)) << why(stat("9 16 4096"));  // 64 KiB are enough
  EXPECT_TRUE(why(stat("0 0 4096")).starts_with(unknown)) << why(stat("0 0 4096"));    // a file system that does not say it
}

/// Frames may show what others must not see.
TEST_F(JobScripts, OnlyThisUserBringsAndReadsTheInput) {
  lock();
  fs::create_directory(base / "v");
  write("v/ranks", "rank 0=a slot=*:*\n");
  run(scripts::start, {"1", "0", "", "v", "exit 0", "input"}, "umask 0");
  struct stat is {};
  ASSERT_EQ(::stat((base / "job/input").c_str(), &is), 0);
  EXPECT_TRUE(S_ISFIFO(is.st_mode));
  EXPECT_EQ(is.st_mode & 0777, 0600u);
}

/// Folders that others have made, as in /var/tmp.
TEST_F(JobScripts, NothingIsStartedInFoldersOfOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make them";
  lock();
  ASSERT_EQ(::chown(base.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  for (const auto& [script, arguments] :
       {std::pair{scripts::start, words{"1", "0", "", "v", "exit 0", ""}}, {scripts::bench, {"", "v"}}}) {
    const auto said = failure_of("a", run(script, arguments));
    EXPECT_TRUE(said.starts_with(fmt::format("a: {} belongs to ", base.string())) &&
                said.ends_with("; choose another folder by --to"))
        << said;
  }
}

}  // namespace
}  // namespace dice_run
