// Each condition of each proof: a small plan that is sound is damaged so that only this condition refuses it.
#include "dice/schedule/proofs.hpp"
#include "dice/schedule/build.hpp"
#include "random_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace dice;
using schedule::action;
using schedule::built_plan;
using schedule::space;

/// A rank that computes before and after the other one, which has a single layer. Layers: 0 input, 1 to 3 convolutions,
/// 4 the sum of 1 and 3, computed with 3, 5 on rank 1, 6 convolution, 7 output.
struct sample {
  test::network net;
  std::vector<int> owner{0, 0, 0, 0, 0, 1, 0, 0};
  built_plan plan;

  sample() {
    const tensor::shape s{1, 4, 4, 4};  // 256 bytes
    net.add("Input", s, {}).is_input = true;
    net.add("Conv", s, {0});
    net.add("Conv", s, {0});
    net.add("Conv", s, {2}).fuses.takes_residual = true;
    net.add("Add", s, {1, 3}).fuses.is_residual = true;
    net.add("Conv", s, {4});
    net.add("Conv", s, {5});
    net.add_output(6);
    std::vector<algorithm::choice> algorithms(net.layers.size());
    algorithms[2].scratch_bytes = 64;
    const std::vector<platform::device> devices{{0, {}, -1}, {1, {}, -1}};
    plan = schedule::build({net.view(), owner, devices, algorithms, 4});
  }
};

// The plan's steps: those of rank 0 in two segments, then those of rank 1 in one.
enum : int { enter, one, two, sum, to_1, from_1, six, leave, at_1, five, to_0 };
// Its buffers: those of rank 0 in order, the first tensors 0, 1 and 2.
int buffer_of(const built_plan& p, int layer) {
  int b = 0;
  while (p.buffers[b].layer != layer) ++b;
  return b;
}

TEST(Proofs, ThePlanIsWhatTheDamageAssumes) {
  const sample s;
  const std::vector<action> wanted{action::enter,   action::compute, action::compute, action::compute,
                                   action::send,    action::receive, action::compute, action::leave,
                                   action::receive, action::compute, action::send};
  ASSERT_EQ(s.plan.steps.size(), static_cast<int>(wanted.size()));
  for (int i = 0; i < s.plan.steps.size(); ++i) EXPECT_EQ(s.plan.steps[i].what, wanted[i]) << i;
  EXPECT_EQ(s.plan.segments.size(), 3);
  EXPECT_EQ(s.plan.groups[s.plan.steps[sum].group].residual, 4);
  EXPECT_TRUE(schedule::sound(s.plan.view(), s.net.view()));
}

struct damage {
  const char* what;
  std::function<void(built_plan&)> done;
};
/// Every damage is refused by `proof`; that it is refused by this condition alone is the table's task.
template <class Proof> void refuses(Proof proof, const std::vector<damage>& table) {
  const sample s;
  ASSERT_TRUE(proof(s.plan.view(), s.net.view()));
  for (const auto& d : table) {
    auto damaged = s.plan;
    d.done(damaged);
    EXPECT_FALSE(proof(damaged.view(), s.net.view())) << d.what;
    EXPECT_FALSE(schedule::sound(damaged.view(), s.net.view())) << d.what;
  }
}

/// Makes step s do nothing that messages_match sees.
void silence(built_plan& p, int s) { p.steps[s] = {.what = action::enter, .layer = 0}; }

TEST(Proofs, MessagesMatchRefuses) {
  refuses(schedule::messages_match,
          {{"a message to its own rank",
            [](auto& p) {
              p.messages[0].to = 0;
              std::swap(p.steps[at_1], p.steps[six]);
            }},
           {"a sender below 0", [](auto& p) { p.messages[0].from = -1; }},
           {"a receiver below 0", [](auto& p) { p.messages[0].to = -1; }},
           {"a sender that is no rank", [](auto& p) { p.messages[0].from = 2; }},
           {"a receiver that is no rank", [](auto& p) { p.messages[0].to = 2; }},
           {"no bytes", [](auto& p) { p.messages[0].bytes = 0; }},
           {"a tag too high", [](auto& p) { ++p.messages[1].tag; }},
           {"a tag too low", [](auto& p) { --p.messages[1].tag; }},
           {"a tensor of another rank", [](auto& p) { p.owner[4] = 1; }},
           {"a byte too few", [](auto& p) { --p.messages[0].bytes; }},
           {"a byte too many", [](auto& p) { ++p.messages[0].bytes; }},
           {"two types of elements", [](auto& p) { p.messages[0].at_receiver.element = tensor::number::int32; }},
           {"two layouts", [](auto& p) { p.messages[0].at_receiver.layout = tensor::layout::blocked; }},
           {"a band of rows",
            [](auto& p) {
              auto& m = p.messages[0];
              m.at_sender.pitch = m.at_receiver.pitch = 32;
              m.bytes = tensor::bytes(tensor::shape{1, 4, 4, 4}, m.at_sender.stored());
            }},
           {"scratch at the sender", [](auto& p) { p.messages[0].at_sender.where = space::scratch; }},
           {"scratch at the receiver", [](auto& p) { p.messages[0].at_receiver.where = space::scratch; }},
           {"a send by the other rank", [](auto& p) { std::swap(p.steps[to_1], p.steps[five]); }},
           {"a receive by the other rank", [](auto& p) { std::swap(p.steps[at_1], p.steps[six]); }},
           {"a send of another tensor", [](auto& p) { p.steps[to_1].layer = 3; }},
           {"a receive of another tensor", [](auto& p) { p.steps[at_1].layer = 3; }},
           {"no send", [](auto& p) { silence(p, to_1); }},
           {"two sends", [](auto& p) { p.steps[sum] = p.steps[to_1]; }},
           {"no receive", [](auto& p) { silence(p, at_1); }},
           {"two receives", [](auto& p) { p.steps[five] = p.steps[at_1]; }}});
}

TEST(Proofs, ReadsFollowWritesRefuses) {
  refuses([](const auto& plan, const auto& net) { return schedule::reads_follow_writes(plan, net); },
          {{"a step that computes a region only", [](auto& p) { --p.steps[two].part.end[1]; }},
           {"a layer of another rank", [](auto& p) { p.owner[2] = 1; }},
           {"an operand computed later", [](auto& p) { std::swap(p.steps[enter], p.steps[one]); }},
           {"a residual computed later",
            [](auto& p) {
              std::swap(p.steps[one], p.steps[two]);
              std::swap(p.steps[two], p.steps[sum]);
            }},
           {"a tensor sent before it is computed", [](auto& p) { std::swap(p.steps[sum], p.steps[to_1]); }},
           {"a result that leaves before it is computed", [](auto& p) { std::swap(p.steps[six], p.steps[leave]); }},
           {"an operand received later", [](auto& p) { std::swap(p.steps[at_1], p.steps[five]); }},
           {"an operand of another rank that is not received",
            [](auto& p) { p.steps[at_1] = {.what = action::enter, .layer = 5}; }},
           {"an operand that nobody writes", [](auto& p) { p.steps[enter].layer = 7; }}});
}

TEST(Proofs, NoStepReadsItsOwnResult) {
  sample s;
  s.net.edges[0].from = 1;
  EXPECT_FALSE(schedule::reads_follow_writes(s.plan.view(), s.net.view()));
}

TEST(Proofs, PlacesMatchRefuses) {
  const auto moved = [](auto at) { return [at](built_plan& p) { at(p).offset += schedule::alignment; }; };
  using schedule::place;
  refuses(
      schedule::places_match,
      {{"an input elsewhere", moved([](built_plan& p) -> place& { return p.steps[enter].output; })},
       {"a result elsewhere", moved([](built_plan& p) -> place& { return p.steps[one].output; })},
       {"a received tensor elsewhere", moved([](built_plan& p) -> place& { return p.messages[0].at_receiver; })},
       {"a sent tensor elsewhere", moved([](built_plan& p) -> place& { return p.messages[0].at_sender; })},
       {"an output elsewhere", moved([](built_plan& p) -> place& { return p.steps[leave].output; })},
       {"an operand elsewhere", moved([](built_plan& p) -> place& { return p.operands[p.steps[two].first_operand]; })},
       {"a residual elsewhere", moved([](built_plan& p) -> place& { return p.operands[p.steps[sum].first_operand + 1]; })},
       {"other elements everywhere",
        [](auto& p) {
          const auto change = [](schedule::place& at) { at.element = tensor::number::int32; };
          for (auto& s : p.steps) change(s.output);
          for (auto& o : p.operands) change(o);
          for (auto& m : p.messages) {
            change(m.at_sender);
            change(m.at_receiver);
          }
        }},
       {"another layout", [](auto& p) { p.steps[leave].output.layout = tensor::layout::blocked; }},
       {"another space", [](auto& p) { p.steps[leave].output.where = space::frame; }}});
}

TEST(Proofs, BuffersDisjointRefuses) {
  // The last buffer in a space of rank 0 gets room behind it, so that it can move.
  const auto last = [](built_plan& p, space where) -> schedule::buffer& {
    auto& r = p.ranks[0];
    schedule::buffer* out = nullptr;
    for (int b = r.first_buffer; b < r.last_buffer; ++b)
      if (p.buffers[b].at.where == where && (!out || p.buffers[b].at.offset > out->at.offset)) out = &p.buffers[b];
    (where == space::frame ? r.frame_bytes : r.scratch_bytes) += 1024;
    return *out;
  };
  refuses(schedule::buffers_disjoint,
          {{"buffers out of order", [](auto& p) { std::swap(p.buffers[buffer_of(p, 1)], p.buffers[buffer_of(p, 2)]); }},
           {"a frame's buffer that ends before it begins",
            [](auto& p) {
              auto& b = p.buffers[buffer_of(p, 4)];
              b.last_step = b.first_step - 1;
            }},
           {"a frame's buffer that outlives the rank's steps", [](auto& p) { p.buffers[buffer_of(p, 4)].last_step = at_1; }},
           {"a place below 0", [](auto& p) { p.buffers[buffer_of(p, 6)].at.offset = -schedule::alignment; }},
           {"a place that is not aligned", [&](auto& p) { last(p, space::frame).at.offset += schedule::alignment / 2; }},
           {"fewer than no bytes", [](auto& p) { p.buffers[buffer_of(p, -1)].bytes = -1; }},
           {"a frame's block too small by a byte", [](auto& p) { --p.ranks[0].frame_bytes; }},
           {"a scratch block too small by a byte", [](auto& p) { --p.ranks[0].scratch_bytes; }},
           {"a buffer smaller than its tensor", [](auto& p) { --p.buffers[buffer_of(p, 1)].bytes; }},
           {"two buffers at one place",
            [](auto& p) { p.buffers[buffer_of(p, 2)].at.offset = p.buffers[buffer_of(p, 1)].at.offset; }},
           {"a buffer that begins within another",
            [](auto& p) {
              p.buffers[buffer_of(p, 2)].at.offset = p.buffers[buffer_of(p, 1)].at.offset + schedule::alignment;
              p.ranks[0].scratch_bytes += 1024;
            }},
           {"a buffer that ends within another",
            [](auto& p) {
              auto &a = p.buffers[buffer_of(p, 1)], &b = p.buffers[buffer_of(p, 2)];
              a.at.offset = 4096;
              b.at.offset = 4096 - schedule::alignment;
              p.ranks[0].scratch_bytes = 8192;
            }},
           {"scratch that outlives its segment", [](auto& p) {
              auto& b = p.buffers[buffer_of(p, 1)];
              b.at.offset = p.ranks[0].scratch_bytes;
              p.ranks[0].scratch_bytes += b.bytes;
              b.last_step = from_1;  // the first step of the next segment
            }}});
}

/// Whether these buffers of a rank with steps 0 to 3 are disjoint: each of 64 bytes or more, its place in units of 64 bytes.
struct piece {
  int at, first, last, units = 1;
};
bool disjoint(const std::vector<piece>& all, space where = space::frame, int steps_of_segment = 4) {
  built_plan p;
  p.ranks.push_back({.last_step = 4, .last_segment = 4 / steps_of_segment, .frame_bytes = 4096, .scratch_bytes = 4096});
  p.ranks[0].last_buffer = static_cast<int>(all.size());
  for (int s = 0; s < 4; ++s) p.steps.push_back({});
  for (int s = 0; s < 4; s += steps_of_segment) p.segments.push_back({s, s + steps_of_segment});
  for (const auto& b : all)
    p.buffers.push_back(
        {.at = {.where = where, .offset = 64 * b.at}, .bytes = 64 * b.units, .first_step = b.first, .last_step = b.last});
  return schedule::buffers_disjoint(p.view(), {});
}
/// The same with another one.
bool disjoint(std::vector<piece> all, const piece& one) {
  all.push_back(one);
  return disjoint(all);
}

TEST(Proofs, BuffersThatEndInBetweenMakeRoom) {
  EXPECT_TRUE(disjoint({{0, 1, 1}, {0, 2, 2}, {0, 3, 3}}));
  EXPECT_FALSE(disjoint({{0, 1, 2}, {0, 2, 2}}));
  EXPECT_FALSE(disjoint({{0, 1, 1}, {4, 1, 2}, {4, 2, 2}}));
}

TEST(Proofs, BuffersThatLiveToTheEndStay) {
  // In this order they become one, several, and one again.
  const std::vector<piece> all{{1, 1, 3}, {2, 1, 3}, {0, 1, 3}, {8, 1, 3}, {6, 1, 3}, {12, 1, 1}, {7, 1, 3}, {4, 2, 3}};
  EXPECT_TRUE(disjoint(all));
  for (const int at : {0, 1, 2, 4, 6, 7, 8}) EXPECT_FALSE(disjoint(all, {at, 3, 3})) << at;
  for (const int at : {3, 5, 9, 12}) EXPECT_TRUE(disjoint(all, {at, 3, 3})) << at;
  EXPECT_FALSE(disjoint(all, {3, 3, 3, 2}));
  EXPECT_FALSE(disjoint(all, {5, 3, 3, 2}));
  EXPECT_TRUE(disjoint(all, {9, 3, 3, 4}));
}

TEST(Proofs, BuffersThatLiveFromTheBeginningMakeRoom) {
  const std::vector<piece> all{{0, 0, 1}, {1, 0, 3}, {2, 0, 2},
                               {4, 0, 1}, {5, 0, 2}, {3, 0, 1}};  // the last one below others
  EXPECT_TRUE(disjoint(all));
  for (const int at : {0, 1, 2, 3, 4, 5}) EXPECT_FALSE(disjoint(all, {at, 1, 1})) << at;
  for (const int at : {1, 2, 5}) EXPECT_FALSE(disjoint(all, {at, 2, 2})) << at;
  for (const int at : {0, 3, 4, 6}) EXPECT_TRUE(disjoint(all, {at, 2, 2})) << at;
  EXPECT_FALSE(disjoint(all, {0, 3, 3, 2}));
  EXPECT_TRUE(disjoint(all, {2, 3, 3, 4}));
  EXPECT_FALSE(disjoint(all, {3, 2, 2, 3}));
}

TEST(Proofs, ScratchEndsWithItsSegment) {
  for (const auto& [first, last, fits] : {std::tuple{0, 1, true}, {1, 1, true}, {1, 2, false}, {2, 3, true}, {3, 3, true}}) {
    EXPECT_EQ(disjoint({{0, first, last}}, space::scratch, 2), fits) << first << last;
    EXPECT_TRUE(disjoint({{0, first, last}}, space::frame, 2));
  }
}

/// Moves what step `s` writes by `bytes`, and with it what reads it there.
void move_result(built_plan& p, int s, std::int64_t bytes) {
  const auto before = p.steps[s].output;
  const auto move = [&](schedule::place& at) {
    if (at == before) at.offset += bytes;
  };
  for (auto& o : p.operands) move(o);
  for (auto& m : p.messages) move(m.at_sender);
  for (auto& step : p.steps) move(step.output);
}

TEST(Proofs, PlacesInBuffersRefuses) {
  refuses(schedule::places_in_buffers,
          {{"a result that begins before its buffer", [](auto& p) { move_result(p, two, -schedule::alignment); }},
           {"a result that ends behind its buffer", [](auto& p) { move_result(p, two, schedule::alignment); }},
           {"an input outside the arena", [](auto& p) { move_result(p, enter, std::int64_t{1} << 40); }},
           {"a received tensor outside its buffer",
            [](auto& p) {
              auto& at = p.messages[0].at_receiver;
              for (int k = p.steps[five].first_operand; k < p.steps[five].first_operand + p.steps[five].operands; ++k)
                if (p.operands[k] == at) p.operands[k].offset += schedule::alignment;
              at.offset += schedule::alignment;
            }},
           {"an input entered elsewhere", [](auto& p) { p.steps[enter].output.offset += 1 << 20; }},
           {"a result written elsewhere", [](auto& p) { p.steps[two].output.offset += 1 << 20; }},
           {"a message received elsewhere", [](auto& p) { p.messages[0].at_receiver.offset += 1 << 20; }},
           {"a result in the buffer of another tensor that is alive",
            [](auto& p) {
              const auto before = p.steps[two].output;
              for (auto& o : p.operands)
                if (o == before) o = p.steps[one].output;
              p.steps[two].output = p.steps[one].output;
            }},
           {"working memory of a step that computes nothing", [](auto& p) { p.buffers[buffer_of(p, 0)].layer = -1; }},
           {"a tensor read when its buffer has ended", [](auto& p) { p.buffers[buffer_of(p, 1)].last_step = one; }},
           {"a tensor written before its buffer begins",
            [](auto& p) { p.buffers[buffer_of(p, 1)].first_step = p.buffers[buffer_of(p, 1)].last_step; }},
           {"a result without a buffer",
            [](auto& p) {
              p.buffers[buffer_of(p, 2)].layer = -1;
              move_result(p, two, 4096);
            }},
           {"another space", [](auto& p) { p.buffers[buffer_of(p, 4)].at.where = space::scratch; }},
           {"a band that no Concat has", [](auto& p) {
              const auto before = p.steps[one].output;
              for (auto& o : p.operands)
                if (o == before) o.pitch = 16;
              p.steps[one].output.pitch = 16;
            }}});
}

/// Puts tensor `layer`, which `what` writes, `bytes` behind the result of step `onto`, and drops its buffer.
void share(built_plan& p, int layer, schedule::place& what, int onto, std::int64_t bytes = 0) {
  const auto before = what;
  auto after = p.steps[onto].output;
  after.offset += bytes;
  for (auto& o : p.operands)
    if (o == before) o = after;
  what = after;
  p.buffers[buffer_of(p, layer)].layer = -1;
}

TEST(Proofs, KeptUntilReadRefuses) {
  refuses([](const schedule::plan_view& p, const graph::network_view& net) { return schedule::kept_until_read(p, net); },
          {{"a result over a tensor that is read later", [](auto& p) { share(p, 2, p.steps[two].output, one); }},
           {"a result over the operand of an operator that does not work in place",
            [](auto& p) { share(p, 2, p.steps[two].output, enter); }},
           {"a message that may come before a tensor is read",
            [](auto& p) {
              share(p, 5, p.messages[1].at_receiver, enter);
              p.buffers[buffer_of(p, 0)].last_step = six;
            }},
           {"a result over a tensor that may still be sent", [](auto& p) { share(p, 6, p.steps[six].output, sum); }},
           {"a result over a tensor that is not the last one in its buffer",
            [](auto& p) {
              p.buffers[buffer_of(p, 1)].bytes = 512;
              share(p, 2, p.steps[two].output, one, 256);
              share(p, 4, p.steps[sum].output, one);
            }},
           {"a result outside all buffers", [](auto& p) {
              p.buffers[buffer_of(p, 2)].layer = -1;
              move_result(p, two, 4096);
            }}});
}

/// Two tensors at one place are kept only if they are never in the same frame: those of two replicas of one set.
TEST(Proofs, ReplicasOfASetShareTheirPlace) {
  const sample s;
  auto p = s.plan;
  share(p, 2, p.steps[two].output, one);
  const auto kept = [&](parts::turn first, parts::turn second) {
    std::vector<parts::part> all(s.net.layers.size());
    all[1].when = first;
    all[2].when = second;
    return schedule::kept_until_read(p.view(), s.net.view(), all);
  };
  EXPECT_TRUE(kept({0, 0}, {0, 1}));
  EXPECT_TRUE(kept({1, 2}, {1, 0}));
  EXPECT_FALSE(kept({0, 1}, {0, 1}));
  EXPECT_FALSE(kept({0, 0}, {1, 1}));
  EXPECT_FALSE(kept({1, 1}, {0, 0}));
  EXPECT_FALSE(kept({}, {0, 1}));
  EXPECT_FALSE(kept({0, 1}, {}));
  EXPECT_FALSE(kept({}, {}));
}

// Where views of blocked tensors and Concats of them lie: two blocks of two rows of three elements each.
TEST(Proofs, WhatIsWrittenByOperandsLiesWhereTheyDo) {
  static constexpr std::int64_t block = 16 * 2 * 3, bytes = 4 * block;
  test::network net;
  for (int k = 0; k < 3; ++k) net.add("Conv", {1, 16, 2, 3}, {});
  net.add_concat({1, 32, 2, 3}, {0, 1});
  net.add_view("Slice", {1, 16, 2, 3}, 3, block);
  net.add("Conv", {1, 16, 2, 3}, {0});
  net.add_view("Reshape", {1, 96}, 0, 0);
  const auto at = [&](int layer, tensor::layout as, std::int64_t gap = 0) {
    const schedule::place none{.offset = schedule::detail::unknown};
    meta::array<schedule::place> places(net.size(), none);
    places[0] = {.layout = as, .offset = 64};
    places[1] = {.layout = as, .offset = 64 + bytes + gap};
    return schedule::detail::written_at(layer, places, net.view()).offset;
  };
  using schedule::detail::nowhere;
  using enum tensor::layout;
  for (const auto as : {plain, blocked}) {
    EXPECT_EQ(at(3, as), 64);
    EXPECT_EQ(at(4, as), 64 + bytes);
    EXPECT_EQ(at(3, as, bytes), nowhere);  // a gap between the two
    EXPECT_EQ(at(5, as), nowhere);         // which a kernel should have written
    EXPECT_EQ(at(6, as), as == plain ? 64 : nowhere);
  }
  net.edges[1].from = 2;  // which nobody writes
  EXPECT_EQ(at(3, plain), nowhere);
  EXPECT_EQ(at(4, plain), nowhere);
  net.edges[1] = {.from = 1, .to = 3, .joins = 16 * 3};  // half a block
  EXPECT_EQ(at(3, plain, -bytes / 2), 64);
  EXPECT_EQ(at(3, blocked, -bytes / 2), nowhere);
}

/// Bands of rows in planes of eight rows of four elements: of three rows and of five, which are neighbours.
TEST(Proofs, BandsOfOneTensorAreApart) {
  for (const auto layout : {tensor::layout::plain, tensor::layout::blocked}) {
    const std::int64_t lanes = layout == tensor::layout::blocked ? 16 : 1, row = 4 * lanes;
    test::network net;
    for (const std::int64_t rows : {3, 5, 6}) net.add("Conv", {1, 4 * lanes, rows, 4}, {});
    const auto band = [&](int tensor, std::int64_t first) {
      return schedule::detail::content{.tensor = tensor,
                                       .first = 0,
                                       .last = 0,
                                       .at = {.where = space::frame,
                                              .layout = layout,
                                              .offset = (100 + first * row) * tensor::float_bytes,
                                              .pitch = 8 * row}};
    };
    const auto apart = [&](const schedule::detail::content& a, const schedule::detail::content& b) {
      const bool out = schedule::detail::apart(a, b, net.view());
      EXPECT_EQ(schedule::detail::apart(b, a, net.view()), out);
      return out;
    };
    EXPECT_TRUE(apart(band(0, 0), band(1, 3)));
    EXPECT_TRUE(apart(band(1, 0), band(0, 5)));
    EXPECT_FALSE(apart(band(0, 0), band(1, 2)));  // a row of both
    EXPECT_FALSE(apart(band(0, 0), band(1, 4)));  // its last row is the next plane's first
    EXPECT_FALSE(apart(band(0, 0), band(2, 3)));
    EXPECT_FALSE(apart(band(0, 0), band(0, 0)));
    EXPECT_TRUE(apart(band(0, 0), band(1, 8 + 3)));  // in another plane of the same rows
    EXPECT_TRUE(apart(band(0, 0), band(1, 16 + 3)));
    EXPECT_TRUE(apart(band(0, 0), band(0, 80)));  // elsewhere
    auto other = band(1, 3);
    other.at.pitch *= 2;
    EXPECT_FALSE(apart(band(0, 0), other));
    other.at.pitch = 0;
    EXPECT_FALSE(apart(band(0, 0), other));
    other.at.where = space::scratch;
    EXPECT_TRUE(apart(band(0, 0), other));
  }
}

TEST(Proofs, NoWaitCycleRefuses) {
  refuses([](const schedule::plan_view& p, const graph::network_view&) { return schedule::no_wait_cycle(p); },
          {{"no frame in flight", [](auto& p) { p.in_flight = 0; }},
           {"a rank without a slot", [](auto& p) { p.ranks[1].slots = 0; }},
           {"a message that nobody receives", [](auto& p) { silence(p, at_1); }},
           {"a rank that waits for what it causes later", [](auto& p) { std::swap(p.steps[to_1], p.steps[from_1]); }}});
}

}  // namespace
