# Arguments: the version; name and digest of each file that this dice-run has brought, "-" for those that the host had. Completes
# the version, so that it survives a later power failure. Files of a version that is there already are replaced, each as a whole.
version=$1 new=$base/$token.part
shift
check() {
  while [ $# -gt 0 ]; do
    # A dice-run that has lost its lock is told so, not that another one has taken its files.
    [ "$2" = - ] || sum=$({ sha256sum <"$new/$1"; } 2>/dev/null) || { fenced; fail "$new/$1 cannot be read"; }
    if [ "$2" != - ] && [ "${sum%% *}" != "$2" ]; then
      rm -f "$new/$1"
      fail "$1 is not the file that manifest.json describes; build the packages again"
    fi
    printf 'checked %s\n' "$1" # a long script that says nothing is given up
    shift 2
  done
}
check "$@"
sync -f "$new" || exit 1 # reports what the disk did not take, for example because of a quota on NFS
fenced
if [ -d "$base/$version" ]; then
  while [ $# -gt 0 ]; do
    for other in "$base"/*/"$1"; do # writing to a file would change it in all versions that have it as a hard link
      [ ! -L "${other%/*}" ] && [ "$other" != "$base/$version/$1" ] && [ "$other" -ef "$base/$version/$1" ] || continue
      ln -f "$new/$1" "$other" || exit 1
    done
    mv -fT "$new/$1" "$base/$version/$1" || exit 1
    shift 2
  done
  rm -rf "$new"
else
  mv -T "$new" "$base/$version" || exit 1
fi
sync -f "$base"
