"""The supervisor: restarts, the log, what is left when it is killed."""
import json
import os
import re
import shlex
import shutil
import signal
import time
import unittest

from cases import FOLDER, HOSTS, JOB, JobCase, TWO, tearDownModule  # noqa: F401
from hosts import until


class Supervisor(JobCase):
    def test_restarts(self):
        self.dice_run('start', '--restart', '1', '--', '--die', code=1)
        self.assertTrue(until(lambda: self.phase() == 'failed'))
        self.assertIn('restarts: 1 of 1\nlast failure: the connection to b was lost', self.dice_run('status'))
        job = json.loads(self.dice_run('status', '--json'))['job']
        self.assertEqual((job['host'], job['restarts'], job['allowed']), ('a', 1, 1))
        self.assertTrue(time.time() - 60 < job['since'] < job['ended'] <= time.time(), job)
        self.assertRegex(self.dice_run('logs', '-n', '2'), r'^a mpirun \|   Remote daemon: .*\ndice-run \| .* the job has failed')
        self.assertIn('starts again in 1 s (restart 1 of 1)', self.dice_run('logs'))
        self.dice_run('start', '--restart', '9', '--', '--fail', code=1)
        version = json.loads(self.dice_run('status', '--json'))['job']['version']
        follow = self.begin('logs', '-f')
        self.addCleanup(follow.kill)
        for packages in (TWO, HOSTS.packages('three', b'x')):
            self.assertIn('a job is running', self.dice_run('deploy', packages=packages))
        self.assertIn(version, HOSTS.on('b', f'ls "{HOSTS.site}/.dice-run/numbers"').split())  # the job needs it there, too
        self.assertTrue(until(lambda: 'starts again in 4 s (restart 3 of 9)' in self.dice_run('logs')))
        self.assertIn('restarts: 3 of 9\nlast failure: rank 1 (host b): there are no weights', self.dice_run('status'))
        self.assertTheSupervisorAloneKeepsTheLock()
        self.assertIsNone(follow.poll())  # also while the job waits
        self.assertIn('is stopped; no process of it is left', self.dice_run('stop'))  # there is one on a, and none on b
        self.assertRegex(follow.communicate(timeout=30)[0], r' stopped\n$')
        self.assertRegex(self.dice_run('logs', '-n', '2'), r'starts again in .*\n.* stopped\n$')  # while it waits, and not after another run
        self.assertEqual(self.phase(), 'stopped')
        self.dice_run('deploy')

    def test_a_job_that_ran_long_starts_again_soon(self):
        HOSTS.on('a', f'cat /proc/uptime >"{HOSTS.folder}/uptime" && mount --bind "{HOSTS.folder}/uptime" /proc/uptime')
        self.addCleanup(HOSTS.on, 'a', 'umount /proc/uptime')
        self.dice_run('start', '--restart', '2', '--', '--long', '--fail', code=1)
        self.assertTrue(until(lambda: self.phase() == 'failed'))
        self.assertIn('starts again in 1 s (restart 2 of 2)', self.dice_run('logs'))

    def test_waits_before_restarts_grow_to_a_minute(self):
        sleep = HOSTS.folder / 'bin/sleep'  # a minute passes at once
        sleep.write_text('#!/bin/sh\nexec /bin/sleep 0.01\n')
        sleep.chmod(0o755)
        self.addCleanup(sleep.unlink, missing_ok=True)
        self.dice_run('start', '--restart', '8', '--', '--fail', code=1)
        self.assertTrue(until(lambda: self.phase() == 'failed', 30))
        sleep.unlink()
        self.assertEqual(re.findall(r'starts again in (\d+) s', self.dice_run('logs')), '1 2 4 8 16 32 60 60'.split())

    def test_a_newer_job_ends_restarts(self):
        base = f'"{HOSTS.site}/.dice-run/numbers/'
        log = f'tr -d "\\377" <{base}job/log"'
        HOSTS.behave('b', 'refuses', 'between')
        asked = HOSTS.folder / 'between.log'
        asked.unlink(missing_ok=True)
        self.dice_run('start', '--restart', '9', '--', '--fail', code=1, OMPI_MCA_plm_rsh_agent='', PRTE_MCA_plm_ssh_agent='')
        before = HOSTS.on('b', f'readlink {base}last_job"').strip()
        HOSTS.on('b', f'ln -sfn "{int(before.split()[0]) + 1} b" {base}last_job"')
        self.assertTrue(until(lambda: 'restart 2 of 9' in HOSTS.on('a', log)))  # a host that does not answer does not object
        HOSTS.behave('b', where='between')
        self.assertTrue(until(lambda: 'dice-run: a newer job was started on b; this one is not started again' in HOSTS.on('a', log)), HOSTS.on('a', log))
        self.assertEqual(HOSTS.on('a', f'readlink {base}job/state"').split()[0], 'failed')
        self.assertEqual(HOSTS.on('a', log).splitlines()[-1].count('newer'), 1)
        HOSTS.on('b', f'ln -sfn "{before}" {base}last_job"')
        self.assertEqual(self.phase(), 'failed')
        command = 'b sh -c \'IFS= read -r link; readlink "$link"\''  # and not its own host
        self.assertEqual(set(asked.read_text().splitlines()), {f'-o BatchMode=yes -o ConnectTimeout=5 {command}'})
        HOSTS.behave('b', 'hangs', 'between')
        for agents, words in (({'OMPI_MCA_plm_rsh_agent': 'ssh -o OMPI'}, '-o OMPI '), ({'OMPI_MCA_plm_rsh_agent': 'ssh -o OMPI', 'PRTE_MCA_plm_ssh_agent': 'ssh'}, '')):
            asked.unlink()
            self.dice_run('start', '--restart', '9', '--', '--fail', code=1, **agents)
            self.assertTrue(until(lambda: HOSTS.on('a', 'pgrep -ax timeout | grep -- "--foreground 10 "')))
            self.assertEqual(set(asked.read_text().splitlines()), {words + command})
            self.assertTheSupervisorAloneKeepsTheLock()
            self.assertEqual(HOSTS.on('a', f'cd {base}job" && ls newer 2>/dev/null; head -c 1048576 /dev/zero >>log'), '')  # what the job before was told
            self.assertNotIn('did not end in order', self.dice_run('stop'))
            self.assertEqual(self.phase(), 'stopped')
            self.assertRegex(HOSTS.on('a', f'cat {base}job/log"'), r'^\S+ \S+ dice-run: stopped\n$')  # the log was full

    def test_a_run_before_is_no_reason(self):
        (HOSTS.folder / 'once').unlink(missing_ok=True)
        self.dice_run('start', '--restart', '3', '--', '--once', code=1)
        self.assertTrue(until(lambda: self.phase() == 'ended'), self.phase())
        self.assertIn('restarts: 1 of 3\nlast failure: ', self.dice_run('status'))

    def test_stop_comes_before_the_program(self):
        mkfifo = HOSTS.folder / 'bin/mkfifo'
        mkfifo.write_text(f'#!/bin/sh\nsleep 2\nexec {shutil.which("mkfifo")} "$@"\n')
        mkfifo.chmod(0o755)
        self.addCleanup(mkfifo.unlink)
        ignores = {'preexec_fn': lambda: signal.signal(signal.SIGUSR1, signal.SIG_IGN)}  # a shell cannot trap what it was started with
        for how in {}, ignores:
            with self.begin('start', **how) as run:
                self.assertTrue(until(lambda: 'is being started' in self.dice_run('status')))
                self.assertEqual(self.dice_run('stop'), 'numbers is stopped; no process of it is left on any host\n')  # all ended in order
                self.assertIn('the job was stopped\n', run.communicate(timeout=30)[0])
        self.assertIn('the job is asked to end', self.dice_run('logs'))

    def test_a_supervisor_that_is_killed(self):
        with self.begin('start', '--restart', '9', '--', '--late') as run:
            self.assertTrue(until(lambda: 'runs since' in self.dice_run('status')))
            HOSTS.on('a', f'kill -9 $(readlink "{HOSTS.site}/.dice-run/numbers/owner" | cut -d " " -f 1)')
            self.assertIn('the job was killed on a', run.communicate(timeout=30)[0])
        self.assertEqual(self.phase(), 'lost')
        self.assertTrue(until(lambda: self.ranks() == [1, 1]))
        self.assertIn('b: processes of another run are left', self.dice_run('start', code=1))
        HOSTS.on('a', f'cd "{HOSTS.site}/.dice-run/numbers/job" && ln -sfn "waiting $(readlink state | cut -d " " -f 2-)" state')
        self.assertEqual(self.phase(), 'lost')
        self.assertIn('is stopped', self.dice_run('stop'))
        (HOSTS.folder / 'wanted').unlink()
        self.assertEqual((self.ranks(), self.phase()), ([0, 0], 'stopped'))

    def test_logs_are_bounded(self):
        self.dice_run('start', '--', '--chatty', '--slow')
        log = f'"{HOSTS.site}/.dice-run/numbers/job/log'
        self.assertTrue(until(lambda: 'the last line' in self.dice_run('logs', '-n', '3')))
        self.assertEqual([len(self.dice_run('logs', *words).splitlines()) for words in (('-n', '3'), ())], [3, 100])
        sizes = [int(size) for size in HOSTS.on('a', f'stat -c %s {log}" {log}.1"').split()]
        self.assertEqual(sizes[1], 1 << 20)
        self.assertLess(sizes[0], 1 << 20)
        lines = int(HOSTS.on('a', f'wc -l <{log}"')) + 5
        self.assertIn(len(self.dice_run('logs', '-n', str(lines)).splitlines()), (lines - 1, lines))  # one may begin in one file and end in the other
        said = self.dice_run('logs', '-n', '1000000').splitlines()
        self.assertGreater(len(said), (sum(sizes) - 100) // 15)
        self.assertEqual({line.partition('| ')[2] for line in said[1:-2]}, {'a line of many'})
        date = HOSTS.folder / 'bin/date'  # the clock jumps back, and how long it ran is still right
        date.write_text('#!/bin/sh\nexec /bin/date -d "1000000 seconds ago" "$@"\n')
        date.chmod(0o755)
        self.assertRegex(self.dice_run('status'), r'runs since 20.* \(\d\d? s\)')
        with self.begin('logs', '-n', '0', '-f') as new, self.begin('logs', '-f') as follow:
            self.assertIn('a line of many', follow.stdout.readline())
            for _ in range(3):  # more than two files hold, while nobody reads on
                (HOSTS.folder / 'speak').touch()
                self.assertTrue(until(lambda: not (HOSTS.folder / 'speak').exists()))
            self.dice_run('stop')
            said = follow.communicate(timeout=30)[0]
            self.assertRegex(new.communicate(timeout=30)[0], r'^a mpirun \| 00(.|\n)* stopped after \d\d? s\n$')
        self.assertEqual(said.count('0 end\n'), 3 * (700000 // 101))
        self.assertRegex(said, r'stopped after \d\d? s\n$')
        self.assertLess(int(HOSTS.on('a', f'readlink "{HOSTS.site}/.dice-run/numbers/job/state"').split()[2]), time.time() - 900000)
        date.unlink()
        self.assertRegex(said := self.dice_run('logs', '-n', '1'), r'stopped after \d\d? s$')
        self.assertEqual(self.dice_run('logs', '-n', '1', '-f'), said)
        self.dice_run('start', '--', '--quick', MPIRUN_OPTIONS='--of mine')
        self.assertNotIn('0 end', said := self.dice_run('logs', '-n', '1000000'))  # an earlier job's
        self.assertIn('frames arrive: --quick --of mine --tag-output', said)
        self.assertRegex(self.dice_run('logs', '-n', '2'), r' \| a line without an end\ndice-run +\| \S+ \S+ the job has ended after \d s\n$')
        ln = HOSTS.folder / 'bin/ln'  # no inode is free until the last state is gone
        ln.write_text('#!/bin/sh\ncase $2 in "failed "*) [ ! -L state ] || exit 1 ;; esac\nexec /bin/ln "$@"\n')
        ln.chmod(0o755)
        self.dice_run('start', '--', '--fail', code=1)
        ln.unlink()
        self.assertEqual(self.phase(), 'failed')

    def test_a_full_disk_costs_output_only(self):
        if os.geteuid() != 0:
            self.skipTest('only root can mount a small file system')
        self.dice_run('stop')
        site = shlex.quote(str(HOSTS.site))
        HOSTS.on('a', f'cd "{FOLDER}" && cp -a {site} saved && mount -t tmpfs -o size=6m x {site} && cp -a saved/. {site}; rm -r saved')
        try:
            self.dice_run('start', '--restart', '2', '--', '--chatty')
            self.assertTrue(until(lambda: 'the last line' in self.dice_run('logs', '-n', '3')))
            HOSTS.on('a', f'head -c 9000000 /dev/zero >{site}/full')
            self.dice_run('stop')
            self.assertEqual(self.phase(), 'stopped')
            HOSTS.on('a', f'head -c 9000000 /dev/zero >>{site}/full')  # the supervisor may have removed older output
            self.assertEqual(self.dice_run('start', code=1), f'dice-run: error: a: the disk of {HOSTS.site} is full; remove something. Nothing was started\n')
            self.assertIn('job: none was begun; dice-run start on a failed or was interrupted\n', self.dice_run('status'))
            said = self.dice_run('logs')
            self.assertIn('the last job was not begun; dice-run start on a failed or was interrupted, so it has no log; this is the log of the job before, on a\n', said)
            self.assertRegex(said, r'the last line\n(.*\n)*.* stopped after')
            HOSTS.on('a', f'rm {site}/full')
            self.dice_run('start', '--', '--slow')
            job = f'{site}/.dice-run/numbers/job'
            HOSTS.on('a', f'touch {job}/log.1; head -c 9000000 /dev/zero >{site}/full; touch "{HOSTS.folder}/speak"')
            self.assertTrue(until(lambda: not (HOSTS.folder / 'speak').exists()))
            self.assertTrue(until(lambda: HOSTS.on('a', f'cd {job} && ls log.1 before.log 2>/dev/null') == ''))
            self.assertEqual((self.ranks(), self.phase()), ([1, 1], 'running'))
            HOSTS.on('a', f'rm {site}/full; touch "{HOSTS.folder}/speak"')
            self.assertTrue(until(lambda: 'the disk is full: output is missing here' in self.dice_run('logs', '-n', '1000000')))
            self.dice_run('stop')
        finally:
            HOSTS.on('a', f'umount {site}')

    def test_the_last_words_are_in_the_log(self):
        self.dice_run('start', '--', '--deaf')
        HOSTS.on('a', f'kill -TERM $(grep -lzxF OMPI_MCA_dice_run_job={JOB} /proc/[0-9]*/environ | cut -d / -f 3)')  # as stop does in the end
        self.assertTrue(until(lambda: self.phase() == 'failed'))
        self.assertIn('the last words\n', self.dice_run('logs'))
        self.assertEqual(json.loads(self.dice_run('status', '--json'))['job']['exit'], 4)

    def test_processes_that_are_left(self):
        self.dice_run('start', '--from', 'a', '--', '--deaf')
        with self.begin('logs', '-f') as follow:
            self.assertIn('starts version', follow.stdout.readline())
            HOSTS.power_off('a')
            said = follow.communicate(timeout=30)[0]
        self.assertEqual(follow.returncode, 1, said)  # the job has not ended
        self.assertIn('dice-run: error: a: ', said)
        HOSTS.on('b', f'OMPI_MCA_dice_run_job={JOB} sh -c "trap \'\' TERM; exec sleep 100" >/dev/null 2>&1 &')
        began = time.monotonic()
        said = self.dice_run('stop', code=1)
        self.assertGreater(time.monotonic() - began, 8 + 2)  # all have eight seconds to end in order
        self.assertIn('a: it does not answer; check its power and its cable', said)
        self.assertIn('b: 2 of its processes did not end in order', said)
        self.assertNotIn('do not end', said)
        HOSTS.power_on('a')
        (HOSTS.folder / 'wanted').unlink()
        self.assertEqual(self.ranks(), [0, 0])
        self.assertEqual(self.phase(), 'lost')
        self.assertIn('was killed, or a was restarted', self.dice_run('status'))


if __name__ == '__main__':
    unittest.main()
