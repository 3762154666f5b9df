#!/usr/bin/env bash
# misspelt.sh LINES COMPILER FLAGS…: a layer that the mapping misspells is the first error, on its own line, within LINES
# lines of output. No line suggests anything but that layer, even if dice has the user's alias as a name inside.
set -u
most=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for alias in deployment plan; do
  cat >"$folder/app.cpp" <<END  # a file, because compilers show its lines
#include <prelude.hpp>
using $alias = dice::mapping<
    dice::dev<0, dice::cpu>, dice::layers<dice::to<sample::relu1>>,
    dice::dev<1, dice::cpu>, dice::layers<dice::from<sample::conv22>>>;

int main(int argc, char** argv) { return dice::main<sample::network, $alias>(argc, argv); }
END
  out=$("$@" -fsyntax-only "$folder/app.cpp" 2>&1) && { echo "FAILED: the mistake compiles"; exit 1; }
  out=$(tr -d "‘’'" <<<"$out")
  first=$(grep -m 1 ' error: ' <<<"$out")
  lines=$(wc -l <<<"$out")
  proposed=$(grep -E 'did you mean|suggested alternative|note: .* declared here' <<<"$out" | grep -v conv2)
  wrong=
  [[ $first == *:4:*conv22* ]] || wrong="the first error does not name the layer"
  [ "$lines" -le "$most" ] || wrong="$lines lines of output, not at most $most"
  [ -z "$proposed" ] || wrong="proposed: $proposed"
  [ -z "$wrong" ] || { printf 'FAILED with the alias %s: %s\n%s\n' "$alias" "$wrong" "$out"; exit 1; }
  only=$("$@" -fsyntax-only -Wfatal-errors "$folder/app.cpp" 2>&1)
  [ "$(grep -c 'error: ' <<<"$only")" = 1 ] || { printf 'FAILED: more than an error with -Wfatal-errors\n%s\n' "$only"; exit 1; }
  echo "ok, $lines lines: $first"
done
