#!/usr/bin/env python3
"""faults_on_testbed.py DICE_RUN PREFIX FOLDER [FAULTS [SEED]]: random commands of dice-run on 4 hosts of tools/testbed, one or two at
a time, with random faults: dice-run is killed or stopped for longer than any lock, hosts are cut off, switched off, have full
disks. After each, when all is whole again, what `status` says is held against what is so, seen from outside; after each `stop`
nothing may run. By hand: needs root, openssh-server, dice installed in PREFIX, and ten seconds for each of the 200 (or FAULTS)."""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

FAULTS = int(sys.argv[4]) if len(sys.argv) > 4 else 200
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else 1
sys.argv[4:] = []
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import on_testbed as jobs  # noqa: E402  (it reads the command line)

bed, SITE, HOSTS = jobs.bed, jobs.SITE, jobs.HOSTS
BASE = f'{SITE}/.dice-run/numbers'
draw = random.Random(SEED)
packages = {}
counts = {}


def on(host, command):
    """What a shell's command prints on a host, past dice-run and ssh."""
    return subprocess.run([bed.TESTBED, 'run', '-h', host, 'sh', '-c', command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def begin(words):
    """dice-run, as a process group of its own."""
    command = [bed.TESTBED, 'run', '-h', jobs.PC, 'env', f'MPIRUN_OPTIONS={jobs.MPIRUN}', f'DICE_RUN_SSH=ssh -F {jobs.FOLDER}/ssh_config',
               jobs.DICE_RUN, '-p', draw.choice(list(packages.values())), '--to', SITE, *words]
    return subprocess.Popen([str(w) for w in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                            cwd=jobs.FOLDER)


def pids_of(run):
    """dice-run itself, below the test bed's shell."""
    return [int(p) for p in subprocess.run(['pgrep', '-x', '-s', str(run.pid), jobs.DICE_RUN.name[:15]], stdout=subprocess.PIPE, text=True).stdout.split()]


def fault(run):
    """Does something bad while the command runs; returns its name, and how it is undone."""
    host = draw.choice(HOSTS)
    time.sleep(draw.random() * draw.choice([0.5, 2, 4]))
    what = draw.choice(['killed', 'killed', 'cut', 'cut', 'power', 'full', 'stopped'])
    if what == 'killed':
        for pid in pids_of(run):
            os.kill(pid, signal.SIGKILL)
        return 'killed', lambda: None
    if what == 'stopped':
        stopped = pids_of(run)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(25 if draw.random() < 0.3 else 2)

        def go_on():
            for pid in stopped:
                try:
                    os.kill(pid, signal.SIGCONT)
                except ProcessLookupError:
                    pass
        return 'stopped', go_on
    if what == 'cut':
        jobs.sh(bed.TESTBED, 'cut', host)
        time.sleep(draw.random() * 10)
        return f'{host} cut off', lambda: jobs.sh(bed.TESTBED, 'restore', host)
    if what == 'power':
        jobs.power_off(host)
        return f'{host} switched off', lambda: jobs.power_on(host)
    on(host, f'head -c 100000000 /dev/zero >"{SITE}/full"')
    return f'disk of {host} full', lambda: on(host, f'rm -f "{SITE}/full"')


def is_complete(host, link):
    """Whether a link leads to nothing, or to all files of a manifest."""
    for path, digest in [line.split('  ', 1)[::-1] for line in on(host, f'[ ! -e "{link}" ] || (cd "{link}/" && sha256sum *)').splitlines()]:
        if path == 'manifest.json':
            wanted = {f['file']: f['sha256'] for f in json.loads(on(host, f'cat "{link}/manifest.json"'))['files']}
            have = dict(line.split('  ', 1)[::-1] for line in on(host, f'cd "{link}/" && sha256sum *').splitlines())
            return all(have.get(f) == d for f, d in wanted.items())
    return on(host, f'[ ! -e "{link}" ] && echo none').strip() == 'none'


def judge(name):
    """`status` against the truth."""
    for _ in range(3):  # processes that end by themselves after a fault
        truth = {h: jobs.processes(h) for h in HOSTS}
        code, said, _ = jobs.dice_run('status', '--json', packages=packages['first'])
        if truth == {h: jobs.processes(h) for h in HOSTS}:
            break
        time.sleep(2)
    told = json.loads(said[said.index('{'):])
    for host in told['hosts']:
        if not host['reachable']:
            jobs.check(f'{name}: {host["host"]} is reached', False, said)
            continue
        for key, link in (('current', f'{SITE}/numbers'), ('previous', f'{BASE}/previous')):
            so = on(host['host'], f'[ ! -d "{link}/" ] || readlink "{link}"').strip().split('/')[-1]
            if so != host[key] or not is_complete(host['host'], link):
                jobs.check(f'{name}: {key} of {host["host"]} is {so}', False, said)
        ranks = sum(p['rank'] for p in host['processes'])
        so = sum(p.endswith('/numbers') for p in truth[host['host']])
        if ranks != so:
            jobs.check(f'{name}: {so} ranks run on {host["host"]}', False, said)
    alive = [h for h in HOSTS if on(h, f'[ ! -f "{BASE}/job.lock" ] || flock -sn "{BASE}/job.lock" true || echo alive')]
    phase = told['job']['phase'] if told['job'] else 'none'
    if bool(alive) != (phase in ('starting', 'running', 'waiting', 'unsaved')):
        jobs.check(f'{name}: a supervisor lives on {alive}, and the job is {phase}', False, said)
    if len(alive) > 1:
        jobs.check(f'{name}: one job', False, alive)
    for h in HOSTS:
        if any(int(size) > 1 << 20 for size in on(h, f'stat -c %s "{BASE}"/job/log*').split()):
            jobs.check(f'{name}: logs of {h} are bounded', False)
    counts[phase] = counts.get(phase, 0) + 1


def main():
    subprocess.run([bed.TESTBED, 'down'], check=True, stdout=subprocess.DEVNULL)
    try:
        jobs.prepare()
        packages.update(first=jobs.main.packages, changed=jobs.main.changed, few=bed.build('few', bed.CUTS[2]))
        for h in HOSTS:
            on(h, f'mount -t tmpfs -o size=60m none "{SITE}"')
        for k in range(FAULTS):
            words = draw.choice([['deploy'], ['deploy'], ['start', '--restart', '2', '--', '--random', '1', '--frames', '1000000000'],
                                 ['start', '--', '--random', '1', '--frames', '100'], ['stop'], ['rollback'], ['status']])
            runs = [begin(words)] + ([begin(['deploy'])] if draw.random() < 0.2 else [])
            what, undo = fault(runs[0])
            if what.startswith(('killed', 'stopped')) or draw.random() < 0.5:
                undo()
                undo = None
            said = [run.communicate(timeout=150)[0] for run in runs]
            if undo:
                undo()
            name = f'{k}: {" ".join(words[:1])}, {what}'
            print(f'{name}: exit codes {[run.returncode for run in runs]}: {said[0].strip().splitlines()[-1] if said[0].strip() else ""}', flush=True)
            time.sleep(1.5)
            judge(name)
            if k % 3 == 2:
                code, said, _ = jobs.dice_run('stop', packages=packages['first'])
                left = {h: jobs.processes(h) for h in HOSTS if jobs.processes(h)}
                jobs.check(f'{name}, then stop: nothing is left', code == 0 and not left, f'{said}{left}')
                judge(name + ', then stop')
        time.sleep(22)  # locks of dice-runs that were killed
        jobs.expect('at last: stop', ['on any host'], jobs.dice_run('stop', packages=packages['first']))
        for key in ('changed', 'first'):
            jobs.expect(f'at last: deploy {key}', ['on all hosts'], jobs.dice_run('deploy', packages=packages[key]))
        parts = [on(h, f'ls -d "{BASE}"/*.part 2>/dev/null') for h in HOSTS]
        jobs.check('no part is left', not any(parts), parts)
    finally:
        jobs.sh(bed.TESTBED, 'down')
    print(f'{FAULTS} faults, seed {SEED}; phases {counts}: ' + ('all as expected' if not jobs.failures else f'{jobs.failures} failed'))
    return jobs.failures > 0


if __name__ == '__main__':
    sys.exit(main())
