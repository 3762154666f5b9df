// What lies within which tensor, and what may be written over it: by hand, for the proof that tensors are kept until read.
#include "dice/schedule/proofs/contents.hpp"
#include "random_network.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <utility>

namespace {

using namespace dice;
using schedule::place;

place at(std::int64_t offset, std::int64_t pitch = 0) { return {.offset = offset, .pitch = pitch}; }

/// Tensors 0 and 1 of 384 bytes, Concats of these and others, views, and Concats of rows.
struct joined : test::network {
  enum : int { a, b, both, second, conv, few, more, rows, flat, all, other, one, first };

  joined() {
    const tensor::shape s{1, 16, 2, 3};
    add("Conv", s, {});
    add("Conv", s, {});
    add_concat({1, 32, 2, 3}, {a, b});
    add_view("Slice", s, both, 16 * 2 * 3);
    add("Conv", s, {a});
    add("Conv", {1, 4, 2, 3}, {});
    add("Conv", {1, 4, 3, 3}, {});
    add_concat({1, 4, 5, 3}, {few, more}, false).is_concat = true;
    add_view("Reshape", {1, 96}, a, 0);
    add_concat({1, 48, 2, 3}, {a, b, conv});
    add_concat({1, 32, 2, 3}, {a, conv});
    add_concat(s, {a});
    add_view("Slice", s, both, 0);
  }
};

TEST(Contents, LieWithinConcatsAndViews) {
  const joined net;
  const auto within = [&](int t, const place& p, int l, const place& is) {
    return schedule::detail::is_within(t, p, l, is, net.view());
  };
  EXPECT_TRUE(within(joined::a, at(64), joined::a, at(64)));
  EXPECT_FALSE(within(joined::a, at(128), joined::a, at(64)));
  EXPECT_FALSE(within(joined::a, at(64), joined::b, at(64)));
  // Concats: one behind the other.
  EXPECT_TRUE(within(joined::a, at(64), joined::both, at(64)));
  EXPECT_TRUE(within(joined::b, at(64 + 384), joined::both, at(64)));
  EXPECT_FALSE(within(joined::b, at(64), joined::both, at(64)));
  EXPECT_FALSE(within(joined::a, at(0), joined::both, at(64)));
  EXPECT_FALSE(within(joined::a, at(64 + 768), joined::both, at(64)));
  // Views: of each half, and of another shape.
  EXPECT_TRUE(within(joined::b, at(64 + 384), joined::second, at(64 + 384)));
  EXPECT_FALSE(within(joined::a, at(64), joined::second, at(64 + 384)));  // before it
  EXPECT_TRUE(within(joined::a, at(64), joined::first, at(64)));
  EXPECT_FALSE(within(joined::b, at(64 + 384), joined::first, at(64)));  // behind it
  EXPECT_TRUE(within(joined::a, at(64), joined::flat, at(64)));
  // Rows of three elements, in planes of five rows.
  EXPECT_TRUE(within(joined::few, at(64, 15), joined::rows, at(64)));
  EXPECT_TRUE(within(joined::more, at(64 + 4 * 6, 15), joined::rows, at(64)));
  EXPECT_FALSE(within(joined::more, at(64, 15), joined::rows, at(64)));
  EXPECT_FALSE(within(joined::few, at(64), joined::rows, at(64)));
  EXPECT_FALSE(within(joined::few, at(64, 15), joined::rows, at(64, 30)));
  // A kernel's operand does not lie in its result.
  EXPECT_FALSE(within(joined::a, at(64), joined::conv, at(64)));
  EXPECT_FALSE(within(joined::a, at(64, 6), joined::conv, at(64)));
}

TEST(Contents, OfAConcatLieWithinAnother) {
  const joined net;
  const auto has = [&](int t, const place& p, int l, const place& is) {
    return schedule::detail::has_all_of(t, p, l, is, net.view());
  };
  EXPECT_TRUE(has(joined::both, at(64), joined::all, at(64)));
  EXPECT_TRUE(has(joined::one, at(64), joined::all, at(64)));
  EXPECT_FALSE(has(joined::both, at(64), joined::other, at(64)));  // which lacks the second
  EXPECT_FALSE(has(joined::both, at(128), joined::all, at(64)));
  EXPECT_FALSE(has(joined::both, at(64, 6), joined::all, at(64, 6)));
  EXPECT_FALSE(has(joined::a, at(64), joined::b, at(64)));
  EXPECT_FALSE(has(joined::conv, at(64), joined::a, at(60)));  // a kernel's operand
}

/// A buffer of 384 bytes from 64 on, during steps 2 to 4, the only one of its rank; another rank's is the same.
TEST(Contents, AreInTheBufferThatHoldsThemWhenTheyAreWritten) {
  const joined net;
  schedule::buffer buffers[]{{.at = at(64), .bytes = 384, .first_step = 2, .last_step = 4},
                             {.at = at(64), .bytes = 768, .first_step = 2, .last_step = 4}};
  meta::array<int> roots(net.size(), -1);
  const auto buffer_of = [&](const schedule::detail::content& c) {
    schedule::plan_view p;
    p.buffers = buffers;
    return schedule::detail::buffer_of(c, p, {.first_buffer = 0, .last_buffer = 1}, net.view(), roots);
  };
  const auto content = [](int first, std::int64_t offset) {
    return schedule::detail::content{.tensor = joined::a, .first = first, .last = 4, .at = at(offset)};
  };
  EXPECT_EQ(buffer_of(content(2, 64)), 0);
  EXPECT_EQ(buffer_of(content(4, 64)), 0);
  EXPECT_EQ(buffer_of(content(1, 64)), -1);
  EXPECT_EQ(buffer_of(content(5, 64)), -1);
  EXPECT_EQ(buffer_of(content(2, 60)), -1);
  EXPECT_EQ(buffer_of(content(2, 68)), -1);
  buffers[0].at.where = schedule::space::frame;
  EXPECT_EQ(buffer_of(content(2, 64)), -1);
  roots[joined::a] = 0;  // the buffer is named after it
  EXPECT_EQ(buffer_of(content(2, 64)), 0);
  auto copy = content(2, 64);
  copy.is_copy = true;
  EXPECT_EQ(buffer_of(copy), -1);
}

TEST(Contents, AreKeptUntilTheirLastReader) {
  const joined net;
  meta::array<int> written(net.size(), -1), done(net.size(), -1);
  written[joined::a] = 0, written[joined::b] = 1;
  meta::array<schedule::detail::content> all;
  for (const int t : {joined::a, joined::b, joined::few}) all.push_back({.tensor = t, .first = t, .last = t, .at = at(0)});
  const auto read = [&](int l, int step) { schedule::detail::read(l, step, written, all, done, net.view()); };
  read(joined::both, 7);
  EXPECT_EQ(all[0].last, 7);
  EXPECT_EQ(all[1].last, 7);
  read(joined::second, 9);
  EXPECT_EQ(all[1].last, 9);
  read(joined::a, 8);  // steps are listed in any order
  EXPECT_EQ(all[0].last, 9);
  EXPECT_EQ(all[2].last, joined::few);
}

/// A step that works in place: tensor 1 over tensor 0.
struct in_place {
  test::network net;
  schedule::step step{.what = schedule::action::compute, .layer = 1, .group = 0, .output = at(64)};
  schedule::group group{.anchor = 1};
  place operand = at(64);
  schedule::detail::content before{.tensor = 0, .first = -1, .last = 0, .at = at(64)},
      after{.tensor = 1, .first = 0, .last = 2, .at = at(64)};

  in_place() {
    net.add("Conv", {1, 4, 4, 4}, {});
    net.add("Relu", {1, 4, 4, 4}, {0}).in_place = true;
    net.add("Relu", {1, 4, 4, 4}, {0}).in_place = true;
  }
  bool takes_over() const {
    schedule::plan_view p;
    p.steps = {&step, 1};
    p.groups = {&group, 1};
    p.operands = {&operand, 1};
    return schedule::detail::takes_over(before, after, p, net.view());
  }
};

TEST(Contents, AreOverwrittenInPlaceOnly) {
  EXPECT_TRUE(in_place().takes_over());
  const std::pair<const char*, std::function<void(in_place&)>> table[]{
      {"a tensor that is read again", [](auto& s) { s.before.last = 1; }},
      {"by a message", [](auto& s) { s.step.what = schedule::action::receive; }},
      {"by a step of another tensor", [](auto& s) { s.step.layer = 2; }},
      {"by a kernel that does not work in place", [](auto& s) { s.net.layers[1].in_place = false; }},
      {"a result elsewhere", [](auto& s) { s.operand = at(128); }},
      {"another tensor than the operand", [](auto& s) { s.before.tensor = 2; }}};
  for (const auto& [what, change] : table) {
    in_place s;
    change(s);
    EXPECT_FALSE(s.takes_over()) << what;
  }
}

}  // namespace
