# Begins every script on a host, with three arguments: the folder of the deployment, its name, and the name of its job. Scripts use
# only sh, coreutils (no grep, sed, awk, ps), setsid and flock.
folder=$1 name=$2 job=$3
shift 3
base=$folder/.dice-run/$name link=$folder/$name
fail() { echo "$*" >&2; exit 1; }
# Others may write to /var/tmp, too: what they have made there is not used.
require_ours() {
  for made in "$folder" "$folder/.dice-run" "$base"; do
    owner=$(stat -c %u "$made" 2>/dev/null) || continue
    [ "$owner" = "$(id -u)" ] || [ "$owner" = 0 ] || fail "$made belongs to $(stat -c %U "$made"); choose another folder by --to"
  done
}
# One job at a time: its supervisor keeps the lock.
lock_job() {
  exec 9>>"$base/job.lock" || exit 1
  flock -n 9 || fail "$name runs already; dice-run stop ends it"
}
# The version that a link leads to, if it is there.
version_of() { [ ! -L "$1" ] || [ ! -d "$1" ] || { v=$(readlink "$1") && echo "${v##*/}"; }; }
# The ids of this deployment's processes: they run its files, or name the job in their command lines (mpirun, its daemons, their
# ssh, the supervisor).
processes() {
  real=$(cd -P "$base" && pwd -P) || real=$base
  for p in /proc/[0-9]*; do
    line=
    read -r line <"$p/cmdline"
    case $line in
      '') continue ;;
      *"$job"*) ;;
      *) case $(readlink "$p/exe") in "$real"/*) ;; *) continue ;; esac ;;
    esac
    # In a container, these are names of other files.
    if [ ! -d "$p/root/" ] || [ "$p/root" -ef / ]; then echo "${p#/proc/}"; fi
  done 2>/dev/null
}
