# Arguments: the number of the job that is about to be started, and the host that starts it.
fenced
point "$base/last_job" "$1 $2" "$base/last_job"
