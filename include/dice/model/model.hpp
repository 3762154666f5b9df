/// Umbrella of the room `model`: operators, layers, networks. What a generated header includes.
#pragma once

#include "dice/model/network.hpp"
#include "dice/model/ops.hpp"
