#!/usr/bin/env python3
"""splits.py PROGRAM NETWORK ONNX2HPP MODEL INPUT [--gpu] [--mixes N] [--mpirun COMMAND…]: runs a network with its layers in parts.

INPUT is a .npy file, or for several inputs what the names of their files begin with: INPUT_<name>.npy.

Divides all layers that can be divided by rows, columns, tiles, output channels and input channels among 2 to 8 ranks, and by
random mixes of these and replicas, with --mapping. All results must equal those of whole layers bit for bit; with input channels, within
1e-5 of the largest result. Two mappings also run by MPI if --mpirun is given. With --gpu, a GPU and a CPU divide the layers; then results are within
1e-5 of those of the GPU alone.
"""
import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile


def layers_of(onnx2hpp, model):
    """[(name, operator)] of a model's layers."""
    table = subprocess.run([onnx2hpp, model, '--list-layers'], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in table.splitlines()]
    return [(row[1], row[2]) for row in rows if len(row) > 3 and row[0].isdigit() and row[1] != 'layers,']


SANITIZERS = {name: value for name, value in os.environ.items() if name.endswith('SAN_OPTIONS')}


class Network:
    def __init__(self, program, network, layers, inputs, gpu=False):
        self.command = [program, network, 'gpu' if gpu else 'even1']
        self.first = 'gpu' if gpu else 'cpu'  # the unit of rank 0
        self.layers = layers
        self.inputs = [word for name, operator in layers if operator == 'Input'
                       for word in ('--input', inputs if inputs.endswith('.npy') else f'{name}={inputs}_{name}.npy')]
        self.outputs = [name for name, operator in layers if operator == 'Output']
        self.names = [name for name, _ in layers]
        self.ends = {name for name, operator in layers if operator in ('Input', 'Output')}
        self.whole = {}  # by kind of work and number of ranks: layers that cannot be divided in this way

    def run(self, arguments, prefix=()):
        return subprocess.run([*prefix, *self.command, *arguments], capture_output=True, text=True,
                              env={**SANITIZERS, 'OMP_NUM_THREADS': '1', 'PATH': '/usr/bin:/bin', 'HOME': '/root', 'TMPDIR': '/tmp',
                                   'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'})

    def mapping(self, works, ranks):
        """Works are (kind, layers, ranks, options); layers that a kind cannot divide go to rank 0."""
        rest, text, declared = set(self.names), [], set()
        for kind, layers, run, options in works:
            bad = self.whole.setdefault((kind, len(run)), set())
            entries = [name for name in layers if name not in bad and name not in self.ends]
            if not entries:
                continue
            rest -= set(entries)
            for rank in run:
                text.append(f'ranks<{rank}>' if rank in declared else f'dev<{rank}, {"cpu" if rank else self.first}>')
                declared.add(rank)
            text.append(f'{kind}<{", ".join(self.grid(kind, run) + entries + options)}>')
        text.append('ranks<0>' if 0 in declared else f'dev<0, {self.first}>')
        text.append(f'layers<{", ".join(name for name in self.names if name in rest)}>')
        return f'mapping<{", ".join(text)}, in_flight<2>>' if declared | {0} == set(range(ranks)) else None

    @staticmethod
    def grid(kind, run):
        return [] if kind != 'tiles' else {1: ['2', '2'], 2: ['2', '1'], 3: ['2', '2'], 4: ['2', '2']}.get(len(run), ['3', '3'])

    def results(self, arguments, folder, prefix=(), inputs=None):
        """What the program says, and its results as bytes; `inputs`: options that give others than the file's frames."""
        files = {name: folder / f'{name}.npy' for name in self.outputs}
        done = self.run([*arguments, *(inputs or self.inputs), *(word for name in files for word in ('--output', f'{name}={files[name]}'))], prefix)
        return done, [] if done.returncode else [file.read_bytes() for file in files.values()]

    def result(self, works, ranks, folder, prefix=()):
        """The results, and the mapping; None if too little of the network can be divided so."""
        for _ in range(len(self.names)):
            mapping = self.mapping(works, ranks)
            if not mapping:
                return None, None
            transport = [] if prefix else ['--transport', 'in-process']
            done, found = self.results(['--mapping', mapping, '--check-numbers', *transport], folder, prefix)
            if done.returncode == 0:
                return found, mapping
            refused = re.search(r"(layer_not_in_parts|too_few_\w+|\w*not_splittable|\w+): layer '(\w+)'", done.stderr)
            if not refused:
                sys.exit(f'{mapping}\n{done.stderr}')
            for kind, layers, run, _ in works:
                if refused.group(2) in layers:
                    self.whole[kind, len(run)].add(refused.group(2))
        sys.exit('no mapping was accepted')


def floats(npy):
    import array
    start = 10 + int.from_bytes(npy[8:10], 'little')
    return array.array('f', npy[start:])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('program')
    parser.add_argument('network')
    parser.add_argument('onnx2hpp')
    parser.add_argument('model')
    parser.add_argument('input')
    parser.add_argument('--gpu', action='store_true')
    parser.add_argument('--mixes', type=int, default=4, metavar='N', help='random mixes of works (4)')
    parser.add_argument('--mpirun', nargs=argparse.REMAINDER, default=[])
    given = parser.parse_args()
    net = Network(given.program, given.network, layers_of(given.onnx2hpp, given.model), given.input, given.gpu)
    draw = random.Random(7)
    all_layers = net.names
    tried = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        done, whole = net.results([], folder)
        if done.returncode:
            sys.exit(done.stderr)

        def check(works, ranks, prefix=()):
            nonlocal tried
            found, mapping = net.result(works, ranks, folder, prefix)
            if found is None:
                return None
            tried += 1
            if given.gpu or any(kind == 'input_channels' for kind, *_ in works):
                for a, b in zip(map(floats, found), map(floats, whole)):
                    worst = max(abs(x - y) for x, y in zip(a, b)) / max(map(abs, b))
                    if not worst <= 1e-5:
                        sys.exit(f'an error of {worst}:\n{mapping}')
            elif found != whole:
                sys.exit(f'results differ from those of whole layers:\n{mapping}')
            return mapping

        def check_weights(mapping):
            """One rank: it packs as much as the plan counts, but for what lies between 64-byte boundaries."""
            plan = json.loads(net.run(['--mapping', mapping, '--plan=json']).stdout)
            table = net.run(['--mapping', mapping, '--pack', folder / 'packed']).stdout
            number, unit = re.search(r'^ *0 +([\d.]+) (B|KiB|MiB)$', table, re.MULTILINE).groups()
            packed, planned = float(number) * {'B': 1, 'KiB': 1024, 'MiB': 1024 ** 2}[unit], plan['ranks'][0]['weight_bytes']
            if not -0.01 * packed <= packed - planned <= 0.01 * packed + 128 * len(plan['parts']):
                sys.exit(f'packs {packed} bytes of weights instead of {planned}:\n{mapping}')

        for kind in ('rows', 'columns', 'tiles', 'output_channels', 'input_channels', 'replicas'):
            for ranks in (2,) if given.gpu else (2, 3, 4, 8):
                check([(kind, all_layers, list(range(ranks)), [])], ranks)
        check([('replicas', all_layers, [1, 0], ['first_free'])], 2)
        if given.gpu:  # results of a GPU and a CPU arrive in one place, in one layout, and are read by CPUs
            third = len(all_layers) // 3
            for run in ([0, 1], [1, 0]):
                check([('replicas', all_layers[third:2 * third], run, []), ('rows', all_layers[2 * third:], [1, 2], [])], 3)
            # A GPU works on a frame while those of the other replica pass.
            ends, inner = ([name for name in all_layers if (name in net.ends) == is_end] for is_end in (True, False))
            mapping = (f'mapping<dev<0, cpu>, layers<{", ".join(ends)}>, dev<1, gpu>, dev<2, cpu>, '
                       f'replicas<{", ".join(inner)}>, in_flight<9>>')
            frames = ['--random', '7', '--frames', '30']
            one, expected = net.results([], folder, inputs=frames)
            two, found = net.results(['--mapping', mapping, '--transport', 'in-process'], folder, inputs=frames)
            if one.returncode or two.returncode:
                sys.exit(f'{mapping}\n{one.stderr}{two.stderr}')
            for a, b in zip(map(floats, found), map(floats, expected)):
                if not max(abs(x - y) for x, y in zip(a, b)) <= 1e-5 * max(map(abs, b)):
                    sys.exit(f'results of many frames differ:\n{mapping}')
            print(f'{tried} mappings: all results equal but for rounding')
            sys.exit(tried < 8)
        check([('rows', all_layers, [0, 1, 2], ['shares<7, 1, 2>'])], 3)
        check([('rows', all_layers, [1, 0], ['exchange_every<3>'])], 2)
        check([('replicas', all_layers, [0, 1, 2], ['shares<7, 1, 2>'])], 3)
        check_weights(check([('tiles', all_layers, [0], [])], 1))
        for k in range(given.mixes):  # a kind for each stretch of layers; a work may come again
            works, at, ranks = [], 0, 4 if k < 4 else draw.randint(2, 8)
            while at < len(all_layers):
                end = at + draw.randint(2, 12)
                if k % 2 and works and draw.random() < 0.4:
                    end = at + draw.randint(1, 4)
                    draw.choice(works)[1].extend(all_layers[at:end])
                    at = end
                    continue
                run = draw.sample(range(ranks), draw.randint(2, min(ranks, 4)))
                kind = draw.choice(('rows', 'columns', 'tiles', 'output_channels', 'replicas'))
                options = []
                if kind == 'replicas' and draw.random() < 0.5:
                    options += ['first_free']
                elif k >= 2 and kind != 'tiles' and draw.random() < 0.5:
                    options += [f'shares<{", ".join(str(draw.randint(1, 7)) for _ in run)}>']
                if k >= 2 and kind not in ('output_channels', 'replicas') and draw.random() < 0.5:
                    options += [f'exchange_every<{draw.randint(1, 4)}>']
                works.append((kind, all_layers[at:end], run, options))
                at = end
            check(works, ranks)
        if given.mpirun:
            check([('rows', all_layers, [0, 1], [])], 2, given.mpirun)
            check([('replicas', all_layers, [1, 0], ['first_free'])], 2, given.mpirun)
    print(f'{tried} mappings: all results equal')
    if tried < 8:
        sys.exit('too few of the mappings divide this network')


if __name__ == '__main__':
    main()
