# Lives as long as the machine that calls: holds a lock meanwhile, which tells feed.sh.
exec 9>>"$base/job/heart" && flock 9 || exit 1
echo beats
until_silent
