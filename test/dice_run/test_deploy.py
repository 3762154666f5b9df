"""deploy and rollback: what they do, and what is left when they cannot."""
import json
import os
import pathlib
import pty
import re
import shlex
import shutil
import signal
import subprocess
import time
import unittest

from cases import Case, DICE_RUN, HOSTS, JOB, NAMES, ONE, TWO, tearDownModule  # noqa: F401
from hosts import until


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
        self.assertIn('b: 9 of 9 files copied', self.dice_run('deploy', umask=0o077))
        self.assertTrue((said := self.dice_run('status')).endswith('\njob: none was started\n'), said)
        self.assertIsNone(json.loads(self.dice_run('status', '--json'))['job'])
        self.assertEqual(self.dice_run('logs', code=1), 'dice-run: error: no host has a log of this deployment; dice-run start makes one\n')
        self.assertEqual(HOSTS.on('b', f'cat "{HOSTS.site}/numbers/it\'s; a file"'), 'of the user')
        self.assertEqual(HOSTS.on('b', f'cd "{HOSTS.site}/numbers" && stat -c %a run numbers.packed').split(), ['755', '644'])
        (HOSTS.folder / 'ssh.log').unlink()
        self.assertIn('is on all hosts already, in', said := self.dice_run('deploy'))
        self.assertIn('; 0 B copied', said)
        self.assertNotIn('rsync --server', (HOSTS.folder / 'ssh.log').read_text())
        HOSTS.on('b', f'cd "{HOSTS.site}/numbers" && printf "of no other" >x && mv x "it\'s; a file"')
        self.assertIn('b: 1 of 9 files copied', self.dice_run('deploy'))
        self.assertEqual(HOSTS.on('b', f'cat "{HOSTS.site}/numbers/it\'s; a file"'), 'of the user')

    def test_2_only_what_changed_and_back(self):
        [(first, none)] = set(self.versions())
        self.assertEqual(none, '')
        self.assertIn('a: there is no previous version', self.dice_run('rollback', code=1))
        base = f'{HOSTS.site}/.dice-run/numbers'
        HOSTS.on('b', f'mkdir "{base}/another.part" && cp "{TWO}/b/numbers/numbers.packed" "{base}/another.part"')  # of one that did not finish
        self.assertRegex(self.dice_run('deploy', packages=TWO), 'a: 2 of 9 files copied(.|\n)*b: 1 of 9 files copied')  # weights and manifest
        [(second, previous)] = set(self.versions())
        self.assertEqual(previous, first)
        self.dice_run('rollback')
        self.assertEqual(set(self.versions()), {(first, second)})
        self.dice_run('rollback')
        self.assertEqual(set(self.versions()), {(second, first)})
        uses = HOSTS.on('b', f'cd "{base}/{first}" && OMPI_MCA_dice_run_job={JOB} sleep 100 >/dev/null 2>&1 & echo $!').strip()
        # A file system without hard links, and with 4 GiB free.
        for name, text in (('ln', '[ "$1" != -f ] && exec /bin/ln "$@"'), ('stat', '[ "$1" != -f ] && exec /usr/bin/stat "$@"; echo 1048576 1048576 4096')):
            (HOSTS.folder / 'bin' / name).write_text(f'#!/bin/sh\n{text}\n')
            (HOSTS.folder / 'bin' / name).chmod(0o755)
            self.addCleanup((HOSTS.folder / 'bin' / name).unlink, missing_ok=True)
        self.assertRegex(self.dice_run('deploy', packages=HOSTS.packages('three', b'x')), '2 of 9(.|\n)*a job is running')
        for name in ('ln', 'stat'):
            (HOSTS.folder / 'bin' / name).unlink()
        self.assertEqual(HOSTS.on('b', f'cat "{HOSTS.site}/numbers/it\'s; a file"'), 'of the user')
        [(third, _)] = set(self.versions())
        HOSTS.on('b', f'ln -sfn {third} "{base}/previous"')
        self.assertIn(f'a has the previous version {second}, b has {third}', self.dice_run('rollback', code=1))
        self.assertEqual(self.versions(), [(third, second), (third, third)])
        self.assertNotIn(first, HOSTS.on('a', f'ls "{base}"').split())  # one version is kept
        self.assertIn(first, HOSTS.on('b', f'ls "{base}"; kill {uses}').split())  # a process has its working directory there
        self.dice_run('deploy')

    def test_3_a_terminal_shows_progress(self):
        self.dice_run('deploy')
        big = HOSTS.packages('big', os.urandom(3 << 20))
        terminal, end = pty.openpty()
        with subprocess.Popen([DICE_RUN, '-p', big, '--to', HOSTS.site, '--ssh', shlex.quote(str(HOSTS.ssh)), 'deploy'],
                              stdout=subprocess.PIPE, stderr=end, text=True) as run:
            said = run.communicate(timeout=60)[0]
        os.close(end)
        self.assertEqual(run.returncode, 0)
        self.assertIn('a: 2 of 9 files copied, 3073.0 KiB', said)
        shown = os.read(terminal, 1 << 16).decode().split('\r\033[K')
        os.close(terminal)
        self.assertEqual([shown[0], shown[-1]], ['', ''])  # nothing is left of it
        self.assertIn('the hosts check what they have got', shown)
        self.assertTrue(any(re.fullmatch(r'copying: (3073|6145)[.]\d KiB of 6145[.]9 KiB; [ab]: (0|100) %', line) for line in shown), shown)
        self.assertNotIn('copying', self.dice_run('deploy', packages=HOSTS.packages('big', os.urandom(3 << 20))))  # no terminal
        self.dice_run('deploy')

    def test_3_only_differences_are_sent(self):
        weights = os.urandom(3 << 20)
        self.dice_run('deploy', packages=HOSTS.packages('big', weights))
        own, stats, rsync = HOSTS.folder / 'own', HOSTS.folder / 'stats', shutil.which('rsync')
        own.mkdir()
        (own / 'rsync').write_text(f'#!/bin/sh\n[ "$1" = --server ] || exec {rsync} --stats "$@" >>{shlex.quote(str(stats))}\nexec {rsync} "$@"\n')
        (own / 'rsync').chmod(0o755)
        said = self.dice_run('deploy', packages=HOSTS.packages('alike', weights[:-1] + b'x'), PATH=f'{own}:{os.environ["PATH"]}')
        self.assertIn('b: 2 of 9 files copied', said)
        sent = [int(number.replace(',', '')) for number in re.findall('Literal data: ([0-9,]+) bytes', stats.read_text())]
        self.assertTrue(len(sent) == 2 and max(sent) < 100000, sent)
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
        versions = HOSTS.on('b', f'ls "{HOSTS.site}/.dice-run/numbers"').split()
        sync = HOSTS.folder / 'bin/sync'  # a disk that reports only late that a quota is used up
        sync.write_text('#!/bin/sh\necho "sync: error syncing $2: Disk quota exceeded" >&2\nexit 1\n')
        sync.chmod(0o755)
        said = self.dice_run('deploy', code=1, packages=TWO)
        sync.unlink()
        self.assertRegex(said, r'b: sync: error syncing .*: Disk quota exceeded')
        self.assertIn('nothing was switched', said)
        self.assertEqual(self.versions(), before)
        left = HOSTS.on('b', f'ls "{HOSTS.site}/.dice-run/numbers"').split()
        self.assertEqual([name for name in left if name not in versions and not name.endswith('.part')], [])  # no version is complete
        foreign = HOSTS.packages('foreign', processor='m68k')
        self.assertRegex(self.dice_run('deploy', code=1, packages=foreign), r'b: its processor is \S+, and its package is for m68k')
        damaged = HOSTS.packages('damaged', b'whole')
        (damaged / 'b/numbers/numbers.packed').write_bytes(b'wrong')
        self.assertIn('b: numbers.packed is not the file that manifest.json describes', self.dice_run('deploy', code=1, packages=damaged))
        HOSTS.behave('b', 'cuts 1000000')
        self.assertIn('the next deploy goes on with what has been copied', self.dice_run('deploy', code=1, packages=HOSTS.packages('half', os.urandom(3 << 20))))
        HOSTS.behave('b')
        self.assertRegex(HOSTS.on('b', f'stat -c %s "{HOSTS.site}/.dice-run/numbers/"*.part/numbers.packed'), r'^\d{5,6}\n$')  # stays for the next
        self.assertEqual(self.versions(), before)

    def test_3_a_folder_that_is_mounted_noexec(self):
        before = self.versions()
        HOSTS.on('b', f'mount -o remount,bind,noexec "{HOSTS.site}"')
        error = f'dice-run: error: b: programs cannot run in {HOSTS.site}, because its file system is mounted noexec; choose another folder with --to\n'
        for command, state in (('deploy', 'nothing was changed on any host'), ('start', 'nothing was started'), ('bench', 'nothing was started')):
            said = self.dice_run(command, code=1, packages=TWO)
            self.assertTrue(said.endswith(f'{error}dice-run: error: {state}\n'), said)
        HOSTS.on('b', f'mount -o remount,bind,exec "{HOSTS.site}"')
        self.assertEqual(self.versions(), before)

    def test_4_a_host_that_cannot_switch(self):
        before = self.versions()
        HOSTS.on('b', f'mkdir "{HOSTS.site}/.dice-run/numbers/current.new"')  # in the way of the new link
        self.assertIn('b: ', said := self.dice_run('deploy', code=1, packages=TWO))
        self.assertEqual(self.versions(), before, said)
        with self.begin('deploy', packages=TWO, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)) as run:
            self.assertIn('b: mv: ', run.communicate(timeout=30)[0])  # its exit code also counts if the caller does not want any
        self.assertEqual((run.returncode, self.versions()), (1, before))
        HOSTS.on('b', f'rm -r "{HOSTS.site}/.dice-run/numbers/current.new"')
        (HOSTS.folder / 'ssh.log').unlink()
        HOSTS.behave('b', 'breaks 6')  # nobody knows whether it has switched
        self.assertRegex(self.dice_run('deploy', code=1, packages=TWO), r'b: the connection was cut; .*\n.*: nothing was switched on any host\n$')
        HOSTS.behave('b')
        self.assertEqual(self.versions(), before)
        for end, packages in (('INT', TWO), ('TERM', ONE), ('HUP', TWO)):  # Ctrl-C, kill, a terminal that is closed
            (HOSTS.folder / 'ssh.log').unlink()
            HOSTS.behave('b', f'interrupts 6 {end}')  # while both switch: it ends with one version everywhere
            self.assertIn('is now on all hosts', self.dice_run('deploy', packages=packages))
            HOSTS.behave('b')
            self.assertEqual(len(set(self.versions())), 1)

    def test_4_an_end_says_what_was_switched(self):
        self.dice_run('deploy')
        self.dice_run('deploy', packages=TWO)
        [(second, first)] = set(self.versions())
        for number, by in ((1, 'INT'), (2, 'INT'), (4, 'TERM')):
            self.assertEqual(self.interrupted('deploy', at=('b', number), by=by).splitlines()[-1],
                             'dice-run: error: interrupted; nothing was switched on any host; the next deploy goes on from here')
        self.assertEqual(self.interrupted('rollback', at=('a', 2), by='HUP'), 'dice-run: error: interrupted; nothing was switched on any host\n')
        self.assertEqual(set(self.versions()), {(second, first)})
        self.assertIn(f'interrupted; numbers {first} is now on all hosts\n', self.interrupted('deploy', at=('b', 7)))  # cleans
        self.assertEqual(set(self.versions()), {(first, second)})
        said = self.unprinted('deploy', packages=TWO)
        self.assertIn(f'dice-run: error: numbers {second} is now on all hosts, in {HOSTS.site}; ', said[0])
        self.assertIn(f'numbers {second} is on all hosts already, in', said[1])
        said = self.unprinted('rollback')
        self.assertIn(f'dice-run: error: numbers {first} is now on all hosts, and {second} is the previous version, but', said[0])
        self.assertEqual(set(self.versions()), {(second, first)})
        self.dice_run('rollback')

    def test_4_what_was_left_half_switched(self):
        self.dice_run('deploy')
        self.dice_run('deploy', packages=TWO)
        [(second, first)] = set(self.versions())
        HOSTS.on('a', f'cd "{HOSTS.site}" && ln -sfn .dice-run/numbers/{first} numbers')
        self.assertIn(f'a has version {first}, b has {second}; deploy again', self.dice_run('start', code=1, packages=TWO))
        self.dice_run('deploy', packages=TWO)
        self.assertEqual(set(self.versions()), {(second, first)})
        self.dice_run('rollback', packages=TWO)

    def test_4_what_is_said_to_be_there_is_on_the_disk(self):
        """Each change is synced before what relies on it is made, and again when it has its place."""
        self.dice_run('deploy', packages=ONE)
        base = f'{HOSTS.site}/.dice-run/numbers'
        sync = HOSTS.folder / 'bin/sync'
        sync.write_text(f'#!/bin/sh\ncase $(cat /proc/sys/kernel/hostname) in b) printf "%s\\n" "$(readlink {shlex.quote(str(HOSTS.site))}/numbers) $*" '
                        f'>>{shlex.quote(str(HOSTS.folder))}/synced ;; esac\n')
        sync.chmod(0o755)
        self.addCleanup(sync.unlink)

        def synced(*words, packages):
            """What was synced on b, and whether the new version was current then."""
            self.dice_run(*words, packages=packages)
            [(now, _)] = set(self.versions())
            log = HOSTS.folder / 'synced'
            lines = [line.split(' ', 1) for line in log.read_text().splitlines()]
            log.unlink()
            return [(pathlib.Path(of).name == now, re.sub('[0-9a-f]{16}', 'TOKEN', said.replace(str(HOSTS.site), ''))) for of, said in lines]
        self.assertEqual(synced('deploy', packages=TWO), [(False, '-f /.dice-run/numbers/TOKEN.part'), (False, '-f /.dice-run/numbers'),
                                                          (True, '-f /.dice-run/numbers')])
        self.assertEqual(synced('rollback', packages=ONE), [(True, '-f /.dice-run/numbers')])
        for name in NAMES:
            HOSTS.on(name, f'echo a >"{base}/members"')
        self.assertIn((True, '/.dice-run/numbers/members.new'), synced('deploy', packages=ONE))
        self.assertEqual(synced('start', '--from', 'b', '--', '--quick', packages=ONE), [(True, 'supervise about.new')])

    def test_5_repairs(self):
        self.dice_run('deploy')
        [(first, _)] = set(self.versions())
        base = f'{HOSTS.site}/.dice-run/numbers'
        self.dice_run('deploy', packages=TWO)
        HOSTS.on('b', f'cd "{base}/{first}" && for f in "it\'s; a file" "#\\t1"; do printf "of no other" >x && mv x "$f"; done')
        HOSTS.on('a', f'echo a >"{base}/members"')
        self.assertIn('b: has all files already', self.dice_run('deploy'))  # that of the current version is the same
        self.assertEqual(HOSTS.on('b', f'cd "{HOSTS.site}/numbers" && cat "it\'s; a file" "#\\t1"'), 'of the user')
        self.assertEqual(HOSTS.on('a', f'cat "{base}/members"'), 'a\nb\n')
        HOSTS.on('b', f'cd "{HOSTS.site}/numbers/" && cp numbers.packed x && echo damaged >x && mv x numbers.packed; chmod -x run')
        self.assertIn('b: 1 of 9 files copied', self.dice_run('deploy'))
        self.assertEqual(HOSTS.on('b', f'[ -x "{HOSTS.site}/numbers/run" ] && echo yes'), 'yes\n')
        HOSTS.on('b', f'cd "{HOSTS.site}/numbers/" && mv numbers.packed ../elsewhere && ln -s "$(pwd -P)/../elsewhere" numbers.packed')
        self.assertIn('b: 1 of 9 files copied', self.dice_run('deploy'))  # a link is no file of a package
        HOSTS.on('b', f'cd "{HOSTS.site}/numbers/" && mv app ../elsewhere && mkdir app')
        self.assertIn('b: mv: cannot overwrite directory', self.dice_run('deploy', code=1))
        HOSTS.on('b', f'rm -r "{HOSTS.site}/.dice-run"')
        self.assertIn('b: numbers is not deployed', self.dice_run('start', code=1))
        self.assertIn('b: 9 of 9 files copied', self.dice_run('deploy'))
        self.assertEqual(HOSTS.on('b', f'cd "{HOSTS.site}/numbers" && cat numbers.packed && [ -x run ] && echo yes'), 'weightsyes\n')

    def test_5_repairs_what_versions_share(self):
        self.dice_run('deploy')
        self.dice_run('deploy', packages=TWO)
        file = f'"{HOSTS.site}/numbers/it\'s; a file"'
        self.assertEqual(HOSTS.on('b', f'stat -c %h {file}; printf "of no other" >{file}'), '2\n')  # written to, and not replaced
        self.assertIn('b: 1 of 9 files copied', self.dice_run('deploy', packages=TWO))
        self.assertEqual(HOSTS.on('b', f'cat {file}'), 'of the user')
        self.dice_run('rollback')
        self.assertEqual(HOSTS.on('b', f'cat {file}; stat -c %h {file}'), 'of the user2\n')

    def test_6_locks(self):
        base = f'"{HOSTS.site}/.dice-run/numbers"'
        HOSTS.on('a', f'cd {base} && ln -sfn "token 1 process 7 on pc" holder && (exec 9>>lock; flock 9; exec sleep 600) >/dev/null 2>&1 & echo $! >{base}/sleeps')
        self.assertTrue(until(lambda: 'locked' in HOSTS.on('a', f'flock -sn {base}/lock true || echo locked')))
        self.assertIn('a: another dice-run is at work here: process 7 on pc; wait until it ends', self.dice_run('deploy', code=1))
        HOSTS.on('a', f'kill -9 $(cat {base}/sleeps); rm {base}/sleeps')  # the kernel gives the lock back
        HOSTS.on('b', f'chmod 644 {base}/lock {base}/mutex; rm -f {base}/job.lock')
        self.dice_run('deploy')
        self.assertEqual(HOSTS.on('b', f'cd {base} && stat -c %a lock mutex job.lock').split(), ['600'] * 3)  # others cannot keep them
        self.assertLocked(False)
        with self.assertRaises(AssertionError):
            self.assertLocked(True)
        HOSTS.behave('b', 'is a')
        self.assertIn(f'b: another host of this deployment is the same machine, or has the same {HOSTS.site}; name each machine once', self.dice_run('deploy', code=1))

    def test_6_a_deploy_that_lost_its_lock(self):
        [first] = {current for current, _ in self.versions()}
        awake = HOSTS.site / 'awake'  # another deployment, whose dice-run is not stopped, keeps its lock
        with self.begin('deploy', to=awake) as deploy:
            deploy.communicate(timeout=60)
        rank = HOSTS.folder / 'b.rank'
        rank.unlink(missing_ok=True)
        bench = self.begin('bench', to=awake)
        self.addCleanup(bench.kill)
        self.assertTrue(until(rank.exists))  # from now on, connections to b are dice-run's
        (HOSTS.folder / 'ssh.log').unlink()
        HOSTS.behave('b', 'stops 6')
        with self.begin('deploy', packages=HOSTS.packages('late', b'of a laptop that sleeps')) as late:
            self.assertTrue(until(lambda: (HOSTS.folder / 'stopped').exists()))
            HOSTS.behave('b')
            until(lambda: 'locked' not in HOSTS.on('a', f'flock -sn "{HOSTS.site}/.dice-run/numbers/lock" true || echo locked'), 30)
            self.assertEqual(self.locked(awake), [True, True])
            bench.send_signal(signal.SIGINT)
            self.assertIn('interrupted; nothing was fetched', bench.communicate(timeout=30)[0])
            self.dice_run('deploy', packages=TWO)
            now = self.versions()
            (HOSTS.folder / 'stopped').unlink()
            late.send_signal(signal.SIGCONT)
            said = late.communicate(timeout=60)[0]
        self.assertEqual(late.returncode, 1, said)
        self.assertRegex(said, 'has lost its lock: process|the connection that keeps its lock was lost')
        self.assertIn('nothing was switched', said)
        self.assertEqual(self.versions(), now)
        self.dice_run('deploy')
        self.assertEqual({current for current, _ in self.versions()}, {first})

    def test_6_one_lock_is_lost(self):
        before = self.versions()
        (HOSTS.folder / 'ssh.log').unlink()
        HOSTS.behave('b', 'stops 4')
        with self.begin('deploy', packages=HOSTS.packages('late', b'of a cable that was pulled')) as late:
            self.assertTrue(until((HOSTS.folder / 'stopped').exists))
            HOSTS.behave('b')
            HOSTS.on('b', f'for p in /proc/[0-9]*; do [ "$(readlink $p/fd/9)" != "{HOSTS.site}/.dice-run/numbers/lock" ] || kill -9 "${{p#/proc/}}"; done')
            self.assertEqual(self.locked(), [True, False])
            time.sleep(6)  # dice-run looks every five seconds
            (HOSTS.folder / 'stopped').unlink()
            late.send_signal(signal.SIGCONT)
            said = late.communicate(timeout=60)[0]
        self.assertEqual(late.returncode, 1, said)
        self.assertIn('b: the connection that keeps its lock was lost; try again', said)
        self.assertEqual(self.versions(), before)

    calls = 1000000  # more than any dice-run here has made

    def script(self, name, token, arguments):
        """What a script says, without dice-run."""
        Deploy.calls += 1
        scripts = pathlib.Path(__file__).resolve().parents[2] / 'tools/dice-run/scripts'
        text = f'dice_run() {{\n{(scripts / "prelude.sh").read_text()}{(scripts / f"{name}.sh").read_text()}\n}}\n'
        (HOSTS.folder / 'script').write_text(text + f'dice_run "{HOSTS.site}" numbers dice-run-x {token} {self.calls} {arguments}\n')
        return HOSTS.on('b', f'sh "{HOSTS.folder}/script"')

    def test_6_scripts_of_a_lost_lock(self):
        before, files = self.versions(), HOSTS.on('b', f'cd "{HOSTS.site}/.dice-run/numbers" && ls -R')
        HOSTS.on('b', f'mkdir "{HOSTS.site}/.dice-run/numbers/stale.part"')
        for script, arguments in {'switch_to': '"" "" "" ""', 'remember': 'x', 'announce': '1 b', 'clean': '', 'start': '9 0 "" x y ""', 'bench': '"" x',
                                  'complete': 'x taken 0', 'prepare': 'x ""'}.items():
            self.assertIn('this dice-run has lost its lock: process', self.script(script, 'stale', arguments), script)
        HOSTS.on('b', f'rmdir "{HOSTS.site}/.dice-run/numbers/stale.part"')
        self.assertEqual((self.versions(), HOSTS.on('b', f'cd "{HOSTS.site}/.dice-run/numbers" && ls -R')), (before, files))

    def test_6_programs_that_a_host_lacks(self):
        bin = HOSTS.folder / 'bin'
        HOSTS.on('b', f'mkdir "{bin}/few" && ln -s /usr/bin/* "{bin}/few" && rm "{bin}/few/flock"')
        enter = HOSTS.ssh.read_text()
        HOSTS.ssh.write_text(enter.replace('PATH=$F/bin:$PATH', 'PATH=$F/bin/few'))
        try:
            for command in ('deploy', 'stop', 'status'):
                self.assertIn('it has no flock; install it (Debian: coreutils, grep, util-linux)', self.dice_run(command, code=1))
        finally:
            HOSTS.ssh.write_text(enter)
            HOSTS.on('b', f'rm -r "{bin}/few"')
        lock = bin / 'flock'  # as on some network file systems
        lock.write_text('#!/bin/sh\necho "flock: 9: No locks available" >&2\nexit 71\n')
        lock.chmod(0o755)
        said = self.dice_run('deploy', code=1)
        lock.unlink()
        self.assertRegex(said, r'a: files in .* cannot be locked \(flock: 9: No locks available\); choose a folder on another file system by --to\n')

    def test_6_what_is_expected(self):
        token = HOSTS.on('b', f'readlink "{HOSTS.site}/.dice-run/numbers/holder"').split()[0]
        _, (current, previous) = before = self.versions()
        for found in (('x', previous), (current, 'x'), (current, '""'), ('""', '""')):
            self.assertIn(f"its versions are '{current}' and '{previous}' now", self.script('switch_to', token, f'{" ".join(found)} y z'))
        self.assertIn('.part/gone cannot be read', self.script('complete', token, 'x gone 0'))
        self.assertIn('the version y is not there', self.script('switch_to', token, f'{current} {previous} y {current}'))
        self.assertEqual(self.versions(), before)

    def test_6_a_change_that_does_not_end(self):
        flock = HOSTS.folder / 'bin/flock'
        flock.write_text('#!/bin/sh\n[ "$1 $2" != "-w 10" ] || { shift 2; set -- -w 0.1 "$@"; }\nexec /usr/bin/flock "$@"\n')
        flock.chmod(0o755)
        self.addCleanup(flock.unlink)
        mutex = f'"{HOSTS.site}/.dice-run/numbers/mutex"'
        changes = HOSTS.on('b', f'(exec 8>>{mutex}; flock 8; exec sleep 100) >/dev/null 2>&1 & echo $!').strip()
        self.addCleanup(HOSTS.on, 'b', f'kill {changes}')
        self.assertTrue(until(lambda: HOSTS.on('b', f'flock -n {mutex} true || echo changes')))
        self.assertIn('b: a change of numbers here does not end; try again\n', self.dice_run('deploy', code=1))
        self.assertIn('b: another change of numbers here does not end; try again\n', self.dice_run('stop', code=1))
        token = HOSTS.on('b', f'readlink "{HOSTS.site}/.dice-run/numbers/holder"').split()[0]
        self.assertEqual(self.script('clean', token, ''), 'another change of numbers here does not end; try again\n')

    def test_6_takers(self):
        takers = [self.begin('deploy') for _ in range(4)]
        said = [run.communicate()[0] for run in takers]
        self.assertIn(0, [run.returncode for run in takers], said)
        for run, text in zip(takers, said):
            self.assertIn('on all hosts already' if run.returncode == 0 else 'another dice-run is at work here: process', text)

    def test_7_folders_of_others(self):
        packages = ['-p', str(ONE), '--ssh', shlex.quote(str(HOSTS.ssh))]
        for folder, message in {'relative': '--to: expected a folder', '/': '--to: expected a folder'}.items():
            done = subprocess.run([DICE_RUN, *packages, '--to', folder, 'deploy'], stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)
        file = HOSTS.folder / 'a file'
        file.write_text('')
        for to in file, file / 'below':
            with self.begin('deploy', to=to) as run:
                self.assertIn(f'a: {file} is not a folder; choose another by --to', run.communicate(timeout=60)[0])
        if os.geteuid() == 0:
            HOSTS.on('a', f'mount -t tmpfs -o ro x "{HOSTS.site}"')
            for to in HOSTS.site, HOSTS.site / 'below':
                with self.begin('deploy', to=to) as run:
                    self.assertIn(f'a: {HOSTS.site} is on a file system that is mounted read-only; check the card, and remount it\n', run.communicate(timeout=60)[0])
            HOSTS.on('a', f'umount "{HOSTS.site}"')
        for made in ('mkdir', 'ln -s numbers-1.2'):
            HOSTS.on('b', f'rm "{HOSTS.site}/numbers"; {made} "{HOSTS.site}/numbers"')
            self.assertIn(f'b: {HOSTS.site}/numbers is there already, and dice-run has not made it; move it away\n', self.dice_run('deploy', code=1))
            HOSTS.on('b', f'rm -d "{HOSTS.site}/numbers"')
        if os.geteuid() == 0:
            HOSTS.on('b', f'chown 1000 "{HOSTS.site}/.dice-run"')  # made in /tmp before dice-run did
            for command in ('deploy', 'start', 'bench'):
                self.assertRegex(self.dice_run(command, '--from', 'b', code=1) if command == 'start' else self.dice_run(command, code=1),
                                 r'\.dice-run belongs to|not deployed')
            HOSTS.on('b', f'chown 0 "{HOSTS.site}/.dice-run"')
        self.dice_run('deploy')
        members = f'"{HOSTS.site}/.dice-run/numbers/members"'
        for name in NAMES:
            HOSTS.on(name, f'printf "%s\\n" a b c -oProxyCommand=x ../x >{members}')
        said = self.dice_run('status', code=1)
        self.assertEqual([line for line in said.splitlines() if 'not reached' in line],
                         ['not reached: c: it does not answer; check its power and its cable (an earlier version ran there)'])
        self.dice_run('deploy', '--forget', 'c')

    def test_8_a_disk_that_does_not_say_what_is_free(self):
        if os.geteuid() != 0:
            self.skipTest('only root can mount a small file system')
        HOSTS.on('b', f'mount -t tmpfs -o size=0 x "{HOSTS.site}"')
        try:
            self.assertIn('b: 9 of 9 files copied', self.dice_run('deploy'))
        finally:
            HOSTS.on('b', f'umount "{HOSTS.site}"')
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
            self.assertIn('is on all hosts already', self.dice_run('deploy'))  # needs no room
        finally:
            HOSTS.on('b', f'umount "{HOSTS.site}"')
            self.dice_run('deploy')

    def test_9_dry_run(self):
        (HOSTS.folder / 'ssh.log').unlink(missing_ok=True)
        said = self.dice_run('--dry-run', 'deploy', packages=TWO)
        self.assertIn('rsync', said)
        self.assertIn(' -o BatchMode=yes -o ConnectTimeout=5 -o ServerAliveInterval=2 -o ServerAliveCountMax=3 -- a ', said)
        for command in ('start', 'stop', 'status', 'rollback', 'logs', 'bench', 'measure'):
            self.assertIn('-- a ', said := self.dice_run('--dry-run', command))
            self.assertNotIn('numbers is ', said)
            self.assertNotIn('numbers does ', said)
        self.assertFalse((HOSTS.folder / 'ssh.log').exists())
        self.assertIn('-- b ', self.dice_run('-v', 'status'))


if __name__ == '__main__':
    unittest.main()
