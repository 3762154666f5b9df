"""What the tests of dice-run on hosts share: two hosts of hosts.py, with two sets of packages. The first argument is dice-run."""
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from hosts import Hosts

DICE_RUN = os.path.abspath(sys.argv.pop(1))
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix='dice_run '))  # a blank in all paths
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

    def begin(self, *words, packages=None, to=HOSTS.site):
        return Run([DICE_RUN, '-p', packages or ONE, '--to', to, '--ssh', shlex.quote(str(HOSTS.ssh)), *words],
                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def versions(self):
        return [(host['current'], host['previous']) for host in json.loads(self.dice_run('status', '--json'))['hosts']]

    def locked(self, site=HOSTS.site):
        """Whether a dice-run has locked a deployment on each host."""
        lock = f'"{site}/.dice-run/numbers/lock"'
        return [HOSTS.on(name, f'[ ! -f {lock} ] || flock -sw 2 {lock} true || echo locked') == 'locked\n' for name in NAMES]

    def assertLocked(self, locked):
        self.assertEqual(self.locked(), [locked] * len(NAMES))
