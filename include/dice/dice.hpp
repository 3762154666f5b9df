/// dice: one CNN over several devices, mapped by the compiler. <dice/engine.hpp> has engines besides.
#pragma once

// First, since compilers print the includes that lead to an error's declaration.
#include "dice/cost/error.hpp"
#include "dice/partition/error.hpp"
#include "dice/placement/error.hpp"

#include "dice/app/main.hpp"
#include "dice/graph/graph.hpp"
#include "dice/partition/partition.hpp"
#include "dice/placement/mapping.hpp"
#include "dice/platform/platform.hpp"
