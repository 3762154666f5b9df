/// dice: one CNN over several devices, mapped by the compiler. <dice/engine.hpp> has engines besides.
#pragma once

#include "dice/mapping/error.hpp"  // first: compilers print the includes that lead to an error's declaration
#include "dice/partition/error.hpp"

#include "dice/app/main.hpp"
#include "dice/mapping/mapping.hpp"
#include "dice/model/model.hpp"
#include "dice/partition/partition.hpp"
#include "dice/platform/platform.hpp"
