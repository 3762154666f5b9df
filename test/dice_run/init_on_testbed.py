#!/usr/bin/env python3
"""init_on_testbed.py PREFIX FOLDER [RATE:DELAY…]: from examples/digits to a job of dice-run on hosts of tools/testbed with these links
(by default 100mbit:1ms 100mbit:1ms 20mbit:3ms 20mbit:3ms; one host for each): `check` finds them within 10 %, and what `init` writes is
built, deployed, run, measured and built again as its README says; then predictions are better. By hand: needs root, some minutes, and dice installed in PREFIX."""
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys

PREFIX, FOLDER = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
LINKS = [word.split(':') for word in sys.argv[3:]] or [('100mbit', '1ms')] * 2 + [('20mbit', '3ms')] * 2
ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTBED = ROOT / 'tools/testbed/dice-testbed'
HOSTS = [f'h{k + 1}' for k in range(len(LINKS))]
SSH = f'''#!/bin/sh
while :; do case $1 in -o) shift 2 ;; --) shift ;; *) break ;; esac; done
host=$1; shift
exec {TESTBED} run -h "$host" sh -c "$*"
'''


def sh(command, code=0):
    print('$', command, flush=True)
    done = subprocess.run(['sh', '-c', command], cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, 'DICE_RUN_SSH': f'{FOLDER}/ssh', 'PATH': f'{PREFIX}/bin:{os.environ["PATH"]}'})
    if done.returncode != code:
        sys.exit(f'exit status {done.returncode}:\n{done.stdout}')
    return done.stdout


def links_are_found():
    """Payload is 1448 of the 1538 bytes of a full frame, and a message waits where it is sent: on the way, and half of it on both."""
    right = True
    for link in json.loads((FOLDER / 'found.json').read_text())['links']:
        shapes = [LINKS[HOSTS.index(host)] for host in link['hosts']]
        rate = min(float(shape[0].removesuffix('mbit')) for shape in shapes)
        delay = sum(float(shape[1].removesuffix('ms')) for shape in shapes) / 2
        fits = all(abs(link[key] / rate - 1) < 0.1 for key in ('mbit_per_s', 'back_mbit_per_s'))
        print(f'{"ok" if fits else "FAIL"}    {"-".join(link["hosts"])}: {link["mbit_per_s"]:.1f} and {link["back_mbit_per_s"]:.1f} Mbit/s, stated '
              f'{rate:g}; {link["us"] / 1000:.2f} ms, stated {delay:g}')
        right = right and fits
    return right


def figures():
    """Frames/s of the build's plan: as predicted, and as `bench` measures the job that is deployed."""
    said = sh(f'cd site && build/numbers --plan=json >plan.json && dice-run --to {FOLDER}/place bench --frames 200')
    predicted = json.loads((FOLDER / 'site/plan.json').read_text())['predicted']['frames_per_s']
    measured = float(re.search(r'([\d.e+]+) frames/s', said)[1])
    print(f'{predicted:.4g} frames/s predicted, {measured:.4g} measured')
    return abs(math.log(predicted / measured))


def job_runs(commands):
    """Of a project's README: the last one starts a job of 100 frames, whose log this waits for."""
    for command in commands:
        print(sh(f'cd site && {command}')[-1500:])
    log = ''
    for _ in range(30):
        log = sh(f'cd site && dice-run --to {FOLDER}/place logs')
        if 'frames/s' in log:
            break
        subprocess.run(['sleep', '1'], check=True)
    print(log)
    return '100 frames' in log


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / 'place').mkdir(parents=True)
    (FOLDER / 'ssh').write_text(SSH)
    (FOLDER / 'ssh').chmod(0o755)
    subprocess.run([TESTBED, 'up', str(len(HOSTS)), '--wire', '--folder', FOLDER / 'place'], check=True)
    try:
        for host, (rate, delay) in zip(HOSTS, LINKS):
            subprocess.run([TESTBED, 'shape', host, '--rate', rate, '--delay', delay], check=True)
        print(sh(f'dice-run check --hosts {",".join(HOSTS)} --json found.json'))
        right = links_are_found()
        sh(f'dice-run init {ROOT}/examples/digits/digits.onnx site --hosts {",".join(HOSTS)} --name numbers')
        started, measured = ([line.replace('dice-run ', f'dice-run --to {FOLDER}/place ') for line in block.splitlines()]
                             for block in re.findall(r'```sh\n(.*?)```', (FOLDER / 'site/README.md').read_text(), re.S))
        right = job_runs(started) and right
        sh(f'cd site && dice-run --to {FOLDER}/place stop')
        before = figures()
        for command in measured:
            print(sh(f'cd site && {command}')[-1500:])
        after = figures()
        print('ok' if after < before else 'FAIL', '   the prediction comes closer to what is measured')
        right = after < before and right
    finally:
        subprocess.run([TESTBED, 'down'], check=True)
    print('all as expected' if right else 'not as expected')
    return not right


if __name__ == '__main__':
    sys.exit(main())
