/// Umbrella of the room `placement`: the user's mapping, its checks, the placement.
#pragma once

#include "dice/placement/check.hpp"
#include "dice/placement/dsl.hpp"
#include "dice/placement/placement.hpp"
#include "dice/placement/verdict.hpp"
