// Engines.
#include "dice/job/stream_job.ipp"
