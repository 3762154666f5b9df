#!/usr/bin/env python3
"""The code blocks of README.md, CONTRIBUTING.md and docs/*.md, and what the tests do with them.

    blocks.py check ROOT                   every block has a known language, and a marker where it needs one
    blocks.py translation-unit ROOT OUT    writes the C++ blocks, each in a namespace of its own, as one source file
    blocks.py program ROOT PAGE OUT        writes the first C++ block of a page without a marker, which is a whole program
    blocks.py run ROOT PAGE FOLDER         follows a page: writes its files and runs its shell blocks, in order, in FOLDER

A marker is a comment before the block, `<!-- code: VERB … -->`, with hidden lines, if any, below its first line:

    (none)            C++: declarations or a whole program, compiled. Other languages must have a marker
    inside            C++: compiled in place of the line `…` of the hidden lines
    global            the same, in no namespace of its own, and without hidden lines if there are none
    file NAME         written to NAME in the page's folder, for the shell blocks after it
    run               a shell block: the hidden lines and then the block are run in the page's folder
    output [REGEX]    text: each line is one that the hidden lines, or else the last shell block, printed, spaces aside; what
                      REGEX finds in it differs from run to run
    left out: REASON  neither compiled nor run

Blocks without a language are text. Hidden shell lines find dice's source folder in $DICE and Python in $PYTHON.
"""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

LANGUAGES = {'cpp', 'cmake', 'sh', 'python', ''}
VERBS = {'inside': {'cpp'}, 'global': {'cpp'}, 'file': LANGUAGES, 'run': {'sh'}, 'output': {''}, 'left out:': LANGUAGES}


@dataclasses.dataclass
class Block:
    page: pathlib.Path
    line: int  # of the first line of code
    language: str
    code: list
    verb: str = ''
    argument: str = ''
    hidden: list = dataclasses.field(default_factory=list)

    @property
    def place(self):
        return f'{self.page}:{self.line}'


def pages(root):
    return [root / 'README.md', root / 'CONTRIBUTING.md', *sorted((root / 'docs').glob('*.md'))]


def pattern(line, differs):
    """A pattern for the printed lines that match this line of a page; text that `differs` finds may vary."""
    line = ' '.join(line.split())
    out, end = '', 0
    for found in re.finditer(differs, line) if differs else ():
        out, end = out + re.escape(line[end:found.start()]) + f'(?:{differs})', found.end()
    return re.compile(out + re.escape(line[end:]))


def read_marker(text):
    """(verb, argument, hidden lines) of a comment's text, or None if it is no marker."""
    head, _, body = text.strip().partition('\n')
    if not head.startswith('code:'):
        return None
    head = head[len('code:'):].strip()
    verb = next((v for v in VERBS if head == v or head.startswith(v + ' ')), head)
    return verb, head[len(verb):].strip(), body.split('\n') if body else []


def read(page):
    """The blocks of a page, and the mistakes in them."""
    blocks, wrong, marker, lines = [], [], None, page.read_text(encoding='utf-8').split('\n')
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        fence = re.fullmatch(r'( *)```(.*)', lines[at])
        if fence:
            indent, begin = len(fence[1]), at + 1
            at = begin
            while at < len(lines) and lines[at].strip() != '```':
                at += 1
            code = [text[indent:] for text in lines[begin:at]]
            blocks.append(Block(page, begin + 1, fence[2].strip(), code, *(marker or ())))
            marker = None
        elif line.startswith('<!--'):
            begin = at
            while '-->' not in lines[at]:
                at += 1
            comment = '\n'.join(lines[begin:at + 1]).strip().removeprefix('<!--').removesuffix('-->')
            marker = read_marker(comment)
        elif line and marker:
            wrong.append(f'{page}:{at + 1}: a code marker without a block after it')
            marker = None
        at += 1
    for b in blocks:
        if b.language not in LANGUAGES:
            wrong.append(f"{b.place}: the language '{b.language}' is not known here")
        elif b.verb and b.language not in VERBS.get(b.verb, ()):
            wrong.append(f"{b.place}: '{b.verb}' is no marker of a block of '{b.language}'")
        elif not b.verb and b.language not in ('cpp', ''):
            wrong.append(f'{b.place}: no marker says what becomes of this block')
        elif b.verb in ('file', 'left out:') and not b.argument:
            wrong.append(f"{b.place}: '{b.verb}' of what, or why?")
        elif b.verb in ('inside', 'global') and (b.verb == 'inside' or b.hidden) and not any(h.strip() == '…' for h in b.hidden):
            wrong.append(f"{b.place}: the hidden lines have no line '…'")
        elif b.verb == 'output':
            try:
                re.compile(b.argument)
            except re.error as e:
                wrong.append(f"{b.place}: '{b.argument}' is no regular expression: {e}")
        elif b.language == 'python':
            try:
                compile('\n'.join(b.code), str(b.page), 'exec')
            except SyntaxError as e:
                wrong.append(f'{b.page}:{b.line + (e.lineno or 1) - 1}: {e.msg}')
    return blocks, wrong


def translation_unit(blocks):
    """One source file of the C++ blocks; the compiler's messages name the pages."""
    includes, out = [], []
    for b in blocks:
        if b.language != 'cpp' or b.verb not in ('', 'inside', 'global'):
            continue
        space = [] if b.verb == 'global' else [f'namespace block_{b.page.stem.lower()}_{b.line} {{', '}']
        out += space[:1]
        before, after = [], []
        if b.hidden:
            cut = next(i for i, h in enumerate(b.hidden) if h.strip() == '…')
            before, after = b.hidden[:cut], b.hidden[cut + 1:]
        here = f'#line {b.line} "{b.page}"'
        lines = [f'#line {max(1, b.line - len(before))} "{b.page}"', *before, here, *b.code, *after]
        for line in lines:
            if line.startswith('#pragma once'):
                line = ''
            if line.startswith('#include'):
                includes.append(line.split('//')[0].strip())
                line = ''
            out.append(line)
        out += space[1:]
    return '\n'.join([*dict.fromkeys(includes), *out, ''])


def run(blocks, folder, root):
    """Follows a page in `folder`, which is emptied first. Returns what went wrong, or ''."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    printed = []

    def shell(place, lines):
        done = subprocess.run(['bash', '-euo', 'pipefail', '-c', '\n'.join(lines)], cwd=folder, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, 'DICE': str(root), 'PYTHON': sys.executable})
        print(f'{place}:\n{done.stdout}')
        printed[:] = {' '.join(line.split()) for line in done.stdout.split('\n')}
        return f'{place}: exit status {done.returncode}' if done.returncode else ''

    for b in blocks:
        if b.verb == 'file':
            path = folder / b.argument
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('\n'.join([*b.code, '']), encoding='utf-8')
        elif b.verb == 'run':
            if wrong := shell(b.place, [*b.hidden, 'set -x', *b.code]):
                return wrong
        elif b.verb == 'output':
            if wrong := b.hidden and shell(b.place, b.hidden):
                return wrong
            for line in b.code:
                if line.strip() != '…' and not any(map(pattern(line, b.argument).fullmatch, printed)):
                    return f'{b.place}: this line was not printed: {line}'
    return ''


def main(command, root, *rest):
    root = pathlib.Path(root).resolve()
    if command == 'run':
        page = root / rest[0]
        blocks, wrong = read(page)
        wrong = wrong or [text for text in [run(blocks, pathlib.Path(rest[1]), root)] if text]
        sys.exit('\n'.join(wrong) or None)
    if command == 'program':
        first = next(b for b in read(root / rest[0])[0] if b.language == 'cpp' and not b.verb)
        pathlib.Path(rest[1]).write_text('\n'.join([f'#line {first.line} "{first.page}"', *first.code, '']), encoding='utf-8')
        return
    found = [read(page) for page in pages(root)]
    blocks = [b for some, _ in found for b in some]
    if command == 'translation-unit':
        pathlib.Path(rest[0]).write_text(translation_unit(blocks), encoding='utf-8')
        return
    for text in (wrong := [text for _, some in found for text in some]):
        print(text)
    print(f'{len(blocks)} blocks on {len(found)} pages')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main(*sys.argv[1:])
