/// Umbrella of the room `mapping`: the user's mapping, its checks, the placement.
#pragma once

#include "dice/mapping/check.hpp"
#include "dice/mapping/dsl.hpp"
#include "dice/mapping/placement.hpp"
#include "dice/mapping/verdict.hpp"
