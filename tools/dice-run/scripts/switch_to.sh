# Arguments: the current and the previous version that this dice-run has found, and their replacements; "": none. A switch that was
# interrupted is finished, or taken back, in the same way. Prints "switches" before it changes anything.
fenced
current=$(version_of "$link") previous=$(version_of "$base/previous")
either() { [ "$1" = "$2" ] || [ "$1" = "$3" ]; }
either "$current" "$1" "$3" && either "$previous" "$2" "$4" ||
  fail "its versions are '$current' and '$previous' now, and were '$1' and '$2': another dice-run has changed them"
[ -z "$3" ] || [ -d "$base/$3" ] || fail "the version $3 is not there; deploy it"
echo switches
if [ -n "$4" ]; then point "$base/previous" "$4" "$base/previous"; else rm -f "$base/previous"; fi || exit 1
if [ -n "$3" ]; then point "$link" ".dice-run/$name/$3" "$base/current"; else rm -f "$link"; fi || exit 1
sync -f "$base"
