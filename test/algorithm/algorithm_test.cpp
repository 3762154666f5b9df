// Backends' algorithms as values: bytes, and the layout of convolutions in bounds.
#include "sample.hpp"

#include <dice/algorithm/algorithm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace {

using namespace dice;
using tensor::shape;

constexpr algorithm::choice of(const ops::conv& op, const shape& in) {
  return algorithm::choose_openmp(op, std::array{in}, graph::infer(op, std::array{in}));
}

// All boards of a cluster share one plan: these numbers must be the same on each of them.
constexpr ops::conv three{.channels = 64, .kernel = {3, 3}, .pads = {1, 1, 1, 1}, .bias = true};
static_assert(of(three, {1, 3, 224, 224}).packed_bytes == (3 * 9 * 64 + 64) * 4);
static_assert(of(three, {1, 3, 224, 224}).scratch_bytes == 128 + 3 * (226 * 225 + 1) * 4);
// Few channels are read from a plain input, plane by plane; many in blocks.
static_assert(of(three, {1, 3, 224, 224}).works == algorithm::form::first &&
              of(three, {1, 16, 4, 4}).works == algorithm::form::blocked);
// Less than a block of output channels is computed by Winograd's algorithm only as a part of more.
constexpr ops::conv narrow{.channels = 8, .kernel = {3, 3}};
static_assert(algorithm::winograd::sizes(narrow, {1, 64, 28, 28}) == 0 && of(narrow, {1, 64, 28, 28}).variant == 0);
static_assert(algorithm::winograd::possible_sizes(narrow, {1, 64, 28, 28}) == 3);
// Bands of rows of larger tensors: in the layouts of the kernel alone, and only by kernels that know them.
constexpr auto as_onnx = tensor::layout::plain, in_blocks = tensor::layout::blocked;
constexpr shape image{1, 3, 8, 8}, maps{1, 16, 8, 8};
static_assert(of(three, image).writes_pitched({1, 64, 8, 8}, in_blocks) && !of(three, image).writes_pitched(maps, as_onnx));
static_assert(of(three, image).reads_pitched(image, as_onnx, in_blocks) &&
              of(three, image).reads_pitched(image, as_onnx, as_onnx));
static_assert(of(three, maps).reads_pitched(maps, in_blocks, as_onnx) &&
              !of(three, maps).reads_pitched(maps, as_onnx, in_blocks));
static_assert(of(three, image).adds_pitched(maps, in_blocks, as_onnx) &&
              !of(three, image).adds_pitched(maps, as_onnx, in_blocks));
template <class Op> constexpr algorithm::choice same_shape(const Op& op) {
  return algorithm::choose_openmp(op, std::array{maps}, maps);
}
static_assert(same_shape(ops::max_pool{}).writes_pitched(maps, in_blocks) && !same_shape(ops::relu{}).pitched);
static_assert(same_shape(ops::concat{}).reads_pitched(maps, as_onnx, as_onnx) && same_shape(ops::average_pool{}).pitched);
static_assert(!same_shape(ops::concat{}).reads_pitched(maps, as_onnx, in_blocks) && same_shape(ops::slice{}).pitched);
static_assert(!same_shape(ops::concat{}).writes_pitched({16, 64}, as_onnx));  // no planes
static_assert(!algorithm::choose<algorithm::backend::reference>(three, std::array{image}, maps).pitched);
static_assert(!algorithm::choose<algorithm::backend::cudnn>(three, std::array{image}, maps).pitched);
// 10 output channels take a block of 16. 1x1 reads the input in place, and so does any window that never leaves it.
constexpr ops::conv point{.channels = 10};
static_assert(of(point, {1, 5, 7, 7}).packed_bytes == (5 * 16 + 16) * 4 && of(point, {1, 5, 7, 7}).scratch_bytes == 0);
static_assert(of({.channels = 8, .kernel = {1, 3}}, {1, 20, 9, 9}).scratch_bytes == 64);  // offsets of three taps
// A block of output channels reads the channels of its groups: 24 outputs a group, of 2 inputs.
constexpr algorithm::convolution grouped({.channels = 72, .group = 3}, {1, 6, 5, 5}, {1, 72, 5, 5});
static_assert(grouped.reads(0).size() == 2 && grouped.reads(1).from == 0 && grouped.reads(1).to == 4 && grouped.depth == 4);
// Depthwise convolution needs no scratch, and nine weights per channel.
constexpr ops::conv depthwise{.channels = 20, .kernel = {3, 3}, .strides = {2, 2}, .pads = {1, 1, 1, 1}, .group = 20};
static_assert(of(depthwise, {1, 20, 8, 8}).packed_bytes == 32 * 10 * 4 && of(depthwise, {1, 20, 8, 8}).scratch_bytes == 0);
// 3x3 convolutions of many channels use Winograd's algorithm, with the tiles that pay most; not on tiny maps.
constexpr int pairs(std::int64_t channels, std::int64_t size) {
  const ops::conv op{.channels = channels, .kernel = {3, 3}, .pads = {1, 1, 1, 1}};
  return algorithm::winograd::best(op, {1, channels, size, size}, {1, channels, size, size}).variant;
}
static_assert(pairs(64, 224) == 3 && pairs(256, 28) == 2 && pairs(8, 224) == 0 && pairs(512, 3) == 0);
static_assert(algorithm::winograd::best({.channels = 64, .kernel = {3, 3}, .strides = {2, 2}}, {1, 64, 9, 9}, {1, 64, 4, 4})
                  .variant == 0);
constexpr algorithm::winograd four(2, {.channels = 40, .kernel = {3, 3}}, {1, 20, 58, 58}, {1, 40, 56, 56});
static_assert(four.packed_bytes() == (36 * 20 * 48 + 48) * 4 && four.rows == 14 && four.block_tiles() == 28);
static_assert(four.blocks() > 4 && four.scratch_bytes() == 4 * 36 * (2 * 28 + 1) * 16 * 4);
// The scratch stays small however large the image is.
static_assert(of(three, {1, 64, 1000, 1000}).scratch_bytes < 3 * algorithm::convolution::band_bytes);

// Operators without an overload need nothing.
static_assert(algorithm::choose_openmp(ops::gemm{.columns = 3, .depth = 2}, {}, {}).packed_bytes == 0);
static_assert(algorithm::choose<algorithm::backend::reference>(three, {}, {}).scratch_bytes == 0);

using sample::network;
constexpr auto& table = algorithm::choices<network, algorithm::backend::openmp>;
static_assert(table.size() == network::size &&
              algorithm::choices_of<network, algorithm::backend::openmp>.data() == table.data());

TEST(cost, tables_hold_the_choice_for_each_layer) {
  for (std::size_t l = 0; l < table.size(); ++l) {
    const bool convolution = l == 1 || l == 3;
    EXPECT_EQ(table[l].packed_bytes > 0, convolution) << l;
    EXPECT_EQ(table[l].scratch_bytes > 0, l == 1) << l;  // conv2 is 1x1
    const auto& plain = algorithm::choices<network, algorithm::backend::reference>[l];
    EXPECT_EQ(plain.packed_bytes + plain.scratch_bytes, 0) << l;
  }
}

TEST(cost, cpu_units_have_a_backend) {
#ifdef DICE_WITH_OPENMP
  constexpr auto expected = algorithm::backend::openmp;
#else
  constexpr auto expected = algorithm::backend::reference;
#endif
  EXPECT_EQ(algorithm::backend_of({.what = platform::unit::kind::cores, .count = 2}), expected);
  EXPECT_EQ(algorithm::backend_of({.what = platform::unit::kind::gpu}), algorithm::backend::cudnn);
}

// Each backend has its place, and what it has no algorithms for has the place of float32.
TEST(cost, methods_have_places) {
  unsigned computing = 0;
  for (std::size_t i = 0; i < algorithm::method_count; ++i) {
    EXPECT_EQ(algorithm::place_of(algorithm::methods[i]), static_cast<int>(i));
    if (algorithm::methods[i].in == platform::numbers::float32) computing |= algorithm::bit(algorithm::methods[i].by);
  }
  EXPECT_EQ(computing, (1u << algorithm::backends) - 1);
  for (const auto n : {platform::numbers::fp16, platform::numbers::bf16})
    EXPECT_EQ(algorithm::place_of({algorithm::backend::openmp, n}), algorithm::place_of(algorithm::backend::openmp));
  EXPECT_EQ(algorithm::place_of({algorithm::backend::cudnn, platform::numbers::tf32}),
            algorithm::place_of(algorithm::backend::cudnn));
}

// CUDA kernels count in 32 bits, and a single channel is padded to eight.
TEST(cost, halves_have_a_limit) {
  const ops::conv op{.channels = 1};
  const shape in{1, 1, 1 << 14, 1 << 13}, large{1, 1, 1 << 14, 1 << 14};
  EXPECT_GT(algorithm::choose_half(op, std::array{in}, in).scratch_bytes, std::int64_t{4} << 30);
  EXPECT_NO_THROW(algorithm::choose_cudnn(op, std::array{large}, large));
  EXPECT_THROW(algorithm::choose_half(op, std::array{large}, large), graph::model_error);
}

// For each output pixel and tap of a band, the element that the kernel reads lies in the channel's plane and is the one that
// the definition of convolution names; no two outputs are the same pixel.
TEST(cost, convolution_layout_names_the_right_elements) {
  int seen = 0;
  for (const int size : {1, 5, 8, 13})
    for (const int kernel : {1, 2, 3, 5})
      for (const int stride : {1, 2, 3, 5})
        for (const int dilation : {1, 2, 3})
          for (const int before : {0, 1, 4})
            for (const int after : {0, 2}) {
              const ops::conv op{.channels = 3,
                                 .kernel = {kernel, 1 + kernel / 2},
                                 .strides = {stride, 1 + stride / 2},
                                 .dilations = {dilation, 1 + dilation % 2},
                                 .pads = {before, after, after, before}};
              const shape in{1, 2, size, size + 3};
              if (size + before + after < (kernel - 1) * dilation + 1) continue;
              if (size + 3 + before + after < kernel / 2 * (1 + dilation % 2) + 1) continue;
              const shape result = graph::infer(op, std::array{in});
              const algorithm::convolution form(op, in, result);
              if (form.in_place) continue;
              ++seen;
              EXPECT_GE(form.pitch, form.x.out);
              EXPECT_GE(form.band * form.bands(), form.y.out);
              for (std::int64_t ky = 0; ky < form.y.kernel; ++ky)
                for (std::int64_t kx = 0; kx < form.x.kernel; ++kx)
                  for (std::int64_t y = 0; y < form.band; ++y)
                    for (std::int64_t x = 0; x < form.x.out; ++x) {
                      const auto at = y * form.pitch + x + form.tap(ky, kx);
                      ASSERT_LT(at, form.plane);
                      // The phase of `at`, and its position there in rows of `pitch`.
                      const auto phase = at / form.phase_size, place = at % form.phase_size;
                      const auto py = phase / form.x.phases, px = phase % form.x.phases;
                      auto row = place / form.pitch, column = place % form.pitch;
                      if (column < form.x.shift(kx)) {
                        --row;
                        column += form.pitch;
                      }  // zeros shared with the row before
                      ASSERT_EQ(form.y.source(py, row), y * op.strides[0] + ky * op.dilations[0] - op.pads[0]);
                      ASSERT_EQ(form.x.source(px, column), x * op.strides[1] + kx * op.dilations[1] - op.pads[1]);
                    }
            }
  EXPECT_GT(seen, 500);
}

}  // namespace
