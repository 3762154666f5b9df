/// Umbrella of the room `partition`: predictions, and the search for mappings.
#pragma once

#include "dice/partition/best_mapping.hpp"
#include "dice/partition/find.hpp"
#include "dice/partition/objectives.hpp"
#include "dice/partition/predicted.hpp"
#include "dice/partition/problem.hpp"
#include "dice/partition/search.hpp"
#include "dice/partition/setting.hpp"
