// A job that runs several plans of one program, one after the other.
#include <dice/dice.hpp>

#include "../convolutions.hpp"
#include "digits.hpp"

#include "dice/channels/in_process/hub.hpp"

#include "dice/frames/npy.hpp"
#include "dice/frames/sink.hpp"
#include "dice/frames/source.hpp"
#include "dice/job/rank_session.hpp"
#include "dice/runtime/other_mapping.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace dice;

using two = mapping<dev<0, threads<1>>, layers<to<digits::pool2>>, dev<1, threads<1>>, layers<from<digits::conv3>>>;
constexpr auto& own = assembly::program_of<digits::network, two>;

/// Plans of the program, from mappings as text.
struct other_plans {
  std::vector<runtime::owned_mapping> all;
  explicit other_plans(std::initializer_list<const char*> texts) {
    for (const char* text : texts) all.push_back(own.remap(own, text));
  }
  const runtime::program& operator[](std::size_t i) const { return all[i].it->program(); }
};

/// Calls of(session) in both ranks of the program, after they have got its weights.
void with_ranks(const std::function<void(job::rank_session&)>& of, const job::weights_files& files = {},
                const runtime::program& p = own) {
  channels::in_process::hub hub(p.ranks());
  std::vector<std::thread> threads;
  for (int r = 0; r < p.ranks(); ++r)
    threads.emplace_back([&, r] {
      channels::in_process::communicator ranks(hub, r);
      job::rank_session me(p, ranks, channels::in_process::about);
      ASSERT_EQ(me.introduce({}, {}).error, "");
      ASSERT_EQ(me.agree(job::attempt([&] { me.equip(files, p.plan.in_flight); })), "");
      of(me);
    });
  for (auto& t : threads) t.join();
}

std::string added(job::rank_session& me, const runtime::program& p) {
  std::string warning;
  return me.add_plan(p, warning);
}

/// Runs all pictures of the example through plan number `plan`, which is `p`; the results, where they leave.
std::vector<float> results(job::rank_session& me, std::size_t plan, const runtime::program& p) {
  static const auto pictures = frames::read_frames(EXAMPLE "/digits_in.npy", digits::picture::result, "picture");
  const int in = p.planned(digits::picture::id), out = p.planned(digits::scores::id);
  const auto& one = p.layers.layers[in].output;
  const auto frames = static_cast<std::int64_t>(pictures.shape()[0]);
  frames::tensor_source source;
  source.add(in, frames,
             [&](std::int64_t f, float* to) { std::copy_n(pictures.data() + f * one.elements(), one.elements(), to); });
  frames::tensor_sink sink;
  if (p.plan.owner[out] == me.rank()) sink.add(out, p.layers.layers[out].output, frames);
  std::string warning;
  EXPECT_EQ(me.connect({p.plan.in_flight}, warning, plan), "");
  runtime::figures measured;
  me.executor().run(frames, &source, &sink, measured);
  me.end().settle();
  if (!sink.has(out)) return {};
  const auto& found = sink.result(out);
  return {found.data(), found.data() + found.size()};
}

TEST(SeveralPlans, HaveTheResultsOfTheNetwork) {
  const auto scores = frames::read_frames(EXAMPLE "/digits_out.npy", digits::scores::result, "scores");
  const other_plans others{
      "mapping<dev<0, threads<1>>, layers<to<conv1>>, dev<1, threads<1>>, layers<from<relu1>>>",
      "mapping<dev<0, threads<1>>, layers<picture>, ranks<0>, dev<1, threads<1>>, rows<range<conv1, pool2>>, ranks<0, 1>, "
      "output_channels<range<conv3, relu4>>, ranks<0>, layers<from<fc2>>>",
      "mapping<dev<0, threads<1>>, layers<from<conv3>>, dev<1, threads<1>>, layers<to<pool2>>>"};
  with_ranks([&](job::rank_session& me) {
    for (std::size_t i = 0; i < others.all.size(); ++i) ASSERT_EQ(added(me, others[i]), "");
    EXPECT_EQ(me.plans(), 4u);
    for (const std::size_t plan : {0, 1, 2, 3, 2, 0}) {  // also again
      const auto found = results(me, plan, plan ? others[plan - 1] : own);
      if (found.empty()) continue;
      ASSERT_EQ(found.size(), scores.size());
      for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], scores.data()[i], 1e-5) << plan << ' ' << i;
    }
  });
}

TEST(SeveralPlans, ShareWeights) {
  const other_plans others{
      "mapping<dev<0, threads<1>>, layers<to<pool2>>, dev<1, threads<1>>, layers<from<conv3>>>",
      "mapping<dev<0, threads<1>>, layers<to<pool3>>, dev<1, threads<1>>, layers<from<flatten>>>",
      "mapping<dev<0, threads<1>>, layers<picture>, ranks<0>, dev<1, threads<1>>, rows<range<conv1, pool3>>, ranks<0>, "
      "layers<from<flatten>>>",
      "mapping<dev<0, threads<1>>, layers<all>>"};
  with_ranks([&](job::rank_session& me) {
    const auto r = me.rank();
    const auto bytes = me.own().weight_bytes();
    const auto addresses = [&] {  // of the first plan's items
      const auto [in, items] = me.own().weights_of(0);
      std::vector<const void*> out;
      for (const int i : items)
        if (i >= 0) out.push_back(in.packed(i) ? in.packed(i) : in.plain(i) ? *in.plain(i) : nullptr);
      return out;
    };
    const auto before = addresses();
    EXPECT_EQ(me.own().weight_bytes_with(others[0]), bytes);
    ASSERT_EQ(added(me, others[0]), "");
    EXPECT_EQ(me.own().weight_bytes(), bytes);  // the same plan
    const auto told = me.own().weight_bytes_with(others[1]);
    ASSERT_EQ(added(me, others[1]), "");
    EXPECT_EQ(told, me.own().weight_bytes());
    const auto conv3 =
        weights::stored_bytes(runtime::weights_of(others[1])[0]) - weights::stored_bytes(runtime::weights_of(own)[0]);
    EXPECT_GT(conv3, 0);
    EXPECT_EQ(me.own().weight_bytes(), bytes + (r == 0 ? conv3 : 0));  // rank 1 has what it needs
    ASSERT_EQ(added(me, others[2]), "");
#ifdef DICE_WITH_OPENMP  // rows of a layer are computed from the same packed weights as the whole; both ranks have all now
    EXPECT_EQ(me.own().weight_bytes(), weights::stored_bytes(runtime::weights_of(others[3])[0]));
#endif
    EXPECT_EQ(addresses(), before);
  });
}

TEST(SeveralPlans, ThoseWithoutTheirWeightsAreNotAdded) {
  const other_plans others{"mapping<dev<0, threads<1>>, layers<to<pool3>>, dev<1, threads<1>>, layers<from<flatten>>>"};
  const auto file = ::testing::TempDir() + "dice_plans_" + std::to_string(::getpid()), moved = file + ".moved";
  std::filesystem::copy_file(weights::find(own.weights, {}, own.weights_folder, "--weights"), file);
  with_ranks(
      [&](job::rank_session& me) {  // rank 1 has all that it needs
        if (me.rank() == 0) std::filesystem::rename(file, moved);
        EXPECT_NE(added(me, others[0]).find(file), std::string::npos);
        EXPECT_EQ(me.plans(), 1u);
        if (me.rank() == 0) std::filesystem::rename(moved, file);
        EXPECT_EQ(added(me, others[0]), "");
        EXPECT_EQ(me.plans(), 2u);
        EXPECT_EQ(results(me, 1, others[0]).empty(), me.rank() == 0);
      },
      {file, {}});
  std::filesystem::remove(file);
}

TEST(SeveralPlans, RefusesThoseOfOtherHardware) {
  const other_plans others{"mapping<dev<0, threads<2>>, layers<to<pool2>>, dev<1, threads<1>>, layers<from<conv3>>>",
                           "mapping<dev<0, threads<1>>, layers<all>>",
                           "mapping<dev<0, threads<1>>, layers<to<pool3>>, dev<1, threads<1>>, layers<from<flatten>>>",
                           "mapping<dev<0, threads<1>>, layers<to<pool2>>, dev<1, threads<1>>, layers<range<conv3, pool3>>, "
                           "dev<2, threads<1>>, layers<from<flatten>>>"};
  const int core[]{0};
  const std::span<const int> cores[]{{}, core};
  auto pinned = others[2];
  pinned.cores = cores;
  constexpr auto& another = assembly::program_of<convolutions::network, mapping<dev<0>, layers<all>>>;
  with_ranks([&](job::rank_session& me) {
    EXPECT_NE(added(me, others[0]).find("has another unit for rank 0 than"), std::string::npos);
    EXPECT_NE(added(me, others[1]).find("has another unit for rank 1 than"), std::string::npos);
    EXPECT_NE(added(me, others[3]).find("has another unit for rank 2 than"), std::string::npos);
    EXPECT_NE(added(me, pinned).find("has another unit for rank 1 than"), std::string::npos);
    EXPECT_NE(added(me, another).find("a plan of another program"), std::string::npos);
    EXPECT_NE(added(me, me.rank() == 0 ? others[2] : own).find("was given another plan than"), std::string::npos);
    EXPECT_EQ(me.plans(), 1u);
    EXPECT_EQ(added(me, others[2]), "");
    EXPECT_EQ(results(me, 1, others[2]).empty(), me.rank() == 0);
  });
}

/// A copy of `p` that says that each rank's buffers take so much memory.
struct with_arena {
  runtime::program program;
  std::vector<schedule::rank_program> ranks;
  with_arena(const runtime::program& p, std::int64_t bytes) : program(p), ranks(p.plan.ranks.begin(), p.plan.ranks.end()) {
    for (auto& r : ranks) r.arena_bytes = bytes;
    program.plan.ranks = ranks;
  }
};

// Their buffers exist one after the other: what counts is the plan with the largest.
TEST(SeveralPlans, ThoseThatDoNotFitIntoMemoryAreNotAdded) {
  const other_plans others{"mapping<dev<0, threads<1>>, layers<to<pool3>>, dev<1, threads<1>>, layers<from<flatten>>>"};
  constexpr std::int64_t too_much = std::int64_t{1} << 50;
  const with_arena large(others[0], too_much), large_own(own, too_much);
  with_ranks([&](job::rank_session& me) {
    EXPECT_NE(added(me, large.program).find("memory"), std::string::npos);
    EXPECT_EQ(me.plans(), 1u);
    EXPECT_EQ(added(me, others[0]), "");
  });
  with_ranks(
      [&](job::rank_session& me) {
        EXPECT_NE(added(me, others[0]).find("memory"), std::string::npos);
        EXPECT_EQ(me.plans(), 1u);
      },
      {}, large_own.program);
}

// What mpirun can place: a rank that is a process.
TEST(RankSession, WarnsIfItsRankIsMeantForAnotherHost) {
  const auto here = job::host_name();
  const auto short_name = here.substr(0, here.find('.'));
  const auto warning = [](std::string_view host, const channels::transport_info& by = channels::mpi::about,
                          std::string_view board = {}, std::size_t known = 2) {
    const std::string_view hosts[]{"elsewhere", host};
    auto p = own;
    p.hosts = std::span(hosts).first(known);
    p.board = board;
    channels::in_process::hub hub(2);
    channels::in_process::communicator ranks(hub, 1);
    return job::rank_session(p, ranks, by).equip({}, p.plan.in_flight);
  };
  EXPECT_EQ(warning(here), "");
  EXPECT_EQ(warning(short_name + ".another.net"), "");
  EXPECT_EQ(warning(""), "");
  EXPECT_EQ(warning("x" + here),
            "is meant for host 'x" + here + "', as on<> says; start it there (mpirun --rankfile), or change the mapping");
  EXPECT_EQ(warning("x", channels::in_process::about), "");
  EXPECT_EQ(warning("x", channels::mpi::about, "pi"), "");
  EXPECT_EQ(warning("x", channels::mpi::about, {}, 1), "");
}

}  // namespace
