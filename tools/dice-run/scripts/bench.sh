# Arguments: options for mpirun, the version, options of the program. Runs the job to its end; its files go to the folder bench.
require_ours
fenced
require_not_stopped
lock_job
rm -rf "$base/bench" && mkdir -p "$base/bench" && point "$base/owner" "$(identity $$)" "$base/owner" || exit 1
export "$mark" "PRTE_MCA_dice_run_job=$job" "MPIRUN_OPTIONS=$1"
run=$base/$2/run
shift 2
exec 8>&- "$run" "$@"
