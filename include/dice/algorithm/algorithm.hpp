/// Umbrella of the room `algorithm`: backends and how each computes a layer.
#pragma once

#include "dice/algorithm/backend.hpp"
#include "dice/algorithm/choice.hpp"
#include "dice/algorithm/chooser.hpp"
#include "dice/algorithm/convolution.hpp"
#include "dice/algorithm/cudnn.hpp"
#include "dice/algorithm/forms.hpp"
#include "dice/algorithm/openmp.hpp"
#include "dice/algorithm/small_parts.hpp"
#include "dice/algorithm/table.hpp"
#include "dice/algorithm/tuned.hpp"
#include "dice/algorithm/winograd.hpp"
