#!/bin/sh
# pkg_config.sh LIBDIR PKG_CONFIG CXX EXAMPLE FOLDER MPIRUN…: compiles the example digits with pkg-config's flags only, for a
# dice that was moved and has its libraries in LIBDIR; runs it, with the library and without.
set -eu
libdir=$1 pkg_config=$2 cxx=$3 example=$4 folder=$5
shift 5
export PKG_CONFIG_PATH="$libdir/pkgconfig"

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
for package in dice dice-header-only; do
  "$pkg_config" --validate $package
  "$("$pkg_config" --variable=onnx2hpp $package)" "$example/digits.onnx" -q
  # shellcheck disable=SC2046  # words
  "$cxx" -I. "$example/digits.cpp" -o digits $("$pkg_config" --cflags --libs $package)
  "$@" ./digits --input "$example/digits_in.npy" --expect "$example/digits_out.npy" 2>$package.log || { cat $package.log; exit 1; }
done
# Compiled without -O: the library is fast all the same, and a program without it warns once.
if grep 'without optimisation' dice.log; then exit 1; fi
[ "$(grep -c 'warning: rank 0 .*compiled without optimisation.*-DCMAKE_BUILD_TYPE=Release' dice-header-only.log)" = 1 ]
[ "$(grep -c 'without optimisation' dice-header-only.log)" = 1 ]

flags=$("$pkg_config" --define-variable=cpu=-march=x86-64-v3 --cflags dice-header-only)
case $flags in
  *-march=x86-64-v3*) ;;
  *) echo "the variable cpu is not in the flags: $flags"; exit 1 ;;
esac

# A program compiled for another library must not link, and the linker must say which one is missing.
flags=$("$pkg_config" --cflags dice | sed 's/-DDICE_LIBRARY=[^ ]*/-DDICE_LIBRARY=another_board/')
# shellcheck disable=SC2086,SC2046
if "$cxx" -I. $flags "$example/digits.cpp" -o mixed $("$pkg_config" --libs dice) 2>mixed.log; then
  echo "a program for another library links"
  exit 1
fi
grep 'undefined reference to `dice_library_.*_another_board' mixed.log
# It must not link with a file compiled without a library, either.
echo '#include <dice/meta/library_id.hpp>' >without.cpp
# shellcheck disable=SC2046
"$cxx" $("$pkg_config" --cflags dice-header-only) -c without.cpp
# shellcheck disable=SC2046
if "$cxx" -I. $("$pkg_config" --cflags dice) "$example/digits.cpp" without.o -o mixed $("$pkg_config" --libs dice) 2>mixed.log; then
  echo "a program links that was compiled in both ways"
  exit 1
fi
grep 'dice_header_only_and_library_in_one_program' mixed.log
# A program that does not say which of the two it uses must not compile.
if "$cxx" -I. $(echo "$flags" | sed 's/-DDICE_LIBRARY=[^ ]*//') -fsyntax-only "$example/digits.cpp" 2>unsaid.log; then
  echo "a program compiles that says of no library"
  exit 1
fi
grep 'error: .*"dice: link dice::dice' unsaid.log
