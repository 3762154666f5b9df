#!/bin/sh
# boost.sh ROOT PREFIX CXX FOLDER MPIRUN…: builds the example digits with the installed dice and Boost 1.81, unpacked beside
# the installed Boost, and runs it; only with the reference kernels, which compile fast. Exits with 77 if 1.81 cannot be fetched.
set -eu
root=$1 prefix=$2 cxx=$3 folder=$4
shift 4
example=$root/examples/digits

mkdir -p "$folder"
boost=$folder/boost-1.81
if [ ! -e "$boost/done" ]; then
  "$root/scripts/unpack-boost" 1.81 "$boost" >"$folder/options"
  touch "$boost/done"
fi
# shellcheck disable=SC2046  # words
cmake -S "$example" -B "$folder/build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG= -DDICE_LIBRARY_OPTIMISED=OFF -DDICE_CUDA=OFF -DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON "-DCMAKE_CXX_COMPILER=$cxx" "-DCMAKE_PREFIX_PATH=$prefix" \
  $(cat "$folder/options")
cmake --build "$folder/build"
ldd "$folder/build/digits" | grep "$boost/.*/libboost_mpi.so.1.81.0"
"$@" "$folder/build/digits" --input "$example/digits_in.npy" --expect "$example/digits_out.npy"
