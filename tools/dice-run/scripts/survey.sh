# Prints what the host has and runs, one item a line.
echo "current $(version_of "$link")"
echo "previous $(version_of "$base/previous")"
read -r up rest </proc/uptime
echo "clock $(date +%s)"
echo "uptime ${up%.*}"
echo "now $up"
# All hosts that may have something, the hosts of each version (its file `hosts`), and where the ranks are (its file `ranks`).
for of in members current_host previous_host current_rank; do
  case $of in members) file=$base/members ;; current_host) file=$link/hosts ;; previous_host) file=$base/previous/hosts ;; *) file=$link/ranks ;; esac
  [ ! -f "$file" ] || while read -r first rest; do printf '%s\n' "$of $first${rest:+ $rest}"; done <"$file"
done
# What the program of a running job says of it, if its rank 0 is here: a line of JSON, which may be replaced meanwhile.
! grep -qs '"reports_status": true' "$link/manifest.json" || echo reports_status
for file in "/dev/shm/$job".* "$base"/status.*; do
  [ -O "$file" ] && IFS= read -r line <"$file" && printf '%s\n' "status ${file##*.} $line"
done 2>/dev/null
real=$(cd -P "$base" 2>/dev/null && pwd -P)
for pid in $(processes); do
  read -r stat <"/proc/$pid/stat" || continue
  exe=$(readlink "/proc/$pid/exe") || continue
  kilobytes=0
  while read -r key value rest; do [ "$key" != VmRSS: ] || kilobytes=$value; done <"/proc/$pid/status"
  set -- ${stat##*) }
  case $exe in "$real"/*/"$name" | "$real"/*/"$name (deleted)") rank=1 ;; *) rank=0 ;; esac
  printf '%s\n' "process $pid $((${12} + ${13})) $kilobytes $rank ${exe##*/}"
done 2>/dev/null
# The record of the last job that this host started: its state, and the content of its file, if that is of the same job. A
# supervisor that could not save its state has removed it.
record() {
  set -- $(readlink "$base/job/state")
  for key in phase number run restarts exit ended uptime; do
    [ "${1--}" = - ] || echo "job $key $1"
    [ "$key" != number ] || number=${1-}
    [ $# = 0 ] || shift
  done
  about=$(cat "$base/job/about") || return
  case "$number,$about
" in ,* | "$number,number $number
"*) echo "$about" | while read -r key value; do echo "job $key $value"; done ;; esac
} 2>/dev/null
# Tries again if a job begins or ends meanwhile.
before=$(record)
for attempt in 1 2 3 4 5; do
  ! supervised && lives= || lives=supervised
  job=$(record)
  [ "$job" != "$before" ] || break
  before=$job
done
printf '%s' "${lives:+$lives
}${job:+$job
}"
[ ! -L "$base/last_job" ] || echo "last_job $(readlink "$base/last_job")"
