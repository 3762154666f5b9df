// Runs of dice::main whose ranks are threads, as if they ran on several hosts.
#include "dice/app/rank.hpp"

#include "job/on_hosts.hpp"
#include "runtime/toy.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

using namespace dice;

namespace {

/// A run of the toy with two inputs and outputs in each of two ranks.
struct toy_run {
  toy::program toy{toy::two_by_two(), {0, 1, 0, 1, 0, 0, 1, 1}, 3};
  std::string folder = ::testing::TempDir() + "dice_rank_job_" + std::to_string(::getpid());
  app::options options;
  std::string out, err;

  toy_run() {
    std::filesystem::create_directory(folder);
    options.weights = folder + "/weights";
    options.random = 1;
    toy.write_weights(options.weights);
  }
  toy_run(const toy_run&) = delete;
  ~toy_run() { std::filesystem::remove_all(folder); }

  /// The exit code, with the ranks on `hosts`.
  int operator()(std::string_view hosts) {
    const auto p = toy.view();
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const auto codes = on_hosts::in_ranks(hosts, [&](channels::communicator& here) {
      return app::rank_job(p, options, {}, here, channels::mpi::about, nullptr).run();
    });
    out = testing::internal::GetCapturedStdout();
    err = testing::internal::GetCapturedStderr();
    EXPECT_EQ(codes[0], codes[1]);
    return codes[0];
  }
};

TEST(rank_job, writes_a_file_once_on_each_host) {
  toy_run run;
  const auto file = run.folder + "/results.npy";
  run.options.outputs = {{5, file}, {7, file}};
  EXPECT_EQ(run("++"), 2);
  EXPECT_NE(run.err.find(file), run.err.npos) << run.err;
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(run("+="), 0) << run.err;
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(rank_job, says_which_host_warns) {
  toy_run run;
  run.options.labels = run.folder + "/labels";
  std::ofstream(run.options.labels) << "only one\n";
  run.options.top = {{-1, 1}};
  EXPECT_EQ(run("+="), 0) << run.err;
  const auto other = "rank 1 (host " + on_hosts::communicator::name(1, 0, "+=") + ") ";
  EXPECT_NE(run.err.find("dice: warning: " + other), run.err.npos) << run.err;
}

}  // namespace
