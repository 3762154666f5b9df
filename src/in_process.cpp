// Ranks as threads of one process.
#include "dice/channels/in_process/transport.ipp"
