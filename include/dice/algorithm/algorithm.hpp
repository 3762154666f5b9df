/// Umbrella of the room `cost`: backends and how each computes a layer.
#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/algorithm/choice.hpp"
#include "dice/algorithm/convolution.hpp"
#include "dice/algorithm/cudnn.hpp"
#include "dice/algorithm/forms.hpp"
#include "dice/algorithm/openmp.hpp"
#include "dice/algorithm/reference.hpp"
#include "dice/algorithm/table.hpp"
#include "dice/algorithm/tuned.hpp"
#include "dice/algorithm/winograd.hpp"
