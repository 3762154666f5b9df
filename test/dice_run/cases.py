"""What the tests of dice-run on hosts share: two hosts of hosts.py, with two sets of packages. The first argument is dice-run."""
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from hosts import Hosts, until

DICE_RUN = os.path.abspath(sys.argv.pop(1))
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix='dice_run \\t'))  # a blank and a backslash in all paths
NAMES = ['a', 'b']
try:
    HOSTS = Hosts(FOLDER / 'hosts', NAMES)
except OSError as e:
    print(e)
    sys.exit(77)
ONE, TWO = HOSTS.packages('one'), HOSTS.packages('two', b'of another training')
JOB = 'dice-run-' + hashlib.sha256(f'{HOSTS.site}/numbers'.encode()).hexdigest()[:16]  # its name, in the environment of its processes


def tearDownModule():
    HOSTS.down()
    shutil.rmtree(FOLDER)


class Run(subprocess.Popen):
    def __exit__(self, wrong, *rest):
        if wrong:  # nobody ends it any more
            self.kill()
        return super().__exit__(wrong, *rest)


class Case(unittest.TestCase):
    def tearDown(self):
        for name in NAMES:
            for where in ('ssh', 'between'):
                if (HOSTS.folder / f'{where}.{name}').exists():
                    HOSTS.behave(name, where=where)

    def dice_run(self, *words, code=0, packages=None, umask=-1, **environment):
        done = subprocess.run([DICE_RUN, '-p', packages or ONE, '--to', HOSTS.site, '--ssh', shlex.quote(str(HOSTS.ssh)), *words],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, cwd=FOLDER,
                              umask=umask, env={**os.environ, **environment})
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def begin(self, *words, packages=None, to=HOSTS.site, **how):
        return Run([DICE_RUN, '-p', packages or ONE, '--to', to, '--ssh', shlex.quote(str(HOSTS.ssh)), *words],
                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)

    def unprinted(self, *words, packages=None):
        """What a command says on its standard error if nobody can read the rest: a pipe without a reader, and a full disk."""
        reader, closed = os.pipe()
        os.close(reader)
        said = []
        for out, reason in ((closed, 'Broken pipe'), (os.open('/dev/full', os.O_WRONLY), 'No space left on device')):
            done = subprocess.run([DICE_RUN, '-p', packages or ONE, '--to', HOSTS.site, '--ssh', shlex.quote(str(HOSTS.ssh)), *words],
                                  stdout=out, stderr=subprocess.PIPE, text=True, timeout=60)
            os.close(out)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertTrue(done.stderr.endswith(f', but the standard output cannot be written: {reason}\n'), done.stderr)
            said.append(done.stderr)
        return said

    def interrupted(self, *words, at, by='INT', packages=None):
        """What a command says that a signal ends at a connection: (host, its number)."""
        (HOSTS.folder / 'ssh.log').unlink(missing_ok=True)
        HOSTS.behave(at[0], f'interrupts {at[1]} {by}')
        with self.begin(*words, packages=packages) as run:
            said = run.communicate(timeout=30)[0]
        HOSTS.behave(at[0])
        self.assertEqual(run.returncode, -signal.Signals['SIG' + by], said)
        self.assertTrue(until(lambda: not any(self.locked())))  # the hosts notice its end a little later
        return said

    def versions(self):
        return [(host['current'], host['previous']) for host in json.loads(self.dice_run('status', '--json'))['hosts']]

    def locked(self, site=HOSTS.site):
        """Whether a dice-run has locked a deployment on each host."""
        lock = f'"{site}/.dice-run/numbers/lock"'
        return [HOSTS.on(name, f'[ ! -f {lock} ] || flock -sw 2 {lock} true || echo locked') == 'locked\n' for name in NAMES]

    def assertLocked(self, locked):
        self.assertEqual(self.locked(), [locked] * len(NAMES))


class JobCase(Case):
    """A deployment that is there; whatever a test starts is stopped."""
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

    def assertTheSupervisorAloneKeepsTheLock(self):
        """Others would keep it when the supervisor is killed. Programs that end at once, such as ln, do not count."""
        def is_so():
            *found, supervisor = HOSTS.on('a', f'find /proc/[0-9]*/fd/9 -lname "*/job.lock" 2>/dev/null; readlink "{HOSTS.site}/.dice-run/numbers/owner" | cut -d " " -f 1').split()
            return found == [f'/proc/{supervisor}/fd/9']
        self.assertTrue(until(is_so, 2))
