// Boards of today. Peak rates and memory bandwidths are from data sheets, so predictions from them are hopeful: dice's
// kernels reach 0.7 to 0.9 of the peak of large convolutions (docs/performance.md). Measured profiles are better where
// boards are at hand. Watts are of the whole board, busy and idle, as measured by those named.
#pragma once

#include "dice/platform/board.hpp"
#include "dice/platform/bytes.hpp"

namespace dice::boards {

using namespace literals;

/// Raspberry Pi 4B, 4 GB. Four Cortex-A72 at 1.5 GHz with one fused multiply-add of 4 numbers a cycle (Arm, "Cortex-A72
/// Software Optimization Guide", section 3.12): 48 GFLOP/s. LPDDR4-3200, 32 bits (Raspberry Pi, data sheet of 2019): 12.8
/// GB/s, of which STREAM gets a third. 2.7 W idle, 6.4 W with four busy cores (raspberrypi.com documentation, typical
/// power).
using raspberry_pi_4 =
    board<"raspberry_pi_4", ram<4_GiB>, processor<cores<0, 1, 2, 3>, gflops<48>, gbytes_per_s<4>, watts<6.4, 2.7>>>;

/// Raspberry Pi 5, 8 GB. Four Cortex-A76 at 2.4 GHz with two fused multiply-adds of 4 numbers a cycle (Arm, "Cortex-A76
/// Software Optimization Guide", section 3.16): 153.6 GFLOP/s. LPDDR4X-4267, 32 bits: 17.1 GB/s.
using raspberry_pi_5 =
    board<"raspberry_pi_5", ram<8_GiB>, processor<cores<0, 1, 2, 3>, gflops<153.6>, gbytes_per_s<9>, watts<8.8, 2.7>>>;

/// NVIDIA Jetson Nano, 4 GB. Four Cortex-A57 at 1.43 GHz: 45.8 GFLOP/s; LPDDR4, 64 bits: 25.6 GB/s (NVIDIA, "Jetson Nano
/// Module Data Sheet", DA-09366). Its GPU needs JetPack 4.6, for which dice has no backend (docs/gpu.md).
using jetson_nano =
    board<"jetson_nano", ram<4_GiB>, processor<cores<0, 1, 2, 3>, gflops<45.8>, gbytes_per_s<10>, watts<10, 2>>>;

/// NVIDIA Jetson TX2. Four Cortex-A57 at 2 GHz, 64 GFLOP/s, which are cores 0, 3, 4, 5, and two Denver 2 at 2 GHz, 32
/// GFLOP/s; LPDDR4, 128 bits: 59.7 GB/s (NVIDIA, "Jetson TX2 Series Module Data Sheet", DA-07970). Its GPU as that of the
/// Nano.
using jetson_tx2 =
    board<"jetson_tx2", ram<8_GiB>, processor<cores<0, 3, 4, 5>, gflops<64>, gbytes_per_s<20>, watts<7.5, 1.5>>,
          processor<cores<1, 2>, gflops<32>, gbytes_per_s<20>, watts<5, 1>>>;

/// NVIDIA Jetson Xavier NX. Six Carmel cores at 1.4 GHz, 134 GFLOP/s; a Volta GPU of 384 cores at 1.1 GHz, 845 GFLOP/s;
/// LPDDR4X, 128 bits: 59.7 GB/s (NVIDIA, "Jetson Xavier NX Module Data Sheet", DA-09950).
using jetson_xavier_nx =
    board<"jetson_xavier_nx", ram<8_GiB>, processor<cores<0, 1, 2, 3, 4, 5>, gflops<134>, gbytes_per_s<30>, watts<10, 3>>,
          processor<gpu, gflops<845>, gbytes_per_s<50>, watts<15, 3>>>;

/// NVIDIA Jetson Orin Nano, 8 GB. Six Cortex-A78AE at 1.5 GHz, 144 GFLOP/s; an Ampere GPU of 1024 cores at 625 MHz, 1280
/// GFLOP/s; LPDDR5, 128 bits: 68 GB/s (NVIDIA, "Jetson Orin Nano Series Data Sheet", DS-11105).
using jetson_orin_nano =
    board<"jetson_orin_nano", ram<8_GiB>, processor<cores<0, 1, 2, 3, 4, 5>, gflops<144>, gbytes_per_s<34>, watts<10, 4>>,
          processor<gpu, gflops<1280>, gbytes_per_s<60>, watts<15, 4>>>;

/// A small x86 computer with AVX2: four cores at 2.5 GHz with two fused multiply-adds of 8 numbers a cycle (Intel, AMD since
/// Haswell and Zen 2), 320 GFLOP/s; two channels of DDR4-2666, 42 GB/s, of which half is got. Watts are a guess.
using x86 = board<"x86", ram<16_GiB>, processor<threads<4>, gflops<320>, gbytes_per_s<20>, watts<45, 10>>>;

}  // namespace dice::boards
