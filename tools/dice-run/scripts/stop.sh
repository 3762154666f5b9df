# Argument: how many seconds the job has to end in order. Ends the job, or bench or measure, if this host has started it, then what
# is left of it here. Prints how many processes there were, and how many did not end in order.
seconds=$1
set -- $(processes)
echo "found $#"
owner=$(readlink "$base/owner") # of whom a later process may have the id
[ -z "$owner" ] || [ "$(identity "${owner%% *}")" != "$owner" ] || kill -USR1 "${owner%% *}" 2>/dev/null
# In tenths of a second: until then all may end by itself; then SIGTERM; two seconds later SIGKILL.
tenths=0 limit=$((seconds * 10)) killed=0
while left=$(processes) && [ -n "$left" ] && [ "$tenths" -lt $((limit + 60)) ]; do
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
[ -z "$left" ] || fail "these processes do not end: $(echo $left)"
supervised || settle stopped
