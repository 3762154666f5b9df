#include "dice/tensor/tensor.hpp"

#include <gtest/gtest.h>

using namespace dice;

TEST(shape, counts_elements_and_compares) {
  constexpr tensor::shape s{2, 3, 4, 5};
  static_assert(s.rank == 4 && s.elements() == 120 && s.product(2, s.rank) == 20 && s.bytes() == 480);
  static_assert(s == tensor::shape{2, 3, 4, 5} && !(s == tensor::shape{2, 3, 20}));
  EXPECT_EQ(tensor::shape{}.elements(), 1);  // a scalar
}

TEST(layout, blocks_are_of_sixteen_channels) {
  const tensor::shape s{1, 20, 3, 3};
  EXPECT_EQ(tensor::blocks(20), 2);
  EXPECT_TRUE(tensor::has_blocks(s));
  EXPECT_FALSE(tensor::has_blocks(tensor::shape{1, 20}));
  EXPECT_EQ(tensor::bytes(s, tensor::layout::plain), 20 * 9 * 4);
  EXPECT_EQ(tensor::bytes(s, tensor::layout::blocked), 32 * 9 * 4);
}

TEST(region, is_a_box_of_the_first_four_axes) {
  constexpr tensor::shape s{2, 3, 4, 5, 6, 7};
  constexpr tensor::region all = tensor::whole(s), part{.begin = {0, 1, 0, 2}, .end = {1, 3, 4, 5}},
                           other{.begin = {0, 2, 1, 0}, .end = {2, 3, 4, 3}};
  static_assert(tensor::elements(all, s) == s.elements() && tensor::elements(part, s) == 2 * 4 * 3 * 6 * 7);
  static_assert(tensor::bytes(part, s) == 4 * 2 * 4 * 3 * 6 * 7);
  static_assert(tensor::elements(tensor::whole({3, 4}), {3, 4}) == 12);
  static_assert(tensor::intersect(part, other) == tensor::region{.begin = {0, 2, 1, 2}, .end = {1, 3, 4, 3}});
  static_assert(tensor::hull(part, other) == tensor::region{.begin = {0, 1, 0, 0}, .end = {2, 3, 4, 5}});
  static_assert(tensor::contains(all, part) && !tensor::contains(part, other) && !tensor::empty(part));
  static_assert(tensor::empty({.begin = {0, 3, 0, 0}, .end = {1, 3, 4, 5}}));
}
