// What ranks that are threads agree on, and how those that do not belong together say so.
#include "dice/job/introduction.hpp"

#include "job/on_hosts.hpp"
#include "runtime/toy.hpp"

#include "dice/channels/in_process/hub.hpp"
#include "dice/job/agreement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace dice;

namespace {

constexpr int ranks = 3;
const std::vector<int> owners{0, 0, 0, 1, 1, 1, 2, 2, 2, 2};

/// "rank 1 (host a)"
std::string at(int rank) { return "rank " + std::to_string(rank) + " (host " + job::host_name() + ")"; }

/// What of(ranks) returns in every rank of `n`.
template <class F> auto in_ranks(int n, F of) {
  channels::in_process::hub hub(n);
  std::vector<decltype(of(std::declval<channels::in_process::communicator&>()))> out(static_cast<std::size_t>(n));
  std::vector<std::jthread> threads;
  for (int r = 0; r < n; ++r)
    threads.emplace_back([&, r] {
      channels::in_process::communicator here(hub, r);
      out[static_cast<std::size_t>(r)] = of(here);
    });
  threads.clear();
  return out;
}

/// What three ranks agree on, of which each does this before.
std::string agreed(const std::function<std::string(job::agreement&)>& before, int needed = ranks,
                   std::string_view board = {}) {
  const auto all = in_ranks(ranks, [&](channels::communicator& here) {
    job::agreement me(here, needed, board);
    const auto error = before(me);
    std::vector<std::string> more;
    const auto out = me.agree(error, std::to_string(10 * me.rank()), more);
    EXPECT_EQ(more, (std::vector<std::string>{"0", "10", "20"}));
    EXPECT_EQ(me.agree(error), out);
    return out;
  });
  EXPECT_EQ(all, std::vector<std::string>(ranks, all[0]));
  return all[0];
}

/// A rank of a program: what it can differ in.
struct member {
  std::string version = "1.2.3", usage{}, option = "7";
  std::string_view structure{}, board{};
  std::vector<int> layers = owners;
  std::vector<platform::unit> units{};
  bool here = true;
  std::chrono::milliseconds patience{30000};
};
/// What `n` ranks learn, of which each is as of(member, rank) says.
template <class F>
std::vector<job::introduction> introduced(F of, int n = ranks, bool any_number = false, bool engine = false,
                                          const channels::transport_info& by = channels::mpi::about) {
  return in_ranks(n, [&](channels::communicator& here) {
    member m;
    of(m, here.rank());
    toy::program toy(toy::diamond(), m.layers, 4);
    toy.version = m.version;
    auto p = toy.view();
    if (!m.structure.empty()) p.weights.structure = m.structure;
    if (!m.units.empty()) p.units = m.units;
    p.board = m.board;
    const bool own[]{m.here, m.here, true};
    if (!m.here) p.here = own;
    const job::agreement me(here, ranks, m.board);
    return job::introduce({p, here, by, engine, m.patience}, me, m.usage, {{"--frames ", m.option}}, any_number);
  });
}
/// The same for one error, which is the same in all.
struct refusal {
  std::string text;
  int code;
  bool operator==(const refusal&) const = default;
};
void PrintTo(const refusal& r, std::ostream* to) { *to << r.code << ": " << r.text; }
template <class... Args> refusal refused(const Args&... args) {
  const auto all = introduced(args...);
  for (const auto& one : all) EXPECT_EQ((refusal{one.error, one.code}), (refusal{all[0].error, all[0].code}));
  return {all[0].error, all[0].code};
}

const auto alike = [](member&, int) {};
const std::string same = "; start the same program with the same options on all hosts";

}  // namespace

TEST(agreement, is_about_the_first_error) {
  EXPECT_EQ(agreed([](auto&) { return ""; }), "");
  const auto fail = [](const job::agreement& me) { return me.rank() ? "no file " + std::to_string(me.rank()) : ""; };
  EXPECT_EQ(agreed(fail), at(1) + ": no file 1");
  EXPECT_EQ(agreed(fail, 1), "no file 1") << "a plan of one rank, which mpirun has started several times";
  EXPECT_EQ(in_ranks(1, [](channels::communicator& here) { return job::agreement(here, 1, {}).where_text(); })[0],
            "host " + job::host_name());
}

TEST(agreement, is_about_weights_of_one_training) {
  const std::string a(64, 'a'), b(64, 'b'), c(64, 'c');
  const auto with = [&](const std::string& second, const std::string& third, const std::string& error = {}) {
    return [=](job::agreement& me) {
      me.uses_weights(me.rank() == 0 ? a : me.rank() == 1 ? second : third, "w" + std::to_string(me.rank()));
      return me.rank() == 2 ? error : "";
    };
  };
  const auto has = [&](int rank, const std::string& digest) {
    return at(rank) + " has 'w" + std::to_string(rank) + "' (digest " + weights::shown_digest(digest) + ")";
  };
  const std::string mixed = "the weights are of different trainings: ";
  EXPECT_EQ(agreed(with(a, a)), "");
  EXPECT_EQ(agreed(with(b, c)), mixed + has(0, a) + ", " + has(1, b) + "; copy the same weights to all hosts");
  EXPECT_EQ(agreed(with(b, b), 1), agreed(with(b, b))) << "ranks without their numbers";
  EXPECT_EQ(
      agreed(with(a, c), ranks, "pi"),
      mixed + has(0, a) + ", " + has(2, c) +
          "; give each host its own weights of one training: its package, or what --pack --ranks writes for its ranks");
  EXPECT_EQ(agreed(with(b, a, "no memory")), at(2) + ": no memory");
}

TEST(introduction, tells_hosts_and_who_shares_cores) {
  for (const auto& one : introduced(alike)) {
    EXPECT_EQ(one.error, "");
    EXPECT_EQ(one.code, 0);
    EXPECT_EQ(one.hosts, std::vector<std::string>(ranks, job::host_name()));
    EXPECT_EQ(one.sharers, ranks);
  }
  // Rank 1 has threads of its own.
  const auto all = introduced([](member& m, int) { m.units = {{}, {platform::unit::kind::threads, 1}, {}}; });
  for (int r = 0; r < ranks; ++r) EXPECT_EQ(all[static_cast<std::size_t>(r)].sharers, r == 1 ? 1 : 2);
}

// Hosts have cores of the same numbers.
TEST(introduction, cores_of_other_hosts_are_not_shared) {
  const auto sharers = on_hosts::in_ranks("+=+", [](channels::communicator& here) {
    const toy::program toy(toy::diamond(), owners, 4);
    const job::agreement me(here, ranks, {});
    return job::introduce({toy.view(), here, channels::mpi::about}, me, {}, {}, false).sharers;
  });
  EXPECT_EQ(sharers, (std::vector<int>{2, 1, 2}));
}

TEST(introduction, names_what_a_rank_runs_otherwise) {
  const auto but = [](int rank, auto change) {
    return [=](member& m, int r) {
      if (r == rank) change(m);
    };
  };
  const auto version = but(1, [](member& m) { m.version = "9"; });
  EXPECT_EQ(refused(version), (refusal{at(1) + " runs dice 9, " + at(0) + " dice 1.2.3" + same, 1}));
  const auto structure = but(2, [](member& m) { m.structure = "ffffffffffffffffffff"; });
  const auto of_structure = refused(structure);
  EXPECT_EQ(of_structure.text.find(at(2) + " runs a network with the structure ffff"), 0u) << of_structure.text;
  EXPECT_EQ(of_structure.code, 1);
  EXPECT_TRUE(of_structure.text.ends_with(same)) << of_structure.text;
  const auto option = but(1, [](member& m) { m.option = "8"; });
  EXPECT_EQ(refused(option), (refusal{at(1) + " runs --frames 8, " + at(0) + " --frames 7" + same, 2}));
  // The first difference counts, and of one rank the most important one.
  const auto plan = but(2, [](member& m) { m.layers[4] = 0; });
  const auto both = refused([&](member& m, int r) { plan(m, r), structure(m, r), option(m, r == 2); });
  EXPECT_EQ(both.text.find(at(2) + " runs the plan "), 0u) << both.text;
  EXPECT_TRUE(both.text.ends_with(": another mapping, or another program" + same)) << both.text;
  EXPECT_EQ(both.code, 1);
  EXPECT_TRUE(refused([&](member& m, int r) {
                plan(m, r), m.board = "pi";
              }).text.ends_with("; unpack the packages of one build on all hosts"));
  EXPECT_TRUE(refused([&](member& m, int r) { option(m, r), m.board = "pi"; }).text.ends_with(same));
}

TEST(introduction, reads_only_the_host_of_another_version) {
  for (const int other : {0, 2}) {
    const auto found = in_ranks(ranks, [&](channels::communicator& here) -> std::string {
      if (here.rank() == other) {
        job::record old;
        old.put("9");
        old.put(job::host_name());
        here.all_gather(old.text());
        return {};
      }
      const toy::program toy(toy::diamond(), owners, 4);
      const auto p = toy.view();
      const auto out = job::introduce({p, here, channels::mpi::about}, {here, ranks, {}}, {}, {{"--frames ", "7"}}, false);
      EXPECT_EQ(out.code, 1);
      return out.error;
    });
    EXPECT_EQ(found[1], other == 0 ? at(1) + " runs dice 1.2.3, " + at(0) + " dice 9" + same
                                   : at(2) + " runs dice 9, " + at(0) + " dice 1.2.3" + same);
  }
}

TEST(introduction, tells_mistakes_before_differences) {
  const auto usage = [](int from) {
    return [=](member& m, int r) {
      if (r >= from) m.usage = "--frames 0: give at least 1";
      m.option = std::to_string(r);
    };
  };
  EXPECT_EQ(refused(usage(0)), (refusal{"--frames 0: give at least 1", 2}));
  EXPECT_EQ(refused(usage(1)), (refusal{at(1) + ": --frames 0: give at least 1", 2}));
  const auto elsewhere = refused([](member& m, int) { m.here = false, m.board = "pi"; });
  EXPECT_EQ(elsewhere.text,
            at(0) +
                ": this program is for boards of the kind 'pi' and has only rank 2; start each rank with the "
                "program of its board, from the package of its host");
}

TEST(introduction, needs_the_right_number_of_ranks) {
  const std::string two =
      "this program's plan has 3 ranks, started with 2: start it with mpirun -n 3 PROGRAM …, or run all "
      "ranks in one process (";
  EXPECT_EQ(refused(alike, 2), (refusal{two + "--transport in-process)", 2}));
  EXPECT_EQ(refused(alike, 2, false, true), (refusal{two + "engine_options::by in_process)", 2}));
  EXPECT_EQ(refused(alike, 2, true), (refusal{"", 0}));
  const auto one = [](member& m, int) { m.layers.assign(owners.size(), 0); };
  EXPECT_EQ(refused(one, 2), (refusal{"this program's plan has 1 rank, started with 2: run it without mpirun", 2}));
  EXPECT_EQ(refused(one, 2, false, true),
            (refusal{"this program's plan has 1 rank, started with 2: choose in_process for engine_options::by", 2}));
}

TEST(introduction, rank_0_says_that_it_waits_for_others) {
  const auto said = [](int patience, bool engine, int late = 1) {
    testing::internal::CaptureStderr();
    introduced(
        [&](member& m, int r) {
          m.patience = std::chrono::milliseconds(patience);
          if (r == late) std::this_thread::sleep_for(std::chrono::milliseconds(300));
        },
        ranks, false, engine);
    return testing::internal::GetCapturedStderr();
  };
  const auto warning = said(20, false);
  EXPECT_TRUE(warning.starts_with("dice: warning: " + at(0) + " still waits for the first message of other ranks. "))
      << warning;
  EXPECT_NE(warning.find(" --mca btl_tcp_if_include NETWORK "), std::string::npos);
  EXPECT_EQ(std::count(warning.begin(), warning.end(), '\n'), 1);
  EXPECT_EQ(said(20, true), "") << "a program of one's own may use the standard error otherwise";
  EXPECT_EQ(said(30000, false), "");
}
