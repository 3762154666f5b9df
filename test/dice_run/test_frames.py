#!/usr/bin/env python3
"""start waits for a frame, and status shows what the job says of itself."""
import json
import os
import pathlib
import time
import unittest

from cases import HOSTS, JOB, JobCase, tearDownModule  # noqa: F401
from hosts import until


def speaking():
    """Packages whose program says how its job is."""
    packages = HOSTS.packages('speaking')
    for name in 'ab':
        manifest = packages / name / 'numbers/manifest.json'
        text = manifest.read_text()
        manifest.write_text(text.replace('{', '{"reports_status": true, ', 1))
    return packages


PACKAGES = speaking()


class Frames(JobCase):
    @classmethod
    def setUpClass(cls):
        JobCase('dice_run').dice_run('deploy', packages=PACKAGES)

    def tearDown(self):
        super().tearDown()
        (HOSTS.folder / 'says').unlink(missing_ok=True)

    def says(self, phase, entered=0, answered=0, silent=0.5, **more):
        up = float(pathlib.Path('/proc/uptime').read_text().split()[0])
        status = {'phase': phase, 'uptime_s': up, 'running_s': 3, 'entered': entered, 'answered': answered, 'read': entered + 3, 'dropped': 2,
                  'frames_per_second': 12.5, 'latency_ms': {'median': 40, 'p95': 50}, 'last_frame_s': 0.1 if answered else None,
                  'ranks': [{'host': 'a', 'stage_ms': 7.25, 'busy': 0.75, 'temperature_c': 48.2, 'silent_s': 0.2}, {'host': 'b', 'stage_ms': 9, 'temperature_c': -4.6, 'silent_s': silent},
                            {'host': 'a', 'stage_ms': 1, 'temperature_c': 40, 'silent_s': 0.2}, {'host': 'elsewhere', 'silent_s': 0.2}], **more}
        new = HOSTS.folder / 'says.new'
        new.write_text(json.dumps(status) + '\n')
        os.rename(new, HOSTS.folder / 'says')

    def test_start_waits_for_a_frame(self):
        self.says('joining')
        with self.begin('start', '--', '--says', packages=PACKAGES) as start:
            for phase, entered in ('preparing', 0), ('waiting', 3):
                time.sleep(1.5)
                self.assertIsNone(start.poll())
                self.says(phase, entered)
            time.sleep(1.5)
            self.assertIsNone(start.poll(), 'all ranks run, but no frame has come out')
            self.says('running', 9, 1)
            self.assertEqual(start.communicate(timeout=30)[0], 'numbers runs on 2 hosts, started on a\n')
            self.assertEqual(start.returncode, 0)
        if os.geteuid() == 0:  # anyone may write to /dev/shm
            of_another_user = pathlib.Path(f'/dev/shm/{JOB}.999')
            of_another_user.write_text('{}\n')
            self.addCleanup(of_another_user.unlink)
            os.chown(of_another_user, 1000, 1000)
        said = self.dice_run('status', packages=PACKAGES)
        self.assertIn('\nframes: 1 answered, 2 dropped; 12.5 frames/s now; latency median 40.0 ms, p95 50.0 ms; the last one ', said)
        self.assertEqual(said.splitlines()[1].split(), ['host', 'version', 'previous', 'ranks', 'running', 'CPU', 'memory', 'stage', 'temp', 'pids'])
        self.assertRegex(said, r'\na .* 7\.2 ms, 1\.0 ms +48 °C +\d+\n')  # the warmest
        self.assertRegex(said, r'\nb .* 9\.0 ms +-5 °C +\d+\n')
        live = json.loads(self.dice_run('status', '--json', packages=PACKAGES))['job']['live']
        self.assertEqual((live['phase'], live['frames']), ('running', {'entered': 9, 'answered': 1, 'read': 12, 'dropped': 2}))
        self.assertEqual((live['latency_ms'], live['frames_per_second'], live['source_restarts']), ({'median': 40, 'p95': 50}, 12.5, 0))
        self.assertEqual([(r['host'], r['stage_ms'], r['busy'], r['temperature_c']) for r in live['ranks']],
                         [('a', 7.25, 0.75, 48.2), ('b', 9, None, -4.6), ('a', 1, None, 40), ('elsewhere', None, None, None)])
        for seconds, when_it_said_so in (live['last_frame_s'], 0.1), (live['ranks'][1]['silent_s'], 0.5):
            self.assertAlmostEqual(seconds, when_it_said_so + live['age_s'])
        state = f'"{HOSTS.site}/.dice-run/numbers/job/state"'
        HOSTS.on('a', f'mv {state} {state}.kept')  # as on a full disk
        said = self.dice_run('status', packages=PACKAGES)
        self.assertTrue('runs, but cannot save its state' in said and '\nframes: 1 answered, ' in said, said)
        HOSTS.on('a', f'mv {state}.kept {state}')
        self.says('running', 9, 1, silent=40)
        self.assertTrue(until(lambda: 'rank 1 (b) has said nothing for 4' in self.dice_run('status', packages=PACKAGES)))
        (HOSTS.folder / 'says').unlink()  # rank 0 is stuck
        self.assertTrue(until(lambda: 'rank 0 (a) has said nothing for ' in self.dice_run('status', packages=PACKAGES), 15))
        self.dice_run('stop', packages=PACKAGES)
        self.assertNotIn('live', json.loads(self.dice_run('status', '--json', packages=PACKAGES))['job'])

    def test_a_start_that_comes_to_nothing(self):
        for phase, entered, text in [('joining', 0, 'all ranks run, but do not meet: a firewall, or networks'), ('waiting', 0, 'no frame has entered'),
                                     ('waiting', 2, '2 frames entered, and none has come out')]:
            self.says(phase, entered)
            said = self.dice_run('start', '--start-timeout', '4', '--', '--says', packages=PACKAGES, code=1)
            self.assertIn(f'dice-run: error: {text}', said)
            self.assertIn('no frame has come out within 4 s, so the job is ended; --start-timeout SECONDS waits longer, --no-wait', said)
            self.assertEqual((self.ranks(), self.phase()), ([0, 0], 'stopped'))
        (HOSTS.folder / 'says').unlink()
        # A busy machine asks a little later.
        self.assertRegex(self.dice_run('start', '--start-timeout', '4', packages=PACKAGES, code=1), 'all ranks run, but rank 0 has said nothing for [4-9]')
        for wrong in 'nan', '0', '1e9', 'x':
            self.assertIn(f"--start-timeout: '{wrong}' is not a number from 1 to 86400; see", self.dice_run('start', '--start-timeout', wrong, packages=PACKAGES, code=2))
        self.assertIn('a: its ranks do not run', self.dice_run('start', '--start-timeout', '1', '--', '--late', packages=PACKAGES, code=1))

    def test_a_start_that_does_not_wait(self):
        self.assertIn('numbers runs on 2 hosts', self.dice_run('start', '--no-wait', packages=PACKAGES))
        self.assertEqual(self.ranks(), [1, 1])

    def test_a_job_that_fails_first(self):
        self.says('preparing')
        self.assertIn('the job has failed: rank 1 (host b): there are no weights', self.dice_run('start', '--', '--fail', packages=PACKAGES, code=1))

    def test_what_is_left_of_a_killed_rank(self):
        """Rank 0 removes the file that says how the job is; if it was killed, the supervisor does."""
        self.says('running', 9, 5)
        self.dice_run('start', '--', '--says', packages=PACKAGES)
        (HOSTS.folder / 'says').unlink()
        left = lambda: list(pathlib.Path('/dev/shm').glob(JOB + '.*'))
        self.assertTrue(until(lambda: len(left()) == 1), left())  # while it is replaced, there are two
        self.dice_run('stop', packages=PACKAGES)
        self.assertEqual(left(), [])
        self.says('joining')
        self.begin('start', '--start-timeout', '3', '--', packages=PACKAGES).communicate(timeout=30)
        self.assertNotIn('5 answered', self.dice_run('status', packages=PACKAGES))

    def test_a_host_without_shared_memory(self):
        HOSTS.on('a', 'mount -t tmpfs -o ro none /dev/shm')
        self.addCleanup(HOSTS.on, 'a', 'umount /dev/shm')
        self.says('running', 9, 5)
        self.dice_run('start', '--', '--says', packages=PACKAGES)
        self.assertIn('frames: 5 answered', self.dice_run('status', packages=PACKAGES))
        self.dice_run('stop', packages=PACKAGES)
        self.assertEqual(list((HOSTS.folder / 'a/.dice-run/numbers').glob('status.*')), [])


if __name__ == '__main__':
    unittest.main()
