// Operators as values.
#include "dice/graph/any_operator.hpp"
#include "dice/graph/any_of.hpp"
#include "dice/graph/graph.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>

namespace {

using namespace dice;
using graph::any_operator;
using tensor::region;
using tensor::shape;

static_assert(std::is_trivially_copyable_v<any_operator>);

constexpr shape image{1, 48, 8, 6};
constexpr std::array in{image};
constexpr region lower{{0, 16, 4, 0}, {1, 32, 8, 6}};

// What one kernel of each backend computes. Views of parts of the input are no copies.
template <class Op> constexpr bool is_activation = graph::activation_operator<Op>;
static_assert(is_activation<ops::relu> && is_activation<ops::hard_sigmoid> && is_activation<ops::elementwise>);
static_assert(!is_activation<ops::batch_normalization> && !is_activation<ops::conv> && !is_activation<ops::p_relu>);
template <class Op> constexpr bool is_copy = graph::copy_operator<Op>;
static_assert(is_copy<ops::identity> && is_copy<ops::dropout> && is_copy<ops::flatten> && is_copy<ops::reshape>);
static_assert(!is_copy<ops::slice> && !is_copy<ops::transpose> && !is_copy<ops::output> && !is_copy<ops::relu>);
// Nine and four.
#define DICE_SUMS(name) +(is_activation<ops::name> ? 1 : is_copy<ops::name> ? 100 : 0)
static_assert(DICE_OPERATORS(DICE_SUMS) == 409);
#undef DICE_SUMS
static_assert(graph::in_place(ops::elu{}) && !graph::in_place(ops::conv{}) && graph::view(ops::reshape{}, in, {}) == 0);
static_assert(graph::fuses(ops::hard_sigmoid{.alpha = 1, .beta = 2}, in).function ==
              graph::activation{graph::activation::kind::hard_sigmoid, 1, 2});
static_assert(graph::fuses(ops::elu{}, in).monotonic && !graph::fuses(ops::elu{.alpha = -1}, in).monotonic);
static_assert(graph::fuses(ops::relu{}, in).monotonic && !graph::fuses(ops::hard_swish{}, in).monotonic);

// In constant expressions, as elements of an array with static storage.
constexpr std::array<any_operator, 4> some{
    any_operator{}, ops::conv{.channels = 32, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true}, ops::relu{},
    graph::restrict(any_operator(ops::conv{.channels = 32, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true}), lower, in,
                    {1, 32, 8, 6})};
static_assert(some[0].onnx() == "Identity" && some[1].onnx() == "Conv" && some[2].onnx() == "Relu");
// Each operator, also those without attributes, stays what it is as an element of a template's constant, and in a copy.
template <int N>
constexpr std::array all{
#define DICE_LIST(name) any_operator(ops::name{}),
    DICE_OPERATORS(DICE_LIST)
#undef DICE_LIST
        any_operator(ops::softmax{.first = N})};
template <int N>
constexpr auto copied = [] {
  std::array<any_operator, all<N>.size()> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = all<N>[i];
  return out;
}();
static_assert([] {
  std::size_t i = 0, same = 0;
#define DICE_COUNT(name) same += copied<3>[i++].is<ops::name>();
  DICE_OPERATORS(DICE_COUNT)
#undef DICE_COUNT
  return i + 1 == all<3>.size() && same == i && copied<3>[i].as<ops::softmax>().first == 3;
}());
constexpr std::array<const void*, 2> addresses{some[1].address(), some[3].address()};
static_assert(addresses[0] != addresses[1]);

static_assert(graph::infer(some[1], in) == shape{1, 32, 8, 6} && graph::infer(some[2], in) == image);
static_assert(graph::input_region(some[1], 0, lower, in, {1, 32, 8, 6}) == region{{0, 0, 3, 0}, {1, 48, 8, 6}});
static_assert(graph::infer(some[3], std::array{shape{1, 48, 5, 6}}) == shape{1, 16, 4, 6});
static_assert(graph::cut_step(some[1], 1, in, {1, 32, 8, 6}) == 16 && graph::cut_step(some[2], 2, in, image) == 1);
static_assert(graph::parameter_region(some[1], 1, lower, in, {1, 32, 8, 6}, {32}) == region{{16}, {32, 1, 1, 1}});
static_assert(graph::depth_step(some[1], in) == 16 && graph::depth_step(some[2], in) == 0);
static_assert(graph::partial_region(some[1], 16, 48, in) == region{{0, 16, 0, 0}, {1, 48, 8, 6}});
static_assert(graph::partial_parameter_region(some[1], 0, 16, 48, in, {32, 48, 3, 3}) ==
              region{{0, 16, 0, 0}, {32, 48, 3, 3}});
static_assert(graph::partial(some[1], 16, 48, false, in).visit([](const auto& op) {
  if constexpr (requires { op.bias; }) return !op.bias;
  else return false;
}));

constexpr graph::layer_info described(const any_operator& op) {
  graph::layer_info layer;
  layer.op = op.onnx();
  layer.output = tensor::type(graph::infer(op, in));
  layer.edges = 1;
  graph::edge edge{};
  if (!graph::describe(op, in, layer, &edge)) layer.name = "wrong";
  return layer;
}
static_assert(described(some[1]).macs == 32 * 48 * 9 * 48 && described(some[1]).name.empty());
static_assert(described(some[1]).cut_steps == std::array{16, 1, 1} && described(some[1]).depth_step == 16);
static_assert(described(some[2]).in_place && described(some[2]).depth_step == 0);
static_assert(described(ops::flatten{}).cut_steps == std::array{16 * 48, 0, 0} && described(ops::flatten{}).view == 0);
static_assert(described(ops::output{}).is_output && described(ops::output{}).cut_steps == std::array{0, 0, 0});

TEST(AnyOperator, HoldsWhatItWasMadeOf) {
  any_operator op = some[1];
  EXPECT_EQ(static_cast<const ops::conv*>(op.address())->channels, 32);
  op = ops::slice{.starts = {1, 2}, .extents = {3, 4}};
  const auto* slice = static_cast<const ops::slice*>(op.address());
  EXPECT_EQ(slice->starts[1], 2);
  EXPECT_EQ(slice->extents, (shape{3, 4}));
}

TEST(AnyOperator, IsFoundByItsName) {
  std::set<std::string_view> names;
  std::size_t all = 0;
  const auto find = [&](const auto& op) {
    const auto found = graph::any_of(op.onnx, &op);
    EXPECT_EQ(found.onnx(), op.onnx);
    names.insert(found.onnx());
    ++all;
  };
#define DICE_FIND(name) find(ops::name{});
  DICE_OPERATORS(DICE_FIND)
#undef DICE_FIND
  EXPECT_EQ(names.size(), all) << "two operators have one name";
  const ops::lrn lrn{.beta = 0.5f, .size = 7};
  const auto found = graph::any_of("LRN", &lrn);
  EXPECT_EQ(static_cast<const ops::lrn*>(found.address())->size, 7);
  try {
    graph::any_of("Lrn", &lrn);
    FAIL();
  } catch (const graph::model_error& e) {
    EXPECT_NE(std::string(e.what()).find("no operator Lrn"), std::string::npos) << e.what();
  }
}

}  // namespace
