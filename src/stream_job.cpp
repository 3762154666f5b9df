// Engines.
#include "dice/job/stream_job.ipp"
#include "dice/app/load_frames.ipp"
