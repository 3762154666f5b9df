// The cluster, as dice-run measure found it. The times of layers are in the profile: dice_add_network(… PROFILE FILE) in
// CMakeLists.txt makes a header of it.
#pragma once

#include <dice/dice.hpp>

#include "digits_profile.hpp"

using namespace dice::literals;

/// pc.
// Its power is not known. For --search=energy, write dice::watts<BUSY, IDLE> into each processor: what the board draws while
// the processor computes and while it waits, in W, as a meter shows it.
using board_of_pc = dice::board<"x86", dice::ram<17179869189>,
    dice::processor<dice::cpu, dice::gflops<435>, dice::gbytes_per_s<5>, dice::profile<digits_profile::on_pc>>>;

/// pi-1, pi-2; the figures are those of pi-2, the slowest.
using board_of_pi_2 = dice::board<"raspberry_pi_4", dice::ram<4096_MiB>,
    dice::processor<dice::cores<0, 1, 2, 3>, dice::gflops<48>, dice::profile<digits_profile::on_pi_2>, dice::watts<6.4, 2.7>>>;

/// pi_2.
using board_of_pi_2_ = dice::board<"raspberry_pi_4", dice::ram<4096_MiB>,
    dice::processor<dice::cores<0, 1, 2, 3>, dice::gflops<48>, dice::profile<digits_profile::on_pi_2_2>, dice::watts<6.4, 2.7>>>;

/// nano.
// Its power is not known. For --search=energy, write dice::watts<BUSY, IDLE> into each processor: what the board draws while
// the processor computes and while it waits, in W, as a meter shows it.
using board_of_nano = dice::board<"jetson_nano", dice::ram<4096_MiB>,
    dice::processor<dice::cpu, dice::direct_convolutions, dice::gflops<45.8>, dice::profile<digits_profile::on_nano>>>;

/// orin.
// Its power is not known. For --search=energy, write dice::watts<BUSY, IDLE> into each processor: what the board draws while
// the processor computes and while it waits, in W, as a meter shows it.
using board_of_orin = dice::board<"jetson_orin_nano",
    dice::processor<dice::cpu, dice::gflops<144>, dice::gbytes_per_s<34>, dice::ram<4294967296>, dice::sending<dice::us<300>, dice::gbytes_per_s<0.012>>, dice::receiving<dice::us<300>, dice::gbytes_per_s<0.012>>>,
    dice::processor<dice::gpu, dice::gflops<1280>, dice::gbytes_per_s<45>, dice::ram<5368709120>>,
    dice::connection<dice::mbit_per_s<24000>, dice::us<5>>>;

// nano: cpu, direct_convolutions has no ranks, so it was not measured; the times of the profile before stay.
// orin: 2 of its layers were not measured on cpu, since its program has only the kernels of its ranks; with ANY_MAPPING in dice_add_deployment it has all; its stated rates stay.
// orin: gpu was not measured; cpu was; its stated rates stay.
using machines = dice::cluster<dice::host<"pc", board_of_pc>,
                               dice::host<"pi-1", board_of_pi_2>,
                               dice::host<"pi-2", board_of_pi_2>,
                               dice::host<"pi_2", board_of_pi_2_>,
                               dice::host<"nano", board_of_nano>,
                               dice::host<"orin", board_of_orin>,
                               dice::connection<dice::mbit_per_s<940>, dice::us<150>>,
                               dice::connection<dice::between<"pc", "pi-1">, dice::mbit_per_s<90>, dice::us<200>>>;
