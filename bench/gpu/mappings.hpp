// The mappings that are measured on a GPU.
#pragma once

#include <dice/dice.hpp>

namespace measured {

/// All layers on one unit, with enough frames in flight to hide copies behind kernels.
template <class Network, class Unit>
using alone = dice::mapping<dice::dev<0, Unit>, dice::layers<dice::all>, dice::in_flight<4>>;

/// `Eighths` eighths of the layers on First, the others on Second.
template <class Network, int Eighths, class First, class Second>
using parts = dice::split<Network, dice::points<Network::size * Eighths / 8>, dice::dev<0, First>, dice::dev<1, Second>>;

}  // namespace measured
