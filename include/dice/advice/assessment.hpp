// What a program's cluster_model says: in short before a run, at length after it.
#pragma once

#include "dice/cost/problem.hpp"
#include "dice/platform/cluster.hpp"

#include <string>
#include <vector>

namespace dice::advice {

/// What is predicted of a program's plan.
struct predicted_costs {
  std::vector<double> group_seconds;    ///< by fusion group
  std::vector<platform::link> links;    ///< rank a to rank b at a · ranks + b
  std::vector<double> message_seconds;  ///< by rank: of its time, that messages take
  cost::prediction expected{};
};

/// What is to be told of a run that was seen, beside itself.
struct assessment {
  predicted_costs expected;
  std::string advice, advice_json;  ///< what would be faster: as text, and as a member of a JSON object
};

}  // namespace dice::advice
