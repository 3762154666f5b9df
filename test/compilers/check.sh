#!/bin/sh
# check.sh COMPILER SOURCE FOLDER option…: builds the converter, examples, ONNX's cases, the code blocks of the pages and the tests of
# what is computed at compile time with COMPILER, in FOLDER, where a warning is an error, and runs the tests. Exit status 77: there is no
# such compiler.
set -eu
compiler=$1 source=$2 folder=$3
shift 3
if ! command -v "$compiler" >/dev/null; then
  echo "there is no $compiler here (Debian: package $(echo "$compiler" | sed 's/clang++/clang/'))"
  exit 77
fi
"$compiler" --version | head -n 1
# Debian's libraries may need a newer libstdc++ than an older g++ has: link that of the system, which programs load anyway.
cmake -S "$source" -B "$folder" "$@" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS=-Werror -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_STANDARD_LIBRARIES=-l:libstdc++.so.6 -DDICE_BUILD_TESTS=ON -DDICE_BUILD_EXAMPLES=ON -DDICE_CUDA=OFF
tests="test_graph test_placement test_parts test_schedule test_partition test_assembly test_assembly_splits test_app_embedding"
programs="onnx2hpp digits camera splits back_and_forth conformance_compiled conformance_networks"
# A page has an OpenMP kernel. Each clang has its own OpenMP, which may not be installed.
if echo '#include <omp.h>' | "$compiler" -fopenmp -x c++ -fsyntax-only - 2>/dev/null; then programs="$programs dice_docs_blocks"; fi
# shellcheck disable=SC2086  # words
cmake --build "$folder" --parallel 2 --target $programs $tests
ctest --test-dir "$folder" --output-on-failure --no-tests=error \
  -R "^($(echo "$tests" | sed 's/ /[.]|/g')[.]|conformance[.](compiled|networks|lists)|example[.](digits|splits|back_and_forth)[.]in_process)"
