// Other mappings of a program's network, as text.
#include "dice/assembly/remap.ipp"
