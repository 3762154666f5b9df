// How operators are written in headers.
#include "graph/operation.hpp"

#include "dice/graph/ops.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

namespace ops = dice::ops;
using dice::graph::activation;
using onnx2hpp::operation;

std::string written(const operation& op) { return op.struct_name() + op.attributes(); }

TEST(Operation, WritesWhatDiffersFromTheDefaults) {
  EXPECT_EQ(written(ops::relu{}), "relu{}");
  EXPECT_EQ(written(ops::hard_sigmoid{}), "hard_sigmoid{}");
  EXPECT_EQ(written(ops::hard_sigmoid{.beta = 1}), "hard_sigmoid{.beta = 1.0f}");
  EXPECT_EQ(written(ops::clip{.high = 6}), "clip{.high = 6.0f}");
  EXPECT_EQ(written(ops::clip{.low = std::numeric_limits<float>::quiet_NaN()}),
            "clip{.low = ::std::numeric_limits<float>::quiet_NaN()}");
  EXPECT_EQ(written(ops::max_pool{.kernel = {2, 3}, .ceil_mode = true}), "max_pool{.kernel = {2, 3}, .ceil_mode = true}");
  EXPECT_EQ(written(ops::pad{.mode = ops::padding::edge}), "pad{.mode = ::dice::ops::padding::edge}");
  EXPECT_EQ(written(ops::output{.number = dice::tensor::number::int64}), "output{.number = ::dice::tensor::number::int64}");
}

TEST(Operation, WritesSomeAttributesAlways) {
  EXPECT_EQ(written(ops::concat{}), "concat{.axis = 1}");
  EXPECT_EQ(written(ops::lrn{.bias = 2}), "lrn{.bias = 2.0f, .size = 1}");
  EXPECT_EQ(written(ops::cum_sum{.reverse = true}), "cum_sum{.axis = 0, .reverse = true}");
  EXPECT_EQ(written(ops::reshape{}), "reshape{.to = {}}");
  EXPECT_EQ(written(ops::normalization{.scale = true}),
            "normalization{.how = ::dice::ops::normalizing::layer, .first = 1, .last = 2, .scale = true}");
  EXPECT_EQ(written(ops::mat_mul{.columns = 3}), "mat_mul{.columns = 3, .depth = 0, .bias = false}");
}

TEST(Operation, WritesFunctionsOfOneElement) {
  EXPECT_EQ(written(ops::elementwise{}), "elementwise{.function = {.is = ::dice::graph::activation::kind::abs}}");
  EXPECT_EQ(written(ops::elementwise{{activation::kind::celu, 0.5f}}),
            "elementwise{.function = {.is = ::dice::graph::activation::kind::celu, .a = 0.5f}}");
}

TEST(Operation, WritesConstantOperandsWithTheirShape) {
  EXPECT_EQ(written(ops::p_relu{}), "p_relu{}");
  EXPECT_EQ(written(ops::where{.which = ops::constant::first, .fixed = {2, 1}}),
            "where{.which = ::dice::ops::constant::first, .fixed = {2, 1}}");
  EXPECT_EQ(written(ops::pow{.which = ops::constant::second}), "pow{.which = ::dice::ops::constant::second, .fixed = {}}");
  EXPECT_EQ(written(ops::einsum{.of = {{{0, -1}, {-1, 1}}}, .rank = 2, .depth = {1, 0}}),
            "einsum{.of = {{{0, -1}, {-1, 1}}}, .rank = 2, .depth = {1, 0}}");
  EXPECT_EQ(written(ops::einsum{.factor = 2, .which = ops::constant::first}),
            "einsum{.of = {{{}, {}}}, .rank = 0, .depth = {0, 0}, .factor = 2.0f, "
            ".which = ::dice::ops::constant::first, .fixed = {}}");
}

TEST(Operation, WritesOfAResizeWhatItUses) {
  EXPECT_EQ(written(ops::resize{.factors = {2}, .to = {4}}), "resize{.factors = {2, 0, 0, 0, 0, 0, 0, 0}}");
  EXPECT_EQ(written(ops::resize{.mode = ops::resizing::cubic, .cubic_a = -0.5f}),
            "resize{.mode = ::dice::ops::resizing::cubic, .to = {}, .cubic_a = -0.5f}");
}

struct unlisted {
  static constexpr std::string_view onnx = "Unlisted";
};

TEST(Operation, IsOneOfTheList) {
  const operation op = unlisted{};
  EXPECT_EQ(op.onnx_name(), "Unlisted");
  EXPECT_THROW(op.struct_name(), std::logic_error);
  EXPECT_THROW(op.attributes(), std::logic_error);
}

}  // namespace
