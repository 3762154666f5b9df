// A program refers to the library that was built for its headers, board and backends: any other library is a linker error.
#pragma once

#include "dice/version.hpp"

#ifndef DICE_HEADER_ONLY

// DICE_LIBRARY is an identifier made of board and backends; the library's build defines it (cmake/DiceLibrary.cmake).
#ifndef DICE_LIBRARY
#error \
    "dice: link dice::dice (or dice::header_only) in CMake, compile with what pkg-config --cflags dice says, or define DICE_HEADER_ONLY"
#endif

#ifdef _GLIBCXX_DEBUG  // other containers; a single source file may ask for them
#define DICE_JOIN_NAMES(version, library) dice_library_##version##_##library##_debug_containers
#else
#define DICE_JOIN_NAMES(version, library) dice_library_##version##_##library
#endif
#define DICE_LIBRARY_NAME(version, library) DICE_JOIN_NAMES(version, library)
#define DICE_LIBRARY_ID DICE_LIBRARY_NAME(DICE_VERSION, DICE_LIBRARY)

extern "C" const char DICE_LIBRARY_ID;
extern "C" const char dice_header_only_and_library_in_one_program;

namespace dice {
inline constexpr const char* library_id[] = {&DICE_LIBRARY_ID, &dice_header_only_and_library_in_one_program};
}

#else

// The same name for a thread-local variable, which linkers do not accept in place of the other: files compiled without the
// library do not link with files compiled for it.
extern "C" {
[[gnu::weak, gnu::used, gnu::visibility("hidden")]] thread_local char dice_header_only_and_library_in_one_program = 1;
}

namespace dice {
inline constexpr const char* const* library_id = nullptr;
}

#endif
