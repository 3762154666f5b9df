/// Umbrella of the room `graph`: operators, layers, networks. What a generated header includes.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/graph/ops.hpp"
