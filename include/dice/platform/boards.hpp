// Today's boards. gflops are peaks: cores times clock times the operations of a core's vector units in a cycle; cores,
// clocks and memory widths are as published by the makers. gbytes_per_s are estimates, a third to two thirds of the memory's
// peak. Watts are for the whole board; where no measurement is cited, they are the maker's power mode when busy and a guess
// when idle. So predictions are rough and optimistic: dice's kernels reach 0.7 to 0.9 of the peak in large convolutions on
// x86 (docs/performance.md). If you have the boards, state measured values.
#pragma once

#include "dice/platform/board.hpp"
#include "dice/platform/bytes.hpp"

namespace dice::boards {

using namespace literals;

/// Raspberry Pi 4B, 4 GB: four Cortex-A72 at 1.5 GHz, one multiply-add of 4 numbers a cycle; LPDDR4-3200, 32 bits, 12.8
/// GB/s. 2.7 W idle, 6.4 W with four busy cores (pidramble.com, "Power consumption benchmarks").
using raspberry_pi_4 =
    board<"raspberry_pi_4", ram<4_GiB>, processor<cores<0, 1, 2, 3>, gflops<48>, gbytes_per_s<4>, watts<6.4, 2.7>>>;

/// Raspberry Pi 5, 8 GB: four Cortex-A76 at 2.4 GHz, two multiply-adds of 4 numbers a cycle; LPDDR4X-4267, 32 bits,
/// 17.1 GB/s. Watts are guesses.
using raspberry_pi_5 =
    board<"raspberry_pi_5", ram<8_GiB>, processor<cores<0, 1, 2, 3>, gflops<153.6>, gbytes_per_s<9>, watts<9, 3>>>;

/// NVIDIA Jetson Nano, 4 GB: four Cortex-A57 at 1.43 GHz, one multiply-add of 4 numbers a cycle; LPDDR4, 64 bits, 25.6 GB/s;
/// 10 W. Its GPU needs JetPack 4.6, for which dice has no backend (docs/gpu.md).
using jetson_nano =
    board<"jetson_nano", ram<4_GiB>, processor<cores<0, 1, 2, 3>, gflops<45.8>, gbytes_per_s<10>, watts<10, 2>>>;

/// NVIDIA Jetson TX2, 8 GB: four Cortex-A57 (cores 0, 3, 4, 5) and two Denver 2 (cores 1, 2) at 2 GHz, one multiply-add of 4
/// numbers a cycle; LPDDR4, 128 bits, 59.7 GB/s; 7.5 to 15 W. For its GPU, see jetson_nano.
using jetson_tx2 =
    board<"jetson_tx2", ram<8_GiB>, processor<cores<0, 3, 4, 5>, gflops<64>, gbytes_per_s<20>, watts<7.5, 1.5>>,
          processor<cores<1, 2>, gflops<32>, gbytes_per_s<20>, watts<5, 1>>>;

/// NVIDIA Jetson Xavier NX, 8 GB: six Carmel cores at 1.4 GHz, two multiply-adds of 4 numbers a cycle; a Volta GPU of 384
/// cores at 1.1 GHz; LPDDR4X, 128 bits, 59.7 GB/s; 10 to 20 W.
using jetson_xavier_nx =
    board<"jetson_xavier_nx", ram<8_GiB>, processor<cores<0, 1, 2, 3, 4, 5>, gflops<134>, gbytes_per_s<30>, watts<10, 3>>,
          processor<gpu, gflops<845>, gbytes_per_s<40>, watts<15, 3>>>;

/// NVIDIA Jetson Orin Nano, 8 GB: six Cortex-A78AE at 1.5 GHz, two multiply-adds of 4 numbers a cycle; an Ampere GPU of 1024
/// cores at 625 MHz; LPDDR5, 128 bits, 68 GB/s; 7 to 15 W (NVIDIA, Jetson Orin Nano data sheet).
using jetson_orin_nano =
    board<"jetson_orin_nano", ram<8_GiB>, processor<cores<0, 1, 2, 3, 4, 5>, gflops<144>, gbytes_per_s<34>, watts<10, 4>>,
          processor<gpu, gflops<1280>, gbytes_per_s<45>, watts<15, 4>>>;

/// A small x86 computer with AVX2: four cores at 2.5 GHz, two multiply-adds of 8 numbers a cycle; two channels of DDR4-2666,
/// 42.7 GB/s. Watts are guesses.
using x86 = board<"x86", ram<16_GiB>, processor<threads<4>, gflops<320>, gbytes_per_s<20>, watts<45, 10>>>;

}  // namespace dice::boards
