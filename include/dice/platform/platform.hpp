/// Umbrella of the room `platform`: units, devices, limits.
#pragma once

#include "dice/platform/bytes.hpp"
#include "dice/platform/dev.hpp"
#include "dice/platform/unit.hpp"
