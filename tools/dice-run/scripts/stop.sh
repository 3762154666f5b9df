# Argument: how many seconds the job has to end in order. Ends the job, or bench or measure, if this host has started it, then what
# is left of it here.
# Prints how many processes there were, and how many did not end in order.
set -- "$1" $(processes)
echo "found $(($# - 1))"
[ $# -gt 1 ] || exit 0
{
  [ ! -d "$base/job" ] || : >"$base/job/stop"
  for run in job bench; do
    read -r pid <"$base/$run/pid" || continue
    case " $* " in *" $pid "*) kill -USR1 "$pid" ;; esac # no other program that has got this id
  done
} 2>/dev/null
# In tenths of a second: until then all may end by itself; then SIGTERM; two seconds later SIGKILL.
tenths=0 limit=$(($1 * 10)) killed=0
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
