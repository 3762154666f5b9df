// Other mappings of a program's network, as text.
#include "dice/app/remap.ipp"
