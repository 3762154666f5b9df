"""Compares the lists of cases as they are now with the committed ones: check_lists.py COMMITTED MADE NAME…

If the package's version differs from that of the committed lists, new cases are reported but are no failure.
"""
import os
import sys


def read(folder, name):
    title, *lines = open(os.path.join(folder, name), encoding='utf-8').read().splitlines()
    return title, set(lines)


def main():
    committed_folder, made_folder, *names = sys.argv[1:]
    known = {line.split('\t')[0] for name in names[:2] for line in read(committed_folder, name)[1]}
    failures = 0
    for name in names:
        old_title, old = read(committed_folder, name)
        new_title, new = read(made_folder, name)
        for line in sorted(old - new):
            print(f'{name}: no more: {line}')
            failures += 1
        for line in sorted(new - old):
            unknown = line.split('\t')[0] not in known and old_title != new_title
            print(f'{name}: {"note: " if unknown else ""}new: {line}')
            failures += not unknown
    if failures:
        sys.exit(f'{failures} lines differ from the lists in {committed_folder}. If that is as it should be: '
                 'cmake --build BUILD --target conformance_lists')
    print('The lists are as they were.')


if __name__ == '__main__':
    main()
