#!/usr/bin/env bash
# check.sh CASE.cpp COMPILER FLAGS…: with MISTAKE defined the case must give one error, which matches its "expect:" line, on
# the line of its main, within ten lines of output. A * in "expect:" matches anything.
set -u
case=$1
shift
want=$(sed -n 's|^// expect: ||p' "$case")
line=$(grep -n '^int main' "$case" | cut -d: -f1)
fail() {
  printf 'FAILED: %s\n' "$1" "$(head -c 3000 <<<"$out")"
  exit 1
}
[ -n "$want" ] || { out=; fail "no expect: line in $case"; }

out=$("$@" -fsyntax-only -DMISTAKE "$case" 2>&1) && fail "the mistake compiles"
out=$(tr -d "‘’'" <<<"$out" | sed 's/> >/>>/g')  # g++ 12 writes > > where clang writes >>
[ "$(grep -cE '(^| )(fatal )?error: ' <<<"$out")" = 1 ] || fail "expected one error"
[ "$(wc -l <<<"$out")" -le 10 ] || fail "more than ten lines of output"
grep -q "^[^ ]*$(basename "$case"):$line:[0-9]*: error: " <<<"$out" || fail "the error is not on the line of main, $line"
error=$(grep ' error: ' <<<"$out")
# shellcheck disable=SC2053  # a pattern
[[ $error == *$want* ]] || fail "the error does not read: $want"
echo "ok: $error"
