#include "dice/placement/words.hpp"

#include "dice/placement/assignment.hpp"
#include "dice/placement/types.hpp"

#include <gtest/gtest.h>
#include <set>
#include <tuple>

namespace {

using namespace dice;
using placement::axis, placement::dealing, placement::geometry, placement::option;

constexpr geometry all_geometries[]{geometry::whole,           geometry::rows,          geometry::columns, geometry::grid,
                                    geometry::output_channels, geometry::input_channels};

/// Every pair of a geometry and a dealing has a word of its own, and each geometry has one.
TEST(Words, MeanDifferentThings) {
  std::set<std::tuple<geometry, dealing>> meanings;
  std::set<geometry> cuts;
  for (const auto& w : placement::work_words) {
    EXPECT_TRUE(meanings.emplace(w.cut, w.dealt).second) << w.word;
    EXPECT_EQ(&placement::work_words[placement::word_number(w.word)], &w);
    EXPECT_FALSE(w.has(option::none));
    cuts.insert(w.cut);
  }
  EXPECT_EQ(cuts.size(), std::size(all_geometries));
  EXPECT_EQ(placement::word_number("row"), -1);
}

/// A grid has its own numbers; everything else is cut into as many parts as there are ranks, on the axes that it cuts.
TEST(Words, GeometriesDivideTheAxesThatTheyCut) {
  EXPECT_EQ(std::size(placement::geometries), std::size(all_geometries));
  for (const auto g : all_geometries) {
    const auto of = placement::divisions(g, 7, 2, 3);
    const auto& about = placement::about(g);
    for (int k = 0; k < axis::count; ++k) {
      const int grid = k == axis::channels ? 1 : k == axis::rows ? 2 : 3;
      EXPECT_EQ(of[k], !about.cuts[k] ? 1 : g == geometry::grid ? grid : 7) << static_cast<int>(g) << ' ' << k;
    }
    EXPECT_EQ(about.sums, g == geometry::input_channels);
    EXPECT_EQ(about.axes_text.empty(), g == geometry::whole);
  }
}

/// first_free changes who computes a frame, and not how layers are cut; a work splits layers if either is not trivial.
TEST(Words, AnOptionSaysWhoIsDealtAFrame) {
  placement::written_work w{.word = placement::word_number("replicas")};
  EXPECT_TRUE(w.splits() && w.dealt() == dealing::in_turn);
  EXPECT_TRUE(w.take(option::none, 0) && w.take(option::first_free, 1));
  EXPECT_TRUE(w.splits() && w.dealt() == dealing::to_first_free && w.is().cut == geometry::whole);
  EXPECT_FALSE(w.take(option::shares, 2));  // one of the two
  EXPECT_EQ(w.wrong_option, 2);
  EXPECT_FALSE(placement::written_work{}.splits());
  EXPECT_TRUE(placement::written_work{.word = placement::word_number("tiles")}.splits());
}

/// Parts and replicas are independent: replicas of tiles can be written as values, although no word says so.
TEST(Words, PartsAndReplicasAreIndependent) {
  for (const auto g : all_geometries)
    for (const auto dealt : {dealing::to_all, dealing::in_turn, dealing::to_first_free}) {
      const placement::work_item w{.cut = g, .dealt = dealt};
      EXPECT_EQ(w.has_parts(), g != geometry::whole);
      EXPECT_EQ(w.has_replicas(), dealt != dealing::to_all);
      const placement::assignment one{{}, {}, {&w, 1}, {}, {}};
      EXPECT_EQ(one.splits(), w.has_parts() || w.has_replicas());
    }
}

static_assert(placement::detail::word_of<layers> == 0 && placement::detail::word_of<mapping> == -1);

}  // namespace
