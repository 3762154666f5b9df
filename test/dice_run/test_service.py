"""install-service: the unit, and what it runs, with the test in the place of systemd."""
import json
import os
import shlex
import shutil
import subprocess
import time
import unittest

from cases import FOLDER, HOSTS, JOB, JobCase, tearDownModule  # noqa: F401
from hosts import until

HOME, ROOT = FOLDER / 'home', FOLDER / 'root'
SERVICE = HOSTS.site / '.dice-run/numbers/service'
UNIT = HOME / '.config/systemd/user/dice-numbers.service'
OPTIONS = ['--source', 'cat "/my frames/%d $HOME"', "it's", '', '\\', '100%']


class Service(JobCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name in 'systemctl', 'loginctl':  # this machine has its own
            program = HOSTS.folder / 'bin' / name
            program.write_text(f'#!/bin/sh\necho "{name} $*" >>{shlex.quote(str(FOLDER / "asked"))}\n! grep -qsx {name} {shlex.quote(str(FOLDER / "refuses"))}\n')
            program.chmod(0o755)

    def setUp(self):
        for path in HOME, ROOT:
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir()
        for name in 'asked', 'refuses':
            (FOLDER / name).unlink(missing_ok=True)

    def install(self, *words, **how):
        return self.dice_run('install-service', *words, HOME=str(HOME), XDG_CONFIG_HOME='', DICE_RUN_ROOT=str(ROOT), **how)

    def uninstall(self, *words, **how):
        return self.dice_run('uninstall-service', *words, HOME=str(HOME), XDG_CONFIG_HOME='', DICE_RUN_ROOT=str(ROOT), **how)

    def asked(self):
        file = FOLDER / 'asked'
        return file.read_text().splitlines() if file.exists() else []

    def boot(self, host='a'):
        """Runs the command of the unit, as systemd would: with hardly any environment."""
        [line] = [line for line in UNIT.read_text().splitlines() if line.startswith('ExecStart=')]
        command = line.removeprefix('ExecStart=').replace('$$', '$').replace('%%', '%')  # the quotes are also those of a shell
        with open(FOLDER / 'journal', 'w') as journal:
            run = subprocess.Popen(['nsenter', '-t', (HOSTS.folder / f'{host}.pid').read_text(), '-a', '--preserve-credentials', 'env', '-i', f'HOME={HOME}',
                                    'PATH=/usr/bin:/bin', *shlex.split(command)], stdout=journal, stderr=journal)
        self.addCleanup(lambda: (run.poll() is None and run.kill(), run.wait()))
        return run

    def journal(self):
        return (FOLDER / 'journal').read_text()

    def assertRuns(self):
        self.assertTrue(until(lambda: self.ranks() == [1, 1], 40), self.journal())
        self.assertTrue(until(lambda: 'runs; dice-run status shows it' in self.journal()), self.journal())

    def test_what_is_installed(self):
        said = self.install('--from', 'b', '--restart', '7', '--', *OPTIONS, MPIRUN_OPTIONS='--of mine\n--x')
        self.assertEqual(said.splitlines(), [
            f'b: wrote {SERVICE}', f'b: wrote {UNIT}', 'b: ran systemctl --user daemon-reload', 'b: ran systemctl --user enable dice-numbers.service',
            'b: ran loginctl enable-linger', 'numbers starts with b; at once: systemctl --user start dice-numbers.service'])
        self.assertEqual(self.asked(), ['systemctl --user daemon-reload', 'systemctl --user enable dice-numbers.service', 'loginctl --no-ask-password enable-linger'])
        text = UNIT.read_text()
        for line in ('Restart=on-failure', 'StartLimitIntervalSec=0', 'KillMode=mixed', 'WantedBy=default.target'):
            self.assertIn(f'\n{line}\n', text)
        self.assertNotIn('User=', text)
        self.assertEqual(HOSTS.on('b', f'cat "{SERVICE}/options"'), ''.join(option + '\n' for option in OPTIONS))
        self.assertEqual(HOSTS.on('b', f'stat -c %a "{SERVICE}"'), '700\n')  # options may have passwords
        settings = HOSTS.on('b', f'cat "{SERVICE}/settings"').splitlines()
        self.assertEqual(settings[:2] + settings[3:5], [str(HOSTS.site), 'numbers', '7', '--of mine --x'])
        self.dice_run('deploy', packages=HOSTS.packages('three', b'x'))  # keeps it
        self.assertEqual(HOSTS.on('b', f'ls "{SERVICE}/boot"').strip(), f'{SERVICE}/boot')
        self.dice_run('deploy')
        self.assertIn(f'{UNIT} is the unit of another folder', self.install_elsewhere())
        enabled = UNIT.parent / 'default.target.wants' / UNIT.name
        enabled.parent.mkdir()
        enabled.symlink_to(UNIT)  # as systemctl enable does it; here, it cannot undo that
        self.assertEqual(self.uninstall('--from', 'b').splitlines(), [f'b: removed {UNIT}', f'b: removed {SERVICE}'])
        self.assertEqual((UNIT.exists(), enabled.is_symlink(), HOSTS.on('b', f'ls "{SERVICE}"').count('No such file')), (False, False, 1))
        self.assertIn(f'b: it has no service of numbers in {HOSTS.site}', self.uninstall('--from', 'b', code=1))

    def install_elsewhere(self):
        other = HOSTS.site / 'other'
        for name in 'ab':
            self.addCleanup(HOSTS.on, name, f'rm -r "{other}"')
        said = ''
        for words in (('deploy',), ('install-service', '--from', 'b')):
            with self.begin(*words, to=other, env={**os.environ, 'HOME': str(HOME), 'XDG_CONFIG_HOME': '', 'DICE_RUN_ROOT': str(ROOT)}) as run:
                said = run.communicate(timeout=60)[0]
        self.assertEqual(run.returncode, 1, said)
        return said

    def test_what_this_user_may_not_do(self):
        (FOLDER / 'refuses').write_text('systemctl\n')
        said = self.install()
        self.assertTrue('ran loginctl' in said and ' when that is done; ' in said, said)
        (FOLDER / 'refuses').write_text('systemctl\nloginctl\n')
        said = self.install()
        for line in ('systemctl --user daemon-reload', 'systemctl --user enable dice-numbers.service', 'sudo loginctl enable-linger '):
            self.assertIn(f'\na: to do there: {line}', said)
        self.assertTrue(said.endswith('numbers starts with a when that is done; at once: systemctl --user start dice-numbers.service\n'), said)
        (ROOT / 'var/lib/systemd/linger').mkdir(parents=True)
        (ROOT / 'var/lib/systemd/linger' / HOSTS.on('a', 'id -un').strip()).touch()
        self.assertNotIn('linger', self.install())
        UNIT.write_text(UNIT.read_text().replace('ExecStart=', 'ExecStart=:'))  # of another folder
        self.assertEqual((self.uninstall(), UNIT.exists()), (f'a: removed {SERVICE}\n', True))

    def test_a_unit_of_the_system(self):
        user = HOSTS.on('a', 'id -un').strip()
        said = self.install('--system')
        unit = ROOT / 'etc/systemd/system/dice-numbers.service'
        self.assertIn(f'\na: wrote {unit}\na: ran systemctl daemon-reload\na: ran systemctl enable dice-numbers.service\n', said)  # root of a namespace
        for line in ('WantedBy=multi-user.target', 'After=network-online.target'):
            self.assertIn(f'\n{line}\n', unit.read_text())
        self.assertTrue(unit.read_text().endswith(f'\nUser={user}\n'))
        self.assertVerified(unit)
        self.uninstall()
        self.assertFalse(unit.exists())
        (HOSTS.folder / 'bin/id').write_text('#!/bin/sh\n[ "$1" = -u ] && echo 1000 || exec /usr/bin/id "$@"\n')
        (HOSTS.folder / 'bin/id').chmod(0o755)
        self.addCleanup((HOSTS.folder / 'bin/id').unlink)
        said = self.install('--system')  # by another user than root
        for text in f"sudo cp '{SERVICE}/dice-numbers.service' {unit.parent}/", 'sudo systemctl daemon-reload', 'sudo systemctl enable dice-numbers.service':
            self.assertIn(f'a: to do there: {text}\n', said)
        self.assertFalse(unit.exists())
        shutil.copy(HOSTS.folder / 'a/.dice-run/numbers/service/dice-numbers.service', unit)
        self.assertIn(f'a: to do there: sudo rm {unit}\n', self.uninstall())

    def assertVerified(self, unit, *words):
        if shutil.which('systemd-analyze') is None:
            self.skipTest('no systemd-analyze here')
        done = subprocess.run(['systemd-analyze', *words, 'verify', unit], capture_output=True, text=True, env={**os.environ, 'XDG_RUNTIME_DIR': str(FOLDER)})
        self.assertEqual((done.returncode, [line for line in done.stderr.splitlines() if 'dice-numbers' in line]), (0, []), done.stderr)

    def test_systemd_understands_the_unit(self):
        self.install()
        self.assertVerified(UNIT, '--user')
        UNIT.write_text(UNIT.read_text().replace('Restart=on-failure', 'Restart=sometimes'))
        with self.assertRaises(AssertionError):
            self.assertVerified(UNIT, '--user')

    def test_the_job_starts_and_ends(self):
        self.install('--', *OPTIONS, MPIRUN_OPTIONS='--of mine')
        before = (json.loads(self.dice_run('status', '--json'))['job'] or {'number': 0})['number'] + 4
        HOSTS.on('b', f'ln -sfn "{before} b" "{HOSTS.site}/.dice-run/numbers/last_job"')  # announced, but not begun
        run = self.boot()
        self.assertRuns()
        self.assertIn(f'frames arrive: {" ".join(OPTIONS)} --of mine --tag-output', self.dice_run('logs'))
        self.assertIn('started on a; runs since', said := self.dice_run('status'))
        self.assertIn('restarts: 0 of 1000000', said)
        self.assertEqual([HOSTS.on(name, f'readlink "{HOSTS.site}/.dice-run/numbers/last_job"') for name in 'ab'],
                         [f'{json.loads(self.dice_run("status", "--json"))["job"]["number"]} a\n'] * 2)
        self.assertEqual(json.loads(self.dice_run('status', '--json'))['job']['number'], before + 1)
        self.assertTrue(until(lambda: not any(self.locked())))  # the service's locks end a little later
        self.assertIn('runs already, started on a', self.dice_run('start', code=1))
        self.assertEqual(self.boot().wait(timeout=40), 0)
        self.assertIn('numbers runs already, started on a', self.journal())
        self.assertEqual(self.locked(), [False, False])
        self.dice_run('deploy')  # nothing is locked
        self.assertEqual(self.dice_run('stop'), 'numbers is stopped; no process of it is left on any host\n')
        self.assertEqual(run.wait(timeout=40), 0)  # so systemd does not start it again
        self.assertEqual((self.ranks(), self.phase()), ([0, 0], 'stopped'))

    def test_a_job_that_fails(self):
        for options, code in ((['--restart', '0', '--', '--fail'], 1), (['--', '--quick'], 0)):
            self.install(*options)
            self.assertEqual(self.boot().wait(timeout=60), code, self.journal())
        self.install()
        number = json.loads(self.dice_run('status', '--json'))['job']['number'] + 5
        record = f'"{HOSTS.site}/.dice-run/numbers/job"'
        HOSTS.on('b', f'mkdir {record} && cd {record} && ln -s "ended {number} 1 0 0 2" state && printf "%s\\n" "number {number}" >about')  # which no host announces any more
        run = self.boot()
        self.assertRuns()
        self.assertEqual(json.loads(self.dice_run('status', '--json'))['job']['number'], number + 1)
        HOSTS.on('b', f'rm -r {record}')
        HOSTS.on('a', f'kill -9 $(readlink "{HOSTS.site}/.dice-run/numbers/owner" | cut -d " " -f 1)')
        self.assertEqual(run.wait(timeout=40), 1)  # systemd starts it again
        again = self.boot()
        self.assertTrue(until(lambda: 'processes of another run are left; dice-run stop ends them' in self.journal()))
        (HOSTS.folder / 'wanted').unlink()
        HOSTS.on('a', f'kill -9 $(grep -lzxF OMPI_MCA_dice_run_job={JOB} /proc/[0-9]*/environ | cut -d / -f 3)')
        self.assertTrue(until(lambda: self.phase() == 'running', 30), self.journal())
        self.dice_run('stop')
        self.assertEqual(again.wait(timeout=40), 0)

    def test_systemd_stops_it(self):
        self.install()
        run = self.boot()
        self.assertRuns()
        HOSTS.on('a', 'pkill -TERM -xf "/bin/sh .*/service/boot"')
        self.assertEqual(run.wait(timeout=40), 0)
        self.assertTrue(until(lambda: self.ranks() == [0, 0]))
        self.assertEqual(self.phase(), 'stopped')

    def test_hosts_that_are_not_up_yet(self):
        self.install()
        HOSTS.power_off('b')
        run = self.boot()
        self.assertTrue(until(lambda: 'dice-run: waits for b\n' in self.journal()))
        time.sleep(8)
        self.assertIsNone(run.poll())
        self.assertEqual(self.journal().count('\n'), 1)
        HOSTS.power_on('b')
        self.assertRuns()
        self.dice_run('stop')
        self.assertEqual(run.wait(timeout=40), 0)
        HOSTS.power_off('b')
        run = self.boot()
        self.assertTrue(until(lambda: 'dice-run: waits for b\n' in self.journal()))
        self.dice_run('stop', code=1)  # b is not reached
        self.assertEqual(run.wait(timeout=40), 0)
        self.assertIn('dice-run stop has come; the job starts at the next boot', self.journal())
        run = self.boot()
        self.assertTrue(until(lambda: 'dice-run: waits for b\n' in self.journal()))
        self.uninstall()
        self.assertEqual(run.wait(timeout=40), 0)
        HOSTS.power_on('b')

    def test_a_power_failure_of_all_hosts(self):
        self.install()
        self.boot()
        self.assertRuns()
        for name in 'ab':
            HOSTS.power_off(name)
        (HOSTS.folder / 'wanted').unlink()
        time.sleep(0.5)
        for name in 'ab':
            HOSTS.power_on(name)
        self.assertEqual(self.phase(), 'lost')
        run = self.boot()
        self.assertRuns()
        self.assertEqual(self.phase(), 'running')
        self.dice_run('stop')
        self.assertEqual(run.wait(timeout=40), 0)

    def test_another_dice_run_is_at_work(self):
        self.install()
        HOSTS.on('b', f'flock "{HOSTS.site}/.dice-run/numbers/lock" sleep 9 >/dev/null 2>&1 &')
        run = self.boot()
        self.assertTrue(until(lambda: 'dice-run: b: another dice-run is at work here' in self.journal()), self.journal())
        self.assertEqual(self.ranks(), [0, 0])
        self.assertRuns()
        self.dice_run('stop')
        self.assertEqual(run.wait(timeout=40), 0)

    def test_another_version(self):
        self.install()
        link = f'"{HOSTS.site}/numbers"'
        before = HOSTS.on('b', f'readlink {link}').strip()
        HOSTS.on('b', f'rm {link}')
        run = self.boot()
        self.assertTrue(until(lambda: 'b has another version than a; deploy again' in self.journal()), self.journal())
        HOSTS.on('b', f'ln -s {before} {link}')
        self.assertRuns()
        self.dice_run('stop')
        self.assertEqual(run.wait(timeout=40), 0)

    def test_what_is_refused(self):
        self.assertIn('--from: "c" is not a host of numbers; its hosts are a, b', self.install('--from', 'c', code=2))
        self.assertIn('has a line break', self.install('--', 'a\nb', code=2))
        self.assertIn('nobody gives a job that starts at boot a standard input', self.install('--', '--input', '-', code=2))
        HOSTS.behave('b', 'refuses')
        self.assertIn('the service was not installed', self.install(code=1))
        HOSTS.behave('b')
        with self.begin('install-service', to=HOSTS.site / 'nowhere') as run:
            self.assertIn('a: numbers is not deployed; dice-run deploy brings it\n', run.communicate(timeout=30)[0])
        only_a = HOSTS.packages('only a', names=['a'])
        self.dice_run('deploy', packages=only_a)
        HOSTS.behave('b', 'refuses')
        self.assertIn(f'a: wrote {UNIT}\n', self.install(packages=only_a))  # b has left the deployment
        self.uninstall(packages=only_a)
        HOSTS.behave('b')
        self.dice_run('deploy')
        (FOLDER / 'asked').unlink()
        said = self.install('--dry-run', '--', '--random', '1 2')
        self.assertIn(', with the scripts that start the job, and its options:\n--random\n1 2\na: writes dice-numbers.service, a unit of the user:\n', said)
        self.assertIn('\nExecStart=/bin/sh "', said)
        self.assertTrue(said.endswith('\na: runs systemctl --user daemon-reload\na: runs systemctl --user enable dice-numbers.service\n'), said)
        self.assertNotIn('grep', said)
        self.assertEqual((UNIT.exists(), self.asked()), (False, []))


if __name__ == '__main__':
    unittest.main()
