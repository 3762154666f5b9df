"""Compares the lists of cases as they are now with the committed ones: check_lists.py COMMITTED MADE NAME…

If the package's version differs from that of the committed lists, cases that only one of the two has are reported but are no failure.
"""
import os
import sys


def read(folder, name):
    title, *lines = open(os.path.join(folder, name), encoding='utf-8').read().splitlines()
    return title, set(lines)


def main():
    committed_folder, made_folder, *names = sys.argv[1:]
    known, found = ({line.split('\t')[0] for name in names[:2] for line in read(folder, name)[1]}
                    for folder in (committed_folder, made_folder))
    failures = 0
    for name in names:
        old_title, old = read(committed_folder, name)
        new_title, new = read(made_folder, name)
        for what, lines, others in (('no more', old - new, found), ('new', new - old, known)):
            for line in sorted(lines):
                alone = line.split('\t')[0] not in others and old_title != new_title
                print(f'{name}: {"note: " if alone else ""}{what}: {line}')
                failures += not alone
    if failures:
        sys.exit(f'{failures} lines differ from the lists in {committed_folder}. If that is as it should be: '
                 'cmake --build BUILD --target conformance_lists')
    print('The lists are as they were.')


if __name__ == '__main__':
    main()
