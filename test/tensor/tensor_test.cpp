#include "dice/tensor/tensor.hpp"

#include <gtest/gtest.h>

using namespace dice;

TEST(shape, counts_elements_and_compares) {
  constexpr tensor::shape s{2, 3, 4, 5};
  static_assert(s.rank == 4 && s.elements() == 120 && s.product(2, s.rank) == 20);
  static_assert(s == tensor::shape{2, 3, 4, 5} && !(s == tensor::shape{2, 3, 20}));
  EXPECT_EQ(tensor::shape{}.elements(), 1);  // a scalar
}

TEST(layout, blocks_are_of_sixteen_channels) {
  const tensor::type s{1, 20, 3, 3};
  EXPECT_EQ(tensor::blocks(20), 2);
  EXPECT_TRUE(tensor::has_blocks(s));
  EXPECT_FALSE(tensor::has_blocks(tensor::shape{1, 20}));
  EXPECT_EQ(tensor::bytes(s, tensor::layout::plain), 20 * 9 * 4);
  EXPECT_EQ(tensor::bytes(s, tensor::layout::blocked), 32 * 9 * 4);
}

TEST(type, is_a_shape_with_elements) {
  using enum tensor::number;
  constexpr tensor::shape s{1, 20, 3, 3};
  constexpr tensor::type floats(s), halves(s, float16), bytes(s, int8);
  static_assert(floats.element == float32 && floats.bytes() == 720 && halves.bytes() == 360 && bytes.bytes() == 180);
  static_assert(floats == tensor::type{1, 20, 3, 3} && floats != halves && halves != tensor::type({1, 20, 3, 4}, float16));
  EXPECT_EQ(tensor::bytes(halves, tensor::layout::blocked), 32 * 9 * 2);
  for (const auto n : {float32, int64, int32, uint8, boolean, int8})
    EXPECT_EQ(tensor::size_of(n), tensor::with_type_of(n, [](auto zero) { return static_cast<std::int64_t>(sizeof zero); }));
  for (const auto n : {float16, bfloat16}) {
    EXPECT_EQ(tensor::size_of(n), 2);
    EXPECT_THROW(tensor::with_type_of(n, [](auto) {}), std::invalid_argument);
  }
}

TEST(type, says_what_integers_stand_for) {
  using tensor::number;
  static constexpr float scales[]{0.5f, 0.25f}, others[]{0.5f, 0.125f}, first_scales[]{1.0f, 0.25f};
  static constexpr std::int32_t zeros[]{3, 128}, other_zeros[]{4, 128}, last_zeros[]{3, 127};
  constexpr tensor::quantization each{scales, zeros, 1}, same{scales, zeros, 1}, other{others, zeros, 1},
      rows{scales, zeros, 2}, moved{scales, other_zeros, 1}, symmetric{scales, {}, 1}, first{first_scales, zeros, 1},
      last{scales, last_zeros, 1}, more{scales}, one{meta::view<float>(scales, 1)};
  const tensor::shape s{1, 2, 8, 8};
  const auto of = [&](const tensor::quantization* q) { return tensor::type(s, number::uint8, q); };
  EXPECT_EQ(of(&each), of(&same));
  for (const auto* q : {&other, &rows, &moved, &symmetric, &first, &last}) EXPECT_NE(of(&each), of(q));
  EXPECT_NE(of(&one), of(&more));
  EXPECT_NE(of(&each), of(nullptr));
  EXPECT_NE(of(nullptr), of(&each));
}

TEST(storage, says_how_many_bytes_a_tensor_spans) {
  using tensor::layout;
  using tensor::number;
  const tensor::shape s{2, 20, 3, 4};
  EXPECT_EQ(tensor::bytes(s, tensor::storage{}), 2 * 20 * 12 * 4);
  EXPECT_EQ(tensor::bytes(s, {layout::blocked, 0, number::int8}), 2 * 32 * 12);
  EXPECT_EQ(tensor::bytes(s, {layout::plain, 100}), (39 * 100 + 12) * 4);  // 40 planes of 12 elements, 100 apart
  EXPECT_EQ(tensor::bytes(s, {layout::blocked, 1000, number::float16}), (3 * 1000 + 12 * 16) * 2);
  EXPECT_EQ((tensor::storage{layout::blocked}.row(7)), 7 * 16);
  EXPECT_NE(tensor::storage{}, (tensor::storage{.element = number::int8}));
}

TEST(region, is_a_box_of_the_first_four_axes) {
  constexpr tensor::shape s{2, 3, 4, 5, 6, 7};
  constexpr tensor::region all = tensor::whole(s), part{.begin = {0, 1, 0, 2}, .end = {1, 3, 4, 5}},
                           other{.begin = {0, 2, 1, 0}, .end = {2, 3, 4, 3}};
  static_assert(tensor::elements(all, s) == s.elements() && tensor::elements(part, s) == 2 * 4 * 3 * 6 * 7);
  static_assert(tensor::bytes(part, tensor::type(s)) == 4 * 2 * 4 * 3 * 6 * 7);
  static_assert(tensor::bytes(part, tensor::type(s, tensor::number::int8)) == 2 * 4 * 3 * 6 * 7);
  static_assert(tensor::elements(tensor::whole({3, 4}), {3, 4}) == 12);
  static_assert(tensor::intersect(part, other) == tensor::region{.begin = {0, 2, 1, 2}, .end = {1, 3, 4, 3}});
  static_assert(tensor::hull(part, other) == tensor::region{.begin = {0, 1, 0, 0}, .end = {2, 3, 4, 5}});
  static_assert(tensor::contains(all, part) && !tensor::contains(part, other) && !tensor::empty(part));
  static_assert(tensor::empty({.begin = {0, 3, 0, 0}, .end = {1, 3, 4, 5}}));
}
