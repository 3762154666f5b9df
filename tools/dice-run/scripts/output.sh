# Prints the end of the log of the last job.
cd "$base/job" 2>/dev/null && cat log.1 log 2>/dev/null | tail -n 2000
