# Arguments: how many lines; "follow", if those that come are to be printed, too, until the job ends.
cd "$base/job" 2>/dev/null && { [ -f log ] || [ -f before.log ]; } || fail "there is no log; dice-run start makes one"
[ -f log ] || { echo "$(date '+%Y-%m-%d %H:%M:%S') dice-run: the last job has no log; this is the log of the job before"; exec tail -n "$1" before.log; }
older=$(($1 - $(wc -l <log)))
[ "$older" -le 0 ] || [ ! -f log.1 ] || tail -n "$older" log.1
[ "$2" = follow ] && supervised || exec tail -n "$1" log
# Until the supervisor gives the job's lock back, or nobody follows any more.
tail -n "$1" -F log 2>/dev/null &
while [ -d "/proc/$PPID" ] && kill -0 $! 2>/dev/null; do
  flock -s -w 2 "$base/job.lock" true
  [ $? = 1 ] || break
done
sleep 1 # as tail does between two looks
kill $!
