# Arguments: how often to start the job again, options for mpirun, the version, the text of the supervisor, options of the program.
# Starts the supervisor in a session of its own.
restarts=$1 options=$2 version=$3 supervisor=$4
shift 4
require_ours
lock_job
mkdir -p "$base/job" && cd "$base/job" || exit 1
[ ! -f log ] || mv -f log log.1
rm -f stop pid state
printf '%s\n' "$supervisor" >supervise || exit 1
MPIRUN_OPTIONS="$options --tag-output --timestamp-output --mca dice_run_job $job" \
  setsid sh ./supervise "$job" "$base/$version/run" "$version" "$restarts" "$@" >log 2>&1 </dev/null &
echo $! >pid
