// Which device computes what, on one machine as on two.
#pragma once

#include <dice/dice.hpp>

#include "detector.hpp"

/// The host with the camera, and the one that finds the boxes. On one machine, both ranks run there.
using machines = dice::cluster<dice::host<"front", dice::boards::x86>, dice::host<"back", dice::boards::x86>,
                               dice::connection<dice::mbit_per_s<940>, dice::us<150>>>;

using deployment = dice::mapping<
    dice::dev<0, dice::threads<1>>, dice::layers<dice::range<detector::picture, detector::down3_relu>>,
    dice::dev<1, dice::threads<1>>, dice::layers<dice::range<detector::mix3_narrow_conv, detector::boxes>>>;
