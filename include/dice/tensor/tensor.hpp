/// Umbrella of the room `tensor`: extents, regions, layouts, types of numbers.
#pragma once

#include "dice/tensor/layout.hpp"
#include "dice/tensor/number.hpp"
#include "dice/tensor/region.hpp"
#include "dice/tensor/shape.hpp"
