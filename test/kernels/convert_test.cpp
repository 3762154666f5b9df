// Tensors copied into another layout, as the steps `convert` of a plan do it.
#include "kernels/harness.hpp"

namespace {

using namespace harness;
using tensor::layout;

std::vector<float> converted(const std::vector<float>& x, const shape& s, layout from, layout to) {
  const auto count = static_cast<std::size_t>(tensor::elements(s, to));
  const kernels::conversion what{s, {from}, {to}};
  const std::vector<float> nothing(count, std::numeric_limits<float>::infinity());
#ifdef DICE_TESTS_GPU
  auto& there = gpu_bench::get();
  there.clear();
  const float* const in = there.put(x);
  float* const out = there.put(nothing);
  there.run([&] { kernels::converts_by<compared>(what, in, out); });
  return there.get(out, count);
#else
  const buffer in(x), out(nothing);
  kernels::converts_by<compared>(what, in.data(), out.data());
  return {out.floats(), out.floats() + count};
#endif
}

TEST(convert, to_blocks_and_back) {
  for (const auto& s :
       {shape{1, 16, 1, 1}, {1, 3, 5, 7}, {2, 17, 3, 3}, {1, 48, 4, 4}, {3, 33, 1, 9}, {2, 20, 37}, {1, 1, 40, 1}}) {
    const auto x = values(s.elements(), 5);
    const auto blocks = converted(x, s, layout::plain, layout::blocked);
    EXPECT_EQ(plain(blocks.data(), s, layout::blocked), x);
    // Lanes beyond the channels are 0.
    const auto expected = stored(x, s, layout::blocked);
    for (std::size_t i = 0; i < blocks.size(); ++i) EXPECT_TRUE(!std::isnan(expected[i]) || blocks[i] == 0) << i;
    EXPECT_EQ(converted(expected, s, layout::blocked, layout::plain), x);
  }
}

// Copies that run_converted() may make, one after the other, each from a multiple of 64 bytes.
TEST(convert, needs_room_for_operands_residual_and_result) {
  const std::vector<shape> in{{1, 3, 5, 7}};
  const shape result{1, 20, 5, 7};
  kernels::task what{
      .op = nullptr, .inputs = in, .result = result, .how = {.works = algorithm::form::blocked, .converts = true}};
  const std::int64_t operand = 16 * 35 * 4, whole = 32 * 35 * 4;
  EXPECT_EQ(kernels::converted_bytes(what, result), operand + whole);
  what.residual = true;
  EXPECT_EQ(kernels::converted_bytes(what, result), operand + 2 * whole);
  what.output.layout = layout::blocked;
  EXPECT_EQ(kernels::converted_bytes(what, result), operand + whole);
  what.how.works = algorithm::form::plain;
  EXPECT_EQ(kernels::converted_bytes(what, result), (20 * 35 * 4 + 63) / 64 * 64);
  what.how.converts = false;
  EXPECT_EQ(kernels::converted_bytes(what, result), 0);
}

}  // namespace
