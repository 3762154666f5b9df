/// Umbrella of the room `partition`, and of predictions: what programs with a cluster use.
#pragma once

#include "dice/cost/predicted.hpp"
#include "dice/cost/setting.hpp"
#include "dice/partition/best_mapping.hpp"
#include "dice/partition/best_split.hpp"
#include "dice/partition/find.hpp"
#include "dice/partition/objectives.hpp"
#include "dice/partition/problem.hpp"
#include "dice/partition/search.hpp"
