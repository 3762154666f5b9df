/// dice with engines: a network inside a program of your own, whose frames and results are xtensor's tensors.
#pragma once

#include "dice/dice.hpp"

#include "dice/app/engine.hpp"
