#!/usr/bin/env python3
"""options.py PAGE PROGRAM: the page's first table of options names those that `PROGRAM --help` lists, and no others."""
import pathlib
import re
import subprocess
import sys

OPTION = re.compile(r'--[a-z][a-z-]+')


def differences(page, text):
    """What only one of the two has. `page`: Markdown; `text`: --help, each option at the beginning of a line."""
    rows = re.search(r'\| option \| meaning \|\n(.*?)\n\n', page, re.S)[1].split('\n')
    told = {name for row in rows for name in OPTION.findall(row.split(' | ')[0])}
    known = {name for line in text.split('\n') if line.startswith('  -') for name in OPTION.findall(line.strip().split('  ')[0])}
    if not known:
        return ['--help lists no option']
    return [f'the page lacks {name}' for name in sorted(known - told)] + [f'the page has {name}, --help has not' for name in sorted(told - known)]


if __name__ == '__main__':
    told = subprocess.run([sys.argv[2], '--help'], check=True, capture_output=True, text=True).stdout
    sys.exit('\n'.join(differences(pathlib.Path(sys.argv[1]).read_text(), told)) or None)
