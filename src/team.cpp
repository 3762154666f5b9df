// The threads of the OpenMP backend, and the library's id, to which programs refer.
#include "dice/assembly/team.ipp"
#include "dice/meta/library_id.hpp"

const char DICE_LIBRARY_ID = 0;
const char dice_header_only_and_library_in_one_program = 0;
