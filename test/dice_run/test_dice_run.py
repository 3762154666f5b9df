"""dice-run on hosts of hosts.py: what it does, and what is left when it cannot."""
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from hosts import Hosts, until

DICE_RUN = os.path.abspath(sys.argv.pop(1))
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix='dice_run '))  # a blank in all paths
NAMES = ['a', 'b']


def setUpModule():
    global HOSTS, ONE, TWO
    try:
        HOSTS = Hosts(FOLDER / 'hosts', NAMES)
    except OSError as e:
        raise unittest.SkipTest(str(e)) from e
    ONE, TWO = HOSTS.packages('one'), HOSTS.packages('two', b'of another training')


def tearDownModule():
    HOSTS.down()
    shutil.rmtree(FOLDER)


class Case(unittest.TestCase):
    def tearDown(self):
        for name in NAMES:
            if (HOSTS.folder / f'ssh.{name}').exists():
                HOSTS.behave(name)

    def dice_run(self, *words, code=0, packages=None):
        done = subprocess.run([DICE_RUN, '-p', packages or ONE, '--to', HOSTS.site, '--ssh', shlex.quote(str(HOSTS.ssh)), *words],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, cwd=FOLDER)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def begin(self, *words):
        return subprocess.Popen([DICE_RUN, '-p', ONE, '--to', HOSTS.site, '--ssh', shlex.quote(str(HOSTS.ssh)), *words],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def versions(self):
        return [(host['current'], host['previous']) for host in json.loads(self.dice_run('status', '--json'))['hosts']]

    def assertLocked(self, locked):
        self.assertEqual(['lock' in HOSTS.on(name, f'ls "{HOSTS.site}/.dice-run/numbers"').split() for name in NAMES], [locked] * len(NAMES))


class Deploy(Case):
    @classmethod
    def setUpClass(cls):
        for name in NAMES:
            HOSTS.on(name, f'rm -rf "{HOSTS.site}"/* "{HOSTS.site}"/.dice-run')
        (HOSTS.folder / 'ssh.log').unlink(missing_ok=True)

    def test_1_first(self):
        HOSTS.behave('b', 'closed')
        said = self.dice_run('deploy', code=1)
        self.assertIn('b: it is up, but has no ssh server', said)
        self.assertNotIn('numbers', HOSTS.on('a', f'ls "{HOSTS.site}"').split())
        HOSTS.behave('b')
        self.assertIn('b: 6 of 6 files copied', self.dice_run('deploy'))
        self.assertEqual(HOSTS.on('b', f'cat "{HOSTS.site}/numbers/it\'s; a file"'), 'of the user')
        self.assertEqual(HOSTS.on('b', f'[ -x "{HOSTS.site}/numbers/run" ] && echo yes'), 'yes\n')
        (HOSTS.folder / 'ssh.log').unlink()
        self.assertIn('is on all hosts already, in', said := self.dice_run('deploy'))
        self.assertIn('; 0 B copied', said)
        self.assertNotIn('rsync --server', (HOSTS.folder / 'ssh.log').read_text())
        HOSTS.on('b', f'cd "{HOSTS.site}/numbers" && printf "of no other" >x && mv x "it\'s; a file"')
        self.assertIn('b: 1 of 6 files copied', self.dice_run('deploy'))
        self.assertEqual(HOSTS.on('b', f'cat "{HOSTS.site}/numbers/it\'s; a file"'), 'of the user')

    def test_2_only_what_changed_and_back(self):
        [(first, none)] = set(self.versions())
        self.assertEqual(none, '')
        self.assertIn('b: 2 of 6 files copied', self.dice_run('deploy', packages=TWO))  # weights and manifest
        [(second, previous)] = set(self.versions())
        self.assertEqual(previous, first)
        self.dice_run('rollback')
        self.assertEqual(set(self.versions()), {(first, second)})
        self.dice_run('rollback')
        self.assertEqual(set(self.versions()), {(second, first)})
        third = self.dice_run('deploy', packages=HOSTS.packages('three', b'x'))
        self.assertIn('2 of 6', third)
        self.assertNotIn(first, HOSTS.on('a', f'ls "{HOSTS.site}/.dice-run/numbers"').split())  # one version is kept
        self.dice_run('deploy')

    def test_3_all_or_nothing(self):
        before = self.versions()
        for what, message in {'refuses': 'b: it refuses this user\'s key; let it in: ssh-copy-id b', 'unknown': 'b: this name is unknown',
                              'changed': 'b: its host key has changed', 'prints': 'b: its shell prints "Welcome to b"', 'cuts 20': 'b: the connection was cut',
                              'fills': 'b: the disk of'}.items():
            HOSTS.behave('b', what)
            said = self.dice_run('deploy', code=1, packages=TWO)
            self.assertIn(message, said)
            self.assertIn('nothing was', said)
            HOSTS.behave('b')
            self.assertEqual(self.versions(), before)
            self.assertLocked(False)
        self.assertNotIn('.part', HOSTS.on('b', f'ls "{HOSTS.site}/.dice-run/numbers"'))  # the disk is full
        foreign = HOSTS.packages('foreign', processor='m68k')
        self.assertRegex(self.dice_run('deploy', code=1, packages=foreign), r'b: its processor is \S+, and its package is for m68k')
        damaged = HOSTS.packages('damaged', b'whole')
        (damaged / 'b/numbers/numbers.packed').write_bytes(b'wrong')
        self.assertIn('b: numbers.packed is not the file that manifest.json describes', self.dice_run('deploy', code=1, packages=damaged))
        self.assertEqual(self.versions(), before)

    def test_4_a_host_that_cannot_switch(self):
        before = self.versions()
        HOSTS.on('b', f'mkdir "{HOSTS.site}/.dice-run/numbers/current.new"')  # in the way of the new link
        self.assertIn('b: ', said := self.dice_run('deploy', code=1, packages=TWO))
        self.assertEqual([v[0] for v in self.versions()], [v[0] for v in before], said)
        HOSTS.on('b', f'rm -r "{HOSTS.site}/.dice-run/numbers/current.new"')
        (HOSTS.folder / 'ssh.log').unlink()
        HOSTS.behave('b', 'interrupts 5')  # while both switch: it ends with one version everywhere
        self.dice_run('deploy', packages=TWO)
        self.assertEqual(len(set(self.versions())), 1)

    def test_5_repairs(self):
        self.dice_run('deploy')
        HOSTS.on('b', f'cd "{HOSTS.site}/numbers/" && cp numbers.packed x && echo damaged >x && mv x numbers.packed; chmod -x run')
        self.assertIn('b: 1 of 6 files copied', self.dice_run('deploy'))
        HOSTS.on('b', f'rm -r "{HOSTS.site}/.dice-run"')
        self.assertIn('b: numbers is not deployed', self.dice_run('start', code=1))
        self.assertIn('b: 6 of 6 files copied', self.dice_run('deploy'))
        self.assertEqual(HOSTS.on('b', f'cd "{HOSTS.site}/numbers" && cat numbers.packed && [ -x run ] && echo yes'), 'weightsyes\n')

    def test_6_locks(self):
        lock = f'"{HOSTS.site}/.dice-run/numbers/lock"'
        begun, boot = "$(sed 's/.*) //' /proc/1/stat | cut -d ' ' -f 20)", '$(cat /proc/sys/kernel/random/boot_id)'
        HOSTS.on('a', f'ln -s "1 {begun} {boot} process 7 on pc" {lock}')
        self.assertIn('a: another dice-run is at work here: process 7 on pc', self.dice_run('deploy', code=1))
        for gone in (f'9999999 {begun} {boot} x', f'1 {begun} of-another-boot x', f'1 0 {boot} x'):
            HOSTS.on('a', f'ln -sfn "{gone}" {lock}')
            self.dice_run('deploy')
        self.assertLocked(False)
        HOSTS.behave('b', 'is a')
        self.assertIn('b: another host of this deployment is the same machine', self.dice_run('deploy', code=1))

    def test_7_folders_of_others(self):
        packages = ['-p', str(ONE), '--ssh', shlex.quote(str(HOSTS.ssh))]
        for folder, message in {'relative': '--to: expected a folder', '/': '--to: expected a folder'}.items():
            done = subprocess.run([DICE_RUN, *packages, '--to', folder, 'deploy'], stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)
        for made in ('mkdir', 'ln -s numbers-1.2'):
            HOSTS.on('b', f'rm "{HOSTS.site}/numbers"; {made} "{HOSTS.site}/numbers"')
            self.assertIn('is there already, and dice-run has not made it', self.dice_run('deploy', code=1))
            HOSTS.on('b', f'rm -d "{HOSTS.site}/numbers"')
        if os.geteuid() == 0:
            HOSTS.on('b', f'chown 1000 "{HOSTS.site}/.dice-run"')  # made in /tmp before dice-run did
            for command in ('deploy', 'start', 'bench'):
                self.assertRegex(self.dice_run(command, '--from', 'b', code=1) if command == 'start' else self.dice_run(command, code=1),
                                 r'\.dice-run belongs to|not deployed')
            HOSTS.on('b', f'chown 0 "{HOSTS.site}/.dice-run"')
        self.dice_run('deploy')

    def test_8_full_disk(self):
        if os.geteuid() != 0:
            self.skipTest('only root can mount a small file system')
        before = self.versions()
        HOSTS.on('b', f'mkdir /tmp/.save && mv "{HOSTS.site}"/.dice-run "{HOSTS.site}"/* /tmp/.save; '
                 f'mount -t tmpfs -o size=400k x "{HOSTS.site}" && mv /tmp/.save/.dice-run /tmp/.save/* "{HOSTS.site}"; rmdir /tmp/.save')
        try:
            said = self.dice_run('deploy', code=1, packages=TWO)
            self.assertRegex(said, r'b: the disk of .* is full: .* are free, .* are needed')
            self.assertEqual(self.versions(), before)
        finally:
            HOSTS.on('b', f'umount "{HOSTS.site}"')
            self.dice_run('deploy')

    def test_9_dry_run(self):
        (HOSTS.folder / 'ssh.log').unlink(missing_ok=True)
        said = self.dice_run('--dry-run', 'deploy', packages=TWO)
        self.assertIn('rsync', said)
        for command in ('start', 'stop', 'status', 'rollback', 'logs', 'bench', 'measure'):
            self.assertIn('-- a ', self.dice_run('--dry-run', command))
        self.assertFalse((HOSTS.folder / 'ssh.log').exists())
        self.assertIn('-- b ', self.dice_run('-v', 'status'))


class Job(Case):
    @classmethod
    def setUpClass(cls):
        Case('dice_run').dice_run('deploy')

    def tearDown(self):
        super().tearDown()
        self.dice_run('stop')

    def phase(self):
        return json.loads(self.dice_run('status', '--json'))['job']['phase']

    def ranks(self):
        return [sum(p['rank'] for p in host['processes']) for host in json.loads(self.dice_run('status', '--json'))['hosts']]

    def test_start_and_stop(self):
        both = [self.begin('start', '--', '--x', "it's; $HOME") for _ in range(2)]
        said = ''.join(run.communicate()[0] for run in both)
        self.assertEqual(sorted(run.returncode for run in both), [0, 1], said)
        self.assertIn('numbers runs on 2 hosts, started on a', said)
        self.assertEqual(self.ranks(), [1, 1])
        HOSTS.on('a', f'printf "ends here" >>"{HOSTS.site}/.dice-run/numbers/job/log"')
        said = self.dice_run('logs')
        self.assertIn("a #0     | frames arrive: --x it's; $HOME", said)
        self.assertIn('ends here\n', said)
        HOSTS.on('a', f'head -c 40000000 /dev/zero | tr "\\0" x >>"{HOSTS.site}/.dice-run/numbers/job/log"')  # is shown in pieces
        pieces = [len(line) for line in self.dice_run('logs', '-n', '1').splitlines()]
        self.assertGreater(len(pieces), 2)
        self.assertLess(max(pieces), 20_000_000)
        self.assertGreater(sum(pieces), 40_000_000)
        self.assertIn('runs already, started on a', self.dice_run('start', code=1))
        self.assertIn('a job is running', self.dice_run('deploy', packages=TWO))
        self.dice_run('deploy', packages=HOSTS.packages('three', b'x'))
        self.assertEqual(self.ranks(), [1, 1])  # of a version that is neither current nor previous now
        self.assertIn('no process of it is left', self.dice_run('stop'))
        self.assertEqual((self.ranks(), self.phase()), ([0, 0], 'stopped'))
        self.assertIn('does not run', self.dice_run('stop'))
        self.dice_run('deploy')

    def test_failures_have_reasons(self):
        self.assertIn('the job has failed: numbers: error: rank 1 (host b): there are no weights', self.dice_run('start', '--', '--fail', code=1))
        self.assertIn('last failure: numbers: error: rank 1 (host b)', self.dice_run('status'))
        self.assertIn('there are no weights', json.loads(self.dice_run('status', '--json'))['job']['last_failure'])
        HOSTS.on('a', f'echo junk >"{HOSTS.site}/.dice-run/numbers/job/state"')
        self.assertIn('job/state on a is damaged', self.dice_run('status'))
        self.assertIn('ended already, without an error', self.dice_run('start', '--', '--quick'))
        self.assertIn('the connection to b was lost', self.dice_run('start', '--', '--die5', code=1))
        HOSTS.behave('b', 'refuses')
        self.assertIn('b: it refuses', self.dice_run('start', code=1))
        self.assertIn('not reached: b: it refuses', self.dice_run('status', code=1))

    def test_restarts(self):
        self.dice_run('start', '--restart', '1', '--', '--die', code=1)
        self.assertTrue(until(lambda: self.phase() == 'failed'))
        self.assertIn('restarts: 1 of 1\nlast failure: the connection to b was lost', self.dice_run('status'))
        self.assertRegex(self.dice_run('logs', '-n', '2'), r'^a mpirun \|   Remote daemon: .*\ndice-run \| .* the job has failed')
        self.assertIn('starts again in 1 s (restart 1 of 1)', self.dice_run('logs'))
        self.dice_run('start', '--restart', '9', '--', '--fail', code=1)
        self.assertTrue(until(lambda: 'restart 2 of 9' in self.dice_run('logs')))
        self.dice_run('stop')
        self.assertEqual(self.phase(), 'stopped')

    def test_processes_that_are_left(self):
        self.dice_run('start', '--from', 'a', '--', '--deaf')
        HOSTS.power_off('a')
        said = self.dice_run('stop', code=1)
        self.assertIn('a: it does not answer; check its power and its cable', said)
        self.assertIn('b: 1 of its processes did not end in order', said)
        HOSTS.power_on('a')
        (HOSTS.folder / 'wanted').unlink()
        self.assertEqual(self.ranks(), [0, 0])
        self.assertEqual(self.phase(), 'lost')
        self.assertIn('was killed, or a was restarted', self.dice_run('status'))

    def test_containers_are_left_alone(self):
        pid = HOSTS.on('b', f"""cd "{FOLDER}" && mkdir root && PATH=$PATH:/usr/sbin && exec unshare --mount sh -c '
            mount -t tmpfs x root && mkdir -p root/usr root/old "root/$0" && mount --rbind /usr root/usr && cp -r "$0/.dice-run" "root/$0" &&
            for l in lib lib64; do [ ! -L "/$l" ] || ln -s "usr/$l" "root/$l"; done && cd root && pivot_root . old &&
            "$0"/.dice-run/numbers/[0-9a-f]*/numbers 1000 >old/dev/null 2>&1 & echo $!' "{HOSTS.site}" """).strip()
        running = f'sleep 0.3; readlink /proc/{pid}/exe'
        self.assertIn('.dice-run/numbers/', HOSTS.on('b', running))
        self.assertIn('does not run', self.dice_run('stop'))
        self.assertIn('.dice-run/numbers/', HOSTS.on('b', f'{running}; kill {pid}'))

    def test_foreground(self):
        with self.begin('start', '--foreground') as run:
            self.assertIn('runs on 2 hosts', run.stdout.readline())
            self.assertIn('starts version', run.stdout.readline())
            run.send_signal(signal.SIGINT)
            self.assertIn('no process of it is left', run.communicate(timeout=30)[0])
        self.assertEqual((self.ranks(), self.phase()), ([0, 0], 'stopped'))
        for command in (('start', '--foreground'), ('bench',)):
            with self.begin(*command) as run:
                self.assertTrue(until((HOSTS.folder / 'wanted').exists))
                run.send_signal(signal.SIGINT)  # before all ranks have run for two seconds
                self.assertIn('no process of it is left', said := run.communicate(timeout=30)[0])
            self.assertEqual((run.returncode, self.ranks()), (1, [0, 0]), said)

    def test_files_are_fetched(self):
        self.dice_run('measure', '-o', 'a:b.json')
        self.assertEqual((FOLDER / 'a:b.json').read_text(), 'figures\n')
        self.assertIn("'missing/x.json' cannot be written", self.dice_run('measure', '-o', 'missing/x.json', code=1))


class Here(Case):
    def test_this_machine_needs_no_ssh(self):
        top, to = FOLDER / 'here-packages', FOLDER / 'to'
        shutil.copytree(ONE / 'a', top / socket.gethostname())
        package = top / socket.gethostname() / 'numbers'
        manifest = json.loads((package / 'manifest.json').read_text())
        (package / 'app').write_text('-np 1 ./numbers\n')
        manifest['host'] = socket.gethostname()
        for file in manifest['files']:
            file['bytes'] = (package / file['file']).stat().st_size
            file['sha256'] = hashlib.sha256((package / file['file']).read_bytes()).hexdigest()
        (package / 'manifest.json').write_text(json.dumps(manifest))

        def run(*words):
            done = subprocess.run([DICE_RUN, '-p', top, '--to', to, '--ssh', 'false', *words], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout)
            return done.stdout
        self.assertIn('6 of 6 files copied', run('deploy'))
        (package / 'numbers').write_bytes((package / 'numbers').read_bytes() + b'\n')
        manifest['files'] = [f for f in manifest['files'] if f['file'] != 'numbers']
        manifest['files'].append({'file': 'numbers', 'bytes': (package / 'numbers').stat().st_size,
                                  'sha256': hashlib.sha256((package / 'numbers').read_bytes()).hexdigest()})
        (package / 'manifest.json').write_text(json.dumps(manifest))
        self.assertIn('2 of 6 files copied', run('deploy'))
        self.assertIn('ended already, without an error', run('start', '--', '--quick'))
        self.assertIn('has ended at', run('status'))
        self.assertIn('does not run', run('stop'))


class Usage(Case):
    def test_commands(self):
        for words, message in [(('deplyo',), 'there is no command "deplyo"'), (('--jsn',), 'there is no option "--jsn"'),
                               ((), 'subcommand is required'), (('status', '--jsn'), '--jsn')]:
            done = subprocess.run([DICE_RUN, *words], stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    def test_packages(self):
        for words, message in [((), 'no packages in . or ./build'), (('-p', 'nothing'), 'there is no folder "nothing"'),
                               (('-p', FOLDER), 'no packages in'), (('-p', ONE, '--ssh', "ssh '"), 'opening quote')]:
            done = subprocess.run([DICE_RUN, *words, 'status'], cwd=FOLDER, stderr=subprocess.PIPE, text=True)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.returncode, 2)
        done = subprocess.run([DICE_RUN, 'status', '--dry-run'], cwd=ONE.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        (ONE.parent / 'other-packages').mkdir()
        done = subprocess.run([DICE_RUN, 'status'], cwd=ONE.parent, stderr=subprocess.PIPE, text=True)
        self.assertIn('several deployments: numbers-packages, other-packages', done.stderr)
        for name, content, code, message in [('app', '', 1, 'cannot read'), ('app', '-np 1 ./numbers\n', 1, 'have 2 ranks, but the file app'),
                                             ('manifest.json', None, 1, 'is no name')]:
            top = HOSTS.packages('damaged')
            for host in NAMES:
                file = top / host / 'numbers' / name
                file.write_text(file.read_text().replace('"numbers"', r'"n\u001b[31m"') if content is None else content)
            self.assertIn(message, self.dice_run('status', code=code, packages=top))
        manifest = HOSTS.packages('wrong') / 'b/numbers/manifest.json'
        manifest.write_text(manifest.read_text().replace('"app"', '"../app"'))
        self.assertIn('is not a file of a package', self.dice_run('status', code=1, packages=manifest.parents[2]))
        shutil.rmtree(manifest.parents[1])
        self.assertIn('the package with rank 1 is missing', self.dice_run('status', code=1, packages=manifest.parents[2]))

    def test_folder_of_the_deployment(self):
        top = HOSTS.packages('placed')
        for host in NAMES:
            (top / host / 'numbers/app').write_text('-np 1 -wdir /opt/my site/numbers ./numbers\n' * 2)
        done = subprocess.run([DICE_RUN, '-p', top, '--ssh', shlex.quote(str(HOSTS.ssh)), 'status', '--json'], capture_output=True, text=True)
        self.assertEqual(json.loads(done.stdout)['folder'], '/opt/my site', done.stderr)
        self.assertIn('was built for the folder "/opt/my site"', self.dice_run('status', code=2, packages=top))


if __name__ == '__main__':
    unittest.main()
