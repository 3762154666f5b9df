# Prints what the host has and runs, a line for each thing.
echo "current $(version_of "$link")"
echo "previous $(version_of "$base/previous")"
echo "clock $(date +%s)"
real=$(cd -P "$base" 2>/dev/null && pwd -P)
for pid in $(processes); do
  read -r stat <"/proc/$pid/stat" || continue
  exe=$(readlink "/proc/$pid/exe") || continue
  kilobytes=0
  while read -r key value rest; do [ "$key" != VmRSS: ] || kilobytes=$value; done <"/proc/$pid/status"
  set -- ${stat##*) }
  case $exe in "$real"/*/"$name" | "$real"/*/"$name (deleted)") rank=1 ;; *) rank=0 ;; esac
  echo "process $pid $((${12} + ${13})) $kilobytes $rank ${exe##*/}"
done 2>/dev/null
[ -f "$base/job/state" ] || exit 0
while read -r line; do echo "job $line"; done <"$base/job/state"
supervisor= line=
{ read -r supervisor <"$base/job/pid" && read -r line <"/proc/$supervisor/cmdline"; } 2>/dev/null
case $line in *"$job"*) echo "supervised $supervisor" ;; esac
