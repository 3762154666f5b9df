#!/usr/bin/env python3
"""occurrences.py PROGRAM…: the networks of all programs together contain, at least once, each thing that they are meant to test
(program.hpp, count_occurrences)."""
import collections
import subprocess
import sys

counts = collections.Counter()
for program in sys.argv[1:]:
    for line in subprocess.run([program, "occurrences"], check=True, capture_output=True, text=True).stdout.splitlines():
        number, what = line.strip().split(" ", 1)
        counts[what] += int(number)
print(*(f"{n:3} {what}" for what, n in counts.items()), sep="\n")
sys.exit(not counts or not all(counts.values()))
