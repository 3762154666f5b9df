#pragma once

namespace dice::platform {

/// float32 numbers in one vector register of the instruction set that this translation unit is compiled for.
inline constexpr int vector_width =
#if defined(__AVX512F__)
    16;
#elif defined(__AVX__)
    8;
#else
    4;  // SSE2, NEON, and the compilers' own lowering elsewhere
#endif

/// Vector registers of that instruction set.
inline constexpr int vector_registers =
#if defined(__AVX512F__) || defined(__aarch64__)
    32;
#else
    16;
#endif

}  // namespace dice::platform
