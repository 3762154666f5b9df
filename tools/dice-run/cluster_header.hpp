// The cluster as a C++ header: `machines`, of dice::boards where they are recognised, and boards of its own otherwise.
#pragma once

#include "check.hpp"

#include <string>
#include <vector>

namespace dice_run {

/// The name in dice::boards of the board that a host is, by its device tree; or "".
std::string known_board(const host_facts& host);

/// DICE_BOARD for programs that run on a host: its level of x86-64, or its ARM cores.
std::string dice_board_of(const host_facts& host);

/// A kind of machine.
struct board_kind {
  std::string name;                ///< of dice::board<"name", …>
  std::string type;                ///< in C++: dice::boards::NAME, or the name of an alias that the header declares
  std::string definition;          ///< of this alias, with comments; or ""
  std::string dice_board;          ///< for dice_add_board: DICE_BOARD; "" if it has defaults that fit
  bool cross = false;              ///< needs another compiler than this machine's
  bool foreign = false;            ///< and is not 64-bit ARM: this machine does not compile for it
  std::vector<std::size_t> hosts;  ///< by their numbers
};

/// The kinds of the hosts that were reached, in the order of their first hosts. Names are those of files and packages.
std::vector<board_kind> kinds_of(const std::vector<host_facts>& hosts);

/// What CMakeLists.txt needs for these kinds: a dice_add_board(…) for each whose default does not fit. Foreign ones have
/// none.
std::vector<std::string> board_lines(const std::vector<board_kind>& kinds);

/// Three digits, without an exponent.
std::string three_digits(double value);

/// Text from anywhere, fit for a comment of C++.
std::string one_line(std::string text);

/// Text as a string literal of C++.
std::string cpp_string(std::string_view text);

/// The connections of a cluster in C++: those that are nearly equal as one, first the one that most pairs have, for every
/// pair. `hosts`: their names.
words connections_of(const std::vector<link_facts>& links, const words& hosts);

/// A name in C++ for the board of a host.
std::string board_identifier(const std::string& host);

/// The header. It has the hosts that were reached. Throws run_error if none was.
std::string cluster_header(const cluster_facts& cluster);

}  // namespace dice_run
