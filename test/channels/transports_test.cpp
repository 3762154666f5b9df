// The list of transports, and what their launchers tell.
#include "dice/channels/transports.hpp"
#include "dice/channels/processes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace dice::channels;

namespace {

/// While it lives, this process has these variables of mpirun, and no others.
class environment {
 public:
  environment(std::initializer_list<std::pair<const char*, const char*>> variables) {
    for (const char* name : names) ::unsetenv(name);
    for (const auto& [name, value] : variables) ::setenv(name, value, 1);
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;
  ~environment() {
    for (const char* name : names) ::unsetenv(name);
  }

 private:
  static constexpr const char* names[] = {
      "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_SIZE", "PMI_RANK", "PMIX_RANK",
      "MPI_LOCALRANKID"};
};

}  // namespace

TEST(transports, are_known_by_word_and_id) {
  for (const auto* t : transports) {
    EXPECT_EQ(&info_of(t->id), t);
    EXPECT_NE(t->id, transport::automatic);
    EXPECT_EQ(std::count_if(transports.begin(), transports.end(), [&](const auto* other) { return other->word == t->word; }),
              1);
    EXPECT_TRUE(t->available() || !(t->library.empty() || t->remedy.empty())) << t->word;
    EXPECT_EQ(t->processes, t->launched && t->bound && !t->started_by.name.empty() && !t->lost_peer.empty()) << t->word;
  }
  EXPECT_TRUE(in_process::about.available());
#ifdef DICE_WITH_MPI
  EXPECT_TRUE(mpi::about.available());
#else
  EXPECT_FALSE(mpi::about.available());
#endif
}

// What messages say of mpirun, and how the runtime allows for it.
TEST(transports, know_their_launcher) {
  const auto& by = mpi::about.started_by;
  EXPECT_EQ(by.count, "-n");
  EXPECT_EQ(by.input, "--stdin");
  EXPECT_EQ(by.place, "--rankfile");
  EXPECT_EQ(by.unbind, std::string(by.bind) + " none");
  EXPECT_EQ(by.signals, std::chrono::seconds(1));
  EXPECT_EQ(in_process::about.started_by.signals, std::chrono::seconds(0));
  EXPECT_TRUE(mpi::about.gpu_messages && !in_process::about.gpu_messages);
}

TEST(transports, are_chosen_if_this_build_has_them) {
  EXPECT_EQ(&chosen(transport::in_process), &in_process::about);
  const auto& processes = mpi::about.available() ? mpi::about : in_process::about;
  EXPECT_EQ(&chosen(transport::mpi), &processes);
  EXPECT_EQ(&chosen(transport::automatic), &processes);
}

TEST(transports, know_who_launched_this_process) {
  {
    const environment none{};
    EXPECT_EQ(launched().by, nullptr);
    EXPECT_EQ(launched().size, 0);
    EXPECT_EQ(usual_launcher().name, "mpirun");
  }
  const auto expect = [](const launch& found, int size, int rank, int local_rank) {
    EXPECT_EQ(found.by, &mpi::about);
    EXPECT_EQ(found.size, size);
    EXPECT_EQ(found.rank, rank);
    EXPECT_EQ(found.local_rank, local_rank);
  };
  {
    const environment open_mpi{
        {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}};
    expect(launched(), 4, 3, 1);
  }
  {
    const environment mpich{{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}, {"MPI_LOCALRANKID", "0"}};
    expect(launched(), 4, 2, 0);
  }
  {
    const environment alone{
        {"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}};
    expect(launched(), 1, 0, 0);
  }
  {
    const environment second_only{{"PMIX_RANK", "1"}};
    expect(launched(), 0, 1, 1);
  }
  const environment rank_only{{"PMIX_RANK", "2"}};
  expect(launched(), 0, 2, 2);
}

TEST(transports, join_all_ranks_that_are_threads) {
  auto job = in_process::about.join(3, false);
  EXPECT_EQ(&job.by, &in_process::about);
  ASSERT_EQ(job.ranks.size(), 3u);
  const auto meet = [&](std::size_t r) {
    EXPECT_EQ(job.ranks[r]->rank(), static_cast<int>(r));
    EXPECT_EQ(job.ranks[r]->size(), 3);
    EXPECT_EQ(job.ranks[r]->library(), "");
    EXPECT_FALSE(job.ranks[r]->claims_gpu_memory());
    EXPECT_EQ(job.ranks[r]->all_gather(std::to_string(r)), (std::vector<std::string>{"0", "1", "2"}));
  };
  std::atomic<int> met = 0;
  std::vector<std::thread> threads;
  for (const std::size_t r : {1, 2})
    threads.emplace_back([&, r] {
      meet(r);
      ++met;
      EXPECT_THROW(job.ranks[r]->all_gather({}), stopped);
    });
  meet(0);
  while (met < 2) std::this_thread::yield();
  job.ranks[1]->stop({});  // not by its own thread
  for (auto& t : threads) t.join();
}

TEST(transports, are_asked_by_processes_that_a_program_has_joined) {
  int joined = 0;
  const processes own([&] { return ++joined, in_process::about.join(2, true); });
  EXPECT_EQ(joined, 0);
  EXPECT_EQ(own.join().ranks.size(), 2u);
  EXPECT_EQ(joined, 1);
  static_assert(!std::default_initializable<processes>, "start({}) means options");
}

TEST(launcher, knows_cores_that_the_user_chose) {
  const char* const names[] = {
      "OMPI_MCA_orte_rankfile",      "OMPI_MCA_rmaps_rank_file_path", "OMPI_MCA_hwloc_base_binding_policy",
      "OMPI_MCA_hwloc_base_cpu_set", "OMPI_MCA_hwloc_base_cpu_list",  "OMPI_MCA_rmaps_base_mapping_policy"};
  for (const char* name : names) ::unsetenv(name);
  EXPECT_FALSE(mpi::bound_by_user());
  const auto bound = [](const char* name, const char* value) {
    ::setenv(name, value, 1);
    const bool out = mpi::bound_by_user();
    ::unsetenv(name);
    return out;
  };
  EXPECT_TRUE(bound(names[0], "ranks"));
  EXPECT_TRUE(bound(names[1], "ranks"));
  EXPECT_TRUE(bound(names[2], "core:overload-allowed"));
  EXPECT_FALSE(bound(names[2], "none"));
  EXPECT_TRUE(bound(names[3], "1"));
  EXPECT_TRUE(bound(names[4], "0,1"));
  EXPECT_FALSE(bound(names[4], ""));
  EXPECT_TRUE(bound(names[5], "core:PE=1"));
  EXPECT_TRUE(bound(names[5], "core:pe=1"));
  EXPECT_FALSE(bound(names[5], "slot"));
}

TEST(launcher, reads_the_words_of_mpirun) {
  const auto binds = [](std::string words) {
    std::replace(words.begin(), words.end(), ' ', '\0');
    return mpi::binds("mpirun" + std::string(1, '\0') + words + std::string("\0./app\0", 7));
  };
  for (const char* words : {"--bind-to core", "-n 2 --bind-to hwthread:overload-allowed", "--rankfile ranks", "-rf ranks",
                            "--cpu-set 0,1", "--cpu-list 0", "--map-by rankfile:file=ranks", "--map-by slot:PE=2",
                            "--map-by core:pe=1 --bind-to none", "--map-by pe-list=0,1:ordered"})
    EXPECT_TRUE(binds(words)) << words;
  for (const char* words : {"-n 2", "--bind-to none", "--oversubscribe --bind-to none -n 2", "--map-by node",
                            "--map-by ppr:1:node", "-x PE=1", "--host core", "--bind", "bind-to core"})
    EXPECT_FALSE(binds(words)) << words;
  EXPECT_FALSE(mpi::binds(""));
}

// Open MPI 5.0 tells it nowhere else.
TEST(launcher, reads_the_words_of_its_parent) {
  if (std::getenv("DICE_TEST_CHILD")) {
    EXPECT_TRUE(mpi::bound_by_user());
    return;
  }
  const auto program = std::filesystem::read_symlink("/proc/self/exe").string();
  // A shell with these words starts this test again.
  const auto child = [&](const std::string& environment, const std::string& words) {
    return std::system((environment + " DICE_TEST_CHILD=1 sh -c '\"" + program +
                        "\" --gtest_filter=launcher.reads_the_words_of_its_parent >&2; exit $?' " + words)
                           .c_str()) == 0;
  };
  EXPECT_TRUE(child("OMPI_COMM_WORLD_SIZE=1", "mpirun --bind-to core"));
  EXPECT_FALSE(child("OMPI_COMM_WORLD_SIZE=1", "mpirun -n 1"));
  EXPECT_FALSE(child("OMPI_COMM_WORLD_SIZE=0", "mpirun --bind-to core"));
}
