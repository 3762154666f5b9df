"""The list of mutants, and where each changes the sources."""
import collections
import dataclasses
import functools
import re

import definitions

OF_DEFINITIONS = 'include', 'src', 'tools'  # the folders of dice's C++
OF_FILES = *OF_DEFINITIONS, 'cmake', 'scripts', 'test'
CPP = '.hpp', '.ipp', '.cpp', '.cu', '.cuh', '.c'


@dataclasses.dataclass
class Mutant:
    name: str
    place: str = ''  # `in`: the name of a definition, or its end
    file: str = ''  # otherwise: the end of a path
    old: str = ''
    new: str = ''
    target: str = ''  # what is built
    test: str = ''  # 'FILTER' of its GoogleTests, 'ctest REGEX', or 'build': the build must fail
    equivalent: str = ''  # why no test can tell


class Mistake(Exception):
    pass


def read(path):
    """The mutants of a list. An entry is a line '# name' and lines that begin with a word: in, file, old, new, test, equivalent."""
    out = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        word, _, rest = line.partition(' ')
        if not line.strip() or line.startswith('//'):
            continue
        if word == '#':
            out.append(Mutant(rest))
        elif out and word in ('old', 'new'):  # several lines of one kind are one text
            before = getattr(out[-1], word)
            setattr(out[-1], word, before + '\n' + rest if before else rest)
        elif out and word == 'test':
            out[-1].target, _, out[-1].test = rest.partition(' ')
        elif out and word in ('in', 'file', 'equivalent'):
            setattr(out[-1], 'place' if word == 'in' else word, rest)
        else:
            raise Mistake(f"{path}:{number}: expected '# name', in, file, old, new, test or equivalent: '{line}'")
    return out


def parts(name):
    """The parts of a qualified name: a::b<c::d>::e has three."""
    out, depth = [''], 0
    for t in definitions.tokens(name):
        depth += (t.text == '<') - (t.text == '>')
        if t.text == '::' and depth == 0:
            out.append('')
        else:
            out[-1] += t.text
    return tuple(out)


def bare(part):
    """A part of a name without template arguments."""
    return part if part.startswith('operator') else part.partition('<')[0]


class File:
    """A C++ file."""

    def __init__(self, path):
        self.path = path
        self.tokens = definitions.tokens(path.read_text())
        self.words = [t.text for t in self.tokens]


class Sources:
    def __init__(self, root):
        self.root = root

    @functools.cached_property
    def files(self):
        return [p for folder in OF_FILES for p in sorted((self.root / folder).rglob('*')) if p.is_file()]

    @functools.cached_property
    def defined(self):
        """{last part of a name, without arguments: (file, definition) of that name}."""
        out = collections.defaultdict(list)
        for path in self.files:
            if path.suffix in CPP and path.relative_to(self.root).parts[0] in OF_DEFINITIONS:
                file = File(path)
                for d in definitions.of(file.tokens):
                    if d.path:
                        out[bare(d.path[-1])].append((file, d))
        return out

    def of_name(self, name):
        """The definitions whose names end with this one. Arguments of specialisations may be left out."""
        wanted = parts(name)

        def is_it(path):
            return len(path) >= len(wanted) and all(w in (p, bare(p)) for w, p in zip(wanted, path[-len(wanted):]))
        return [(file, d) for file, d in self.defined[bare(wanted[-1])] if is_it(d.path)]

    @functools.cached_property
    def named(self):
        """{file name: (file, its path below the root, after a '/') of that name}."""
        out = collections.defaultdict(list)
        for path in self.files:
            out[path.name].append((path, '/' + path.relative_to(self.root).as_posix()))
        return out

    def of_path(self, end):
        """The files whose paths end with this one."""
        return [path for path, name in self.named[end.rpartition('/')[2]] if name.endswith('/' + end)]

    def places(self, m):
        """Where a mutant's old text is: (path, begin, end), once for each time."""
        out = set()
        if m.place:
            wanted = [t.text for t in definitions.tokens(m.old)]
            for file, d in self.of_name(m.place):
                for i in range(d.first, d.last + 2 - len(wanted)):
                    if wanted and file.words[i:i + len(wanted)] == wanted:
                        out.add((file.path, file.tokens[i].start, file.tokens[i + len(wanted) - 1].end))
        elif m.old.split():
            old = re.compile(r'\s+'.join(map(re.escape, m.old.split())))
            out = {(path, *found.span()) for path in self.of_path(m.file) for found in old.finditer(path.read_text())}
        return sorted(out)

    def path(self, m):
        """The file that a mutant changes, below the root."""
        return self.places(m)[0][0].relative_to(self.root).as_posix()

    def mutated(self, m):
        """The path of the file that a mutant changes, and the changed text."""
        (path, begin, end), = self.places(m)
        text = path.read_text()
        return path, text[:begin] + (f' {m.new} ' if m.place else m.new) + text[end:]

    def mistakes(self, mutants):
        """What is wrong with a list: each old text must occur once at its place, and each mutant needs a test or a reason."""
        names = collections.Counter(m.name for m in mutants)
        for m in mutants:
            if names[m.name] > 1:
                yield f'{m.name}: this name occurs twice'
            if bool(m.place) == bool(m.file):
                yield f"{m.name}: expected 'in' or 'file'"
            elif m.place and not self.of_name(m.place):
                yield f"{m.name}: nothing is called '{m.place}'"
            elif m.file and (count := len(self.of_path(m.file))) != 1:
                yield f"{m.name}: there {'are ' + str(count) + ' files' if count else 'is no file'} '{m.file}'"
            elif len(places := self.places(m)) != 1:
                yield (f"{m.name}: {m.place or m.file} contains the old text {len(places)} times, expected once: '{m.old}'"
                       + ''.join(f"\n  {path.relative_to(self.root)}:{path.read_text().count(chr(10), 0, begin) + 1}"
                                 for path, begin, _ in places))
            if m.old.split() == m.new.split():
                yield f'{m.name}: old and new text are the same'
            if ' ' in m.test and not m.test.startswith('ctest '):
                yield f"{m.name}: expected a FILTER without spaces, 'ctest REGEX' or 'build': '{m.test}'"
            if bool(m.equivalent) == bool(m.test):
                yield f'{m.name}: expected a test or a reason why it is equivalent'
