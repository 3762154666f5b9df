# Arguments: the version; name, size, digest and mode of each of its files. Prints which of them are missing, and the folder to
# which they are to be copied, which only this dice-run knows. That folder holds the files that the host has already, and those
# copied for a dice-run that did not finish.
command -v rsync >/dev/null || fail "it has no rsync; install it (Debian: rsync)"
version=$1 old=$(version_of "$link") new=$base/$token.part
shift
mkdir -p "$new" || exit 1
(
  fenced
  for other in "$base"/*.part; do
    [ "$other" != "$new" ] && [ -d "$other" ] || continue
    i=0
    for word; do  # the first of each four is a name
      [ "$i" != 0 ] || [ ! -f "$other/$word" ] || mv -f "$other/$word" "$new/$word"
      i=$(((i + 1) % 4))
    done
    rm -rf "$other"
  done
) || exit 1
printf 'folder %s\n' "$new"
[ -z "$old" ] || echo "current $old"
same() { [ -f "$1" ] && [ ! -L "$1" ] && [ "$(stat -c %s "$1")" = "$bytes" ] && sum=$(sha256sum <"$1") && [ "${sum%% *}" = "$digest" ]; }
while [ $# -gt 0 ]; do
  file=$1 bytes=$2 digest=$3 mode=$4
  shift 4
  if same "$base/$version/$file"; then
    chmod "$mode" "$base/$version/$file" || exit 1
    printf 'there %s\n' "$file" # a long script that says nothing is given up
  elif same "$new/$file" || { [ -n "$old" ] && same "$base/$old/$file" &&
    { ln -f "$base/$old/$file" "$new/$file" 2>/dev/null || cp "$base/$old/$file" "$new/$file" || exit 1; }; }; then
    chmod "$mode" "$new/$file" || exit 1
    printf 'staged %s\n' "$file"
  else
    printf 'missing %s\n' "$file"
  fi
done
set -- $(stat -f -c '%b %a %S' "$new")
[ "${1:-0}" = 0 ] || echo "free $(($2 * $3))" # some file systems do not report it
