# Arguments: how many lines; "follow", if those that come are to be printed, too, until the job ends.
cd "$base/job" 2>/dev/null && [ -f log ] || fail "there is no log; dice-run start makes one"
older=$(($1 - $(wc -l <log)))
[ "$older" -le 0 ] || [ ! -f log.1 ] || tail -n "$older" log.1
[ "$2" = follow ] && supervised || exec tail -n "$1" log
# Until the supervisor gives the job's lock back, also if nobody follows any more: nothing stays on the host for ever.
tail -n "$1" -F log 2>/dev/null &
flock -s "$base/job.lock" true
sleep 1 # as tail does between two looks
kill $!
