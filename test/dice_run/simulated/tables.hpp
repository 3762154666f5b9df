// Tables of docs/dice-run-hosts.md.
#pragma once

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace simulated {

inline std::string without_marks(std::string text) {
  std::erase(text, '`');
  return text;
}

/// The words that are set as `code`.
inline std::set<std::string> codes(const std::string& text) {
  std::set<std::string> out;
  for (std::size_t begin = 0; (begin = text.find('`', begin)) != std::string::npos;) {
    const auto end = text.find('`', ++begin);
    out.insert(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

/// Its rows, the first of which has the titles. The cell before them is `title`.
inline std::vector<std::vector<std::string>> read_table(const std::string& title) {
  std::ifstream in(DICE_TEST_PAGE);
  std::vector<std::vector<std::string>> out;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("|--")) continue;
    if (!line.starts_with("|")) {
      if (!out.empty()) return out;
      continue;
    }
    std::vector<std::string> cells;
    std::istringstream row(line.substr(1));
    for (std::string cell; std::getline(row, cell, '|');) {
      const auto begin = cell.find_first_not_of(' ');
      cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin));
    }
    if (out.empty() && without_marks(cells[0]) != title) continue;
    out.push_back(std::move(cells));
  }
  if (out.empty()) throw std::runtime_error("no table begins with " + title);
  return out;
}

}  // namespace simulated
