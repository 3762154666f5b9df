// Handwritten digits on a PC and a Raspberry Pi: the plan of the deployment "numbers".
#pragma once

#include <dice/dice.hpp>

#include "digits.hpp"

using namespace dice::literals;

/// A board of our own: CMakeLists.txt says how programs for it are compiled.
using small_pc = dice::board<"small_pc", dice::ram<2_GiB>,
                             dice::processor<dice::cpu, dice::gflops<60>, dice::gbytes_per_s<10>>>;

using machines = dice::cluster<dice::host<"pc", small_pc>, dice::host<"pi", dice::boards::raspberry_pi_4>,
                               dice::connection<dice::mbit_per_s<940>, dice::us<150>>>;

using deployment = dice::mapping<
    dice::dev<0, dice::cores<0>, dice::on<"pc">>, dice::layers<dice::range<digits::picture, digits::pool2>>,
    dice::dev<1, dice::cpu, dice::on<"pi">>,      dice::layers<dice::range<digits::conv3, digits::scores>>>;
