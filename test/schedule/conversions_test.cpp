// Steps that convert tensors for kernels which work in another layout, and what the proofs say about damaged ones.
#include "dice/schedule/build.hpp"
#include "dice/schedule/proofs.hpp"
#include "random_network.hpp"
#include "simulate.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace {

using namespace dice;
using algorithm::form;
using schedule::action;
using schedule::built_plan;
using tensor::layout;

/// Two inputs are added in blocks, whose sum a plain kernel reads: both operands are converted, and so is the result.
struct converted : test::network {
  std::vector<algorithm::choice> algorithms;
  std::vector<int> owner;
  built_plan plan;

  converted() {
    const tensor::shape s{1, 32, 2, 3};
    add("Input", s, {}).is_input = true;
    add("Input", s, {}).is_input = true;
    add("Add", s, {0, 1});
    add("Conv", s, {2});
    add_output(3);
    algorithms.resize(layers.size());
    algorithms[2] = {.scratch_bytes = 64, .works = form::blocked, .converts = true};
    algorithms[3] = {.works = form::plain, .converts = true};
    owner.assign(layers.size(), 0);
    const std::vector<platform::device> devices{{.rank = 0}};
    plan = schedule::build({view(), owner, devices, algorithms, 1});
  }
};
enum step { enter_0, enter_1, convert_0, convert_1, sum, convert_sum, conv, leave };

TEST(Conversions, AreSteps) {
  const converted s;
  std::vector<action> found;
  for (const auto& step : s.plan.steps) found.push_back(step.what);
  EXPECT_EQ(found, (std::vector{action::enter, action::enter, action::convert, action::convert, action::compute,
                                action::convert, action::compute, action::leave}));
  for (const int k : {0, 1}) {
    const auto& c = s.plan.steps[convert_0 + k];
    EXPECT_EQ(c.output.layout, layout::blocked);
    EXPECT_EQ(s.plan.operands[s.plan.steps[sum].first_operand + k], c.output);
    EXPECT_EQ(s.plan.operands[c.first_operand], s.plan.steps[enter_0 + k].output);
  }
  EXPECT_EQ(s.plan.operands[s.plan.steps[convert_sum].first_operand], s.plan.steps[sum].output);
  EXPECT_EQ(s.plan.operands[s.plan.steps[conv].first_operand], s.plan.steps[convert_sum].output);
  EXPECT_EQ(s.plan.steps[convert_sum].output.layout, layout::plain);
  EXPECT_TRUE(schedule::sound(s.plan.view(), s.view()));
  EXPECT_TRUE(schedule::layouts_fit(s.plan.view(), s.view(), s.algorithms));
  EXPECT_EQ(test::simulation(s.view(), s.plan.view(), s.algorithms, 3, 1).run(), "");
}

// A tensor that is an operand twice is converted once.
TEST(Conversions, OfOneOperandAreOne) {
  converted s;
  s.edges[1].from = 0;
  const std::vector<platform::device> devices{{.rank = 0}};
  const auto plan = schedule::build({s.view(), s.owner, devices, s.algorithms, 1});
  int conversions = 0;
  for (const auto& step : plan.steps) conversions += step.what == action::convert && step.layer == 0;
  EXPECT_EQ(conversions, 1);
  EXPECT_TRUE(schedule::sound(plan.view(), s.view()));
}

TEST(Conversions, DamagedOnesAreRefused) {
  struct damage {
    const char* what;
    bool (*proof)(const built_plan&, const converted&);
    std::function<void(built_plan&)> done;
  };
  const auto places = [](const built_plan& p, const converted& s) { return schedule::places_match(p.view(), s.view()); };
  const auto buffers = [](const built_plan& p, const converted& s) {
    return schedule::places_in_buffers(p.view(), s.view());
  };
  const auto kept = [](const built_plan& p, const converted& s) { return schedule::kept_until_read(p.view(), s.view()); };
  const auto order = [](const built_plan& p, const converted& s) {
    return schedule::reads_follow_writes(p.view(), s.view());
  };
  const auto operand = [](built_plan& p, int s) -> schedule::place& { return p.operands[p.steps[s].first_operand]; };
  const auto copy_of = [](built_plan& p, int layer) -> schedule::buffer& {
    for (auto& b : p.buffers)
      if (b.is_copy && b.layer == layer) return b;
    throw std::logic_error("no copy");
  };
  const damage table[]{
      {"from where the tensor is not", places, [&](auto& p) { operand(p, convert_0).offset += 64; }},
      {"from the other tensor", places, [&](auto& p) { operand(p, convert_0) = operand(p, convert_1); }},
      {"to where the kernel does not read it", places, [&](auto& p) { p.steps[convert_0].output.offset += 64; }},
      {"from a band of rows", places, [&](auto& p) { operand(p, convert_0).pitch = p.steps[enter_0].output.pitch = 8; }},
      {"into other elements", places,
       [&](auto& p) { p.steps[convert_0].output.element = operand(p, sum).element = tensor::number::int32; }},
      {"a result from where it was not computed", places, [&](auto& p) { operand(p, convert_sum).offset += 64; }},
      {"a result of no kernel", places, [](auto& p) { p.steps[sum] = {.what = action::enter, .layer = 2}; }},
      {"a result before it is computed", places, [](auto& p) { std::swap(p.steps[sum], p.steps[convert_sum]); }},
      {"before the tensor is there", order, [](auto& p) { std::swap(p.steps[enter_1], p.steps[convert_1]); }},
      {"a copy whose buffer ends before the kernel", buffers, [&](auto& p) { copy_of(p, 0).last_step = convert_1; }},
      {"a copy that is not kept until it is converted", buffers, [&](auto& p) { copy_of(p, 2).last_step = sum; }},
      {"a copy beside its buffer", buffers, [&](auto& p) { p.steps[convert_0].output.offset += 1 << 20; }},
      {"a result in another layout beside its buffer", buffers, [&](auto& p) { operand(p, convert_sum).offset += 1 << 20; }},
      {"a copy in no buffer", buffers, [&](auto& p) { copy_of(p, 1).layer = 0; }},
      {"a copy over another one", kept,
       [&](auto& p) {
         const auto at = p.steps[convert_0].output;
         p.steps[convert_1].output = p.operands[p.steps[sum].first_operand + 1] = at;
         copy_of(p, 1).at = at;
       }},
      {"a result over a copy that is still read", kept,
       [&](auto& p) { p.steps[sum].output = operand(p, convert_sum) = copy_of(p, 2).at = p.steps[convert_0].output; }}};
  for (const auto& d : table) {
    const converted s;
    ASSERT_TRUE(d.proof(s.plan, s)) << d.what;
    auto damaged = s.plan;
    d.done(damaged);
    EXPECT_FALSE(d.proof(damaged, s)) << d.what;
  }
}

}  // namespace
