#!/bin/sh
# boost.sh ROOT FOLDER PROGRAM COMMAND…: runs COMMAND, in which the word BOOST stands for the options of CMake that choose the
# release's other Boost, unpacked in FOLDER beside the installed one. PROGRAM must then link it. If it cannot be fetched, there are none.
set -eu
root=$1 boost=$2 program=$3
shift 3

if [ ! -e "$boost/options" ]; then
  mkdir -p "$boost"
  for version in 1.81 1.88; do  # of Debian 12, of 13
    if "$root/scripts/unpack-boost" $version "$boost" >"$boost.options"; then
      echo $version >"$boost/version"
      break
    fi
  done
  [ -e "$boost/version" ] || echo "with the installed Boost"
  mv "$boost.options" "$boost/options"
fi
count=$#
for word in "$@"; do
  if [ "$word" != BOOST ]; then
    set -- "$@" "$word"
  else
    # shellcheck disable=SC2046  # words
    set -- "$@" $(cat "$boost/options")
  fi
done
shift "$count"
"$@"
if [ -s "$boost/options" ]; then ldd "$program" | grep "$boost/.*/libboost_mpi.so.$(cat "$boost/version").0"; fi
