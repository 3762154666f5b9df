# Arguments: how many lines; "follow" to print new lines, too, until the job ends.
cd "$base/job" 2>/dev/null && { [ -f log ] || [ -f before.log ]; } || fail "there is no log; dice-run start makes one"
[ -f log ] || { echo "$(date '+%Y-%m-%d %H:%M:%S') dice-run: the last job has no log; this is the log of the job before"; exec tail -n "$1" before.log; }
older=$(($1 - $(wc -l <log)))
[ "$older" -le 0 ] || [ ! -f log.1 ] || tail -n "$older" log.1
[ "$2" = follow ] && supervised || exec tail -n "$1" log
# Follows until the supervisor releases the job's lock, or nobody reads any more. tail -F would skip what it has not read when the
# log is renamed, which happens on a slow connection.
tail -f --pid=$$ /dev/null & # ends when nobody reads any more
trap 'kill $!' EXIT
exec 5<log
open=/proc/self/fd/5 lives=yes
if [ "$1" = 0 ]; then cat >/dev/null; else tail -n "$1"; fi <&5
while cat <&5; do
  if [ log -ef $open ]; then
    [ -n "$lives" ] && kill -0 $! 2>/dev/null || break
    flock -s -w 1 "$base/job.lock" true
    [ $? = 1 ] || lives=
  else # the open file is full, and is log.1 or was
    cat <&5
    [ log.1 -ef $open ] && next=log || next=log.1
    [ -f $next ] || sleep 1
    exec 5<$next
  fi
done
