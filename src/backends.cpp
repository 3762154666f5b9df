// The threads of the backend for CPUs, and the library's name, to which programs refer.
#include "dice/app/backends.ipp"
#include "dice/library_id.hpp"

const char DICE_LIBRARY_ID = 0;
