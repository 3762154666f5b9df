#pragma once

#include "dice/runtime/program.hpp"
#include "dice/text/number_list.hpp"

#include <string>
#include <vector>

namespace dice::job {

/// What a program for one kind of board says about itself: "this program is for boards of the kind 'arm' and has only rank
/// 1".
[[gnu::cold]] inline std::string own_ranks_text(const runtime::program& p) {
  std::vector<int> own;
  for (int r = 0; r < p.ranks(); ++r)
    if (p.has(r)) own.push_back(r);
  return "this program is for boards of the kind '" + std::string(p.board) + "' and has only " +
         (own.size() == 1 ? "rank " : "ranks ") + text::number_list(own);
}

}  // namespace dice::job
