# Arguments: all hosts that may have something of this deployment.
fenced
printf '%s\n' "$@" >"$base/members.new" && sync "$base/members.new" && mv -T "$base/members.new" "$base/members" || exit 1
