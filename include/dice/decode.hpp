/// What the results of engines mean: boxes, classes and masks.
#pragma once

#include "dice/app/decode.hpp"
