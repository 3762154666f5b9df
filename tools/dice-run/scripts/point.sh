# Arguments: the version that becomes the current one, and the one that becomes the previous one ("": none). Without a version, the
# deployment has none.
version=$1 previous=$2
[ -z "$version" ] || [ -d "$base/$version" ] || fail "the version $version is not there; deploy it"
point() { ln -sfn "$2" "$3" && mv -T "$3" "$1"; }
if [ -n "$previous" ]; then point "$base/previous" "$previous" "$base/previous.new"; else rm -f "$base/previous"; fi || exit 1
if [ -n "$version" ]; then point "$link" ".dice-run/$name/$version" "$base/current.new"; else rm -f "$link"; fi || exit 1
sync -f "$base" 2>/dev/null || sync
