/// Umbrella of the room `graph`: operators, layers, networks. Generated headers include it.
#pragma once

#include "dice/graph/network.hpp"
#include "dice/graph/ops.hpp"
