// Ranks as threads run toy networks on many placements; all results are compared with the direct computation, bit by bit.
#include "fake_accelerator.hpp"
#include "toy.hpp"

#include "dice/channels/in_process/hub.hpp"
#include "dice/runtime/executor.hpp"
#include "dice/schedule/proofs.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>

using namespace dice;

namespace {

/// Feeds frames of toy::frame, and checks results for order and value.
struct feed final : frames::source {
  void fill(int layer, std::int64_t frame, std::byte* to, const tensor::type& as) override {
    const auto x = toy::frame(layer, frame);
    std::memcpy(to, x.data(), static_cast<std::size_t>(as.bytes()));
    ++entered;
    if (entered - *left > most) most = entered - *left;
    if (static_cast<std::size_t>(frame) >= begun.size()) begun.push_back(runtime::now());
  }
  std::atomic<std::int64_t>* left = nullptr;
  std::int64_t entered = 0, most = 0;
  std::vector<std::int64_t> begun;  ///< when each frame's first input was asked for
};
struct check final : frames::sink {
  void take(int layer, std::int64_t frame, const std::byte* from, const tensor::type&) override {
    EXPECT_EQ(frame, next[layer]++) << "results out of order";
    std::map<int, toy::values> in;
    for (int i : inputs) in[i] = toy::frame(i, frame);
    if (std::memcmp(toy->compute(in).at(layer).data(), from, toy::elements * 4) != 0) ++wrong;
    ++*left;
    if (static_cast<std::size_t>(frame) >= taken.size()) taken.push_back(0);
    taken[frame] = runtime::now();
  }
  const toy::program* toy = nullptr;
  std::vector<int> inputs;
  std::map<int, std::int64_t> next;
  int wrong = 0;
  std::vector<std::int64_t> taken;  ///< when each frame's last output left so far
  std::atomic<std::int64_t>* left = nullptr;
};

struct temporary {
  std::string path = "/tmp/dice_toy_" + std::to_string(::getpid()) + ".safetensors";
  ~temporary() { ::unlink(path.c_str()); }
};

/// Whether rank r computes on an accelerator; set by the tests that follow.
bool (*accelerate)(int rank) = [](int) { return false; };
/// Whether messages then lie in its memory.
bool direct = false;
/// What each rank measured in the last run.
std::vector<runtime::figures> measured;

/// Runs `frames` frames after `warmup` ones; false if a rank failed.
bool run(const toy::program& toy, std::int64_t frames, std::int64_t warmup = 0, int in_flight = 0, bool stop_early = false) {
  const auto p = toy.view();
  EXPECT_TRUE(schedule::sound(p.plan, p.layers));
  if (!in_flight) in_flight = p.plan.in_flight;
  temporary file;
  toy.write_weights(file.path);
  channels::in_process::hub hub(p.ranks());
  std::atomic<std::int64_t> left{0};
  std::atomic<int> failures{0}, wrong{0};
  struct times {
    std::vector<std::int64_t> entered, left;
  };
  std::vector<times> seen(static_cast<std::size_t>(p.ranks()));
  measured.assign(static_cast<std::size_t>(p.ranks()), {});
  std::vector<std::thread> threads;
  for (int r = 0; r < p.ranks(); ++r)
    threads.emplace_back([&, r] {
      channels::in_process::communicator ranks(hub, r);
      try {
        const weights::file w(file.path, p.network, p.weights);
        const runtime::needed_weights needed(p, r);
        const weights::store store(w, needed.items());
        const auto end = ranks.connect(runtime::paths_of(p.plan, in_flight));
        std::optional<toy::fake_accelerator> other;
        if (accelerate(r)) other.emplace();
        runtime::executor e(p, r, {store, needed.of_plan(0)}, *end, in_flight, other ? &*other : nullptr, direct);
        feed in;
        check out;
        in.left = out.left = &left;
        out.toy = &toy;
        for (int l = 0; l < p.layers.size(); ++l)
          if (p.layers.layers[l].is_input) out.inputs.push_back(l);
        runtime::figures f;
        if (warmup) e.run(warmup, &in, nullptr, f);
        in.entered = in.most = 0;
        in.begun.clear();
        const auto before = runtime::now();
        e.run(frames, &in, &out, f);
        const auto took = runtime::now() - before;
        end->settle();
        wrong += out.wrong;
        for (const auto& [layer, n] : out.next) EXPECT_EQ(n, frames);
        if (out.inputs.size() == 1) {
          EXPECT_LE(in.most, in_flight);
        }
        std::int64_t sent = 0;
        for (const auto& m : p.plan.messages) sent += m.from == r ? m.bytes : 0;
        EXPECT_EQ(f.bytes_sent, sent * frames);
        EXPECT_GE(f.waiting, 0);
        EXPECT_GE(f.computing, 0);
        EXPECT_LE(f.waiting, took);
        if (!accelerate(r)) {
          EXPECT_LE(f.waiting + f.computing, took);
        }
        measured[r] = f;
        EXPECT_TRUE(std::is_sorted(f.left.kept().begin(), f.left.kept().end()));
        // A frame enters with its first input, and has left when its last output has.
        for (std::size_t i = 0; i < in.begun.size(); ++i) EXPECT_LE(f.entered.kept()[i], in.begun[i]);
        for (std::size_t i = 0; i < out.taken.size(); ++i) EXPECT_LE(out.taken[i], f.left.kept()[i]);
        seen[r] = {f.entered.kept(), f.left.kept()};
      } catch (const channels::stopped&) {
        ++failures;
      } catch (const std::exception& error) {
        ++failures;
        hub.stop(stop_early ? std::string("expected: ") + error.what() : error.what());
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  // A frame enters only after the one `in_flight` older has left everywhere.
  for (const auto& in : seen)
    for (const auto& out : seen)
      for (std::size_t i = static_cast<std::size_t>(in_flight); i < std::min(in.entered.size(), out.left.size() + 1); ++i)
        EXPECT_GE(in.entered[i], out.left[i - static_cast<std::size_t>(in_flight)]) << "frame " << i;
  return failures == 0;
}

std::vector<int> chain(int size, std::vector<int> starts) {
  std::vector<int> owner(static_cast<std::size_t>(size));
  for (int l = 0; l < size; ++l)
    for (std::size_t r = 0; r < starts.size(); ++r)
      if (l >= starts[r]) owner[l] = static_cast<int>(r);
  return owner;
}

}  // namespace

/// With ranks on CPUs, on accelerators, and on both in turn; then also with messages in the accelerators' memory.
struct executor : ::testing::TestWithParam<int> {
  void SetUp() override {
    constexpr bool (*kinds[])(int) = {[](int) { return false; }, [](int) { return true; }, [](int r) { return r % 2 == 0; }};
    accelerate = kinds[std::min(GetParam(), 2)];
    direct = GetParam() == 3;
  }
  void TearDown() override {
    accelerate = [](int) { return false; };
    direct = false;
  }
};
std::string name_of(const ::testing::TestParamInfo<int>& info) {
  constexpr const char* names[] = {"cpu", "accelerator", "both", "direct"};
  return names[info.param];
}
INSTANTIATE_TEST_SUITE_P(units, executor, ::testing::Values(0, 1, 2, 3), name_of);

TEST_P(executor, one_rank) { EXPECT_TRUE(run({toy::diamond(), chain(10, {0}), 1}, 50)); }
TEST_P(executor, two_ranks) { EXPECT_TRUE(run({toy::diamond(), chain(10, {0, 5}), 4}, 200, 7)); }
TEST_P(executor, three_ranks) { EXPECT_TRUE(run({toy::diamond(), chain(10, {0, 3, 6}), 6}, 200, 3)); }
TEST_P(executor, there_and_back) { EXPECT_TRUE(run({toy::diamond(), {0, 0, 0, 1, 1, 0, 0, 1, 0, 0}, 5}, 200, 1)); }
TEST_P(executor, one_frame_in_flight) { EXPECT_TRUE(run({toy::diamond(), {0, 1, 0, 2, 1, 0, 2, 1, 0, 0}, 8}, 60, 2, 1)); }
TEST_P(executor, fewer_in_flight_than_planned) {
  EXPECT_TRUE(run({toy::diamond(), {2, 1, 0, 2, 1, 0, 2, 1, 0, 1}, 8}, 100, 5, 3));
}
TEST_P(executor, several_inputs_and_outputs) {
  for (const std::vector<int>& owner : {std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0},
                                        {0, 1, 0, 1, 0, 0, 1, 1},
                                        {0, 1, 2, 1, 2, 2, 3, 3},
                                        {3, 2, 1, 0, 1, 2, 3, 0}})
    EXPECT_TRUE(run({toy::two_by_two(), owner, 4}, 120, 5));
}
// Rank 1 has an output before and one after rank 2 has worked on the frame: only then the frame has left, and rank 0 may let
// another one enter.
TEST_P(executor, outputs_in_two_segments) {
  using toy::op;
  toy::jitter = 40;
  EXPECT_TRUE(run({{{op::input, {}},
                    {op::scale, {0}},
                    {op::scale, {1}},
                    {op::output, {2}},
                    {op::scale, {2}},
                    {op::packed, {4}},
                    {op::output, {5}}},
                   {0, 0, 1, 1, 2, 1, 1},
                   2},
                  150, 3));
  toy::jitter = 0;
}
// The second input takes the memory of the first one, which has left just before.
TEST_P(executor, an_input_that_is_an_output) {
  using toy::op;
  EXPECT_TRUE(run({{{op::input, {}},
                    {op::scale, {0}},
                    {op::output, {1}},
                    {op::output, {0}},
                    {op::input, {}},
                    {op::scale, {4}},
                    {op::sum, {5, 4}},
                    {op::output, {6}}},
                   {0, 1, 0, 0, 0, 1, 0, 0},
                   2},
                  300));
}
// Rank 1 waits for each frame until rank 0 has computed it.
TEST_P(executor, a_rank_without_work_waits) {
  toy::jitter = 400;
  EXPECT_TRUE(run({toy::diamond(), chain(10, {0, 9}), 1}, 60));
  toy::jitter = 0;
  EXPECT_GT(measured[0].computing, 60 * 7 * 50'000);
  if (!accelerate(1)) {  // which also copies what leaves
    EXPECT_EQ(measured[1].computing, 0);
  }
  EXPECT_GT(measured[1].waiting, measured[0].computing / 2);
}
TEST_P(executor, no_frames) { EXPECT_TRUE(run({toy::diamond(), chain(10, {0, 5}), 4}, 0)); }

TEST_P(executor, random_networks_on_random_ranks) {
  std::mt19937 rng(3);
  for (unsigned seed = 0; seed < 25; ++seed) {
    const int size = 5 + static_cast<int>(rng() % 30), ranks = 2 + static_cast<int>(rng() % 4);
    std::vector<int> owner(static_cast<std::size_t>(std::max(size, ranks)));
    for (auto& r : owner) r = static_cast<int>(rng() % static_cast<unsigned>(ranks));
    for (int r = 0; r < ranks; ++r) owner[rng() % owner.size()] = r;
    std::vector<int> seen(static_cast<std::size_t>(ranks));  // ranks must have no gaps
    for (int r : owner) seen[r] = 1;
    if (std::count(seen.begin(), seen.end(), 1) != ranks) continue;
    toy::jitter = seed % 3 == 0 ? 40 : 0;
    EXPECT_TRUE(run({toy::random_network(seed, static_cast<int>(owner.size())), owner, 1 + static_cast<int>(rng() % 9)}, 60,
                    seed % 4))
        << seed;
  }
  toy::jitter = 0;
}

TEST_P(executor, eight_ranks_and_many_frames_in_flight) {
  const auto net = toy::random_network(11, 60);
  std::mt19937 rng(11);
  std::vector<int> owner(net.size());
  for (std::size_t l = 0; l < owner.size(); ++l) owner[l] = static_cast<int>(l < 8 ? l : rng() % 8);
  EXPECT_TRUE(run({net, owner, 24}, 300, 10));
}

TEST_P(executor, a_failing_rank_ends_all) {
  auto net = toy::diamond();
  net[6].what = toy::op::failing;
  for (int after : {0, 1, 17}) {
    toy::failing_after = after;
    EXPECT_FALSE(run({net, {0, 0, 0, 1, 1, 2, 2, 1, 0, 0}, 5}, 100, 0, 0, true));
  }
  toy::failing_after = -1;
}
