"""start -- --input -: the standard input of dice-run becomes the job's."""
import os
import signal
import subprocess
import time
import unittest

from cases import HOSTS, JobCase, tearDownModule  # noqa: F401
from hosts import until

FRAMES = bytes(range(256)) * 4096 + b'\0\n\r\xff'  # more than pipes hold, and all that shells change


class Input(JobCase):
    def tearDown(self):
        super().tearDown()
        for name in 'hold', 'enough', 'frames':
            (HOSTS.folder / name).unlink(missing_ok=True)

    def feed(self, *words):
        """A run whose standard input is a pipe of the test."""
        reader, writer = os.pipe()
        run = self.begin('start', *words, '--foreground', '--', '--input', '-', stdin=reader, start_new_session=True)
        os.close(reader)
        return run, writer

    def arrived(self):
        file = HOSTS.folder / 'frames'
        return file.read_bytes() if file.exists() else None

    def assertNothingIsLeft(self):
        self.assertEqual(self.ranks(), [0, 0])
        left = 'readlink /proc/[0-9]*/exe | grep -E "/(cat|flock|head|timeout)$"'
        self.assertTrue(until(lambda: HOSTS.on('a', left) == '', 25), HOSTS.on('a', left))  # a host notices a lost machine after 20 s

    def test_all_bytes_arrive_on_any_starting_host(self):
        for starter in 'ab':
            run, writer = self.feed('--from', starter)
            with run, os.fdopen(writer, 'wb') as pipe:
                pipe.write(FRAMES[:7])
                pipe.flush()
                self.assertTrue(until(lambda: self.arrived() == FRAMES[:7]), 'the first bytes wait for more')
                pipe.write(FRAMES[7:])
                pipe.close()
                said = run.communicate(timeout=40)[0]
            self.assertEqual((run.returncode, self.phase()), (0, 'ended'), said)
            self.assertTrue(self.arrived() == FRAMES)
            self.assertNothingIsLeft()
            (HOSTS.folder / 'frames').unlink()

    def test_a_job_that_is_slow_holds_up_its_source(self):
        (HOSTS.folder / 'hold').touch()
        run, writer = self.feed()
        with run, os.fdopen(writer, 'wb') as pipe:
            os.set_blocking(writer, False)
            taken, quiet = 0, time.monotonic()
            while time.monotonic() - quiet < 3:
                try:
                    taken += os.write(writer, bytes(65536))
                    quiet = time.monotonic()
                except BlockingIOError:
                    time.sleep(0.05)
            self.assertLess(taken, 2 << 20)
            (HOSTS.folder / 'hold').unlink()
            pipe.close()
            self.assertEqual(run.wait(timeout=40), 0, run.stdout.read())
        self.assertEqual(len(self.arrived()), taken)

    def test_a_job_that_has_enough(self):
        (HOSTS.folder / 'enough').write_text('1000')
        run, writer = self.feed()
        with run, os.fdopen(writer, 'wb', buffering=0) as pipe:
            pipe.write(FRAMES[:2000])  # and the pipe stays open
            said = run.communicate(timeout=40)[0]
        self.assertEqual((run.returncode, self.arrived()), (0, FRAMES[:1000]), said)
        file = HOSTS.folder / 'more'
        file.write_bytes(FRAMES * 4)  # the rest of it does not fit into pipes
        with open(file, 'rb') as more, self.begin('start', '--foreground', '--', '--input', '-', stdin=more) as run:
            said = run.communicate(timeout=40)[0]
        self.assertEqual((run.returncode, self.arrived()), (0, FRAMES[:1000]), said)
        self.assertNothingIsLeft()

    def test_interruptions(self):
        for how in 'Ctrl-C', 'stop', 'killed', 'frozen':
            run, writer = self.feed()
            with run, os.fdopen(writer, 'wb', buffering=0) as pipe:
                pipe.write(FRAMES[:100])
                self.assertTrue(until(lambda: self.arrived() == FRAMES[:100]))
                self.assertIn('runs on 2 hosts', run.stdout.readline())
                if how == 'Ctrl-C':
                    os.killpg(run.pid, signal.SIGINT)
                elif how == 'stop':
                    self.dice_run('stop')
                elif how == 'killed':
                    run.kill()
                else:  # as a machine that is gone: no connection ends
                    run.send_signal(signal.SIGSTOP)
                    self.assertTrue(until(lambda: self.phase() == 'ended', 40))
                    run.send_signal(signal.SIGCONT)
                said = run.communicate(timeout=40)[0]
            self.assertTrue(until(lambda: self.phase() != 'running'))
            self.assertEqual(self.phase(), 'stopped' if how in ('Ctrl-C', 'stop') else 'ended', how)
            self.assertEqual(run.returncode, -signal.SIGKILL if how == 'killed' else 1, said)
            if how == 'frozen':
                self.assertIn('error: the job has not got all of the standard input: a: the connection was lost, so the job\'s standard input ended\n', said)
            self.assertNothingIsLeft()
            (HOSTS.folder / 'frames').unlink()

    def test_nobody_brings_the_input(self):
        HOSTS.behave('a', 'breaks 7')  # the connections before it: lock, survey, facts, announce, start, heart
        log = HOSTS.folder / 'ssh.log'
        log.unlink(missing_ok=True)
        said = self.dice_run('start', '--foreground', '--', '--input', '-', code=1)
        self.assertIn('the connection was cut', said)
        self.assertEqual((self.ranks(), self.phase()), ([0, 0], 'stopped'))
        HOSTS.behave('a')
        run, writer = self.feed()  # the next job has a pipe of its own
        with run, os.fdopen(writer, 'wb') as pipe:
            pipe.write(FRAMES[:7])
            pipe.close()
            said = run.communicate(timeout=40)[0]
        self.assertEqual((run.returncode, self.arrived()), (0, FRAMES[:7]), said)

    def test_what_is_refused(self):
        (HOSTS.folder / 'ssh.log').unlink(missing_ok=True)
        for options in ('--input', '-'), ('--input=-',), ('--input', 'left=-'), ('--top', '1', '--input=left=-'), ('--input', '/dev/stdin'):
            said = self.dice_run('start', '--', *options, code=2)
            self.assertIn('--input -: the job goes on when dice-run ends, so it has no standard input. Let the host that has the input run', said)
            for remedy in "--source 'COMMAND'", '--input PIPE', 'start --foreground':
                self.assertIn(remedy, said)
            self.assertIn('--restart: a job that reads the standard input of dice-run cannot be started again',
                          self.dice_run('start', '--foreground', '--restart', '1', '--', *options, code=2))
        self.assertFalse((HOSTS.folder / 'ssh.log').exists(), 'before anything is started')
        self.dice_run('bench', '--', '--input', '-', code=2)  # it takes no options of the program
        self.dice_run('--dry-run', 'start', '--', '--input', 'a-b', '--output', '-', '--input')

    def test_an_input_that_cannot_be_read(self):
        folder = os.open(HOSTS.folder, os.O_RDONLY)
        with self.begin('start', '--foreground', '--', '--input', '-', stdin=folder) as run:
            said = run.communicate(timeout=40)[0]
        os.close(folder)
        self.assertEqual(run.returncode, 1, said)
        self.assertIn('dice-run: error: the standard input cannot be read: Is a directory\n', said)

    def test_a_job_without_it_has_none(self):
        self.dice_run('start')
        supervisor = HOSTS.on('a', f'readlink "{HOSTS.site}/.dice-run/numbers/owner"').split()[0]
        child = HOSTS.on('a', f'cat /proc/{supervisor}/task/{supervisor}/children').split()
        self.assertIn('/dev/null', [HOSTS.on('a', f'readlink /proc/{pid}/fd/0').strip() for pid in child])


if __name__ == '__main__':
    unittest.main()
