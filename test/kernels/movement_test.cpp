// Operators that move elements: Concat, Pad, Transpose, Slice, Resize, and copies of views.
#include "kernels/expected.hpp"

#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace harness;

template <class Backend> struct movement : ::testing::Test {};
TYPED_TEST_SUITE(movement, backends);

TYPED_TEST(movement, concat_equals_pytorch) { check<TypeParam, ops::concat>("concat", 5); }
TYPED_TEST(movement, pad_equals_pytorch) { check<TypeParam, ops::pad>("pad", 11); }
TYPED_TEST(movement, transpose_equals_pytorch) { check<TypeParam, ops::transpose>("transpose", 8); }
TYPED_TEST(movement, slice_equals_pytorch) { check<TypeParam, ops::slice>("slice", 6); }
TYPED_TEST(movement, tile_equals_pytorch) { check<TypeParam, ops::tile>("tile", 4); }
TYPED_TEST(movement, gather_equals_pytorch) { check<TypeParam, ops::gather>("gather", 6); }
TYPED_TEST(movement, depth_to_space_equals_pytorch) { check<TypeParam, ops::depth_to_space>("depth_to_space", 5); }
TYPED_TEST(movement, resize_equals_numpy) { check<TypeParam, ops::resize>("resize", 31); }
/// By hand: the positions are 14 (k + 1/2) / 19 - 1/2, 6.5 for k = 9; those of opset 10 are 4 k / 3, rounded up.
TYPED_TEST(movement, nearest_elements_by_sizes_and_by_scale) {
  auto p = make(
      ops::resize{.mode = ops::resizing::nearest, .to = {1, 1, 1, 19}, .scales = {1, 1, 1, 19.0f / 14}, .by_sizes = true},
      {{1, 1, 1, 14}});
  std::iota(p.inputs[0].begin(), p.inputs[0].end(), 0.0f);
  EXPECT_EQ(compute<TypeParam>(p), (std::vector<float>{0, 1, 1, 2, 3, 4, 4, 5, 6, 6, 7, 8, 9, 9, 10, 11, 12, 12, 13}));
  p = make(ops::resize{.mode = ops::resizing::nearest,
                       .to = {1, 1, 6, 3},
                       .scales = {1, 1, 0.75f, 1.5f},
                       .from = ops::coordinates::asymmetric,
                       .nearest = ops::rounding::by_scale},
           {{1, 1, 8, 2}});
  std::iota(p.inputs[0].begin(), p.inputs[0].end(), 0.0f);
  EXPECT_EQ(compute<TypeParam>(p), (std::vector<float>{0, 0, 1, 4, 4, 5, 6, 6, 7, 8, 8, 9, 12, 12, 13, 14, 14, 15}));
}
TYPED_TEST(movement, antialiased_resize_equals_pytorch) {
  check<TypeParam, ops::antialiased_resize>("antialiased_resize", 7);
}

// Whatever a weights file says, no kernel reads beyond its input.
TYPED_TEST(movement, indices_beyond_the_axis_name_its_ends) {
  auto p = make(ops::gather{.axis = 1, .count = 5}, {{2, 3, 2}});
  p.parameters = {{-7, 1e30f, std::numeric_limits<float>::quiet_NaN(), 3, 1}};
  const auto& x = p.inputs[0];
  EXPECT_EQ(compute<TypeParam>(p), (std::vector<float>{x[0], x[1], x[4],  x[5],  x[0], x[1], x[4],  x[5],  x[2], x[3],  //
                                                       x[6], x[7], x[10], x[11], x[6], x[7], x[10], x[11], x[8], x[9]}));
}

TYPED_TEST(movement, views_are_copied) {
  const auto copied = [](const auto& op) {
    const auto p = make(op, {{2, 3, 5, 7}});
    EXPECT_EQ(compute<TypeParam>(p), p.inputs[0]) << op.onnx;
  };
  copied(ops::identity{});
  copied(ops::dropout{});
  copied(ops::flatten{.axis = 2});
  copied(ops::reshape{.to = {7, 30}});
}

/// Concat of p with inputs `0` and, if `second`, `1` already at their places in the output.
template <class Backend> std::vector<float> concat_in_place(const problem<ops::concat>& p, bool second) {
  std::vector<float> output(static_cast<std::size_t>(p.result().elements()));
  std::copy(p.inputs[0].begin(), p.inputs[0].end(), output.begin());
  if (second) std::copy(p.inputs[1].begin(), p.inputs[1].end(), output.begin() + 18);
  const kernels::task what{.op = &p.op, .inputs = p.in, .result = p.result()};
  const auto by = kernels::functions_for(Backend{}, p.op, p.in, what.result);
#ifdef DICE_TESTS_GPU
  if constexpr (std::is_same_v<Backend, kernels::cudnn::backend>) {
    auto& there = gpu_bench::get();
    there.clear();
    float* const at = there.put(output);
    const void* inputs[] = {at, second ? at + 18 : there.put(p.inputs[1]), there.put(p.inputs[2])};
    there.run([&] { by.run(what, {inputs, at, nullptr, nullptr, nullptr}); });
    return there.get(at, output.size());
  } else
#endif
  {
    const void* inputs[] = {output.data(), second ? output.data() + 18 : p.inputs[1].data(), p.inputs[2].data()};
    by.run(what, {inputs, output.data(), nullptr, nullptr, nullptr});
    return output;
  }
}

TYPED_TEST(movement, concat_in_place) {
  const ops::concat op{.axis = 1};
  const std::vector<shape> in{{1, 2, 3, 3}, {1, 4, 3, 3}, {1, 1, 3, 3}};
  const auto p = make(op, in);
  const auto expected = compute<TypeParam>(p);
  for (const bool second : {false, true}) EXPECT_EQ(concat_in_place<TypeParam>(p, second), expected);
}

#ifdef DICE_COMPARES

TEST(movement_compared, copies) {
  compare(make(ops::identity{}, {{2, 24, 30, 31}}), "identity");
  compare(make(ops::dropout{}, {{1, 16, 3}}), "dropout");
  compare(make(ops::flatten{}, {{2, 24, 3, 5}}), "flatten");
  compare(make(ops::reshape{.to = {2, 60, 2, 3}}, {{2, 24, 3, 5}}), "reshape");
}

TEST(movement_compared, concat_equals_the_reference) {
  for (int axis = 0; axis < 4; ++axis) {
    shape a{2, 17, 40, 41}, b = a, d = a;
    b[axis] = 5;
    d[axis] = 1;
    compare(make(ops::concat{.axis = axis}, {a, b, d, b}), "concat " + std::to_string(axis));
  }
  for (const std::int64_t last : {5, 16, 21})
    for (const std::int64_t first : {16, 24})
      compare(make(ops::concat{.axis = 1}, {{2, first, 7, 9}, {2, 48, 7, 9}, {2, last, 7, 9}}), "concat of blocks");
  compare(make(ops::concat{.axis = 1}, {{1, 32, 50}, {1, 16, 50}}), "concat of rank 3");
  compare(make(ops::concat{.axis = 0}, {{2, 24, 5, 5}, {1, 24, 5, 5}}), "concat of images");
}

// Rows, columns and blocks of tensors of 3 and 4 axes: cut out, and joined again with others.
TEST(movement_compared, parts_equal_the_reference) {
  std::mt19937 draw(7);
  const auto from = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(draw() % static_cast<unsigned>(high - low + 1));
  };
  for (int turn = 0; turn < 120; ++turn) {
    const std::int64_t large = turn % 6 == 0 ? 60 : 12;  // also more work than one thread takes alone
    shape s{from(1, 2), from(1, 70)};
    for (int axes = turn % 3 ? 2 : 1; axes > 0; --axes) s.push_back(from(1, large));
    ops::slice op{.extents = s};
    for (int a = 0; a < s.rank; ++a) {
      op.extents[a] = from(1, s[a]);
      op.starts[a] = from(0, s[a] - op.extents[a]);
      if (a > 1 && from(0, 3) == 0) {
        op.starts[a] += op.extents[a] - 1;
        op.steps[a] = -1;
      }
    }
    if (from(0, 3) > 0) {  // blocks, the last of which may be cut
      op.starts[1] = op.starts[1] / 16 * 16;
      if (from(0, 1)) op.extents[1] = s[1] - op.starts[1];
    }
    compare(make(op, {s}), "part");

    const int axis = static_cast<int>(from(0, s.rank - 1));
    std::vector<shape> parts(static_cast<std::size_t>(from(1, 4)), s);
    for (auto& p : parts) p[axis] = axis == 1 && from(0, 2) ? 16 * from(1, 3) : from(1, axis > 1 ? large : 20);
    compare(make(ops::concat{.axis = axis}, parts), "joined parts");
  }
}

TEST(movement_compared, pad_equals_the_reference) {
  for (const auto mode : {ops::padding::constant, ops::padding::reflect, ops::padding::edge, ops::padding::wrap}) {
    compare(make(ops::pad{.before = {0, 0, 3, 2}, .after = {0, 0, 1, 4}, .mode = mode, .value = 2}, {{2, 9, 50, 51}}),
            "pad");
    compare(make(ops::pad{.before = {1, 2, -1, 0}, .after = {0, 1, 3, -2}, .mode = mode, .value = 2}, {{2, 9, 20, 11}}),
            "pad");
  }
}

TEST(movement_compared, transpose_equals_the_reference) {
  const shape s{3, 35, 33, 40};
  std::array<int, 4> perm{0, 1, 2, 3};
  do {
    ops::transpose op;
    std::copy(perm.begin(), perm.end(), op.perm.begin());
    compare(make(op, {s}), "transpose");
  } while (std::next_permutation(perm.begin(), perm.end()));
  compare(make(ops::transpose{.perm = {4, 0, 2, 1, 3}}, {{2, 3, 4, 5, 6}}), "transpose of rank 5");
  compare(make(ops::transpose{.perm = {0, 2, 1, 3, 4}}, {{1, 2, 58, 28, 28}}), "channel shuffle");
}

TEST(movement_compared, slice_equals_the_reference) {
  compare(make(ops::slice{.starts = {0, 3, 0, 1}, .steps = {1, 2, 1, 1}, .extents = {2, 5, 40, 39}}, {{2, 17, 40, 41}}),
          "slice");
  compare(
      make(ops::slice{.starts = {1, 16, 39, 40}, .steps = {-1, -1, -1, -1}, .extents = {2, 17, 40, 41}}, {{2, 17, 40, 41}}),
      "reversal");
  compare(make(ops::slice{.starts = {0, 0, 0, 0}, .steps = {1, 1, 2, 2}, .extents = {2, 17, 20, 21}}, {{2, 17, 40, 41}}),
          "even");
  compare(make(ops::slice{.starts = {1, 5}, .steps = {1, 1}, .extents = {1, 1}}, {{3, 9}}), "element");
}

TEST(movement_compared, gather_equals_the_reference) {
  for (const auto& in : {shape{2, 24, 30, 17}, shape{1, 19, 40}, shape{2, 5, 3, 4, 6}})
    for (int axis = 0; axis < in.rank; ++axis) {
      const auto count = in[axis] + 11;
      auto p = make(ops::gather{.axis = axis, .count = count}, {in});
      p.parameters = {values(count, 5, 0, static_cast<float>(in[axis]))};
      compare(p, "gather of axis " + std::to_string(axis), ops::relu{});
    }
}

TEST(movement_compared, resize_equals_the_reference) {
  for (const std::int64_t f : {1, 2, 3, 5}) {
    compare(make(ops::resize{.factors = {1, 1, 2, f}}, {{2, 7, 40, 41}}), "resize by 2, " + std::to_string(f));
    compare(make(ops::resize{.factors = {2, f, 1, 1}}, {{3, 5, 20, 33}}), "resize of batch and channels");
    compare(make(ops::resize{.factors = {f, 1, f, 2}}, {{2, 24, 6, 7}}), "resize of blocks");
    compare(make(ops::resize{.factors = {1, 1, f}}, {{1, 37, 41}}), "resize of rank 3");
  }
}

// Four samples along each of four axes, none of which is the last; and crops along all.
TEST(movement_compared, interpolation_along_many_axes) {
  ops::resize op{.mode = ops::resizing::cubic, .to = {5, 6, 7, 5, 3}, .scales = {5.0f / 3, 1.5f, 7.0f / 4, 5.0f / 3, 1}};
  compare(make(op, {{3, 4, 4, 3, 3}}), "cubic along four axes");
  op = {.mode = ops::resizing::cubic, .to = {3, 5, 4, 6}, .from = ops::coordinates::tf_crop_and_resize};
  for (int a = 0; a < 4; ++a) {
    op.begin[a] = 0.125f;
    op.end[a] = 0.75f;
  }
  compare(make(op, {{4, 5, 4, 7}}), "cubic crop");
  op.begin[0] = std::numeric_limits<float>::quiet_NaN();
  op.end[1] = 1e30f;
  op.extrapolation = 2;
  compare(make(op, {{4, 5, 4, 7}}), "crop of no place");
}

TEST(movement_compared, antialiased_resize_equals_the_reference) {
  using from = ops::coordinates;
  for (const auto mode : {ops::resizing::linear, ops::resizing::cubic})
    for (const auto where : {from::asymmetric, from::half_pixel, from::half_pixel_symmetric, from::pytorch_half_pixel,
                             from::align_corners, from::tf_half_pixel_for_nn})
      for (const auto& [axis, to] : {std::pair(0, 2), {1, 1}, {2, 5}, {3, 17}, {3, 70}}) {
        const shape in{3, 4, 21, 40};
        const ops::antialiased_resize op{.axis = axis,
                                         .to = to,
                                         .mode = mode,
                                         .scale = static_cast<float>(to) / static_cast<float>(in[axis]),
                                         .from = where};
        compare(make(op, {in}), "antialiased resize of axis " + std::to_string(axis));
      }
}

TEST(movement_compared, interpolation_equals_the_reference) {
  using from = ops::coordinates;
  for (const auto mode : {ops::resizing::nearest, ops::resizing::linear, ops::resizing::cubic})
    for (const auto where : {from::asymmetric, from::half_pixel, from::half_pixel_symmetric, from::pytorch_half_pixel,
                             from::align_corners, from::tf_half_pixel_for_nn, from::tf_crop_and_resize})
      for (const bool outside : {false, true}) {
        ops::resize op{
            .mode = mode, .to = {2, 40, 13, 22}, .scales = {1, 1, 13.0f / 9, 2}, .from = where, .exclude_outside = outside};
        if (where == from::tf_crop_and_resize) {
          op.begin[2] = -0.25f;
          op.end[3] = 0.75f;
          op.extrapolation = 3;
        }
        const auto name = "resize " + std::to_string(static_cast<int>(mode)) + ' ' + std::to_string(static_cast<int>(where));
        compare(make(op, {{2, 40, 9, 11}}), name);
        op.by_sizes = true;
        compare(make(op, {{2, 40, 9, 11}}), name + " by sizes");
        op.by_sizes = false;
        op.to = {2, 5, 13, 22};
        compare(make(op, {{2, 5, 9, 11}}), name + " plain");
        op.to = {3, 7, 4, 5};
        op.scales = {1, 7.0f / 3, 4.0f / 9, 0.5f};
        compare(make(op, {{3, 3, 9, 10}}), name + " of channels");
        op.to = {2, 24, 50};
        op.scales = {1, 1, 50.0f / 19};
        compare(make(op, {{2, 24, 19}}), name + " of rank 3");
      }
}

#endif

}  // namespace
