// What a search for mixes of stages, splits and replicas is asked for, and what it answers.
#pragma once

#include "dice/cost/arrangement.hpp"
#include "dice/meta/array.hpp"
#include "dice/partition/goal.hpp"
#include "dice/partition/neighbours.hpp"
#include "dice/partition/objectives.hpp"

#include <utility>
#include <vector>

namespace dice::partition {

/// What a search for mixes may do.
struct mix_request {
  request wanted;
  meta::view<char> whole_only{};  ///< layers that must not be split, by layer; may be empty
  int effort = 1;                 ///< 1 … 3
  int ratings = 0;                ///< how many neighbours of the best ones are rated at most; 0: as the effort says
  double few = 20000;             ///< a catalogue of up to so many mappings, times 4 for each effort, is rated as a whole
  bool any_memory = false;        ///< whether ranks may need more memory than limits and boards allow
};

/// A mapping in which all cut units that can be in one arrangement are.
struct pure_mix {
  arrangement by;
  mixed sections;
  prediction expected{};
};

/// What was found, and how.
struct mix_result {
  mixed sections;         ///< empty: nothing keeps to the limits
  prediction expected{};  ///< that of its plan
  bool exact = false;     ///< whether all mappings of the catalogue were rated, and only a few others
  bool stopped = false;   ///< before it was done
  int arrangements = 0, borders = 0, cut_units = 0, rated = 0;
  double mappings = 0;  ///< in the catalogue
  double bound = 0;     ///< no mapping has a smaller value (value_of)
  meta::array<arrangement> catalogue;
  std::vector<pure_mix> pure;                      ///< those of the catalogue that keep to the limits
  std::vector<std::pair<mixed, prediction>> best;  ///< the best ones that were rated, the best first
};

}  // namespace dice::partition
