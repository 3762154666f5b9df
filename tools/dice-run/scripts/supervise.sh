# Runs the job, and starts it again after a failure as often as it may. Written by dice-run start; keeps the job's lock as descriptor 9.
# Descriptor 7 is the job's standard input.
# Arguments: the file `run` and its version, the number of the job, how often; options of the program.
run=$1 version=$2 number=$3 restarts=$4
shift 4
limit=1048576 # bytes; the log is log.1 and log, with at most that many each
options=$(printf %s "${MPIRUN_OPTIONS% --tag-output -x *}" | tr '\n' ' ') # the user's
count=0 delay=1 began=- child= code=- ended=- from=- stopping=
# If the disk has no room, writes are tried again without the older output.
make_room() { rm -f log.1 before.log; }
put() {
  text="$(date '+%Y-%m-%d %H:%M:%S') dice-run: $*"
  [ -z "$(tail -c 1 log)" ] || echo >>log # the program's last line may have no end
  printf '%s\n' "$text" >>log || { make_room && printf '%s\n' "$text" >>log; }
} 2>/dev/null
note() {
  [ "$(stat -c %s log 2>/dev/null || echo 0)" -lt "$limit" ] || mv -f log log.1
  put "$@"
} 2>/dev/null
# Copies its input to the log until it ends. A full disk costs output, not the job. Runs in a shell of its own, which does not hold
# the job's lock: as a redirection of the call, 9>&- would leave a copy of it there.
keep_log() {
  exec 9>&-
  trap '' TERM
  while :; do
    size=$(stat -c %s log || echo 0)
    if [ "$size" -ge "$limit" ]; then mv -f log log.1 && size=0 || return 1; fi
    if stdbuf -o0 head -c $((limit - size)) >>log; then
      [ "$(stat -c %s log)" -ge "$limit" ] || return 0
    else
      make_room
      [ "$(head -c 65536 | wc -c)" = 65536 ] || return 0
      note "the disk is full: output is missing here"
    fi
  done
} 2>/dev/null
# The state is a link: it replaces the last one as a whole, and needs no room on the disk. No state is better than an old one.
save() {
  for room in make_room "rm -f state" :; do
    ln -sfT "$1 $number $began $count $code $ended $from" state.new && mv -fT state.new state && return
    $room
  done
} 2>/dev/null
# How long the job has run, in s, whatever the clock says: a board without a battery learns the time only after it has started.
run_time() { read -r up rest </proc/uptime; ran=$((${up%.*} - $1)); }
finish() {
  note "$2"
  save "$1"
  exit
}
# While this host was cut off, another may have started a newer job. Asks the other hosts of the version for their last job; those
# that do not answer do not object. Leaves a link `newer` to the host that started a newer one.
ask_hosts() {
  agent=${PRTE_MCA_plm_ssh_agent:-${OMPI_MCA_plm_rsh_agent:-ssh -o BatchMode=yes -o ConnectTimeout=5}} # as mpirun would do it
  read -r here </proc/sys/kernel/hostname
  while read -r host rest; do
    [ "$host" = "$here" ] || (
      exec 9>&-
      set -- $(printf '%s\n' "${run%/*/*}/last_job" | timeout --foreground 10 $agent "$host" "sh -c 'IFS= read -r link; readlink \"\$link\"'")
      [ "$1" -gt "$number" ] && ln -sfn "$2" newer
    ) &
  done <"${run%/*}/hosts"
  wait
} 2>/dev/null
# A pipe would end at once for its reader if nobody had it open for writing, so it stays open until feed.sh has opened it, and removed
# its name; for half a minute at most.
exec 6</proc/self/fd/7
(
  exec 6<&- 9>&-
  tenths=0
  while [ -p input ] && kill -0 $$ && [ $((tenths += 1)) -lt 300 ]; do sleep 0.1; done
) 2>/dev/null &
exec 7<&-
trap '' HUP
# Called for dice-run stop. SIGUSR1 stops the program in order (docs/running.md). The ranks' exit code is then not 0; mpirun says
# that it aborts the job, and ends the ranks that are left.
stop_in_order() {
  [ -n "$stopping" ] || put "the job is asked to end; mpirun and ranks may call that an abort or a failure"
  stopping=1
  # While the child is still a copy of this shell, it may lose a signal.
  while [ "$(tr '\0' ' ' <"/proc/$$/cmdline")" = "$(tr '\0' ' ' <"/proc/$child/cmdline")" ]; do sleep 0.05 9>&-; done 2>/dev/null
  kill -USR1 "$child"
}
trap 'if [ -n "$child" ]; then stop_in_order; else stopping=1; fi' USR1
trap : TERM
while :; do
  began=$(date +%s)
  run_time 0
  from=$ran
  note "starts version $version${options:+ with MPIRUN_OPTIONS=$options}"
  rm -f output && mkfifo output || finish failed "the job has failed after 0 s: $PWD cannot be written"
  keep_log <output &
  logger=$!
  "$run" "$@" <&6 >output 2>&1 6<&- 9>&- &
  child=$!
  [ -z "$stopping" ] || { stopping=; stop_in_order; } # dice-run stop came before there was a child
  save running
  while :; do
    wait "$child"
    code=$?
    kill -0 "$child" 2>/dev/null || break
  done
  child=
  rm -f "$DICE_STATUS" # if rank 0 was here and was killed
  run_time "$from"
  ended=$(date +%s)
  began=$((ended - ran)) # the clock may have been set meanwhile
  # Waits for the last output. A process that is left may keep the pipe open.
  for tenth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do kill -0 "$logger" 2>/dev/null && sleep 0.1 9>&-; done
  # mpirun of Open MPI 5 also exits with 0 if it has lost a host.
  said=$(cat log.1 log 2>/dev/null | tail -c 20000)
  case $code${said##*dice-run: starts version} in 0*"lost communication with a remote daemon"*) code=1 ;; esac
  [ -z "$stopping" ] || finish stopped "stopped after $ran s"
  [ "$code" != 0 ] || finish ended "the job has ended after $ran s"
  note "the job has failed after $ran s: exit status $code"
  [ "$count" -lt "$restarts" ] || { save failed; exit; }
  [ $ran -lt 60 ] || delay=1
  count=$((count + 1))
  note "starts again in $delay s (restart $count of $restarts)"
  save waiting
  rm -f newer
  (exec 9>&-; sleep "$delay"; ask_hosts) &
  while [ -z "$stopping" ] && kill -0 $! 2>/dev/null; do wait $!; done
  if [ -n "$stopping" ]; then
    kill 0 # also ends asking the hosts; this shell and the log's ignore the signal
    finish stopped stopped
  fi
  [ ! -L newer ] || finish failed "a newer job was started on $(readlink newer); this one is not started again"
  delay=$((delay * 2 > 60 ? 60 : delay * 2))
done
