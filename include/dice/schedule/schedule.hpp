/// Umbrella of the room `schedule`: plans, their construction and proofs.
#pragma once

#include "dice/schedule/build.hpp"
#include "dice/schedule/check.hpp"
#include "dice/schedule/limits.hpp"
#include "dice/schedule/program.hpp"
#include "dice/schedule/proofs.hpp"
#include "dice/schedule/static_plan.hpp"
