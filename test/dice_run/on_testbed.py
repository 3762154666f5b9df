#!/usr/bin/env python3
"""on_testbed.py DICE_RUN PREFIX FOLDER [HOSTS]: dice-run on 4 (or HOSTS) hosts of tools/testbed, each with a folder, processes and an
sshd of its own, from another host that only has the packages. First all goes well, then everything goes wrong that can, one thing
at a time. Prints what each command says, and fails if that, or what is left on the hosts, is not as expected. By hand: needs root,
openssh-server, three minutes, and dice installed in PREFIX."""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

DICE_RUN = pathlib.Path(sys.argv.pop(1)).resolve()
HERE = pathlib.Path(__file__).resolve()
spec = importlib.util.spec_from_file_location('bed', HERE.parents[1] / 'deployment/on_testbed.py')
bed = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bed)  # reads PREFIX FOLDER [HOSTS]; plans, packages
FOLDER, SITE, HOSTS, sh = bed.FOLDER, bed.SITE, bed.HOSTS, bed.sh
NAME = 'dicerun'
os.environ['TESTBED_NAME'] = NAME
PC = f'h{len(HOSTS) + 1}'
LAST = HOSTS[-1]
# As root, and as the test bed starts Open MPI: Ethernet between hosts, no core for each rank.
MPIRUN = ('--allow-run-as-root --mca pml ob1 --mca btl self,vader,tcp --mca osc ^ucx --mca btl_tcp_if_include 10.99.0.0/24 '
          f'--mca oob_tcp_if_include 10.99.0.0/24 --mca orte_tmpdir_base /run/testbed/{NAME} --mca hwloc_base_binding_policy none')
SSHD = '''Port 22
HostKey {folder}/{host}.key
AuthorizedKeysFile {folder}/{host}.authorized
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
'''
CLIENT = '''Host *
IdentityFile {folder}/key
IdentitiesOnly yes
UserKnownHostsFile {folder}/known_hosts
GlobalKnownHostsFile none
StrictHostKeyChecking yes
'''
daemons = {}
failures = 0


def power_on(host):
    """Starts the host's sshd, with processes of its own: what it starts is seen there only."""
    daemons[host] = subprocess.Popen(
        [bed.TESTBED, 'run', '-h', host, 'env', '-i', 'PATH=' + os.environ['PATH'], 'OMP_NUM_THREADS=1', 'unshare', '--pid', '--fork',
         '--mount-proc', 'sh', '-c', f'mount --bind {FOLDER}/ssh_config /etc/ssh/ssh_config && '
         f'exec /usr/sbin/sshd -D -e -f {FOLDER}/{host}.sshd'], stdout=subprocess.DEVNULL, stderr=open(FOLDER / f'{host}.log', 'a'))


def power_off(host):
    sh(bed.TESTBED, 'kill', host)
    daemons.pop(host).wait()


def processes(host):
    """The deployment's processes on a host, seen from outside: the programs below its folder, and Open MPI's."""
    out = subprocess.run([bed.TESTBED, 'run', '-h', host, 'sh', '-c', 'for p in $(ip netns pids "$(ip netns identify $$)"); do '
                          'readlink /proc/$p/exe; done'], stdout=subprocess.PIPE, text=True).stdout
    return [line for line in out.splitlines() if re.search(r'orte|/numbers$', line)]


def dice_run(*arguments, packages=None, limit=120):
    begin = time.monotonic()
    done = subprocess.run(
        [bed.TESTBED, 'run', '-h', PC, 'env', f'MPIRUN_OPTIONS={MPIRUN}', f'DICE_RUN_SSH=ssh -F {FOLDER}/ssh_config', DICE_RUN,
         '-p', packages or main.packages, '--to', SITE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=limit, cwd=FOLDER)
    return done.returncode, done.stdout, time.monotonic() - begin


def check(what, right, text=''):
    global failures
    print(f'{"ok  " if right else "FAIL"}  {what}' + ('' if right else f'\n{text}'), flush=True)
    failures += not right


def expect(what, patterns, result, code=0, within=60):
    """Each pattern must match a line of what was said. Prints these lines."""
    status, out, seconds = result
    lines = [next((line for line in out.splitlines() if re.search(p, line)), None) for p in patterns]
    check(f'{what} ({seconds:.1f} s)', None not in lines and status == code and seconds < within, f'exit status {status}\n{out}')
    print(''.join(f'          {line}\n' for line in dict.fromkeys(lines) if line), end='', flush=True)


def versions():
    return {host['host']: (host.get('current'), host.get('previous')) for host in json.loads(dice_run('status', '--json')[1])['hosts']}


def prepare():
    shutil.rmtree(FOLDER, ignore_errors=True)
    SITE.mkdir(parents=True)
    sh(bed.PREFIX / 'bin/onnx2hpp', bed.DIGITS / 'digits.onnx', '-o', FOLDER / 'net', '-q')
    main.packages = bed.build('first', bed.CUTS[bed.COUNT])
    main.changed = bed.build_changed()
    pathlib.Path('/run/sshd').mkdir(exist_ok=True)
    (FOLDER / 'ssh_config').write_text(CLIENT.format(folder=FOLDER))
    for key in ['key', 'other', *[f'{host}.key' for host in HOSTS]]:
        sh('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', FOLDER / key)
    known = ''
    for host in HOSTS:
        (FOLDER / f'{host}.sshd').write_text(SSHD.format(folder=FOLDER, host=host))
        shutil.copy(FOLDER / 'key.pub', FOLDER / f'{host}.authorized')
        known += f'{host},10.99.0.{host[1:]} ' + ' '.join((FOLDER / f'{host}.key.pub').read_text().split()[:2]) + '\n'
    (FOLDER / 'known_hosts').write_text(known)
    sh(bed.TESTBED, 'up', len(HOSTS) + 1, '--wire', '--rate', '940mbit', '--delay', '0.15ms', '--folder', SITE)
    sh(bed.TESTBED, 'shape', LAST, '--rate', '100mbit', '--delay', '1ms')
    for host in HOSTS:
        power_on(host)
    time.sleep(2)


def links_are_found():
    expect('check', [r'^h1 +.* x86_64 ', rf'^h1 – {LAST} '], dice_run('check', '--one-by-one', '--json', FOLDER / 'found.json', limit=400), within=400)
    for link in json.loads((FOLDER / 'found.json').read_text())['links']:
        stated = 100 if LAST in link['hosts'] else 940
        fits = all(abs(link[way] / stated - 1) < 0.1 for way in ('mbit_per_s', 'back_mbit_per_s'))
        check(f'{"–".join(link["hosts"])}: {link["mbit_per_s"]:.0f} and {link["back_mbit_per_s"]:.0f} Mbit/s, stated {stated}', fits)
    sh(bed.TESTBED, 'shape', LAST, '--rate', '940mbit', '--delay', '0.15ms')


def goes_well():
    links_are_found()
    expect('deploy', [rf'^{LAST}: \d+ of \d+ files copied', r'is now on all'], dice_run('deploy'))
    expect('deploy again copies nothing', [r'already, in .*; 0 B copied'], dice_run('deploy'))
    expect('start', [r'numbers runs on'], dice_run('start', '--', '--random', '1', '--frames', '1000000000'))
    expect('status', [r'^h1 .* 2 of 2', rf'^{LAST} .* 1 of 1', r'runs since'], dice_run('status'))
    expect('start refuses a second job', ['runs already'], dice_run('start'), code=1)
    expect('deploy of another version, while the job runs', ['is now on all', 'a job is running'], dice_run('deploy', packages=main.changed))
    expect('the job goes on', ['2 of 2'], dice_run('status'))
    expect('rollback', ['is the previous version'], dice_run('rollback'))
    expect('stop', ['no process of it is left'], dice_run('stop'))
    check('no process is left', not any(processes(h) for h in HOSTS), [processes(h) for h in HOSTS])
    expect('stop again', ['does not run'], dice_run('stop'))
    expect('a job that ends', ['ended already|runs on'], dice_run('start', '--', '--input', 'digits_in.npy', '--expect', 'digits_out.npy'))
    time.sleep(1)
    expect('logs', [rf'^{HOSTS[-2]} #\d+ +\| .*|^h1 #0 +\| ', r'scores: error \d'], dice_run('logs'))
    expect('bench', [r'^50 frames in', 'trace.json'], dice_run('bench', '--frames', '50', '-o', FOLDER / 'bench'))
    check('its files', {f.name for f in (FOLDER / 'bench').iterdir()} == {'figures.json', 'explanation.txt', 'trace.json'})
    expect('measure', ['profile'], dice_run('measure', '-o', FOLDER / 'profile.json', limit=300), within=300)
    check('the profile', 'layers' in (FOLDER / 'profile.json').read_text())


def goes_wrong():
    before = versions()
    same = lambda: check('nothing was switched', versions() == before, versions())
    sh(bed.TESTBED, 'cut', LAST)
    expect('deploy, a host is missing', [rf'{LAST}: .*power', 'nothing was'], dice_run('deploy', packages=main.changed), code=1)
    expect('start, a host is missing', [rf'{LAST}: .*power'], dice_run('start'), code=1)
    sh(bed.TESTBED, 'restore', LAST)
    same()
    shutil.copy(FOLDER / 'other.pub', FOLDER / f'{LAST}.authorized')
    expect('deploy, a wrong key', [rf'{LAST}: it refuses'], dice_run('deploy', packages=main.changed), code=1)
    shutil.copy(FOLDER / 'key.pub', FOLDER / f'{LAST}.authorized')
    same()
    known = (FOLDER / 'known_hosts').read_text()
    (FOLDER / 'known_hosts').write_text(known.replace(*[(FOLDER / f'{k}.pub').read_text().split()[1] for k in (f'{LAST}.key', 'other')]))
    expect('deploy, a changed host key', [rf'{LAST}: its host key has changed'], dice_run('deploy', packages=main.changed), code=1)
    (FOLDER / 'known_hosts').write_text(known)
    same()
    mid_run()
    big = larger_packages()
    full_disk(before, big)
    cut_while_copying(before, big)


def mid_run():
    for what, event, back in [('a cable is cut', lambda: sh(bed.TESTBED, 'cut', LAST), lambda: sh(bed.TESTBED, 'restore', LAST)),
                              ('a board loses power', lambda: power_off(LAST), lambda: power_on(LAST))]:
        expect('start --restart 8', ['runs on'], dice_run('start', '--restart', '8', '--', '--random', '1', '--frames', '1000000000'))
        begin, event_time = time.monotonic(), time.time()
        event()
        while 'the job has failed' not in (log := dice_run('logs')[1]) and time.monotonic() < begin + 30:
            time.sleep(0.2)
        stamp = re.search(r'dice-run +\| (\S+ \S+) the job has failed', log)
        noticed = time.mktime(time.strptime(stamp[1], '%Y-%m-%d %H:%M:%S')) - event_time if stamp else 99
        check(f'{what}: the job ends within {noticed:.0f} s', noticed < 10, log)
        expect(f'{what}: the log names the host', [rf'\| .*\b{LAST}\b', 'the job has failed', r'starts again in 1 s \(restart 1 of 8\)'],
               (0, log, time.monotonic() - begin), within=20)
        expect('status names it', [rf'not reached: {LAST}: ', rf'last failure: .*\b{LAST}\b'], dice_run('status'), code=1)
        back()
        begin = time.monotonic()
        while f'{LAST} ' not in (out := dice_run('status')[1]) or '0 of' in out:
            if time.monotonic() > begin + 60:
                break
            time.sleep(1)
        expect('the host is back, and the job runs again', [rf'^{LAST} .*1 of 1', r'runs since.*restarts: \d of 8'], (0, out, time.monotonic() - begin), within=60)
        expect('stop', ['no process of it is left'], dice_run('stop'))
        check('no process is left', not any(processes(h) for h in HOSTS), [processes(h) for h in HOSTS])
    expect('start', ['runs on'], dice_run('start', '--', '--random', '1', '--frames', '1000000000'))
    power_off('h1')
    expect('stop, the starting host is gone', ['h1: ', 'not known'], dice_run('stop'), code=1)
    check('no process is left', not any(processes(h) for h in HOSTS), [processes(h) for h in HOSTS])
    power_on('h1')
    time.sleep(1)
    expect('status, h1 is back', ['was killed, or h1 was restarted'], dice_run('status'))


def full_disk(before, big):
    sh(bed.TESTBED, 'disk', LAST, '8m')
    sh(bed.TESTBED, 'run', '-h', LAST, 'sh', '-c', f'head -c 20000000 /dev/zero >{SITE}/full || true')
    power_off(LAST)
    power_on(LAST)  # it sees the new folder
    time.sleep(1)
    expect('deploy, a full disk', [rf'{LAST}: the disk of .* is full', 'nothing was'], dice_run('deploy', packages=big), code=1)
    sh(bed.TESTBED, 'run', '-h', LAST, 'rm', f'{SITE}/full')
    check('nothing was switched', versions() == before, versions())


def larger_packages():
    big = FOLDER / 'big' / 'numbers-packages'
    shutil.copytree(main.packages, big, symlinks=True)
    for host in HOSTS:
        package = big / host / 'numbers'
        (package / 'more').write_bytes(os.urandom(2_000_000))
        manifest = json.loads((package / 'manifest.json').read_text())
        manifest['files'].append({'file': 'more', 'bytes': 2_000_000, 'sha256': sh('sha256sum', package / 'more').split()[0]})
        (package / 'manifest.json').write_text(json.dumps(manifest))
    return big


def cut_while_copying(before, big):
    sh(bed.TESTBED, 'shape', LAST, '--rate', '4mbit')  # four seconds for the file
    part = f'{SITE}/.dice-run/numbers/*.part'
    with subprocess.Popen(['sh', '-c', f'until {bed.TESTBED} run -h {LAST} sh -c "ls -A {part}" 2>/dev/null | grep -q "^[.]more"; do sleep 0.2; done; '
                           f'{bed.TESTBED} cut {LAST}']):
        expect('deploy, the cable is cut', [rf'{LAST}: ', 'goes on with what has been copied'], dice_run('deploy', packages=big), code=1)
    sh(bed.TESTBED, 'restore', LAST)
    sh(bed.TESTBED, 'shape', LAST, '--rate', '940mbit')
    check('nothing was switched', versions() == before, versions())
    time.sleep(20)  # the lock of the deploy that was cut
    expect('deploy again', [rf'{LAST}: [12] of', 'is now on all'], dice_run('deploy', packages=big))


def main():
    subprocess.run([bed.TESTBED, 'down'], check=True, stdout=subprocess.DEVNULL)
    try:
        prepare()
        goes_well()
        goes_wrong()
    finally:
        sh(bed.TESTBED, 'down')
    print('all as expected' if not failures else f'{failures} failed')
    return failures > 0


if __name__ == '__main__':
    sys.exit(main())
