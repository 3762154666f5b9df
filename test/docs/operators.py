#!/usr/bin/env python3
"""What `TOOL --list-operators` prints, as a page and beside ONNX's own definitions.

    operators.py page PAGE TOOL [--write]   the tables of docs/operators.md, behind its MARKER, are made from it
    operators.py onnx FILE TOOL [--write]   operators, opsets and attributes are those in FILE, and these are those of Python's
                                            onnx, whose newest opset may be older; FILE is made from it
"""
import itertools
import pathlib
import re
import subprocess
import sys

MARKER = '<!-- From here on made by: cmake --build build --target operators_page -->\n'


def read(text):
    """{operator: (opsets, inputs, notes, {attribute: when})} of a listing; `when`: '', 'from 18' or 'before 13'."""
    out = {}
    for line in text.splitlines()[1:]:
        if line.startswith('    '):
            out[name][3].update(re.fullmatch(r'(\w+)(?: \((.*)\))?', word).groups('') for word in line.strip().split(', '))
        else:
            name, opsets, inputs, *notes = re.split(' {2,}', line, maxsplit=3)
            out[name] = opsets, inputs, ' '.join(notes), {}
    return out


def tables(operators):
    known = ['## Read\n', '| operator | opsets | inputs | attributes | notes |', '|---|---|---|---|---|']
    reasons = {}
    for name, (opsets, inputs, notes, attributes) in sorted(operators.items()):
        if opsets == 'none':
            reasons.setdefault(notes, []).append(name)
        else:
            told = ', '.join(f'`{a}`' + (f' ({when})' if when else '') for a, when in attributes.items())
            known.append(f'| {name} | {opsets} | {inputs} | {told} | {notes} |')
    unknown = ['\n## Not read\n', '| operators | why |', '|---|---|']
    unknown += [f'| {", ".join(names)} | {why} |' for why, names in sorted(reasons.items(), key=lambda r: r[1])]
    return '\n'.join(known + unknown) + '\n'


def ends(opsets):
    """The first and last of `7–28`, or of `28`."""
    numbers = [int(n) for n in opsets.split('–')]
    return numbers[0], numbers[-1]


def exists(when, opset):
    return not when or (opset >= int(when.split()[1]) if when.startswith('from') else opset < int(when.split()[1]))


def differences(operators, versions, newest):
    """Mistakes in the listing. `versions`: {operator: {opset: attributes, or None if there is no such operator then}}."""
    for name in sorted(set(versions) - set(operators)):
        yield f'{name}: neither read nor among the operators that are not'
    for name, (opsets, _, notes, attributes) in operators.items():
        if opsets == 'none':
            continue
        first, last = ends(opsets)
        for opset in range(7, newest + 1):
            known = versions.get(name, {}).get(opset)
            if (known is not None) != (first <= opset <= last):
                yield f'{name}: listed for opsets {opsets}; ONNX has {"one" if known is not None else "none"} at opset {opset}'
            elif known is not None:
                told = {a for a, when in attributes.items() if exists(when, opset)}
                yield from (f'{name}: ONNX has no {a} at opset {opset}' for a in sorted(told - known))
                yield from (f'{name}: says nothing about {a} at opset {opset}' for a in sorted(known - told) if a not in notes)


def onnx_versions(newest):
    """{operator: {opset: attributes, or None}} by Python's onnx."""
    import onnx.defs
    history = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == '' and schema.since_version <= newest:
            history.setdefault(schema.name, []).append(schema)
    out = {}
    for name, schemas in sorted(history.items()):
        schemas.sort(key=lambda s: s.since_version)
        gone = schemas[-1].since_version if schemas[-1].deprecated else newest + 1
        out[name] = {}
        for opset in range(7, newest + 1):
            of = [s for s in schemas if s.since_version <= opset < gone]
            out[name][opset] = set(of[-1].attributes) if of else None
    return out


def written(versions):
    """A line for each operator and range of opsets with the same attributes: `Clip 7-10 max min`."""
    lines = []
    for name, opsets in versions.items():
        for attributes, of in itertools.groupby(opsets.items(), key=lambda v: v[1]):
            of = [opset for opset, _ in of]
            if attributes is not None:
                lines.append(' '.join([name, f'{of[0]}-{of[-1]}', *sorted(attributes)]))
    return '\n'.join(lines) + '\n'


def versions_of(text, newest):
    out = {}
    for name, opsets, *attributes in (line.split() for line in text.splitlines()):
        first, last = map(int, opsets.split('-'))
        for opset in range(first, min(last, newest) + 1):
            out.setdefault(name, dict.fromkeys(range(7, newest + 1)))[opset] = set(attributes)
    return out


def main():
    what, file, tool = [a for a in sys.argv[1:] if a != '--write']
    write = '--write' in sys.argv
    file = pathlib.Path(file)
    operators = read(subprocess.run([tool, '--list-operators'], check=True, capture_output=True, text=True).stdout)
    if what == 'page':
        prose, marker, made = file.read_text().partition(MARKER)
        if write:
            file.write_text(prose + MARKER + tables(operators))
        elif made != tables(operators):
            sys.exit(f'{file} differs from onnx2hpp --list-operators; make it again: cmake --build build --target operators_page')
    else:
        import onnx.defs
        newest = max(ends(opsets)[1] for opsets, *_ in operators.values() if opsets != 'none')
        known = min(newest, onnx.defs.onnx_opset_version())
        if write:
            file.write_text(written(onnx_versions(known)))
        elif written(versions_of(file.read_text(), known)) != written(onnx_versions(known)):
            sys.exit(f'{file} differs from onnx {onnx.__version__}')
        print(f'{len(operators)} operators, opsets 7 to {newest}; those to {known} as in onnx {onnx.__version__}')
        sys.exit('\n'.join(differences(operators, versions_of(file.read_text(), newest), newest)) or None)


if __name__ == '__main__':
    main()
