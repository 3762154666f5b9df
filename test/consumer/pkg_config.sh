#!/bin/sh
# pkg_config.sh LIBDIR PKG_CONFIG CXX EXAMPLE FOLDER MPIRUN…: compiles the example digits with nothing but what pkg-config
# says of a dice that lies in LIBDIR, where it was moved to, and runs it.
set -eu
libdir=$1 pkg_config=$2 cxx=$3 example=$4 folder=$5
shift 5
export PKG_CONFIG_PATH="$libdir/pkgconfig"

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
"$pkg_config" --validate dice
"$("$pkg_config" --variable=onnx2hpp dice)" "$example/digits.onnx" -q
# shellcheck disable=SC2046  # words
"$cxx" -I. "$example/digits.cpp" -o digits $("$pkg_config" --cflags --libs dice)
"$@" ./digits --input "$example/digits_in.npy" --expect "$example/digits_out.npy"

flags=$("$pkg_config" --define-variable=cpu=-march=x86-64-v3 --cflags dice)
case $flags in
  *-march=x86-64-v3*) ;;
  *) echo "the variable cpu is not in the flags: $flags"; exit 1 ;;
esac
