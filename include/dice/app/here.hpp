// Which ranks a program can run: all of its mapping, or those of one kind of board.
#pragma once

#include "dice/assembly/program_of.hpp"
#include "dice/assembly/verdict.hpp"
#include "dice/cost/predicted.hpp"

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace dice {

namespace remedy {
struct name_the_cluster_after_the_mapping;
}  // namespace remedy

namespace error {
/// dice_add_deployment compiles a program for a board, but dice::main or dice::start is not told which ranks each board has.
template <class Mapping, class Remedy> struct board_without_cluster;
}  // namespace error

namespace app {

/// The kind of board for which dice_add_deployment compiles this program; empty: it is for all ranks.
#ifdef DICE_DEPLOYED_BOARD
inline constexpr std::string_view deployed_board = DICE_DEPLOYED_BOARD;
#else
inline constexpr std::string_view deployed_board{};
#endif

/// The ranks of valid mapping Map whose hosts in valid cluster Cluster are boards of kind `deployed_board`.
template <class Net, class Map, class Cluster> struct ranks_on_board {
  static constexpr std::string_view board = deployed_board;
  static constexpr auto ranks = [] {
    constexpr const auto& placed = cost::detail::ranks<Net, Map, Cluster>;
    std::array<bool, placed.size()> out{};
    for (std::size_t r = 0; r < placed.size(); ++r)
      out[r] = platform::cluster_values<Cluster>::view.hosts[placed[r].on_host].board == board;
    return out;
  }();
};

/// Which ranks of valid mapping Map the program has; Cluster may be void.
template <class Net, class Map, class Cluster>
using here = std::conditional_t<deployed_board.empty(), assembly::all_ranks, ranks_on_board<Net, Map, Cluster>>;

/// The first mistake of a mapping or cluster, as assembly::verdict; Cluster may be void.
template <class Net, class Map, class Cluster> consteval auto verdict_on() {
  if constexpr (!assembly::valid<Net, Map>) return assembly::verdict<Net, Map>();
  else if constexpr (!std::is_void_v<Cluster>) return cost::detail::prediction_verdict<Net, Map, Cluster>();
  else if constexpr (deployed_board.empty()) return assembly::verdict<Net, Map>();
  else return static_cast<error::board_without_cluster<Map, remedy::name_the_cluster_after_the_mapping> (*)()>(nullptr);
}
/// Whether they have no mistake.
template <class Net, class Map, class Cluster>
concept right_on = std::is_same_v<decltype(verdict_on<Net, Map, Cluster>()()), int>;

}  // namespace app
}  // namespace dice
