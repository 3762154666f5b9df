#!/usr/bin/env python3
"""on_testbed.py PREFIX FOLDER [HOSTS]: a deployment of examples/digits to 4 (or HOSTS) hosts of tools/testbed, each with a folder of
its own: packages are unpacked, a job runs, and then everything goes wrong that can, one thing at a time. Prints each message, and
fails if one does not name its host and cause. By hand: needs root, a minute or two, and dice installed in PREFIX."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

PREFIX, FOLDER = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 4
ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTBED = ROOT / 'tools/testbed/dice-testbed'
DIGITS = ROOT / 'examples/digits'
SITE = FOLDER / 'site'
HOSTS = [f'h{k + 1}' for k in range(COUNT)]
# The first layer of each rank but the first. The first two ranks are on the first host.
CUTS = {2: ['conv2', 'conv3'], 4: ['conv1', 'conv2', 'conv3', 'fc1'],
        8: ['conv1', 'relu1', 'conv2', 'relu2', 'conv3', 'pool3', 'fc1', 'fc2']}

SHIM = r'''
#include <string.h>
int MPI_Get_library_version(char *to, int *length) { strcpy(to, "Open MPI v4.1.99, not this one"); *length = 30; return 0; }
'''
LISTS = '''cmake_minimum_required(VERSION 3.25)
project(bed VERSION 1 LANGUAGES CXX)
find_package(dice CONFIG REQUIRED)
dice_add_board(pc DICE_BOARD native)
dice_add_network(digits ONNX {model})
dice_add_deployment({name} NETWORK digits PLAN {name}.hpp FILES {digits}/digits_in.npy {digits}/digits_out.npy)
'''


def sh(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f'{command} fails:\n{done.stdout}')
    return done.stdout


def plan(cuts):
    layers = [layer['name'] for layer in json.loads((FOLDER / 'net/digits.json').read_text())['layers']]
    first = [0, *[layers.index(cut) for cut in cuts], len(layers)]
    hosts = ', '.join(f'dice::host<"{host}", pc>' for host in HOSTS)
    lines = ',\n'.join(f'dice::dev<{k}, dice::cores<{k % 2}>, dice::on<"{HOSTS[max(k - 1, 0)]}">>, dice::layers<dice::range<digits::{layers[a]}, '
                       f'digits::{layers[b - 1]}>>' for k, (a, b) in enumerate(zip(first, first[1:])))
    return ('#include <dice/dice.hpp>\n#include "digits.hpp"\n'
            'using pc = dice::board<"pc", dice::ram<(1LL << 30)>, dice::processor<dice::cpu, dice::gflops<9>, dice::gbytes_per_s<9>>>;\n'
            f'using machines = dice::cluster<{hosts}, dice::connection<dice::mbit_per_s<940>, dice::us<150>>>;\n'
            f'using deployment = dice::mapping<{lines}>;\n')


def build(folder, cuts):
    name, source = 'numbers', FOLDER / folder
    source.mkdir()
    (source / f'{name}.hpp').write_text(plan(cuts))
    (source / 'CMakeLists.txt').write_text(LISTS.format(name=name, model=DIGITS / 'digits.onnx', digits=DIGITS))
    sh('cmake', '-S', source, '-B', source / 'build', '-G', 'Ninja', f'-DCMAKE_PREFIX_PATH={PREFIX}', '-DDICE_CUDA=OFF',
       '-DCMAKE_BUILD_TYPE=Release')
    sh('cmake', '--build', source / 'build', '--target', f'{name}-packages')
    return source / 'build' / f'{name}-packages'


def unpack(host, packages, of=None):
    """Unpacks the package of host `of` on `host`, as `numbers`."""
    sh(TESTBED, 'run', '-h', host, 'sh', '-c', f'rm -rf {SITE}/* && tar -C {SITE} -xzf {packages}/{of or host}.tar.gz')


def start(options='', limit=60):
    """Starts the job on the first host; returns its exit status, what it printed, and the seconds that it took."""
    begin = time.monotonic()
    done = subprocess.run([TESTBED, 'run', 'sh', '-c', f'{SITE}/numbers/run --input digits_in.npy {options}'], text=True, timeout=limit,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, 'OMP_NUM_THREADS': '1'})
    return done.returncode, done.stdout, time.monotonic() - begin


failures = 0


def expect(what, pattern, result, code=1, within=60):
    global failures
    status, out, seconds = result
    lines = [line for line in out.splitlines() if re.search(pattern, line)]
    right = bool(lines) and (status == 0) == (code == 0) and seconds < within
    print(f'{"ok" if right else "FAIL"}    {what}: exit status {status} after {seconds:.1f} s\n        '
          + (lines[0] if lines else f'no line matches {pattern}:\n{out}'), flush=True)
    failures += not right


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    SITE.mkdir(parents=True)
    sh(PREFIX / 'bin/onnx2hpp', DIGITS / 'digits.onnx', '-o', FOLDER / 'net', '-q')
    numbers = build('first', CUTS[COUNT])
    program = numbers.parent / 'numbers'
    last = HOSTS[-1]
    subprocess.run([TESTBED, 'down'], check=True)
    sh(TESTBED, 'up', COUNT, '--preset', 'gbe', '--folder', SITE)
    try:
        for host in HOSTS:
            unpack(host, numbers)
        expect('the job', r'scores: error \d', start('--expect digits_out.npy'), code=0)

        sh(TESTBED, 'cut', last)
        expect('a host is missing', rf'\b{last}\b', start())
        sh(TESTBED, 'restore', last)

        unpack(last, numbers, of=HOSTS[1])
        expect('the package of another host', rf'rank {COUNT} \(host {last}\): .*rank', start())

        unpack(last, numbers)
        sh(TESTBED, 'run', '-h', last, 'truncate', '-s', '-4096', SITE / 'numbers/numbers.packed')
        expect('a package that is cut short', rf'\(host {last}\): .*cut short', start())
        unpack(last, numbers)

        retrained(program, COUNT, last)
        expect('weights of another training', rf'different trainings: rank 0 .*rank {COUNT} \(host {last}\)', start())
        unpack(last, numbers)

        changed = build_changed()
        sh(TESTBED, 'run', '-h', last, 'sh', '-c', f'cp {changed}/{last}/numbers/numbers {SITE}/numbers/numbers')
        expect('a program with another plan', rf'rank {COUNT} \(host {last}\) runs the plan \w+, rank 0 \(host h1\) the plan', start())
        unpack(last, numbers)

        (FOLDER / 'shim.c').write_text(SHIM)
        sh('gcc', '-shared', '-fPIC', '-o', FOLDER / 'shim.so', FOLDER / 'shim.c')
        sh(TESTBED, 'run', '-h', last, 'sh', '-c', f'cd {SITE}/numbers && mkdir real && mv numbers numbers.packed real && '
           f"echo '#!/bin/sh\nLD_PRELOAD={FOLDER}/shim.so exec real/numbers \"$@\"' >numbers && chmod +x numbers")
        expect('another Open MPI', rf'host {last} has Open MPI v4.1.99, and this program was built with Open MPI v4', start())
        unpack(last, numbers)

        sh(TESTBED, 'memory', last, 40_000_000)
        expect('too little memory', rf'\(host {last}\).*memory', start('--frames 2000000 --output out.npy'))
        sh(TESTBED, 'memory', last, 'max')

        sh(TESTBED, 'disk', last, '2m')
        sh(TESTBED, 'run', '-h', last, 'sh', '-c', f'head -c 9000000 /dev/zero >{SITE}/full || true')
        expect('a full disk', rf'\(host {last}\).*[Nn]o space', start('--output out.npy'))
        left = sh(TESTBED, 'run', '-h', last, 'ls', '-A', f'{SITE}/numbers')
        expect('nothing of the results is left', r'^yes$', (0, 'yes' if 'out.npy' not in left.split() and '.tmp' not in left else left, 0), code=0)
        sh(TESTBED, 'run', '-h', last, 'rm', f'{SITE}/full')

        running = subprocess.Popen([TESTBED, 'run', 'sh', '-c', f'{SITE}/numbers/run --input digits_in.npy --frames 1000000000'],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        time.sleep(3)
        begin = time.monotonic()
        sh(TESTBED, 'cut', last)
        out = running.communicate(timeout=60)[0]
        expect('a cable is cut in mid-run', rf'\b{last}\b', (running.returncode, out, time.monotonic() - begin), within=15)
        sh(TESTBED, 'restore', last)
        time.sleep(1)
        expect('the host is back', r'scores: error \d', start('--expect digits_out.npy'), code=0)
    finally:
        sh(TESTBED, 'down')
    print('all as expected' if not failures else f'{failures} failed')
    return failures > 0


def retrained(program, rank, host):
    """Puts weights of another training on a host."""
    folder = FOLDER / 'retrained'
    folder.mkdir()
    sh(sys.executable, ROOT / 'test/deployment/retrain.py', DIGITS / 'digits.onnx', folder / 'digits.onnx')
    sh(PREFIX / 'bin/onnx2hpp', folder / 'digits.onnx', '-o', folder, '-q')
    sh(program, '--weights', folder / 'digits.safetensors', '--pack', folder / 'numbers.packed', '--ranks', rank)
    sh(TESTBED, 'run', '-h', host, 'cp', folder / 'numbers.packed', SITE / 'numbers/numbers.packed')


def build_changed():
    """Packages of the same deployment with another plan."""
    cuts = [*CUTS[COUNT]]
    cuts[-1] = 'fc2' if cuts[-1] != 'fc2' else 'relu4'
    return build('changed', cuts)


if __name__ == '__main__':
    sys.exit(main())
