#!/usr/bin/env python3
"""test_hosts.py DICE_TESTBED: what commands on emulated hosts do. How fast links are is for `dice-testbed selftest`."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TESTBED = sys.argv.pop(1)
NAME = f'hosts{os.getpid()}'
HERE = {**os.environ, 'TESTBED_NAME': NAME}
STATE = pathlib.Path('/run/testbed', NAME)


def bed(*arguments, code=0, env=HERE):
    done = subprocess.run([TESTBED, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, env=env)
    assert done.returncode == code, f'{arguments}: exit status {done.returncode}: {done.stdout}'
    return done.stdout


def setUpModule():
    if os.geteuid() != 0:
        raise unittest.SkipTest('hosts need root')
    done = subprocess.run([TESTBED, 'up', '1', '--wire'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=HERE)
    if done.returncode:
        raise unittest.SkipTest('hosts cannot be made here: ' + done.stdout)


def tearDownModule():
    subprocess.run([TESTBED, 'down'], env=HERE)


def group(controller, host, file_1, file_2):
    """What a control group of a host says, in version 1 or 2."""
    for path in (f'/sys/fs/cgroup/{controller}/testbed-{NAME}/{host}/{file_1}', f'/sys/fs/cgroup/testbed-{NAME}/{host}/{file_2}'):
        if os.path.exists(path):
            return pathlib.Path(path).read_text().strip()
    return None


class Hosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        bed('up', 3, '--wire', '--names', 'a,b,c', '--rate', '100mbit', '--folder', cls.folder)  # in place of the one that is up

    def wire(self, k):
        return (STATE / f'h{k}.wire').read_text().splitlines()

    def test_run(self):
        self.assertEqual(bed('run', 'hostname') + bed('run', '-h', 'c', 'hostname'), 'a\nc\n')
        self.assertEqual(bed('run', 'cat', '/etc/hosts'), '127.0.0.1 localhost\n10.99.0.1 a\n10.99.0.2 b\n10.99.0.3 c\n')
        said = dict(line.split('=', 1) for line in bed('run', '-h', 'c', 'env', env={'PATH': os.environ['PATH'], 'TESTBED_NAME': NAME, 'DICE_COMPUTE_SLOWER': '2'}).splitlines())
        agent = f'{os.path.realpath(TESTBED)} agent'
        hosts = f'{STATE}/hostfile'
        for name, value in (('plm_rsh_agent', agent), ('orte_default_hostfile', hosts), ('orte_tmpdir_base', str(STATE)), ('pml', 'ob1'), ('btl', 'self,vader,tcp'),
                            ('osc', '^ucx'), ('btl_tcp_if_include', '10.99.0.0/24'), ('oob_tcp_if_include', '10.99.0.0/24'), ('hwloc_base_binding_policy', 'none'), ('mpi_yield_when_idle', '1')):
            self.assertEqual(said.pop('OMPI_MCA_' + name), value)
        for name, value in (('plm_ssh_agent', agent), ('prte_default_hostfile', hosts), ('prte_tmpdir_base', str(STATE)), ('prte_if_include', '10.99.0.0/24'), ('hwloc_default_binding_policy', 'none')):
            self.assertEqual(said.pop('PRTE_MCA_' + name), value)
        for name in 'OMPI_ALLOW_RUN_AS_ROOT', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM':
            self.assertEqual(said.pop(name), '1')
        self.assertEqual({name for name in said if 'MCA' in name or 'OMPI' in name or 'DICE' in name}, set())
        self.assertEqual((said['TESTBED_NAME'], said['TESTBED_HOSTFILE']), (NAME, hosts))
        self.assertEqual(pathlib.Path(hosts).read_text(), 'a slots=1\nb slots=1\nc slots=1\n')
        self.assertIn(f"no host 'x' in test bed '{NAME}'; its hosts are a, b, c\n", bed('run', '-h', 'x', 'true', code=1))
        self.assertIn('run needs a command', bed('run', code=2))
        bed('run', 'sh', '-c', 'exit 3', code=3)

    def test_ssh(self):
        self.assertEqual(bed('ssh', '-o', 'BatchMode=yes', '-p', '22', '-q', '--', 'b', 'hostname;', 'exit', '7', code=7), 'b\n')
        self.assertEqual(bed('ssh', '-F', 'none', 'c', 'hostname'), 'c\n')
        self.assertIn("no host 'x'", bed('ssh', 'x', 'true', code=255))
        self.assertIn('no command', bed('ssh', 'b', code=1))
        self.assertEqual(bed('agent', 'b', 'hostname;', 'exit', '5', code=5), 'b\n')
        knocks = 'timeout 2 bash -c "echo >/dev/tcp/b/9" 2>/dev/null; echo $?'
        self.assertEqual(bed('run', 'sh', '-c', knocks), '1\n')  # nobody listens
        bed('cut', 'b')
        self.assertIn('\nb: link cut, processes:\n', bed('status'))
        self.assertEqual(bed('run', 'sh', '-c', knocks), '124\n')
        for how in 'ssh', 'agent':
            self.assertEqual(bed(how, 'b', 'true', code=255), 'ssh: connect to host b port 22: No route to host\n')
        bed('restore', 'b')
        self.assertIn('\nb: link up, processes:\n', bed('status'))
        bed('ssh', 'b', 'true')

    def test_shapes(self):
        self.assertEqual(self.wire(3), ['0 0 0 100'])
        for words, shape in ((('--rate', '10mbit', '--delay', '2ms', '--jitter', '.5ms', '--loss', '0.5%'), '2000 500 0.5 10'), (('--rate', '1.5gbit', '--delay', '300us'), '300 0 0 1500'),
                             (('--rate', '500kbit', '--delay', '1s', '--loss', '2'), '1000000 0 2 0.5'), (('--preset', 'gbe'), '0 0 0 1000'), (('--preset', 'fe'), '0 0 0 100'),
                             (('--preset', 'wifi'), '2000 1000 0.1 30'), ((), '0 0 0 0')):
            bed('shape', 'a', *words)
            self.assertEqual(self.wire(1), [shape])
        self.assertEqual(self.wire(2), ['0 0 0 100'])
        for rate in 20, 5:
            bed('link', 'c', 'a', '--rate', f'{rate}mbit', '--delay', '3ms')
        bed('link', 'c', 'b', '--delay', '1ms')
        self.assertEqual((self.wire(3), self.wire(1), self.wire(2)), (['0 0 0 100', '01 3000 5', '02 1000 0'], ['0 0 0 0', '03 3000 5'], ['0 0 0 100', '03 1000 0']))
        self.assertIn('    wire: delay_us jitter_us loss_percent mbit_per_s = 0 0 0 100\n    to 02:00:00:00:00:01 3000 5  (delay_us mbit_per_s)\n', bed('status'))
        self.assertEqual(re.findall('ether ([0-9a-f:]+)', bed('run', '-h', 'c', 'ip', 'link', 'show', 'eth0')), ['02:00:00:00:00:03'])  # whose last byte is the 03
        for words, said in ((('shape', 'a', '--colour', 'x'), 'unknown option --colour'), (('shape', 'a', '--rate', '1mbps'), "bad rate '1mbps'"), (('shape', 'a', '--jitter', '5'), "bad time '5'"),
                            (('link', 'a', 'x'), "no host 'x'"), (('slower', 'a', '-1'), "bad factor '-1'"), (('memory', 'a', '60x'), "bad memory '60x'"), (('disk', 'a', '3'), "bad size '3'"),
                            (('cpu', 'a', '0'), "bad CPU share '0'"), (('cpu', 'a', '0.1'), "bad CPU share '0.1' (at least 0.11 percent"), (('up', '1', '--folder', '/nowhere'), "no folder '/nowhere'")):
            self.assertIn(said, bed(*words, code=1 if words[0] == 'link' else 2))
        self.assertIn("there is no command 'shap'", bed('shap', code=2))
        self.assertIn("bad TESTBED_NAME 'a b'", bed('status', code=2, env={**HERE, 'TESTBED_NAME': 'a b'}))
        self.assertTrue(bed('help').startswith('usage: dice-testbed try'))

    def test_limits(self):
        shown = 'echo "$DICE_COMPUTE_SLOWER"'
        bed('slower', 'b', '3.5')
        self.assertEqual(bed('run', '-h', 'b', 'sh', '-c', shown) + bed('ssh', 'c', shown), '3.5\n\n')
        (self.folder / 'mine').touch()
        bed('run', 'touch', self.folder / 'here')
        self.assertEqual((bed('run', 'ls', self.folder), bed('ssh', 'b', f'ls {self.folder}')), ('here\n', ''))
        self.assertEqual(os.listdir(self.folder), ['mine'])
        bed('run', 'sh', '-c', f'head -c 5000 /dev/zero >{self.folder}/zeros')
        self.assertIn('the folder of a has more than 4k already', bed('disk', 'a', '4k', code=1))
        bed('disk', 'a', '100k')
        self.assertEqual(bed('run', 'ls', self.folder), 'here\nzeros\n')
        if subprocess.run([TESTBED, 'memory', 'b', '60m'], env=HERE, capture_output=True).returncode:
            self.skipTest('no control groups here')
        memory = 'memory', 'h2', 'memory.limit_in_bytes', 'memory.max'
        self.assertEqual(group(*memory), str(60 << 20))
        bed('memory', 'b', '30000k')
        self.assertLess(abs(int(group(*memory)) - 30000 * 1024), 65536)  # in pages
        self.assertIn(f'{NAME}/h2', bed('run', '-h', 'b', 'cat', '/proc/self/cgroup'))
        self.assertNotIn(NAME, bed('run', '-h', 'c', 'cat', '/proc/self/cgroup'))
        bed('memory', 'b', 'max')
        self.assertTrue(group(*memory) == 'max' or int(group(*memory)) > 1 << 60)
        for share, quota, period in (('25', '2500', '10000'), ('10', '1000', '10000'), ('5', '1010', '20200'), ('.11', '1009', '918181'), ('max', '-1', '10000')):
            bed('cpu', 'b', share)
            of_1 = [group('cpu', 'h2', f'cpu.cfs_{what}_us', '') for what in ('quota', 'period')]
            self.assertEqual(of_1 if of_1[0] else group('', 'h2', '', 'cpu.max').replace('max', '-1').split(), [quota, period])
        self.assertEqual(bed('status').count('    cgroups: '), 1)

    def test_kill(self):
        with subprocess.Popen([TESTBED, 'run', '-h', 'b', 'sleep', '50'], env=HERE) as dies, subprocess.Popen([TESTBED, 'run', '-h', 'c', 'sleep', '50'], env=HERE) as lives:
            end = time.monotonic() + 20
            while not re.search(r'b: link up, processes: \d(.|\n)*c: link up, processes: \d', bed('status')) and time.monotonic() < end:
                pass
            bed('kill', 'b')
            self.assertEqual(dies.wait(30), -9)
            self.assertIsNone(lives.poll())
            bed('kill', 'c')

    def test_signals_while_hosts_are_made(self):
        self.addCleanup(self.setUpClass)  # which other tests need
        bed('down')
        for number in signal.SIGHUP, signal.SIGINT, signal.SIGTERM:
            with subprocess.Popen([TESTBED, 'up', '40', '--wire'], env=HERE, stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as run:
                while not (STATE / 'h2.uts').exists():
                    self.assertIsNone(run.poll())
                run.send_signal(number)
                self.assertNotEqual(run.wait(30), 0)
            left = subprocess.run('ip netns list; mount; ls /run/testbed', shell=True, stdout=subprocess.PIPE, text=True).stdout
            self.assertNotIn(NAME, left, f'signal {number}')

    def test_without_wires(self):
        self.addCleanup(self.setUpClass)  # which other tests need
        own = bed('run', '-h', 'a', 'true') + bed('up', 2, '--names', f'{os.uname().nodename},b')
        self.assertIn(f"warning: {os.uname().nodename} is this machine's own name", own)
        self.assertIn('need a test bed that was brought up with --wire', bed('link', 'b', os.uname().nodename, code=1))
        if not (STATE / 'netem').exists():
            self.assertIn('this kernel has no netem', bed('shape', 'b', '--delay', '1ms', code=1))
        bed('shape', 'b', '--rate', '10mbit')
        self.assertRegex(bed('status'), r'tbf .* rate 10Mbit burst 31\d\db .* overhead 24')
        for rate, shape in ('490mbit', r'24[45]\d\db lat 8\.'), ('500mbit', r'70000b lat 133'), ('1gbit', r'70000b lat 66\.'), ('2gbit', r'100000b lat 33\.'):
            bed('shape', 'b', '--rate', rate)  # whole packets of 64 kB pass from 500 Mbit/s on, and do not get lost
            self.assertRegex(bed('status'), fr'(?i)rate {rate} burst {shape}')
        bed('down')
        left = subprocess.run(f'ip netns list; mount; find /sys/fs/cgroup -name "*{NAME}*"; ls /run/testbed', shell=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertNotIn(NAME, left)
        self.assertIn('is not up; dice-testbed up', bed('run', 'true', code=1))


if __name__ == '__main__':
    unittest.main()
