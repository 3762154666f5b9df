// Plans for other mappings, given as text.
#include "dice/assembly/remap.ipp"
