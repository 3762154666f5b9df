# Starts the job of a deployment when all its hosts answer, as dice-run start does, and ends with it. Run by systemd on the starting
# host, from the folder `service` of the deployment. There, dice-run install-service has put `settings`, `options` (one in each line),
# and the scripts that dice-run start runs. Exits with 1 if it is to be run again.
service=${0%/*}
{
  IFS= read -r folder && IFS= read -r name && IFS= read -r job && IFS= read -r restarts && IFS= read -r mpirun && IFS= read -r PATH
} <"$service/settings" || exit 1
base=$folder/.dice-run/$name link=$folder/$name
read -r here </proc/sys/kernel/hostname
export PATH LC_ALL=C
now=$(mktemp -d) || exit 1 # what hosts have said
said= started=
trap 'rm -rf "$now"' EXIT # also ends the locks
trap 'trap "" TERM; [ -z "$started" ] || text 0 stop 8 | sh -s >/dev/null; exit 0' TERM
# Says something once.
say() { [ "$*" = "$said" ] || { said=$* && printf 'dice-run: %s\n' "$said" >&2; }; }
quote() {
  rest=$1
  printf " '"
  while case $rest in *\'*) ;; *) false ;; esac; do printf "%s'\\\\''" "${rest%%\'*}" && rest=${rest#*\'}; done
  printf "%s'" "$rest"
}
# Prints a script as dice-run sends it. Arguments: the number of the call, the script, its arguments.
text() {
  call=$1 script=$2
  shift 2
  echo 'dice_run() {'
  cat "$service/prelude" "$service/$script"
  printf '}\ndice_run'
  for word in "$folder" "$name" "$job" "$token" "$call" "$@"; do quote "$word"; done
  [ "$script" = lock ] || printf ' </dev/null'
  echo '; exit'
}
# Runs its input on a host, for so many seconds at most.
agent=${PRTE_MCA_plm_ssh_agent:-${OMPI_MCA_plm_rsh_agent:-ssh -o BatchMode=yes -o ConnectTimeout=5}} # as mpirun would do it
reach() { if [ "$2" = "$here" ]; then timeout "$1" sh -s; else timeout "$1" $agent "$2" "sh -s"; fi; }
# Runs a script on the version's hosts at once, with its output in $now/SCRIPT.HOST. Returns 1 if it fails on one; `failed` are these.
everywhere() {
  pids= failed=
  for host in $hosts; do
    text "$@" | reach 60 "$host" >"$now/$2.$host" 2>"$now/why.$host" &
    pids="$pids $host=$!"
  done
  for pid in $pids; do wait "${pid#*=}" || failed="$failed ${pid%=*}"; done
  [ -z "$failed" ]
}
# Locks the deployment on all hosts while there is the file $now/held.
lock_all() {
  pids=
  touch "$now/held" && rm -f "$now"/lock.* || exit 1
  for host in $hosts; do
    { text 1 lock "the service of $name on $here" && while [ -e "$now/held" ] && echo; do sleep 1; done; } |
      reach 300 "$host" >"$now/lock.$host" 2>"$now/why.$host" &
    pids="$pids $host=$!"
  done
  for pid in $pids; do
    host=${pid%=*}
    until grep -q '^locked$' "$now/lock.$host" 2>/dev/null; do
      kill -0 "${pid#*=}" 2>/dev/null || { say "$host: $(cat "$now/why.$host")"; return 1; }
      sleep 0.2
    done
  done
}
# Starts the job, unless something is in the way now.
try() {
  version=$(readlink "$link") version=${version##*/} number=0
  [ -n "$version" ] && [ -f "$base/$version/hosts" ] || { say "$name is not deployed here; dice-run deploy brings it"; return 1; }
  hosts=$(while read -r host rest; do echo "$host"; done <"$base/$version/hosts")
  token=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
  everywhere 0 survey || { say "waits for$failed"; return 1; }
  lock_all && everywhere 0 survey || return 1
  for host in $hosts; do
    ! grep -q '^supervised$' "$now/survey.$host" || { say "$name runs already, started on $host"; exit 0; }
  done
  for host in $hosts; do
    while read -r key value rest; do
      case $key in
      current) [ "$value" = "$version" ] || { say "$host has another version than $here; deploy again"; return 1; } ;;
      process) say "$host: processes of another run are left; dice-run stop ends them" && return 1 ;;
      last_job) rest=$value ;;
      job) [ "$value" = number ] || rest= ;;
      *) rest= ;;
      esac
      case $rest in "" | *[!0-9]* | ?????????????*) ;; *) [ "$rest" -le "$number" ] || number=$rest ;; esac
    done <"$now/survey.$host"
  done
  number=$((number + 1))
  everywhere 2 announce "$number" "$here" || { say "$failed: $(cat "$now/why.${failed##* }")"; return 1; }
  set -- # the options of the program
  while IFS= read -r word; do set -- "$@" "$word"; done <"$service/options"
  hosts=$here
  everywhere 3 start "$number" "$restarts" "$mpirun" "$version" "$(cat "$service/supervise")" "" "$@" ||
    { say "$(cat "$now/why.$here")"; return 1; }
}
stops() { stat -c '%i %Z' "$base/stopped" 2>/dev/null; } # dice-run stop makes another link
before=$(stops)
until try; do
  rm -f "$now/held"
  sleep 5 & # a signal ends the wait, not sleep
  wait $!
  [ -f "$service/options" ] || exit 0 # dice-run uninstall-service has come
  [ "$(stops)" = "$before" ] || { say "dice-run stop has come; the job starts at the next boot"; exit 0; }
done
started=yes
rm -f "$now/held"
say "job $number runs; dice-run status shows it"
flock -s "$base/job.lock" true &
wait $!
set -- $(readlink "$base/job/state")
case "${2-}:${1-}" in
"$number:ended" | "$number:stopped") ;;
"$number:"* | :*) say "the job has failed, or was killed; dice-run logs shows more" && exit 1 ;;
esac
