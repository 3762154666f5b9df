// What depends on no network and no mapping is compiled once, into a library (CMake's dice::dice); with DICE_HEADER_ONLY
// defined (dice::header_only) it is compiled with the program. It is declared in x.hpp and defined in x.ipp.
#pragma once

#ifdef DICE_HEADER_ONLY
#define DICE_API inline
#else
#define DICE_API
#endif
