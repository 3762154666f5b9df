/// Umbrella of the room `weights`: the safetensors file, its identity, the tensors of a rank, packed weights.
#pragma once

#include "dice/weights/block.hpp"
#include "dice/weights/current.hpp"
#include "dice/weights/file.hpp"
#include "dice/weights/packed.hpp"
#include "dice/weights/search.hpp"
#include "dice/weights/store.hpp"
#include "dice/weights/verify.hpp"
