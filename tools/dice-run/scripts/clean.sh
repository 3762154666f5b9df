# Arguments: versions that running jobs need, including jobs on other hosts. Removes all versions but these, the current and the
# previous one, and those whose files a process here uses. Prints those that are left, and "running" if there are processes.
fenced
running=$(processes) keep=" $(version_of "$link") $(version_of "$base/previous") $* "
real=$(cd -P "$base" && pwd -P) || exit 1
used=
for p in $running; do used="$used $(readlink "/proc/$p/exe") $(readlink "/proc/$p/cwd")/"; done 2>/dev/null
for v in "$base"/*; do
  [ -d "$v" ] && [ ! -L "$v" ] || continue
  case ${v##*/} in job | bench | service) continue ;; esac
  case $keep in *" ${v##*/} "*) ;; *)
    case $used in *"$real/${v##*/}/"*) ;; *) rm -rf "$v" && continue || exit 1 ;; esac ;;
  esac
  echo "left ${v##*/}"
done
[ -z "$running" ] && ! supervised || echo running
