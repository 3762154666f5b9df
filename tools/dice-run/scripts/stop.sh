# Argument: how many seconds the job has to end in order. Ends the job, or bench or measure, if this host started it, and then what
# is left of it here. Prints how many processes there were, and how many did not end in order.
seconds=$1
# From now on, a dice-run that has locked the deployment and is about to start something is too late.
hung=
if [ -d "$base" ]; then
  {
    flock -w 10 8 || hung=yes
    holder=$(readlink "$base/holder")
    point "$base/stopped" "${holder%% *}" "$base/stopped"
  } 8>>"$base/mutex"
fi
set -- $(processes)
echo "found $#"
owner=$(readlink "$base/owner") # its id may belong to a later process by now
[ -z "$owner" ] || [ "$(identity "${owner%% *}")" != "$owner" ] || kill -USR1 "${owner%% *}" 2>/dev/null
# In tenths of a second: processes may end by themselves until `limit`; then SIGTERM; two seconds later SIGKILL.
tenths=0 limit=$((seconds * 10)) killed=0
while left=$(processes) && { [ -n "$left" ] || supervised; } && [ "$tenths" -lt $((limit + 60)) ]; do
  if [ "$tenths" = "$limit" ]; then
    set -- $left
    killed=$#
    kill -TERM $left
  elif [ "$tenths" -ge $((limit + 20)) ]; then
    kill -KILL $left
  fi 2>/dev/null
  sleep 0.2
  tenths=$((tenths + 2))
done
echo "killed $killed"
[ -z "$hung" ] || fail "another change of $name here does not end; try again"
[ -z "$left" ] || fail "these processes do not end: $(echo $left)"
! supervised || fail "a job is still being started; try again"
[ ! -f "$base/job.lock" ] || { flock -sn 9 && settle stopped; } 9<"$base/job.lock" || :
