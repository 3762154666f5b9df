// Engines.
#include "dice/app/load_frames.ipp"
#include "dice/job/stream_job.ipp"
