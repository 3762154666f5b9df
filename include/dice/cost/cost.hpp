/// Umbrella of the room `cost`: backends and how each computes a layer.
#pragma once

#include "dice/cost/algorithm.hpp"
#include "dice/cost/backend.hpp"
#include "dice/cost/convolution.hpp"
#include "dice/cost/cudnn.hpp"
#include "dice/cost/forms.hpp"
#include "dice/cost/openmp.hpp"
#include "dice/cost/reference.hpp"
#include "dice/cost/table.hpp"
#include "dice/cost/tuned.hpp"
#include "dice/cost/winograd.hpp"
