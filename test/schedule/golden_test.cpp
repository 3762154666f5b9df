// Plans of networks that no mapping splits stay what they are, to the byte.
#include "random_network.hpp"

#include "dice/schedule/build.hpp"
#include "dice/schedule/proofs.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using namespace dice;

/// FNV-1a over the numbers of a plan.
class digest {
 public:
  void add(std::int64_t v) {
    for (int i = 0; i < 8; ++i) hash_ = (hash_ ^ (static_cast<std::uint64_t>(v) >> (8 * i) & 255)) * 1099511628211u;
  }
  void add(const schedule::place& p) {
    add(static_cast<int>(p.where));
    add(p.offset);
    add(static_cast<int>(p.layout));
  }
  void add(const tensor::region& r) {
    for (int a = 0; a < tensor::region::axes; ++a) {
      add(r.begin[a]);
      add(r.end[a]);
    }
  }
  void add(const schedule::plan_view& p, const graph::network_view& net) {
    const auto whole = [&](int l) { return l < 0 ? tensor::region{} : tensor::whole(net.layers[l].output); };
    add(p.in_flight);
    for (const auto& r : p.ranks) {
      for (const int n : {r.rank, r.first_step, r.last_step, r.first_segment, r.last_segment, r.first_buffer, r.last_buffer,
                          r.layers, r.slots})
        add(n);
      for (const auto n : {r.macs, r.weight_bytes, r.frame_bytes, r.scratch_bytes, r.arena_bytes, r.peak_bytes}) add(n);
    }
    for (const auto& s : p.segments) {
      add(s.first_step);
      add(s.last_step);
    }
    for (const auto& s : p.steps) {
      add(static_cast<int>(s.what));
      for (const int n : {s.layer, s.group, s.message, s.first_operand, s.operands}) add(n);
      add(s.output);
      add(s.scratch);
      add(s.part);
    }
    for (const auto& o : p.operands) add(o);
    for (const auto& g : p.groups)
      for (const int n : {g.anchor, g.residual, g.activation, g.pool, g.residual_operand, g.rank}) add(n);
    for (const auto& m : p.messages) {
      for (const int n : {m.from, m.to, m.tag, m.layer}) add(n);
      add(whole(m.layer));
      add(m.bytes);
      add(m.at_sender);
      add(m.at_receiver);
    }
    for (const auto& b : p.buffers) {
      add(b.at);
      add(b.bytes);
      add(b.first_step);
      add(b.last_step);
      add(b.layer);
      add(whole(b.layer));
    }
    for (const int rank : p.owner) add(rank);
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 14695981039346656037u;
};

TEST(Golden, PlansOfWholeLayersStayEqual) {
  digest all;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 draw(seed + 1000);
    const auto below = [&](int n) { return static_cast<int>(draw() % static_cast<unsigned>(n)); };
    const test::random_network net(seed, 5 + below(40));
    const int ranks = 1 + below(8);
    std::vector<int> owner;
    for (int l = 0; l < net.size(); ++l) owner.push_back(l < ranks ? l : below(3) ? owner.back() : below(ranks));
    std::vector<platform::device> devices(static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r) devices[r].rank = r;
    std::vector<algorithm::choice> how(net.layers.size());
    for (auto& h : how) {
      h = {.packed_bytes = 64 * below(3),
           .scratch_bytes = 100 * below(4),
           .converts = below(4) != 0,
           .pools_2x2 = below(2) != 0};
      h.works = static_cast<algorithm::form>(below(4));
    }
    all.add(schedule::build({net.view(), owner, devices, how, 1 + below(4)}).view(), net.view());
  }
  EXPECT_EQ(all.value(), 3316629471163127785u);
}

}  // namespace
