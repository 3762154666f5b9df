# Argument: who locks. The lock is a link, since making one is atomic, also with its content: the holder's process, when it began,
# in which boot, and who it is. Holds the lock until the standard input ends, or is silent for twenty seconds.
[ -d "$folder" ] || mkdir -p "$folder" || exit 1
require_ours
[ -w "$folder" ] || fail "$(id -un) may not write to $folder; let this user write there, or choose another folder by --to"
target=$(readlink "$link") || [ ! -e "$link" ] || target=none
case $target in "" | ".dice-run/$name/"*) ;; *) fail "$link is there already, and dice-run has not made it; move it away" ;; esac
mkdir -p "$base" || exit 1
boot=$(cat /proc/sys/kernel/random/boot_id)
begun() {  # PROCESS: when it began, in ticks since the boot; nothing if there is none
  read -r stat 2>/dev/null <"/proc/$1/stat" || return 0
  set -- ${stat##*) }
  echo "${20}"
}
take() { ln -s "$$ $(begun $$) $boot $1" "$base/lock" 2>/dev/null; }
if ! take "$1"; then
  read -r process since then who <<END
$(readlink "$base/lock")
END
  [ "$who" != "$1" ] || fail "another host of this deployment is the same machine, or has the same $folder; name each machine once"
  [ "$then" != "$boot" ] || [ "$(begun "$process")" != "$since" ] || fail "another dice-run is at work here: $who"
  rm -f "$base/lock"
  take "$1" || fail "another dice-run is at work here"
fi
trap 'rm -f "$base/lock"' EXIT
trap 'exit 1' HUP INT PIPE TERM
echo locked
while [ "$(timeout 20 dd bs=1 count=1 2>/dev/null | wc -c)" -gt 0 ]; do :; done
