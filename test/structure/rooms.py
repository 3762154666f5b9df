#!/usr/bin/env python3
"""rooms.py ROOT: fails on what the two tables in ROOT/docs/architecture.md, of rooms and of libraries, do not allow in ROOT/include/dice.

Rules: a room includes itself, `meta` and the rooms of its row; `detail/` is private to its room; the rooms that the table
calls pure include nothing but the standard library and Boost.Hana; the headers of third-party libraries, and names that belong
to these, appear only where the table of libraries says (comments may name them); headers do not include one another in a circle (except for an x.ipp, which x.hpp includes at its end if there is no library).
No source file of the repository has more than 500 lines.
"""
import fnmatch
import pathlib
import re
import sys

ROW = re.compile(r"^\|\s*\d+\s*\|\s*`(\w+)/`\s*\|(.*)\|\s*([^|]*?)\s*\|\s*$")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
LONG = 500  # lines; split files that are longer
SOURCES = (".hpp", ".ipp", ".cpp", ".cu", ".cuh", ".py", ".cmake")

STANDARD = set("""algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes
climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint
cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format forward_list fstream functional future
initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new
numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex
source_location span sstream stack stdexcept stop_token streambuf string string_view strstream syncstream system_error thread
tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version""".split())

LIBRARIES = re.compile(r"^\| library \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", re.MULTILINE)
# What may hold a name or look like a comment: raw strings, strings, characters; and comments.
TEXTS = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\[^\'\n]+|[^\'\\\n])\'|(?P<comment>//[^\n]*|/\*.*?\*/)', re.DOTALL)


def one_of(patterns):
    """A regular expression for names, in which * stands for more of a name; "#pragma x" is a name, too."""
    def expression(name):
        if name.startswith("#pragma "):
            return rf"^\s*#\s*pragma\s+{name[8:]}\b|\b_Pragma\s*\(\s*\"{name[8:]}\b"
        return r"(?<!\w)" + re.sub(r"[^\w*\[\]-]", lambda c: re.escape(c[0]), name).replace("*", r"\w*") + r"(?!\w)"

    return re.compile("|".join(map(expression, patterns))) if patterns else None


def libraries(text):
    """(library, patterns of its headers, folders for them, expression of its names or None, folders for them), from the page's table."""
    found = LIBRARIES.search(text)
    out = []
    for line in found.group(1).splitlines() if found else ():
        library, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        headers, places, names, named = [re.findall("`([^`]+)`", cell) for cell in cells]
        out.append((library, headers, places, one_of(names), named))
    return out


def without_comments(text):
    return TEXTS.sub(lambda part: re.sub(r"[^\n]", " ", part[0]) if part["comment"] else part[0], text)


def table(text):
    """{room: rooms it may include}, and the pure rooms, from the page's table."""
    allowed = {}
    for line in text.splitlines():
        row = ROW.match(line)
        if row:
            room, cell = row.group(1), row.group(3)
            names = [] if cell == "–" else [name.strip().strip("`/") for name in re.split("[,;]", cell)]
            allowed[room] = names
    everything = set(allowed)
    for room, names in allowed.items():
        allowed[room] = everything if names[:1] == ["all"] else {n for n in names if n in everything} | {"meta", room}
    pure = list(allowed)[: list(allowed).index("partition") + 1] if "partition" in allowed else []
    return allowed, set(pure)


def room_of(path):
    """The room of a path below include/dice; five headers lie outside the rooms' folders."""
    outside = {"dice.hpp": "app", "engine.hpp": "app", "decode.hpp": "app", "pixels.hpp": "app", "version.hpp": "meta"}
    return path.parts[0] if len(path.parts) > 1 else outside.get(path.name)


def check_file(base, path, allowed, pure, owners):
    """The mistakes in the includes and names of the file `path` (below `base` = include/dice)."""
    here, problems = room_of(path), []
    lines = without_comments((base / path).read_text(encoding="utf-8")).splitlines()

    def within(folders):
        return any((path.parent.as_posix() + "/").startswith(folder + "/") for folder in folders)

    def report(number, what):
        problems.append(f"include/dice/{path}:{number}: {what}")

    if here not in allowed:
        report(1, f"there is no room '{here}' in the table" if here else "only dice.hpp, engine.hpp, decode.hpp, pixels.hpp and version.hpp lie outside the rooms' folders")
        return problems
    if not any(line.strip() == "#pragma once" for line in lines):
        report(1, "no #pragma once")
    for number, line in enumerate(lines, 1):
        for library, _, _, names, folders in owners:
            if names and not within(folders) and (name := names.search(line)):
                report(number, f"{library} appears only in {', '.join(folders)} ({name[0].strip()})")
        match = INCLUDE.match(line)
        if not match:
            continue
        name = match.group(1) or match.group(2)
        if name.startswith("dice/"):
            target = pathlib.PurePosixPath(name[len("dice/"):])
            there = room_of(target)
            if not (base / target).is_file():
                report(number, f"no such header: {name}")
            elif there not in allowed[here]:
                report(number, f"{here} may not include {there} ({name})")
            elif "detail" in target.parts[:-1] and there != here:
                report(number, f"{name} is private to {there}")
            elif target.name in ("dice.hpp", "engine.hpp", "decode.hpp", "pixels.hpp") and len(target.parts) == 1 and len(path.parts) > 1:
                report(number, f"{name} is for users, not for dice's own headers")
            elif target.suffix == ".ipp" and (target.stem, target.parent) != (path.stem, path.parent):
                report(number, f"{name} is included by {target.stem}.hpp, where there is no library, and by src/ alone")
            continue
        if match.group(1):
            report(number, f'write dice\'s own headers as "dice/room/file.hpp", not "{name}"')
            continue
        owner = next((one for one in owners if any(fnmatch.fnmatchcase(name, header) for header in one[1])), None)
        if owner and not within(owner[2]):
            report(number, f"{owner[0]} appears only in {', '.join(owner[2])} ({name})")
        elif here in pure and name not in STANDARD and not name.startswith("boost/hana"):
            report(number, f"{here} includes nothing but the standard library and Boost.Hana ({name})")
    return problems


def cycles(base, files):
    """Cycles of includes, each as a list of its headers."""
    graph = {}
    for path in files:
        names = (INCLUDE.match(line) for line in (base / path).read_text(encoding="utf-8").splitlines())
        graph[path.as_posix()] = [n.group(1)[len("dice/"):] for n in names
                                  if n and (n.group(1) or "").startswith("dice/") and not n.group(1).endswith(".ipp")]
    found, done, way = [], set(), []

    def walk(header):
        if header in way:
            found.append(way[way.index(header):] + [header])
        elif header not in done:
            way.append(header)
            for other in graph.get(header, ()):
                walk(other)
            done.add(way.pop())

    for header in graph:
        walk(header)
    return found


def long_files(root):
    """Sources of the repository that are too long, by their paths."""
    out = []
    for folder in ("include", "src", "tools", "test", "bench", "cmake", "examples"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCES and path.is_file() and "build" not in path.relative_to(root).parts[1:2]:
                lines = len(path.read_text(encoding="utf-8").splitlines())
                if lines > LONG:
                    out.append(f"{path.relative_to(root)}: {lines} lines; past {LONG} a file is two")
    return out


def check(root):
    """All problems below root."""
    root = pathlib.Path(root)
    page = (root / "docs" / "architecture.md").read_text(encoding="utf-8")
    allowed, pure = table(page)
    owners = libraries(page)
    if len(allowed) < 2 or not pure:
        return ["docs/architecture.md: the table of rooms cannot be read"]
    if not owners:
        return ["docs/architecture.md: the table of libraries cannot be read"]
    base = root / "include" / "dice"
    files = sorted(p.relative_to(base) for p in base.rglob("*") if p.suffix in (".hpp", ".h", ".ipp", ".cuh"))
    if not files:
        return ["include/dice: no headers"]
    problems = [text for path in files for text in check_file(base, path, allowed, pure, owners)]
    problems += ["include/dice: a circle of includes: " + " → ".join(circle) for circle in cycles(base, files)]
    return problems + long_files(root)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = check(sys.argv[1])
    for text in found:
        print(text)
    sys.exit(1 if found else 0)
