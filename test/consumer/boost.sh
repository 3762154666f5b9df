#!/bin/sh
# boost.sh ROOT FOLDER PROGRAM COMMAND…: runs COMMAND, in which the word BOOST stands for the options of CMake that choose Boost
# 1.81, unpacked in FOLDER beside the installed Boost. PROGRAM must then link it. If it cannot be fetched, there are none.
set -eu
root=$1 boost=$2 program=$3
shift 3

if [ ! -e "$boost/options" ]; then
  mkdir -p "$boost"
  "$root/scripts/unpack-boost" 1.81 "$boost" >"$boost.options" || echo "with the installed Boost"
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
if [ -s "$boost/options" ]; then ldd "$program" | grep "$boost/.*/libboost_mpi.so.1.81.0"; fi
