# Argument: the number of the job. Passes its standard input on to the job until either ends, or until heart.sh ends: then the machine
# that calls is gone, and this input would not end by itself.
cd "$base/job" && grep -qx "number $1" about && [ -p input ] || fail "the job does not wait for its standard input any more"
exec 3<&0 5<>input 4>input 5<&- && rm input || exit 1 # 5: opening a pipe that nobody reads would wait for ever
echo ready
cat <&3 >&4 &
cat=$!
exec 3<&- 4>&-
flock -s heart kill "$cat" &
{ wait "$cat"; code=$?; kill $!; } 2>/dev/null
case $code in
0 | 141) ;; # 141: the job reads no more
143) fail "the connection was lost, so the job's standard input ended" ;;
*) exit 1 ;;
esac
