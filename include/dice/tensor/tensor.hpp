/// Umbrella of the room `tensor`: shapes, types, regions, layouts.
#pragma once

#include "dice/tensor/layout.hpp"
#include "dice/tensor/number.hpp"
#include "dice/tensor/region.hpp"
#include "dice/tensor/shape.hpp"
#include "dice/tensor/type.hpp"
