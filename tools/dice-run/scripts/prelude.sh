# The beginning of every script on a host. It takes five arguments: the folder of the deployment, its name, the name of its job, the
# token of the dice-run that calls, and the number of this call. docs/dice-run-hosts.md says what is kept where. Scripts use only
# sh, coreutils, grep, setsid and flock.
folder=$1 name=$2 job=$3 token=$4 call=$5
shift 5
base=$folder/.dice-run/$name link=$folder/$name
fail() { printf '%s\n' "$*" >&2; exit 1; }
# Without one of them, a host's answers would be wrong.
for program in flock grep setsid sha256sum stat stdbuf sync; do
  command -v "$program" >/dev/null || fail "it has no $program; install it (Debian: coreutils, grep, util-linux)"
done
# They would also be wrong if this user could not see what is there.
seen=$base
while [ -n "$seen" ] && [ ! -e "$seen" ]; do seen=${seen%/*}; done
[ ! -d "$seen/" ] || [ -x "$seen/" ] || fail "permission denied: $(id -un) may not look into ${seen:-/} for $folder; let this user in, or choose another folder by --to"
# Other users may write to /var/tmp, too: what they have made there is not used.
require_ours() {
  for made in "$folder" "$folder/.dice-run" "$base"; do
    owner=$(stat -c %u "$made" 2>/dev/null) || continue
    [ "$owner" = "$(id -u)" ] || [ "$owner" = 0 ] || fail "$made belongs to $(stat -c %U "$made"); choose another folder by --to"
  done
}
# point LINK TARGET FILE: makes a link beside FILE and moves it to LINK. So it replaces the last one as a whole, and needs no room
# on the disk.
point() { ln -sfn "$2" "$3.new" && mv -T "$3.new" "$1"; }
# After this call the script is the only one to make changes. It fails if another dice-run has locked the deployment since this one
# did, or if a later call of this one came first: a slow host may begin scripts late. Programs that the script starts hold the
# mutex, too: a change that was begun ends before another begins.
fenced() {
  exec 8>>"$base/mutex" || exit 1
  flock -w 10 8 || fail "another change of $name here does not end; try again"
  holder=$(readlink "$base/holder") who=${holder#* * }
  case $holder in "$token "*) ;; *) fail "this dice-run has lost its lock: $who has taken it" ;; esac
  last=${holder#* }
  [ "${last%% *}" -lt "$call" ] || fail "this call comes too late"
  point "$base/holder" "$token $call $who" "$base/holder" || exit 1
}
# A job begins only if dice-run stop has not come since the deployment was locked for it.
require_not_stopped() { [ "$(readlink "$base/stopped")" != "$token" ] || fail "dice-run stop has come before it began; nothing is started"; }
# One job at a time: its supervisor holds the lock, or bench and measure do. If the last supervisor was killed, its state says so
# before another gets the lock.
lock_job() {
  exec 9>>"$base/job.lock" || exit 1
  ! flock -sn 9 || settle lost
  flock -w 2 9 || fail "$name runs already; dice-run stop ends it"
}
supervised() { [ -f "$base/job.lock" ] && ! flock -sn "$base/job.lock" true; }
# Replaces the state that a killed supervisor has left. The caller has locked job.lock.
settle() {
  set -- "$1" $(readlink "$base/job/state")
  case ${2-} in starting | running | waiting) point "$base/job/state" "$1 $3 ${4--} ${5-0} ${6--} $(date +%s)" "$base/job/state" ;; esac
}
# Waits until the standard input ends, or is silent for twenty seconds: the machine that calls is gone.
until_silent() { while [ "$(exec 9>&- && timeout 20 dd bs=1 count=1 2>/dev/null | wc -c)" -gt 0 ]; do :; done; }
# The version that a link leads to, if it is there.
version_of() { [ ! -L "$1" ] || [ ! -d "$1" ] || { v=$(readlink "$1") && echo "${v##*/}"; }; }
# Identifies a process, unlike any later one: its id, when it began, in ticks since the boot, and in which boot.
identity() {
  read -r stat <"/proc/$1/stat" || return 1
  set -- "$1" ${stat##*) }
  echo "$1 ${21} $(cat /proc/sys/kernel/random/boot_id)"
} 2>/dev/null
# The ids of this user's processes that belong to the deployment: they run its files, or have inherited the mark of its job, or are
# daemons that Open MPI has started for the job on other hosts, which have the mark as an argument.
mark=OMPI_MCA_dice_run_job=$job
processes() {
  real=$(cd -P "$base" 2>/dev/null && pwd -P) || real=$base
  me=$(id -u)
  marked=" $(echo $(grep -lzxFs -e "$mark" /proc/[0-9]*/environ)) "
  daemons=" $(echo $(grep -lzxFs -e "$job" /proc/[0-9]*/cmdline)) "
  QUOTING_STYLE=literal stat -c '%u %N' /proc/[0-9]*/exe 2>/dev/null | while read -r user exe arrow file; do
    p=${exe%/exe}
    [ "$user" = "$me" ] || continue
    case $file in
      "$real"/*) ;;
      */orted | */prted) case $daemons in *" $p/cmdline "*) ;; *) continue ;; esac ;;
      *) case $marked in *" $p/environ "*) ;; *) continue ;; esac ;;
    esac
    # In a container, these are names of other files. What has another network runs on another host of a test bed.
    [ ! -d "$p/root/" ] || [ "$p/root" -ef / ] || continue
    [ ! -e "$p/ns/net" ] || [ "$p/ns/net" -ef /proc/self/ns/net ] || continue
    echo "${p#/proc/}"
  done
}
