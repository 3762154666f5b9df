# Argument: who locks. Locks the deployment here until the standard input ends, or is silent for twenty seconds. The kernel holds
# the lock for this shell, and gives it to only one of those that ask. From then on, only this dice-run's token may change anything
# (fenced).
not_writable() {
  case $(LC_ALL=C touch "$1" 2>&1) in *"Read-only file system"*) fail "$1 is on a file system that is mounted read-only; check the card, and remount it" ;; esac
  fail "$(id -un) may not write to $1; let this user write there, or choose another folder by --to"
}
top=$folder # the part of the path that exists
while [ ! -e "$top" ]; do top=$(dirname "$top"); done
[ -d "$top" ] || fail "$top is not a folder; choose another by --to"
[ "$top" = "$folder" ] || { [ -w "$top" ] || not_writable "$top"; mkdir -p "$folder" || fail "choose another folder by --to"; }
require_ours
[ -w "$folder" ] || not_writable "$folder"
target=$(readlink "$link") || [ ! -e "$link" ] || target=none
case $target in "" | ".dice-run/$name/"*) ;; *) fail "$link is there already, and dice-run has not made it; move it away" ;; esac
mkdir -p "$base" || fail "choose another folder by --to"
# Anyone who can open a lock can hold it, so only this user may.
{ : >>"$base/lock" >>"$base/mutex" >>"$base/job.lock"; } && chmod go= "$base/lock" "$base/mutex" "$base/job.lock" || exit 1
exec 9>>"$base/lock" || exit 1
said=$(flock -n 9 2>&1) # 1: another one has it
case $? in 0) ;; 1)
  holder=$(readlink "$base/holder")
  case $holder in "$token "*) fail "another host of this deployment is the same machine, or has the same $folder; name each machine once" ;; esac
  fail "another dice-run is at work here: ${holder#* * }; wait until it ends"
  ;;
*) fail "files in $folder cannot be locked ($said); choose a folder on another file system by --to" ;;
esac
{
  flock -w 10 8 || fail "a change of $name here does not end; try again"
  point "$base/holder" "$token $call $1" "$base/holder" || fail "links cannot be made in $folder; choose another folder by --to"
} 8>>"$base/mutex"
echo locked
until_silent
