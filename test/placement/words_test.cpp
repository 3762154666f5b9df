#include "dice/placement/words.hpp"

#include "dice/placement/assignment.hpp"
#include "dice/placement/types.hpp"

#include <gtest/gtest.h>
#include <array>
#include <set>
#include <string>
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
    EXPECT_EQ(about.cuts[axis::rows], g == geometry::rows || g == geometry::grid);
    EXPECT_EQ(about.cuts[axis::columns], g == geometry::columns || g == geometry::grid);
    EXPECT_EQ(about.cuts[axis::channels], g == geometry::output_channels || g == geometry::input_channels);
    EXPECT_EQ(about.sums, g == geometry::input_channels);
    EXPECT_EQ(about.axes_text.empty(), g == geometry::whole);
  }
}

/// Which axes of a result are its channels, rows and columns.
TEST(Words, AxesAreThoseOfTheLayer) {
  const auto axes = [](const tensor::type& result, int depth_axis = -1) {
    graph::layer_info of{};
    of.output = result;
    of.depth_axis = depth_axis;
    return std::array{placement::axis_of(of, axis::channels), placement::axis_of(of, axis::rows),
                      placement::axis_of(of, axis::columns)};
  };
  EXPECT_EQ(axes({1, 4, 8, 6}), (std::array{1, 2, 3}));
  EXPECT_EQ(axes({1, 4, 8}), (std::array{1, -1, 2}));
  EXPECT_EQ(axes({1, 4, 8}, 2), (std::array{2, -1, 2}));
  EXPECT_EQ(axes({4}), (std::array{-1, -1, -1}));
}

/// As docs/dsl.md lists them.
TEST(Words, HaveTheirOptions) {
  std::string all;
  for (const auto& w : placement::work_words) {
    all += std::string(w.word) + ":";
    for (const auto o : {option::shares, option::exchange_every, option::first_free})
      if (w.has(o)) all += " " + std::string(placement::option_words[static_cast<int>(o)].word);
    all += "; ";
  }
  EXPECT_EQ(all,
            "layers:; rows: shares exchange_every; columns: shares exchange_every; tiles: exchange_every; output_channels: "
            "shares; input_channels: shares; replicas: shares first_free; ");
  EXPECT_EQ(placement::about(geometry::rows).axes_text, "rows");
  EXPECT_EQ(placement::about(geometry::columns).axes_text, "columns");
  EXPECT_EQ(placement::about(geometry::grid).axes_text, "rows and columns");
  EXPECT_EQ(placement::about(geometry::output_channels).axes_text, "channels");
  EXPECT_EQ(placement::about(geometry::input_channels).axes_text, "channels");
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
