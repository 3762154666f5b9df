# Removes all versions but the current and the previous one, and those whose files a process still uses.
current=$(version_of "$link") previous=$(version_of "$base/previous") used=
real=$(cd -P "$base" && pwd -P) || exit 1
for p in $(processes); do used="$used $(readlink "/proc/$p/exe") $(readlink "/proc/$p/cwd")/"; done 2>/dev/null
for v in "$base"/*; do
  [ -d "$v" ] && [ ! -L "$v" ] || continue
  case ${v##*/} in "$current" | "$previous" | job | bench) continue ;; esac
  case $used in *"$real/${v##*/}/"*) continue ;; esac
  rm -rf "$v"
done
