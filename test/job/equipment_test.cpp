// The threads, the accelerator and the weights of one rank, without the others.
#include "dice/job/equipment.hpp"

#include "error_of.hpp"
#include "runtime/toy.hpp"

#include "dice/channels/in_process/hub.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace dice;

namespace {

/// What a rank's team was started with last.
struct {
  int threads = 0;
  std::vector<int> cores;
} team;
void start_team(int threads, std::span<const int> cores) { team = {threads, {cores.begin(), cores.end()}}; }

/// Rank `rank` of two, which does not meet the other.
struct alone {
  explicit alone(int rank = 0) : ranks(hub, rank) {}
  channels::in_process::hub hub{2};
  channels::in_process::communicator ranks;
};

/// Notes what it is asked for.
struct noting final : kernels::accelerator {
  static inline memory_request request;
  static inline int polls = 0;
  static inline std::int64_t uploaded = 0;
  static inline std::string beside;
  void expect(const memory_request& r) override { request = r; }
  void remember_beside(const std::string& weights) override { beside = weights; }
  std::byte* memory(std::int64_t bytes) override { return blocks.emplace_back(static_cast<std::size_t>(bytes)).data(); }
  std::byte* staging(std::int64_t bytes) override { return memory(bytes); }
  void upload(std::byte*, const std::byte*, std::int64_t bytes) override { uploaded += bytes; }
  int record(std::function<void()>) override { return 0; }
  std::vector<std::int64_t> times(std::function<void()>) override { return {}; }
  void start(int) override {}
  void copy_in(std::byte*, const std::byte*, std::int64_t, bool) override {}
  void copy_out(std::byte*, const std::byte*, std::int64_t, bool) override {}
  std::int64_t mark() override { return 7; }
  bool reached(std::int64_t mark) override { return mark != 7 || ++polls == 3; }
  void settle() noexcept override {}
  std::deque<std::vector<std::byte>> blocks;
};

const std::vector<int> on_both{0, 0, 1, 0, 0, 1, 1, 1, 0, 0};  // the layers with packed weights on rank 1

}  // namespace

TEST(equipment, has_as_many_threads_as_its_unit) {
  const auto usable = this_host::usable_cores();
  const auto n = static_cast<int>(usable.size());
  const toy::program toy(toy::diamond(), on_both, 4);
  const auto warned = [&](const channels::transport_info& by, int threads,
                          std::initializer_list<std::pair<const char*, const char*>> environment = {}) {
    const platform::unit units[]{{platform::unit::kind::threads, threads}};
    auto p = toy.view();
    p.units = units;
    p.threads.start = start_team;
    alone here;
    job::equipment own({p, here.ranks, by});
    for (const auto& [name, value] : environment) ::setenv(name, value, 1);
    const auto out = own.start_threads(1);
    for (const auto& [name, value] : environment) ::unsetenv(name);
    EXPECT_EQ(own.threads(), threads);
    EXPECT_EQ(team.threads, threads);
    EXPECT_EQ(own.cores(), usable);
    EXPECT_TRUE(team.cores.empty());
    return out;
  };
  using channels::mpi::about;
  EXPECT_EQ(warned(about, n), "");
  // A remedy that helps: nothing if no launcher has bound the process.
  const auto few = "may use " + std::to_string(n) + " of " + std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)) +
                   (::sysconf(_SC_NPROCESSORS_ONLN) == 1 ? " core" : " cores") + ", but its unit says " +
                   std::to_string(n + 1) + " threads";
  EXPECT_EQ(warned(about, n + 1), few);
  EXPECT_EQ(warned(about, n + 1, {{"OMPI_COMM_WORLD_SIZE", "1"}}), few + "; start with mpirun --bind-to none");
  EXPECT_EQ(warned(about, n + 1, {{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_MCA_orte_rankfile", "ranks"}}),
            few + "; bind the rank to more cores, or give it fewer threads");
  EXPECT_EQ(warned(about, n + 1, {{"OMPI_MCA_orte_rankfile", "ranks"}}), few);
  EXPECT_EQ(warned(channels::in_process::about, n + 1, {{"OMPI_COMM_WORLD_SIZE", "1"}}), few);
}

TEST(equipment, lacks_no_core_on_a_board) {
  const auto usable = this_host::usable_cores();
  const toy::program toy(toy::diamond(), on_both, 4);
  const platform::unit units[]{{}, {platform::unit::kind::cores, 2}};
  const int listed[]{usable.back(), 100000};
  const std::span<const int> cores[]{{}, listed};
  auto p = toy.view();
  p.units = units;
  p.cores = cores;
  p.threads.start = start_team;
  alone here(1);
  job::equipment own({p, here.ranks, channels::in_process::about});
  EXPECT_EQ(own.start_threads(1).find("cannot use core 100000"), 0u);
  EXPECT_EQ(own.cores(), std::vector<int>{usable.back()});
  EXPECT_EQ(team.cores, own.cores());
  EXPECT_EQ(own.threads(), 1);
  this_host::use_cores(usable);
  p.board = "pi";
  job::equipment on_board({p, here.ranks, channels::in_process::about});
  const auto error = test::error_of([&] { on_board.start_threads(1); });
  EXPECT_TRUE(error.ends_with("; correct the mapping, or free these cores (taskset, control groups)")) << error;
  this_host::use_cores(usable);
  const std::span<const int> there[]{{}, std::span(listed).first(1)};
  p.cores = there;
  EXPECT_EQ(job::equipment({p, here.ranks, channels::in_process::about}).start_threads(1), "");
  this_host::use_cores(usable);
  p.cores = {};  // no rank has cores of its own
  p.units = std::span(units).first(1);
  job::equipment of_no_unit({p, here.ranks, channels::in_process::about});
  EXPECT_EQ(of_no_unit.start_threads(1), "");
  EXPECT_EQ(of_no_unit.threads(), 1);
}

TEST(equipment, asks_an_accelerator_for_what_the_rank_needs) {
  using toy::op;
  toy::program toy({{op::input, {}}, {op::packed, {0}}, {op::scale, {1}}, {op::output, {2}}}, {0, 0, 1, 1}, 4);
  for (const int rank : {0, 1})
    toy.accelerate(rank, [](const platform::unit&) { return kernels::opened_accelerator{std::make_unique<noting>()}; });
  const std::string file = ::testing::TempDir() + "dice_equipment_" + std::to_string(::getpid());
  toy.write_weights(file);
  const auto p = toy.view();
  for (const int rank : {0, 1})
    for (const int in_flight : {1, 4}) {
      alone here(rank);
      job::equipment own({p, here.ranks, channels::in_process::about});
      EXPECT_EQ(own.accelerator(), nullptr);
      own.open_accelerator(in_flight);
      ASSERT_NE(own.accelerator(), nullptr);
      const auto& plan = p.plan.ranks[rank];
      EXPECT_GT(plan.weight_bytes, 0);
      EXPECT_EQ(noting::request.weights, plan.weight_bytes);
      EXPECT_EQ(noting::request.arena, std::min(in_flight, plan.slots) * plan.frame_bytes + plan.scratch_bytes);
      EXPECT_EQ(noting::request.workspace, rank == 0 ? 4 * toy::elements : 0) << "only a packed layer has some";
      noting::polls = 0;
      own.finish();
      EXPECT_EQ(noting::polls, 3);
      job::agreement all(here.ranks, 2, {});
      noting::beside.clear();
      noting::uploaded = 0;
      own.get_weights({file, {}}, all);
      EXPECT_EQ(noting::beside, file) << "where timings of its kernels are kept";
      EXPECT_EQ(noting::uploaded, plan.weight_bytes);
    }
  ::unlink(file.c_str());
}

TEST(equipment, adds_weights_of_the_same_training_only) {
  const std::string folder = ::testing::TempDir() + "dice_equipment_" + std::to_string(::getpid()),
                    first = folder + "_first", second = folder + "_second";
  toy::program toy(toy::diamond(), on_both, 4), one_rank(toy::diamond(), std::vector<int>(10), 4);
  toy.write_weights(first);
  toy.content = std::string(64, 'd');
  toy.write_weights(second);
  const auto p = toy.view(), more = one_rank.view();
  alone here;
  for (const bool engine : {false, true}) {
    job::agreement all(here.ranks, 2, {});
    job::equipment own({p, here.ranks, channels::in_process::about, engine});
    EXPECT_EQ(own.get_weights({first, {}}, all), "");
    EXPECT_EQ(all.weights_path(), first);
    const auto packed = test::error_of([&] { own.get_weights({first, folder}, all); });
    EXPECT_NE(packed.find(folder + "'"), std::string::npos) << packed;  // and the other file is not used instead
    const auto bytes = own.weight_bytes();
    EXPECT_NO_THROW(own.add_weights(p, folder, all)) << "needs no file: all weights are there";
    EXPECT_EQ(test::error_of([&] { own.add_weights(more, second, all); }),
              "'" + second + "' has other weights (digest dddddddddddddddd…) than '" + first +
                  "' (digest cccccccccccccccc…); give weights of one training");
    EXPECT_EQ(own.weight_bytes(), bytes);
    EXPECT_NE(test::error_of([&] { own.add_weights(more, folder, all); }), "none");
    own.add_weights(more, first, all);
    EXPECT_GT(own.weight_bytes(), bytes);
    const auto option = engine ? "engine_options::weights" : "--weights";
    toy::program elsewhere(toy::diamond(), on_both, 4);
    const auto nowhere = test::error_of([&] {
      job::equipment({elsewhere.view(), here.ranks, channels::in_process::about, engine}).get_weights({}, all);
    });
    EXPECT_TRUE(nowhere.ends_with(std::string("or say where it is with ") + option)) << nowhere;
  }
  ::unlink(first.c_str());
  ::unlink(second.c_str());
}
