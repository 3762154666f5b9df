# Arguments: "user" or "system"; the name of the unit; its file in quotes, for messages; name and text of each file of the folder
# `service`, the unit among them. Prints what it wrote ("wrote FILE") and ran ("ran COMMAND"), and what this user may not do ("run
# COMMAND"). DICE_RUN_ROOT: for tests.
kind=$1 unit=$2 quoted=$3 service=$base/service
shift 3
require_ours
[ -e "$link" ] || fail "$name is not deployed; dice-run deploy brings it"
command -v systemctl >/dev/null || fail "it has no systemd, so nothing there can start the job at boot by a unit"
exec 8>>"$base/mutex" && flock -w 10 8 || fail "another change of $name here does not end; try again"
rm -rf "$service.new" && mkdir -m 700 "$service.new" || exit 1
while [ $# -gt 0 ]; do
  printf '%s' "$2" >"$service.new/$1" || exit 1
  shift 2
done
printf '%s\n' "$PATH" >>"$service.new/settings"
[ "$kind" = user ] || printf 'User=%s\n' "$(id -un)" >>"$service.new/$unit" || exit 1
place=${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user
[ "$kind" = user ] || place=$DICE_RUN_ROOT/etc/systemd/system
line=$(grep '^ExecStart=' "$service.new/$unit")
[ ! -e "$place/$unit" ] || grep -qxF "$line" "$place/$unit" || fail "$place/$unit is the unit of another folder; uninstall it first"
sync "$service.new"/* && rm -rf "$service" && mv -T "$service.new" "$service" && sync -f "$base" || exit 1
printf '%s\n' "wrote $service"
# Runs a command, or says that it is to be run.
try() { if said=$("$@" 2>&1); then echo "ran $*"; else echo "run $*"; fi; }
if [ "$kind" = system ] && [ "$(id -u)" != 0 ]; then
  printf '%s\n' "run sudo cp $quoted $place/"
  echo "run sudo systemctl daemon-reload"
  echo "run sudo systemctl enable $unit"
  exit
fi
mkdir -p "$place" && cp "$service/$unit" "$place/$unit.new" && mv -T "$place/$unit.new" "$place/$unit" && sync "$place/$unit" || exit 1
printf '%s\n' "wrote $place/$unit"
if [ "$kind" = system ]; then
  try systemctl daemon-reload
  try systemctl enable "$unit"
else
  export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/run/user/$(id -u)}"
  try systemctl --user daemon-reload
  try systemctl --user enable "$unit"
fi
[ -e "$DICE_RUN_ROOT/var/lib/systemd/linger/$(id -un)" ] || {
  if loginctl --no-ask-password enable-linger >/dev/null 2>&1; then echo "ran loginctl enable-linger"; else echo "run sudo loginctl enable-linger $(id -un)"; fi
}
