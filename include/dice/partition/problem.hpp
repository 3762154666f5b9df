// The types of `cost` that all searches use.
#pragma once

#include "dice/cost/problem.hpp"

namespace dice::partition {

using cost::costs, cost::device, cost::infinity, cost::prediction, cost::problem, cost::solution, cost::stage;

}  // namespace dice::partition
