// Engines.
#include "dice/app/stream_job.ipp"
