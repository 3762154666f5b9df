// What the words for work in a mapping mean: how they cut layers, which ranks compute a frame, and which options they have.
#pragma once

#include "dice/graph/network.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace dice::placement {

/// How the result of each layer is cut into parts.
enum class geometry : unsigned char { whole, rows, columns, grid, output_channels, input_channels };

/// Which ranks of a run compute a frame's parts: all, part i on rank i modulo ranks; or one rank all of them, by turns or
/// whichever is free first.
enum class dealing : unsigned char { to_all, in_turn, to_first_free };

/// Axes on which results are cut.
struct axis {
  enum { channels, rows, columns, count };
};

/// The axis of a layer's result that its channels, rows or columns are; -1: it has none.
constexpr int axis_of(const graph::layer_info& of, int which) {
  return which == axis::channels ? of.channels_axis() : which == axis::rows ? of.rows_axis() : of.columns_axis();
}

/// How a geometry differs from others.
struct about_geometry {
  bool cuts[axis::count]{};      ///< by axis
  bool sums = false;             ///< layers with weights: over input channels
  std::string_view axes_text{};  ///< "cannot be cut by rows"
};
inline constexpr about_geometry geometries[]{{},
                                             {.cuts{false, true, false}, .axes_text = "rows"},
                                             {.cuts{false, false, true}, .axes_text = "columns"},
                                             {.cuts{false, true, true}, .axes_text = "rows and columns"},
                                             {.cuts{true, false, false}, .axes_text = "channels"},
                                             {.cuts{true, false, false}, .sums = true, .axes_text = "channels"}};
constexpr const about_geometry& about(geometry g) { return geometries[static_cast<std::size_t>(g)]; }

/// Into how many intervals a run of `ranks` ranks cuts the channels, rows and columns of its layers; `down` and `across`
/// are of a grid.
constexpr std::array<int, axis::count> divisions(geometry g, int ranks, int down, int across) {
  if (g == geometry::grid) return {1, down, across};
  const auto& cuts = about(g).cuts;
  return {cuts[axis::channels] ? ranks : 1, cuts[axis::rows] ? ranks : 1, cuts[axis::columns] ? ranks : 1};
}

/// What may follow the layers of a work.
enum class option : unsigned char { none, shares, exchange_every, first_free };
struct option_word {
  std::string_view word, text;  ///< without and with its arguments
};
inline constexpr option_word option_words[]{
    {}, {"shares", "shares<…>"}, {"exchange_every", "exchange_every<…>"}, {"first_free", "first_free"}};

/// Options as bits.
template <class... Option> constexpr unsigned bits(Option... o) { return ((1u << static_cast<unsigned>(o)) | ... | 0u); }

/// A word of the mapping language for work.
struct work_word {
  std::string_view word;
  geometry cut;
  dealing dealt = dealing::to_all;  ///< without options
  unsigned options = 0;             ///< those that it has, as bits

  constexpr bool has(option o) const { return options & bits(o); }
};
inline constexpr work_word work_words[]{
    {"layers", geometry::whole},
    {"rows", geometry::rows, dealing::to_all, bits(option::shares, option::exchange_every)},
    {"columns", geometry::columns, dealing::to_all, bits(option::shares, option::exchange_every)},
    {"tiles", geometry::grid, dealing::to_all, bits(option::exchange_every)},
    {"output_channels", geometry::output_channels, dealing::to_all, bits(option::shares)},
    {"input_channels", geometry::input_channels, dealing::to_all, bits(option::shares)},
    {"replicas", geometry::whole, dealing::in_turn, bits(option::shares, option::first_free)}};

/// The number of a word in work_words; -1 if it is not one.
constexpr int word_number(std::string_view word) {
  int at = 0;
  for (const auto& w : work_words) {
    if (w.word == word) return at;
    ++at;
  }
  return -1;
}

}  // namespace dice::placement
