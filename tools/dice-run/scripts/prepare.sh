# Arguments: the version; the processor of its programs, or nothing; name, size, digest and mode of each of its files. Makes the
# version's folder, with what the host has of it already, and prints what is missing.
command -v rsync >/dev/null || fail "it has no rsync; install it (Debian: rsync)"
version=$1 old=$(version_of "$link")
[ -z "$2" ] || [ "$2" = "$(uname -m)" ] || fail "its processor is $(uname -m), and its package is for $2: take another board for this host in the plan"
shift 2
new=$base/$version
[ -d "$new" ] || new=$new.part
for other in "$base"/*.part; do [ "$other" = "$new" ] || rm -rf "$other"; done
mkdir -p "$new" || exit 1
printf 'folder %s\n' "$new"
[ -z "$old" ] || echo "current $old"
same() { [ -f "$1" ] && [ ! -L "$1" ] && [ "$(stat -c %s "$1")" = "$bytes" ] && sum=$(sha256sum <"$1") && [ "${sum%% *}" = "$digest" ]; }
while [ $# -gt 0 ]; do
  file=$1 bytes=$2 digest=$3 mode=$4
  shift 4
  if same "$new/$file"; then
    chmod "$mode" "$new/$file" || exit 1
  elif [ -n "$old" ] && same "$base/$old/$file"; then
    ln -f "$base/$old/$file" "$new/$file" 2>/dev/null || cp "$base/$old/$file" "$new/$file" || exit 1
    chmod "$mode" "$new/$file" || exit 1
  else
    printf 'missing %s\n' "$file"
  fi
done
line=$(df -Pk "$new" | tail -n 1)
set -- ${line%%\%*}
shift $(($# - 2))
echo "free $(($1 * 1024))"
[ -z "$(processes)" ] || echo running
