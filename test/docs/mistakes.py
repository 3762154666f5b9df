#!/usr/bin/env python3
"""mistakes.py ROOT: each mistake that include/dice/placement/mistakes.hpp names has a case in test/compile_fail, and
docs/dsl.md has the message of one of its cases; each in include/dice/partition/error.hpp has a test and a row in
docs/partitioning.md."""
import pathlib
import re
import sys


def missing(mistakes, page, cases):
    """What is missing. `mistakes`: the text of mistakes.hpp; `page`: of dsl.md; `cases`: the messages that the cases expect."""
    names = re.findall(r'^  X\((\w+),', mistakes, re.M)
    lines = [re.sub(r'\s+', '', line) for line in page.split('\n')]
    out = [] if names else ['mistakes.hpp names no mistake']
    for name in names:
        # A * stands for numbers that differ between compilers and boards.
        own = [re.escape(re.sub(r'\s+', '', case)).replace(r'\*', r'\d+') for case in cases if case.startswith(f'dice::error::{name}<')]
        if not own:
            out.append(f'{name}: test/compile_fail has no case for it')
        elif not any(re.search(case, line) for case in own for line in lines):
            out.append(f'{name}: docs/dsl.md has not the message that its case in test/compile_fail expects')
    return out


def undocumented(errors, page, tests):
    """The same for error.hpp of `partition`, whose messages are too long for a page. `tests`: texts of the tests."""
    names = re.findall(r'struct (\w+);', errors[errors.index('namespace dice::error'):])
    return ([] if names else ['partition/error.hpp names no mistake']) + [
        f'{name}: {where} has it not' for name in names
        for where, text in (('docs/partitioning.md', page), ('no test', tests)) if f'{name}<' not in text]


def main(root):
    root = pathlib.Path(root)
    cases = [re.search(r'^// expect: (.*)$', case.read_text(), re.M)[1] for case in (root / 'test/compile_fail').glob('*.cpp')]
    wrong = missing((root / 'include/dice/placement/mistakes.hpp').read_text(), (root / 'docs/dsl.md').read_text(), cases)
    tests = [*(root / 'test/compile_fail').glob('*.cpp'), root / 'test/partition/mapping_test.cpp']
    wrong += undocumented((root / 'include/dice/partition/error.hpp').read_text(), (root / 'docs/partitioning.md').read_text(),
                    '\n'.join(test.read_text() for test in tests))
    sys.exit('\n'.join(wrong) or None)


if __name__ == '__main__':
    main(sys.argv[1])
