# Argument: the name of the unit. Removes it, and the folder `service`. The job goes on. Prints as install_service.sh.
unit=$1 service=$base/service
[ -d "$service" ] || fail "it has no service of $name in $folder"
exec 8>>"$base/mutex" && flock -w 10 8 || fail "another change of $name here does not end; try again"
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/run/user/$(id -u)}"
line=$(grep '^ExecStart=' "$service/$unit")
for place in "${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user" "$DICE_RUN_ROOT/etc/systemd/system"; do
  grep -qxF "$line" "$place/$unit" 2>/dev/null || continue
  case $place in */user) who=--user ;; *) who= ;; esac
  if [ -z "$who" ] && [ "$(id -u)" != 0 ]; then
    echo "run sudo systemctl disable $unit"
    printf '%s\n' "run sudo rm $place/$unit"
    echo "run sudo systemctl daemon-reload"
    continue
  fi
  systemctl $who disable "$unit" >/dev/null 2>&1
  rm -f "$place/$unit" "$place"/*.target.wants/"$unit" || exit 1
  printf '%s\n' "removed $place/$unit"
  systemctl $who daemon-reload >/dev/null 2>&1
done
rm -rf "$service" && printf '%s\n' "removed $service"
