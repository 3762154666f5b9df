# Arguments: the version; name and digest of each file that was copied. Makes the version complete, also if the power fails later.
version=$1 new=$base/$1
shift
[ -d "$new" ] || new=$new.part
while [ $# -gt 0 ]; do
  sum=$(sha256sum <"$new/$1") || exit 1
  if [ "${sum%% *}" != "$2" ]; then
    rm -f "$new/$1"
    fail "$1 is not the file that manifest.json describes; build the packages again"
  fi
  shift 2
done
sync -f "$new" 2>/dev/null || sync
[ "$new" = "$base/$version" ] || mv "$new" "$base/$version"
