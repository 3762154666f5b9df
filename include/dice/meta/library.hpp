// Code that depends on no network and no mapping is declared in x.hpp and defined in x.ipp. It is compiled once, into a
// library (CMake's dice::dice), or with each program if DICE_HEADER_ONLY is defined (dice::header_only).
#pragma once

#ifdef DICE_HEADER_ONLY
#define DICE_API inline
#else
#define DICE_API
#endif
