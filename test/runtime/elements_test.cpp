// Tensors of other elements than float32: the plan and the executor move as many bytes as their types say.
#include "dice/channels/in_process/hub.hpp"
#include "dice/runtime/executor.hpp"
#include "dice/runtime/tasks.hpp"
#include "dice/schedule/build.hpp"
#include "dice/schedule/proofs.hpp"
#include "dice/weights/weights.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace dice;

constexpr int elements = 7;
using frame = std::array<std::uint8_t, elements>;
constexpr tensor::type byte_frame({1, elements}, tensor::number::uint8);

frame given(std::int64_t number) {
  frame out;
  for (int i = 0; i < elements; ++i) out[i] = static_cast<std::uint8_t>(37 * number + i);
  return out;
}

/// What it reads and writes must be bytes.
void invert(const kernels::task& t, const kernels::buffers& b) {
  ASSERT_EQ(t.input(0).element, tensor::number::uint8);
  ASSERT_EQ(t.output.element, tensor::number::uint8);
  const auto* from = static_cast<const std::uint8_t*>(b.inputs[0]);
  for (int i = 0; i < elements; ++i) static_cast<std::uint8_t*>(b.output)[i] = static_cast<std::uint8_t>(255 - from[i]);
}

struct given_frames final : frames::source {
  void fill(int, std::int64_t number, std::byte* to, const tensor::type& as) override {
    EXPECT_EQ(as, byte_frame);
    EXPECT_THROW(frames::floats(to, as), std::logic_error);
    std::memcpy(to, given(number).data(), elements);
  }
};
struct results final : frames::sink {
  void take(int, std::int64_t number, const std::byte* from, const tensor::type& as) override {
    EXPECT_EQ(as, byte_frame);
    std::memcpy(all[number].data(), from, elements);
  }
  std::map<std::int64_t, frame> all;
};

// Three inversions, each on another rank than the one before.
TEST(elements, bytes_pass_through_ranks) {
  std::vector<graph::layer_info> layers(5);
  std::vector<graph::edge> edges;
  for (int l = 0; l < 5; ++l) {
    layers[l].op = "Invert", layers[l].output = byte_frame;
    if (l > 0) layers[l].first_edge = l - 1, layers[l].edges = 1, edges.push_back({l - 1, l});
  }
  layers[0].is_input = true, layers[4].is_output = true, layers[4].view = 0;
  const std::vector<int> owner{0, 0, 1, 0, 0};
  const std::vector<platform::device> devices{{.rank = 0}, {.rank = 1}};
  const std::vector<algorithm::choice> algorithms(layers.size());
  const graph::network_view net{layers, edges};
  const auto plan = schedule::build({net, owner, devices, algorithms, 3});
  ASSERT_TRUE(schedule::sound(plan.view(), net));
  ASSERT_EQ(plan.messages.size(), 2);
  for (const auto& m : plan.messages) EXPECT_EQ(m.bytes, elements);

  std::vector<kernels::entry> calls(static_cast<std::size_t>(plan.groups.size()), {.by = {.run = invert}});
  std::vector<tensor::storage> stored;
  for (const auto& o : plan.operands) stored.push_back(o.stored());
  runtime::add_plan(calls, stored, plan.view(), net);
  const std::vector<meta::view<graph::parameter>> parameters(calls.size());
  const runtime::program p{.version = "1",
                           .network = "bytes",
                           .layers = net,
                           .plan = plan.view(),
                           .kernels = calls,
                           .parameters = parameters,
                           .weights = {},
                           .weights_folder = {},
                           .units = {},
                           .cores = {},
                           .hosts = {}};
  constexpr std::int64_t frames = 40;
  channels::in_process::hub hub(2);
  results out;
  std::vector<std::thread> ranks;
  for (int r = 0; r < 2; ++r)
    ranks.emplace_back([&, r] {
      channels::in_process::communicator all(hub, r);
      const runtime::needed_weights needed(p, r);
      const weights::store none({}, nullptr, needed.items());
      const auto end = all.connect(runtime::paths_of(p.plan, p.plan.in_flight));
      runtime::executor e(p, r, {none, needed.of_plan(0)}, *end, p.plan.in_flight);
      given_frames in;
      runtime::figures measured;
      e.run(frames, &in, &out, measured);
    });
  for (auto& r : ranks) r.join();
  ASSERT_EQ(out.all.size(), static_cast<std::size_t>(frames));
  for (const auto& [number, found] : out.all)
    for (int i = 0; i < elements; ++i) EXPECT_EQ(found[i], 255 - given(number)[i]) << number;
}

}  // namespace
