// The command line: from main's arguments to the exit code.
#include "dice/app/run.ipp"
