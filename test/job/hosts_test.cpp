// What ranks on several hosts say of one another, and what they count for their own host only.
#include "job/on_hosts.hpp"

#include "error_of.hpp"
#include "runtime/fake_accelerator.hpp"
#include "runtime/toy.hpp"

#include "dice/channels/processes.hpp"
#include "dice/channels/transports.hpp"
#include "dice/job/rank_session.hpp"
#include "dice/job/stream_job.hpp"
#include "dice/this_host/host_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace dice;

namespace {

const std::vector<int> owner{0, 0, 0, 1, 1, 1, 2, 2, 2, 2};
constexpr const char* hosts = "++=";

/// "rank 2 (host =b)", as rank `seen_by` says it.
std::string at(int rank, int seen_by) {
  return "rank " + std::to_string(rank) + " (host " + on_hosts::communicator::name(rank, seen_by, hosts) + ")";
}

/// What check_memory says in each rank for `more` bytes of each.
struct memory {
  std::string error, warning;
};
std::vector<memory> checked(const runtime::program& p, const std::vector<std::int64_t>& more, bool engine = false) {
  return on_hosts::in_ranks(hosts, [&](channels::communicator& here) {
    job::rank_session me(p, here, channels::mpi::about, engine);
    memory out;
    out.error = me.check_memory(more[static_cast<std::size_t>(here.rank())], out.warning);
    return out;
  });
}

/// What starting an engine throws in each of the ranks, which are processes with these options, after of(engine).
using use = std::function<void(job::stream_job&)>;
std::vector<std::string> engines(const runtime::program& p, const std::function<engine_options(int)>& options,
                                 const use& of) {
  channels::in_process::hub hub(p.ranks());
  std::vector<std::string> out(static_cast<std::size_t>(p.ranks()));
  std::vector<std::jthread> threads;
  for (int r = 0; r < p.ranks(); ++r)
    threads.emplace_back([&, r] {
      const channels::processes own([&] {
        channels::membership job{channels::mpi::about, {}, {}};
        job.ranks.push_back(std::make_unique<on_hosts::communicator>(hub, r, hosts));
        return job;
      });
      out[static_cast<std::size_t>(r)] = test::error_of([&] {
        job::stream_job job(p, options(r), own);
        of(job);
      });
    });
  threads.clear();
  return out;
}

/// The weights of a toy, and options that name them.
struct weights_file {
  engine_options options;
  explicit weights_file(const toy::program& of) {
    options.weights = ::testing::TempDir() + "dice_hosts_" + std::to_string(::getpid());
    of.write_weights(options.weights);
  }
  weights_file(const weights_file&) = delete;
  ~weights_file() { ::unlink(options.weights.c_str()); }
};

/// What each rank's function gets that engines warn with.
std::vector<std::vector<std::string>> warnings(const runtime::program& p, const engine_options& options) {
  std::vector<std::vector<std::string>> out(static_cast<std::size_t>(p.ranks()));
  const auto errors = engines(
      p,
      [&](int r) {
        auto own = options;
        own.warn = [&out, r](const std::string& text) { out[static_cast<std::size_t>(r)].push_back(text); };
        return own;
      },
      [](job::stream_job& job) {
        job.close();
        job.wait();
      });
  EXPECT_EQ(errors, std::vector<std::string>(out.size(), "none"));
  return out;
}

bool push(job::stream_job& job, frames::deadline until) {
  return job.push(
      0, [] { return [](float* to, std::int64_t n) { std::fill_n(to, n, 1.0f); }; }, until);
}

}  // namespace

TEST(hosts, are_named_in_errors) {
  const std::string a(64, 'a'), b(64, 'b');
  for (const int failing : {0, 1, 2}) {
    const auto found = on_hosts::in_ranks(hosts, [&](channels::communicator& here) {
      job::agreement me(here, 3, {});
      auto out = me.agree(here.rank() == failing ? "no file" : "");
      if (failing == 0) return out;
      me.uses_weights(here.rank() == failing ? b : a, "w");
      return out + me.agree("");
    });
    for (int r = 0; r < 3; ++r) {
      const auto& text = found[static_cast<std::size_t>(r)];
      EXPECT_EQ(text.find(at(failing, r) + ": no file"), 0u) << text;
      if (failing) {
        EXPECT_NE(
            text.find(": " + at(0, r) + " has 'w' (digest aaaaaaaaaaaaaaaa…), " + at(failing, r) + " has 'w' (digest b"),
            text.npos)
            << text;
      }
    }
  }
}

TEST(hosts, are_told_by_introductions) {
  const toy::program toy(toy::diamond(), owner, 4);
  const auto p = toy.view();
  for (const auto& [usage_of, option_of] : {std::pair(-1, -1), std::pair(2, -1), std::pair(-1, 2), std::pair(-1, 1)}) {
    const auto found = on_hosts::in_ranks(hosts, [&, usage_of = usage_of, option_of = option_of](auto& here) {
      job::rank_session me(p, here, channels::mpi::about);
      auto out = me.introduce(here.rank() == usage_of ? "a mistake" : "", {{"with ", here.rank() == option_of ? "8" : "7"}});
      if (out.error.empty())
        for (int r = 0; r < 3; ++r) out.error += me.where_text(r) + " ";
      return out.error;
    });
    for (int r = 0; r < 3; ++r) {
      const auto& text = found[static_cast<std::size_t>(r)];
      if (usage_of >= 0) EXPECT_EQ(text, at(usage_of, r) + ": a mistake");
      else if (option_of >= 0)
        EXPECT_EQ(text.find(at(option_of, r) + " runs with 8, " + at(0, r) + " with 7; "), 0u) << text;
      else EXPECT_EQ(text, at(0, r) + " " + at(1, r) + " " + at(2, r) + " ");
    }
  }
}

TEST(hosts, have_the_same_library) {
  const toy::program toy(toy::diamond(), owner, 4);
  const auto p = toy.view();
  const auto found = on_hosts::in_ranks(hosts, [&](auto& here) {
    here.carried_by = here.rank() == 1 ? "MPI 2" : "MPI 1";
    return job::rank_session(p, here, channels::mpi::about).introduce({}, {}).error;
  });
  for (int r = 0; r < 3; ++r)
    EXPECT_EQ(found[static_cast<std::size_t>(r)],
              at(1, r) + " runs MPI 2, " + at(0, r) + " MPI 1; install the same version on all hosts");
}

TEST(hosts, have_memory_of_their_own) {
  toy::program toy(toy::diamond(), owner, 4);
  auto p = toy.view();
  constexpr std::int64_t little = 1 << 20;
  const auto all = this_host::memory_of_host().total;
  const auto error = [&](const std::vector<std::int64_t>& more, bool engine = false) {
    const auto found = checked(p, more, engine);
    EXPECT_EQ(found[0].error.empty(), found[2].error.empty());
    return found[0].error;
  };
  EXPECT_EQ(error({0, all / 2 + little, all / 2 + little}), "") << "ranks 1 and 2 are on two hosts";
  const auto both = error({all / 2 + little, all / 2 + little, 0});
  EXPECT_EQ(both.find(at(0, 0) + ": the ranks on this host plan "), 0u) << both;
  EXPECT_NE(both.find("(--in-flight)"), both.npos) << both;
  EXPECT_NE(error({0, all + little, 0}, true).find("engine_options::in_flight"), both.npos);
  EXPECT_EQ(error({0, 0, all + little}).find(at(2, 0) + ": the ranks on this host plan "), 0u);
  // One rank of each host says so.
  const auto found = checked(p, {all / 2 - little, all / 2 - little, all - little});
  for (const int r : {0, 1, 2}) {
    EXPECT_EQ(found[static_cast<std::size_t>(r)].error, "");
    EXPECT_EQ(found[static_cast<std::size_t>(r)].warning.empty(), r == 1);
  }
  // What the plan needs counts, unless it is in an accelerator.
  std::vector<schedule::rank_program> ranks(p.plan.ranks.begin(), p.plan.ranks.end());
  ranks[2].peak_bytes = all + little;
  p.plan.ranks = ranks;
  EXPECT_EQ(error({0, 0, 0}).find(at(2, 0)), 0u);
  toy.accelerate(2, [](const platform::unit&) { return kernels::opened_accelerator{}; });
  p = toy.view();
  p.plan.ranks = ranks;
  EXPECT_EQ(error({0, 0, 0}), "");
}

TEST(hosts, are_named_by_engines) {
  auto net = toy::diamond();
  net[6].what = toy::op::failing;
  const toy::program toy(net, owner, 4);
  const weights_file file(toy);
  toy::failing_after = 0;
  const auto p = toy.view();
  engines(
      p, [&](int) { return file.options; },
      [](job::stream_job& job) {
        const int r = job.rank();
        EXPECT_EQ(job.holds(0), r == 0);
        EXPECT_EQ(job.holds(9), r == 2);
        frames::tensor result;
        if (r != 0) {
          EXPECT_EQ(test::error_of([&] { push(job, frames::at_once); }),
                    "rank " + std::to_string(r) + " does not hold 'in.0', rank 0 does; use the engine there");
        }
        if (r != 2) {
          EXPECT_THROW(job.take(9, result, frames::at_once), std::logic_error);
        }
        if (r == 0) push(job, frames::never);
        try {
          job.wait();
          ADD_FAILURE() << r;
        } catch (const engine_error& e) {
          EXPECT_EQ(e.host(), on_hosts::communicator::name(2, r, hosts));
          EXPECT_EQ(e.what(), "dice: " + at(2, r) + ", frame 0, layer '/node/6': this kernel fails as it was told");
        }
      });
  toy::failing_after = -1;
}

TEST(hosts, have_engines_with_the_same_settings) {
  const toy::program toy(toy::diamond(), owner, 4);
  const weights_file file(toy);
  const auto p = toy.view();
  const auto in_flight = [&](int of_first, int of_others, int queue = 0) {
    return engines(
        p,
        [&](int r) {
          auto out = file.options;
          out.in_flight = r ? of_others : of_first;
          out.queue = queue;
          return out;
        },
        [](job::stream_job& job) {
          job.close();
          job.wait();
        });
  };
  EXPECT_EQ(in_flight(0, 4), std::vector<std::string>(3, "none")) << "0 is what the plan allows";
  EXPECT_EQ(in_flight(2, 4)[0].find("dice: " + at(1, 0) + " runs with in_flight = 4, " + at(0, 0) + " with in_flight = 2; "),
            0u);
  const auto more = in_flight(5, 5)[2];
  EXPECT_EQ(more, "dice: in_flight = 5 is more than the plan allows, 4; lower it, or add dice::in_flight<5> to the mapping");
  const std::string remedy = " is negative; give a number of frames, or 0 for the default";
  EXPECT_EQ(in_flight(-1, -1)[1], "dice: in_flight = -1" + remedy);
  EXPECT_EQ(in_flight(1, 1, -2)[1], "dice: queue = -2" + remedy);
}

TEST(hosts, have_warnings_of_engines_in_the_first_rank) {
  const toy::program toy(toy::diamond(), owner, 4);
  const weights_file file(toy);
  auto p = toy.view();
  const platform::unit many{platform::unit::kind::threads, 1 << 20};
  const std::vector<platform::unit> units{{}, many, many};
  p.units = units;
  const auto told = warnings(p, file.options);
  ASSERT_EQ(told[0].size(), 2u);
  for (const int r : {1, 2})
    EXPECT_EQ(told[0][static_cast<std::size_t>(r) - 1].find(at(r, r) + " may use "), 0u) << told[0][0];
  EXPECT_TRUE(told[1].empty() && told[2].empty());
}

TEST(hosts, have_warnings_of_accelerators_in_their_ranks) {
  toy::program toy(toy::diamond(), owner, 4);
  toy.accelerate(
      1, [](const platform::unit&) { return kernels::opened_accelerator{std::make_unique<toy::fake_accelerator>()}; });
  const weights_file file(toy);
  toy::fake_accelerator::forgets = "cannot keep its times";
  const auto told = warnings(toy.view(), file.options);
  toy::fake_accelerator::forgets.clear();
  EXPECT_TRUE(told[0].empty() && told[2].empty());
  EXPECT_EQ(told[1], std::vector<std::string>{at(1, 1) + ": cannot keep its times"});
}
