// Which level of the kernels for CPUs runs.
#include "dice/kernels/cpu_level.ipp"
