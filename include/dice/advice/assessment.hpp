// What a program's cluster_model says about a plan, and about a run.
#pragma once

#include "dice/cost/problem.hpp"
#include "dice/platform/cluster.hpp"
#include "dice/text/json.hpp"

#include <string>
#include <vector>

namespace dice::advice {

/// What is predicted for a program's plan.
struct predicted_costs {
  std::vector<double> group_seconds;    ///< by fusion group
  std::vector<platform::link> links;    ///< rank a to rank b at a · ranks + b
  std::vector<double> message_seconds;  ///< by rank: the time that it spends on messages
  cost::prediction expected{};
};

/// What --explain says beside the measured figures of a run.
struct assessment {
  predicted_costs expected;
  std::string advice;             ///< what would be faster
  text::json_text better;         ///< the same as JSON: an object, or null
  text::json_text alone{"null"};  ///< the present mapping beside the best device alone: an object, or null
};

}  // namespace dice::advice
