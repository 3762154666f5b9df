#!/bin/sh
# pkg_config.sh LIBDIR PKG_CONFIG CXX EXAMPLE FOLDER MPIRUN…: compiles the example digits with pkg-config's flags only, for a
# dice that was moved and has its libraries in LIBDIR, and runs it; compares the flags of both packages.
set -eu
libdir=$1 pkg_config=$2 cxx=$3 example=$4 folder=$5
shift 5
export PKG_CONFIG_PATH="$libdir/pkgconfig"

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
"$pkg_config" --validate dice dice-header-only
"$("$pkg_config" --variable=onnx2hpp dice)" "$example/digits.onnx" -q
# shellcheck disable=SC2046  # words
"$cxx" -I. $("$pkg_config" --cflags dice) -c "$example/digits.cpp"
# shellcheck disable=SC2046
"$cxx" digits.o -o digits $("$pkg_config" --libs dice)
"$@" ./digits --input "$example/digits_in.npy" --expect "$example/digits_out.npy" 2>log || { cat log; exit 1; }
if grep 'without optimisation' log; then exit 1; fi  # compiled without -O, but the library is fast all the same

# Programs without the library, which consumer.header_only compiles and runs, need the same, and what the library's own files do.
without_lacks() {
  kind=$1
  shift
  flags=" $("$pkg_config" "$kind" dice-header-only) "
  for flag in "$@"; do
    case $flag in -DDICE_LIBRARY=* | -ldice | -L"$libdir"* | -Wl,--gc-sections) continue ;; esac
    case $flags in
      *" $flag "*) ;;
      *) echo "dice-header-only lacks $flag: $flags"; return 0 ;;
    esac
  done
  case $flags in *-DDICE_LIBRARY=* | *" -ldice "*) echo "dice-header-only has a library: $flags"; return 0 ;; esac
  return 1
}
# shellcheck disable=SC2046
if without_lacks --cflags -DDICE_HEADER_ONLY $("$pkg_config" --cflags dice) $("$pkg_config" --variable=cpu dice-header-only) \
  $("$pkg_config" --variable=openmp dice-header-only) || without_lacks --libs $("$pkg_config" --libs dice); then exit 1; fi
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
if "$cxx" digits.o without.o -o mixed $("$pkg_config" --libs dice) 2>mixed.log; then
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
