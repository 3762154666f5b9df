# Runs the job, and starts it again after a failure as often as it may. Written by dice-run start.
# Arguments: the name of the job, the file `run` and its version, how often; options of the program.
run=$2 version=$3 restarts=$4
shift 4
count=0 delay=1 started=$(date +%s) child= code= ended=
note() { echo "$(date '+%Y-%m-%d %H:%M:%S') dice-run: $*"; }
# The state replaces the last one as a whole.
save() {
  printf '%s\n' "phase $1" "started $started" "run $began" "restarts $count" "allowed $restarts" "version $version" "child $child" \
    "exit $code" "ended $ended" >state.new && mv -f state.new state
}
trap '' HUP
# From dice-run stop. SIGUSR1 stops the program in order (docs/running.md).
trap '[ -z "$child" ] || kill -USR1 "$child"' USR1
trap : TERM INT
while :; do
  began=$(date +%s)
  note "starts version $version"
  before=$(wc -c <log)
  "$run" "$@" </dev/null 9>&- &
  child=$!
  save running
  while :; do
    wait "$child"
    code=$?
    kill -0 "$child" 2>/dev/null || break
  done
  child=
  ended=$(date +%s)
  # mpirun of Open MPI 5 also exits with 0 if it has lost a host.
  case $code$(tail -c "+$((before + 1))" log | tail -n 40) in 0*"lost communication with a remote daemon"*) code=1 ;; esac
  if [ -e stop ]; then
    note "stopped after $((ended - began)) s"
    save stopped
    exit
  elif [ "$code" = 0 ]; then
    note "the job has ended after $((ended - began)) s"
    save ended
    exit
  fi
  note "the job has failed after $((ended - began)) s: exit status $code"
  if [ "$count" -ge "$restarts" ]; then
    save failed
    exit
  fi
  [ $((ended - began)) -lt 60 ] || delay=1
  count=$((count + 1))
  note "starts again in $delay s (restart $count of $restarts)"
  save waiting
  sleep "$delay" 9>&- &
  wait $!
  if [ -e stop ]; then
    note "stopped"
    save stopped
    exit
  fi
  delay=$((delay * 2 > 60 ? 60 : delay * 2))
done
