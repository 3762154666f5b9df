/// Umbrella of the room `platform`: units, devices, limits; boards and clusters.
#pragma once

#include "dice/platform/board.hpp"
#include "dice/platform/boards.hpp"
#include "dice/platform/bytes.hpp"
#include "dice/platform/cluster.hpp"
#include "dice/platform/connection.hpp"
#include "dice/platform/dev.hpp"
#include "dice/platform/rate.hpp"
#include "dice/platform/unit.hpp"
