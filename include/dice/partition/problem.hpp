// The words of costs in which all searches are written.
#pragma once

#include "dice/cost/problem.hpp"

namespace dice::partition {

using cost::device, cost::infinity, cost::prediction, cost::problem, cost::solution, cost::stage;

}  // namespace dice::partition
