# Arguments: the number of the job, how often to start it again, options for mpirun, the version, the text of the supervisor, "input"
# if feed.sh will pass on the job's standard input, options of the program. Starts the supervisor in a session of its own. Prints
# "starts" before that.
number=$1 restarts=$2 options=$3 version=$4 supervisor=$5 input=$6
shift 6
require_ours
fenced
require_not_stopped
lock_job
not_written() {
  set -- $(stat -f -c '%b %a %S' "$base") # some file systems do not report it
  [ "${1:-0}" = 0 ] || [ $(($2 * $3)) -ge 65536 ] || fail "the disk of $folder is full; remove something. Nothing was started"
  fail "$base/job cannot be written ($said). Nothing was started"
}
ranks=$(while read -r word rank rest; do printf ' %s' "$rank"; done <"$base/$version/ranks") # " 0=a 1=b"
said=$(mkdir -p "$base/job" 2>&1) && cd "$base/job" || not_written
said=$({ printf '%s\n' "$supervisor" >supervise &&
  printf '%s\n' "number $number" "allowed $restarts" "version $version" "ranks$ranks" >about.new &&
  sync supervise about.new && point state "starting $number" state; } 2>&1) || not_written
[ ! -f log ] || mv -f log before.log
rm -f log.1 input
[ -z "$input" ] || said=$(mkfifo -m 600 input 2>&1) || not_written
mv -f about.new about || exit 1
echo starts
# Rank 0 says in this file how the job is: in memory, if possible, because it is replaced each second.
[ -w /dev/shm ] && status=/dev/shm/$job || status=$base/status
export "$mark" "PRTE_MCA_dice_run_job=$job" "DICE_STATUS=$status.$number" \
  "MPIRUN_OPTIONS=$options --tag-output -x DICE_TIMESTAMP_OUTPUT=1 -x DICE_STATUS"
if [ -n "$input" ]; then exec 7<>input; else exec 7</dev/null; fi
setsid sh ./supervise "$base/$version/run" "$version" "$number" "$restarts" "$@" >/dev/null 2>&1 8>&- &
point "$base/owner" "$(identity $!)" "$base/owner"
