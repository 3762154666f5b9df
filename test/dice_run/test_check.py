#!/usr/bin/env python3
"""test_check.py DICE_RUN ONNX2HPP MODEL INCLUDE COMPILER: `dice-run check` and `dice-run init` on imitated hosts (machines.py)."""
import contextlib
import json
import os
import pathlib
import pty
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import machines

DICE_RUN, ONNX2HPP, MODEL, INCLUDE, COMPILER = sys.argv[1:6]


class Recorded(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / 'hosts').mkdir()

    def hosts(self, **hosts):
        for name, machine in hosts.items():
            machines.write(self.folder / 'hosts' / name, name, machine)

    def run_tool(self, *words, code=0, program=DICE_RUN, **streams):
        done = subprocess.run([program, *map(str, words)], text=True, cwd=self.folder, **{'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, **streams},
                              env={**os.environ, 'DICE_RUN_SSH': machines.write_ssh(self.folder / 'hosts')})
        self.assertEqual(done.returncode, code, f'{done.stdout}\n{done.stderr}')
        return done

    def check(self, *names, code=0, options=('--no-links',)):
        self.said = self.run_tool('check', '--hosts', ','.join(names), '--json', 'out.json', '--cluster', 'cluster.hpp', *options, code=code)
        self.json = json.loads((self.folder / 'out.json').read_text())
        return {host['host']: host for host in self.json['hosts']}

    def compiles(self, header, objective='throughput', profile=()):
        """The header with its best mapping, as in the plan of an init project."""
        subprocess.run([ONNX2HPP, MODEL, '--name', 'digits', '-o', self.folder, '-q', *profile], check=True)
        (self.folder / 'cluster.hpp').write_text(header)
        (self.folder / 'plan.cpp').write_text('#include "digits.hpp"\n#include "cluster.hpp"\n'
            f'using deployment = dice::best_mapping<digits::network, machines, dice::{objective}>;\n'
            'static_assert(dice::predicted<digits::network, deployment, machines>.throughput > 0);\n')
        limits = ['ops-limit', 'loop-limit'] if 'clang' not in pathlib.Path(COMPILER).name else ['steps']
        subprocess.run([COMPILER, '-std=c++20', '-Wall', '-Werror', '-fsyntax-only', *(f'-fconstexpr-{n}=2147483647' for n in limits),
                        '-DDICE_LIBRARY=none', f'-I{INCLUDE}', f'-I{self.folder}', self.folder / 'plan.cpp'], check=True)


class Check(Recorded):
    def test_boards_are_recognised(self):
        self.hosts(pi4=machines.PI4, pi5=machines.PI5, orin={**machines.ORIN, 'mpi': '4.1.4'}, pc=machines.PC, rock=machines.ROCK,
                   small={**machines.PI4, 'memory': 1900000})
        found = self.check('pi4', 'pi5', 'orin', 'pc', 'rock', 'small', options=('--no-links', '--to', self.folder / 'not/yet there'))
        self.assertEqual([host['board'] for host in found.values()],
                         ['raspberry_pi_4', 'raspberry_pi_5', 'jetson_orin_nano', '', '', 'raspberry_pi_4'])
        self.assertEqual((found['pi4']['cpu'], found['orin']['tegra'][:5]), ('Cortex-A72', '# R36'))
        self.assertEqual((found['pc']['physical_cores'], len(found['pc']['cores']), found['pc']['memory_bytes']), (4, 8, 16263928 * 1024))
        self.assertEqual((found['pc']['disk_free_bytes'], found['pc']['glibc']), (20000000 * 1024, '2.36'))
        self.assertEqual((self.json['errors'], self.json['warnings'], self.json['folder']), ([], [], str(self.folder / 'not/yet there')))
        self.assertNotRegex(self.said.stderr, '(?m)^dice-run: (error|warning)')
        header = (self.folder / 'cluster.hpp').read_text()
        for text in ('dice::host<"pi4", dice::boards::raspberry_pi_4>', 'dice::host<"pi5", dice::boards::raspberry_pi_5>',
                     'dice::host<"orin", dice::boards::jetson_orin_nano>',
                     'dice::processor<dice::cpu, dice::gflops<435>, dice::gbytes_per_s<5>>',  # 4 cores × 3.4 GHz × 32
                     'dice::processor<dice::cores<0, 1, 2, 3>, dice::gflops<45.3>, dice::gbytes_per_s<5>>',  # 4 × 1.416 × 8
                     'dice::processor<dice::cores<4, 5>, dice::gflops<28.8>, dice::gbytes_per_s<5>>',
                     'dice::board<"raspberry_pi_4", dice::ram<1855_MiB>,\n'
                     '    dice::processor<dice::cores<0, 1, 2, 3>, dice::gflops<48>, dice::gbytes_per_s<4>, dice::watts<6.4, 2.7>>>;',
                     'Connections were not measured'):
            self.assertIn(text, header)
        self.compiles(header)

    def test_the_table_has_a_line_for_each_host(self):
        self.hosts(box={**machines.PC, 'libraries': 'libmpi.so.40 libmpi_cxx.so.40 libboost_mpi.so.1 libboost_serialization.so.1 libgomp.so.1 libstdc++.so.6 libstb.so.0', 'gpu': '"NVIDIA A2, 15356 MiB, 535.1"; echo "NVIDIA T4, 15360 MiB, 535.1"'},
                   orin={**machines.ORIN, 'mpi': '4.1.4'}, pi=machines.PI4, dying={**machines.PI4, 'dies': True})
        release = self.folder / 'hosts/box/etc/os-release'
        release.parent.mkdir()
        release.write_text('PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\n')
        found = self.check('box', 'orin', 'pi', 'gone', 'dying', code=1)
        self.assertEqual((found['gone']['reached'], list(found['gone'])), (False, ['host', 'reached', 'failure']))
        self.assertIn('it does not answer; check its power', found['gone']['failure'])
        self.assertRegex(found['dying']['failure'], '^ssh fails: .*; try ')
        box, pi = found['box'], found['pi']
        self.assertEqual((self.json['folder'], self.json['starting_hosts']), ('/var/tmp', ['box', 'orin', 'pi']))
        self.assertTrue(0 < box.pop('ssh_s') < 60 and abs(box.pop('clock_offset_ms')) < 500 and 0 <= box.pop('clock_error_ms') < 500)
        self.assertEqual(box, {
            'host': 'box', 'reached': True, 'hostname': 'box', 'address': '127.0.0.1', 'user': pwd.getpwuid(os.geteuid()).pw_name,
            'system': 'Debian GNU/Linux 12 (bookworm)', 'architecture': 'x86_64', 'system_bits': 64, 'model': '', 'compatible': [], 'board': '',
            'cpu': 'Intel(R) Core(TM) i5-8250U CPU @ 1.60GHz', 'cpu_flags': 'fpu sse sse2 ssse3 sse4_1 sse4_2 cx16 lahf_lm popcnt abm movbe avx avx2 fma f16c bmi1 bmi2',
            'cores': [{'core': i, 'ghz': 3.4, 'cpu_implementer': 0, 'cpu_part': 0, 'siblings': f'{i % 4},{i % 4 + 4}'} for i in range(8)], 'physical_cores': 4,
            'memory_bytes': 16263928 * 1024, 'disk_free_bytes': 20000000 * 1024, 'memory_fill_gbytes_per_s': box['memory_fill_gbytes_per_s'],
            'open_mpi': '4.1.4', 'glibc': '2.36', 'musl': False, 'noexec': False, 'networks': [],
            'libraries': ['libmpi.so.40', 'libboost_mpi.so.1', 'libboost_serialization.so.1', 'libgomp.so.1', 'libstdc++.so.6', 'libstb.so.0'],
            'perl': True, 'rsync': True, 'gpus': ['NVIDIA A2, 15356 MiB, 535.1', 'NVIDIA T4, 15360 MiB, 535.1'], 'tegra': '',
            'ssh': {'orin': True, 'pi': True, 'gone': True, 'dying': True}})
        self.assertAlmostEqual(box['memory_fill_gbytes_per_s'], 5, delta=0.01)
        self.assertEqual((pi['model'], pi['compatible'], pi['cores'][3]),
                         ('Raspberry Pi 4 Model B Rev 1.4', ['raspberrypi,4-model-b', 'brcm,bcm2711'], {'core': 3, 'ghz': 1.5, 'cpu_implementer': 65, 'cpu_part': 3336, 'siblings': '3'}))
        self.assertEqual(pi['cpu_flags'], 'fp asimd evtstrm crc32 cpuid')
        rows = {line.split()[0]: line for line in self.said.stdout.splitlines() if line}
        self.assertRegex(rows['box'], r' x86_64 .* 15\.5 GiB +19\.1 GiB +4\.1\.4 +2\.36 +NVIDIA A2, 15356 MiB, 535\.1 +[+-]\d+ ms +\d+ ms$')
        self.assertRegex(rows['orin'], r' aarch64 .* Tegra +[+-]\d+ ms')
        self.assertRegex(rows['pi'], r'^pi +Raspberry Pi 4 .* aarch64 .* 4\.1\.4 +2\.36 +– +[+-]\d+ ms')
        self.assertRegex(rows['gone'] + rows['dying'], r'^gone +not reacheddying +not reached$')

    def test_names_stay_names(self):
        name = 'a "b\\; $(touch x)'
        machines.write(self.folder / 'hosts' / name, name, machines.PI4)
        self.hosts(pi=machines.PI4, **{'Küche': machines.PI4})
        self.run_tool('check', 'pi', 'Küche', '--no-links', '--json', 'named.json')
        self.assertIn('"host": "Küche"', (self.folder / 'named.json').read_text())
        self.run_tool('check', 'pi', name, '--no-links', '--cluster', 'cluster.hpp')
        self.assertIn(r'dice::host<"a \"b\\; $(touch x)", dice::boards::raspberry_pi_4>', (self.folder / 'cluster.hpp').read_text())
        self.assertFalse((self.folder / 'x').exists())
        self.assertIn('named twice', self.run_tool('check', 'pi', 'pi', code=2).stderr)
        self.assertIn('its user belongs into ~/.ssh/config', self.run_tool('check', 'me@pi', code=2).stderr)

    def test_what_stands_in_the_way_of_a_job(self):
        self.hosts(a=machines.PI4, b={**machines.PI4, 'mpi': '4.1.0', 'refused': ['a', 'gone']}, c={**machines.PI4, 'mpi': ''})
        found = self.check('a', 'b', 'c', 'gone', code=1)
        said = self.said.stderr
        self.assertRegex(said, r'error: gone: it does not answer; check its power')
        self.assertRegex(said, r'error: the hosts have different versions of Open MPI: 4.1.0 on b, 4.1.4 on a; all need the same')
        self.assertRegex(said, r'error: c: there is no mpirun of Open MPI; install it \(Debian: openmpi-bin\)')
        self.assertRegex(said, r'warning: b cannot log in to a without a password \(Permission denied.*\), as mpirun must.*\. On b: ssh-keygen if .*, then ssh-copy-id a\n')
        self.assertNotIn('log in to gone', said)  # an error of its own
        self.assertEqual((self.json['starting_hosts'], found['b']['ssh']['a'], found['b']['ssh']['c'], found['gone']['reached']),
                         (['a', 'c'], 'Permission denied (publickey).', True, False))
        self.assertIn('// gone was not reached.', (self.folder / 'cluster.hpp').read_text())

    def test_hosts_that_do_not_find_each_other(self):
        self.hosts(a={**machines.PI4, 'refused': ['b'], 'refusal': 'Welcome\\r\\nssh: Could not resolve hostname b: Name or service not known'},
                   b={**machines.PI4, 'ssh': '[ "$*" = "-o BatchMode=yes -o ConnectTimeout=5 a true" ]'})
        self.assertTrue(self.check('a', 'b')['b']['ssh']['a'])
        self.assertRegex(self.said.stderr, r'a cannot log in to b .*\(ssh: Could not resolve .*On a: add the name to /etc/hosts\n')
        with unittest.mock.patch.dict(os.environ, {'PRTE_MCA_plm_ssh_agent': 'ls -d'}):  # what Open MPI 5 starts in place of ssh
            self.assertRegex(self.check('a', 'b', code=1)['b']['ssh']['a'], '^ls: .*true.*: No such file')

    def test_one_machine_under_two_names(self):
        one = {**machines.PI4, 'hostname': 'pi', 'boot': '7d1c'}
        self.hosts(pi=one, **{'10.0.0.2': one, 'other': {**one, 'hostname': 'other'}, 'twin': {**one, 'boot': '55e0'}})
        self.check('pi', '10.0.0.2', 'other', 'twin', code=1)
        self.assertEqual(self.json['errors'], ['10.0.0.2: it is the same machine as pi; name each machine once'])

    def test_no_host_can_start_a_job(self):
        self.hosts(a={**machines.PI4, 'refused': ['b']}, b={**machines.PI4, 'refused': ['a']})
        self.check('a', 'b', code=1)
        self.assertEqual(self.said.stderr.count('error: '), 2)

    def test_dry_run_shows_also_the_measurements(self):
        self.hosts(a=machines.PI4, b=machines.PI4)
        said = self.run_tool('check', 'a', 'b', '--dry-run', '--json', 'out.json')
        self.assertRegex(said.stderr, r"-- b 'sh -s'(.|\n)* serve (.|\n)*-- a 'sh -s'(.|\n)* connect \w+ PORT b")
        self.assertEqual((said.stdout, (self.folder / 'out.json').exists()), ('', False))
        said = self.run_tool('check', 'gone', '--json', 'missing/out.json', code=1).stderr  # before hosts are asked
        self.assertTrue("'missing/out.json' cannot be written" in said and 'does not answer' not in said, said)
        said = self.run_tool('check', 'gone', '--cluster', 'missing/out.hpp', code=1).stderr
        self.assertTrue("'missing/out.hpp' cannot be written" in said and 'does not answer' not in said, said)
        self.run_tool('check', 'b', '--hosts', 'a', '--no-links', '--json', 'out.json')  # both
        self.assertEqual([host['host'] for host in json.loads((self.folder / 'out.json').read_text())['hosts']], ['b', 'a'])

    def test_what_cannot_be_printed(self):
        self.hosts(a={**machines.PI4, 'model': f'Raspberry Pi {"4" * 5000}\0'})  # more than a buffer holds
        with open('/dev/full', 'w') as full:
            said = self.run_tool('check', 'a', '--json', 'out.json', code=1, stdout=full)
            self.assertIn('the standard output cannot be written', said.stderr)
            self.assertEqual(len(json.loads((self.folder / 'out.json').read_text())['hosts']), 1)  # what can be done is done
            self.assertIn('a', self.run_tool('check', 'a', '-v', '--json', 'out.json', stderr=full).stdout)

    def test_warnings_do_not_fail(self):
        self.hosts(a={**machines.PI4, 'clock': 5, 'disk': 500000}, b={**machines.PI4, 'hostname': 'raspberrypi', 'off': [2], 'disk': 1100000},
                   c={**machines.PI4, 'libraries': 'libmpi.so.40', 'clock': -5})
        machines.write(self.folder / 'hosts/d.local', 'd', machines.PI4)
        found = self.check('a', 'b', 'c', 'd.local')
        self.assertAlmostEqual(found['a']['clock_offset_ms'], 5000, delta=500)
        self.assertEqual([core['core'] for core in found['b']['cores']], [0, 1, 3])
        for text in (r"a: its clock is 5\.\d s ahead", r"c: its clock is [45]\.\d s behind", 'a: only 488 MiB of disk', r'b: it calls itself "raspberrypi".*set-hostname b,',
                     r'd.local: it calls itself "d".*, with this name in /etc/hosts', r'c: there is no libboost_mpi.*1\.74\.0; 13: .*1\.83\.0\)',
                     r'c: there is no libgomp', r'c: there is no libstb'):
            self.assertRegex(self.said.stderr, text)
        self.assertEqual(len(self.json['warnings']), 8)

    def test_the_latency_is_half_a_round_trip(self):
        listener = socket.create_server(('127.0.0.1', 0))

        def answer_late():
            peer, _ = listener.accept()
            with peer, peer.makefile('rb') as said:
                said.read(len('pT'))
                while len(ping := said.read(64)) == 64:
                    time.sleep(0.05)
                    peer.sendall(ping)
            listener.close()  # so the speed is not measured
        threading.Thread(target=answer_late, daemon=True).start()
        script = pathlib.Path(__file__).parents[2] / 'tools/dice-run/scripts/link.pl'
        done = subprocess.run(['perl', script, 'connect', 'T', str(listener.getsockname()[1]), '127.0.0.1'], text=True, capture_output=True)
        self.assertRegex(done.stdout, r'^between 127.0.0.1 127.0.0.1\nus [\d.e+]+\nfailed ')
        self.assertTrue(25000 <= float(done.stdout.split()[4]) < 45000, done.stdout)

    def test_the_shortest_round_trip_says_the_time(self):
        self.hosts(a=machines.PI4)
        date = self.folder / 'hosts/a/bin/date'
        date.write_text(f'#!/bin/sh\ncd "{self.folder}" && echo >>asked\ncase $(wc -l <asked) in 3) sleep 0.05 ;; *) sleep 0.2 ;; esac\nexec /bin/date "$@"\n')
        date.chmod(0o755)
        a = self.check('a')['a']
        self.assertEqual((self.folder / 'asked').read_text(), '\n' * 5)
        self.assertTrue(25 <= a['clock_error_ms'] < 100 and abs(a['clock_offset_ms']) <= a['clock_error_ms'], a)

    def test_connections_are_measured(self):
        self.hosts(a=machines.PI4, b=machines.PI4)
        self.check('a', 'b', options=())
        [link] = self.json['links']
        self.assertTrue(link['hosts'] == ['a', 'b'] and link['measured'], link)
        self.assertTrue(0 < link['us'] < 20000 and link['mbit_per_s'] > 50 and link['back_mbit_per_s'] > 50, link)
        self.assertRegex((self.folder / 'cluster.hpp').read_text(), r'dice::connection<dice::mbit_per_s<[\d.]+>, dice::us<[\d.]+>>>;')

    def test_connections_have_directions(self):
        """From a, which is the client, to b, the server."""
        server, client = 'echo port 7; echo to_server 90', 'echo us 200; echo to_client 40'
        for name, said in (('a', client), ('b', server), ('c', 'echo port 7')):
            self.hosts(**{name: {**machines.PI4, 'perl': said}})
        self.check('a', 'b', options=())
        self.assertEqual(self.json['links'], [{'hosts': ['a', 'b'], 'measured': True, 'mbit_per_s': 90, 'back_mbit_per_s': 40, 'us': 200}])
        self.assertTrue(self.said.stdout.endswith('\nconnection  Mbit/s  back  latency\na – b           90    40   0.2 ms\n'), self.said.stdout)
        self.check('a', 'c', options=())
        self.assertEqual(self.json['links'], [{'hosts': ['a', 'c'], 'measured': False, 'failure': 'the measurement broke off'}])
        for server, client, failure in (
                ('echo port 7', 'shift 2; echo "failed $1 $3 $4 $5, $# words"; exit 1', 'a: connect 7 b 127.0.0.1, 5 words'),
                ('echo port 7', 'echo x; exit 3', 'a: exit status 3'), ('echo no port', 'exit', 'b: no port'), ('exit 4', 'exit', 'b: exit status 4'), ('exit', 'exit', 'b: perl prints nothing'),
                ('echo port 7; echo failed to wait', 'echo us 1', 'b: to wait'),
                ('[ "$3 ${#4} $#" != "serve 16 4" ] || echo port 7; echo to_server 9', 'echo us 1', 'the measurement broke off')):
            self.hosts(a={**machines.PI4, 'perl': client}, b={**machines.PI4, 'perl': server})
            self.check('a', 'b', options=())
            self.assertEqual(self.json['links'][0]['failure'], failure)
        self.check('a', 'gone', options=(), code=1)
        self.assertEqual(self.json['links'][0]['failure'], 'gone is not reached')

    def test_a_terminal_shows_how_far_the_measurements_are(self):
        self.hosts(**{name: {**machines.PI4, 'perl': 'echo port 7'} for name in 'abc'})
        for words in ('check',), ('init', MODEL, 'new', '--onnx2hpp', ONNX2HPP):
            shown, terminal = pty.openpty()
            self.run_tool(*words, '--hosts', 'a,b,c', stderr=terminal)
            os.close(terminal)
            said = b''
            with open(shown, 'rb', buffering=0) as page, contextlib.suppress(OSError):  # at the end
                while True:
                    said += page.read(10000)
            said = said.decode()
            self.assertTrue(said.startswith(''.join(f'\r\x1b[Kdice-run: measures connections, {i} of 3 rounds ' for i in (1, 2, 3)) + '\r\x1b[Kdice-run: '), said)

    def test_connections_are_measured_together_unless_one_by_one(self):
        log = self.folder / 'measured'
        says = f'[ "$3" != serve ] || {{ echo port 7; echo to_server 90; exit; }}; echo + >>"{log}"; sleep 0.5; echo - >>"{log}"; echo us 200; echo to_client 40'
        self.hosts(**{name: {**machines.PI4, 'perl': says} for name in 'abcd'})
        for words, together in (('check', 'a', 'b', 'c', 'd'), True), (('check', 'a', 'b', 'c', 'd', '--one-by-one'), False), (
                ('init', MODEL, 'two', '--hosts', 'a,b,c,d', '--onnx2hpp', ONNX2HPP), True), (
                ('init', MODEL, 'one', '--hosts', 'a,b,c,d', '--onnx2hpp', ONNX2HPP, '--one-by-one'), False):
            log.write_text('')
            self.run_tool(*words, *(['--json', 'out.json'] if words[0] == 'check' else []))
            self.assertEqual(log.read_text().count('+'), 6)
            self.assertEqual('+\n+' in log.read_text(), together, words)
            self.assertEqual([''.join(link['hosts']) for link in json.loads((self.folder / 'out.json').read_text())['links']], ['ab', 'ac', 'ad', 'bc', 'bd', 'cd'])


class Init(Recorded):
    def init(self, *words, code=0, **streams):
        return self.run_tool('init', MODEL, *words, '--onnx2hpp', ONNX2HPP, '--no-links', code=code, **streams)

    def test_what_cannot_be_printed(self):
        self.hosts(pi={**machines.PI4, 'model': f'Raspberry Pi {"4" * 5000}\0'})
        with open('/dev/full', 'w') as full:
            self.assertIn('the standard output cannot be written', self.init('mine', '--hosts', 'pi', code=1, stdout=full).stderr)
        self.assertTrue((self.folder / 'mine/README.md').exists())

    def test_project(self):
        self.hosts(pc=machines.PC, pi=machines.PI4, orin={**machines.ORIN, 'mpi': '4.1.4'})
        said = self.init('mine', '--hosts', 'pc,pi,orin', '--name', 'numbers').stdout
        self.assertTrue(said.endswith('the build of the packages says which hosts get no ranks, because they would not make the job faster\n'), said)
        self.assertRegex(said, r'(?m)^orin +NVIDIA Jetson Orin Nano Developer Kit +aarch64 ')
        project = {file.name: file.read_text() for file in (self.folder / 'mine').iterdir()}
        self.assertEqual(sorted(project), ['CMakeLists.txt', 'README.md', 'cluster.hpp', 'plan.hpp'])
        lists = project['CMakeLists.txt']
        self.assertIn('dice_add_deployment(numbers NETWORK numbers PLAN plan.hpp ', lists)
        if os.uname().machine == 'x86_64':
            self.assertIn('dice_add_board(board_of_pc DICE_BOARD x86-64-v3)', lists)
            self.assertNotIn('dice_add_board(raspberry', lists)  # has defaults
            self.assertIn('\nsudo apt install g++-aarch64-linux-gnu rsync\n'
                          'ssh orin sudo apt install libopenmpi-dev libboost-mpi-dev libxtensor-dev libstb-dev\n'
                          'DICE/scripts/sysroot board orin sysroot\n', project['README.md'])  # which has the oldest libraries
            self.assertIn('cmake -S . -B build -DDICE_SYSROOT=sysroot && cmake --build', project['README.md'])
        self.assertIn('Connections were not measured', project['cluster.hpp'])
        self.assertRegex(project['README.md'], r'(?s)\ndice-run start -- --input /dev/video0 .*`dice-run check --hosts pc,pi,orin --cluster cluster\.hpp`')
        self.assertIn(' PROFILE numbers.profile.json)\n# ANY_MAPPING: ', lists)
        self.assertIn(' PLAN plan.hpp ANY_MAPPING)\n', lists)
        self.assertIn('dice::best_mapping<numbers::network, machines,', project['plan.hpp'])
        self.assertIn('ONNX "../', lists)  # or else the project could not move
        model = lists.split('ONNX "')[1].split('"')[0]
        self.assertTrue(os.path.samefile(self.folder / 'mine' / model, MODEL))

    @unittest.skipUnless(os.uname().machine == 'x86_64', 'only PCs compile for PCs')
    def test_one_program_for_several_pcs(self):
        old = {**machines.PC, 'cpuinfo': machines.PC['cpuinfo'].replace(' avx2', '')}
        new = {**machines.PC, 'memory': 4000000}
        for name, hosts, lines in (('old', {'pc': machines.PC, 'old': old}, ['dice_add_board(x86 DICE_BOARD x86-64-v2)']),
                                   ('new', {'pc': machines.PC, 'new': new}, [])):
            self.hosts(**hosts)
            self.init(name, '--hosts', ','.join(hosts))
            lists = (self.folder / name / 'CMakeLists.txt').read_text()
            self.assertEqual(re.findall('dice_add_board.*', lists), lines)
            self.assertEqual(re.findall(r'using (\w+) = dice::board<"x86"', (self.folder / name / 'cluster.hpp').read_text()),
                             [f'board_of_{host}' for host in hosts])
        # PCs that join a project later: what its CMakeLists.txt may lack.
        self.check('pc', 'old')
        self.assertEqual(self.said.stderr, 'dice-run: note: with cluster.hpp, CMakeLists.txt needs dice_add_board(x86 DICE_BOARD x86-64-v2)\n')
        self.check('pc', 'new')
        self.assertEqual(self.said.stderr, '')

    def test_an_installed_dice_is_named_in_the_readme(self):
        self.hosts(rock=machines.ROCK)
        for lib in ('lib', 'lib64'):
            prefix = self.folder / f'a {lib}'
            for file in (f'{lib}/cmake/dice/diceConfig.cmake', f'{lib}/cmake/dice/sysroot', 'bin/dice-run'):
                (prefix / file).parent.mkdir(parents=True, exist_ok=True)
                (prefix / file).touch()
            shutil.copy(DICE_RUN, prefix / 'bin/dice-run')
            (prefix / 'bin/onnx2hpp').write_text('#!/bin/sh\necho "the one beside it: $*" >&2\nexit 1\n')
            (prefix / 'bin/onnx2hpp').chmod(0o755)
            self.assertEqual(self.run_tool('init', MODEL, lib, program=prefix / 'bin/dice-run', code=1).stderr,
                             f'dice-run: error: the one beside it: {MODEL} --list-layers --name digits\n'
                             'dice-run: error: nothing was written, because onnx2hpp does not convert the model\n')
            self.run_tool('init', MODEL, lib, '--onnx2hpp', ONNX2HPP, '--no-links', '--hosts', 'rock', program=prefix / 'bin/dice-run')
            readme = (self.folder / lib / 'README.md').read_text()
            self.assertIn(f" -DCMAKE_PREFIX_PATH='{prefix}'", readme)
            if os.uname().machine == 'x86_64':
                self.assertIn(f"'{prefix}/{lib}/cmake/dice/sysroot' debian sysroot\n", readme)

    def test_a_place_that_cannot_be_written(self):
        self.hosts(pi=machines.PI4)
        (self.folder / 'file').write_text('')
        said = self.init('file/mine', '--hosts', 'pi', code=1).stderr
        self.assertRegex(said, r'^dice-run: error: ".*/file" is not a folder; name another FOLDER\n$')
        said = self.init('file', '--hosts', 'pi', code=2).stderr
        self.assertEqual(said, 'dice-run: error: "file" exists, and is not an empty folder; nothing is overwritten: name another FOLDER\n')
        said = self.init('/proc/mine', '--hosts', 'pi', code=1).stderr  # also root cannot
        self.assertRegex(said, r'"/proc/mine" cannot be made: No such file or directory|nothing can be written in "/proc": Permission denied; ')

    def test_sysroot_of_debian(self):
        self.hosts(pi=machines.PI4, rock=machines.ROCK)
        self.init('--hosts', 'pi,rock', '--name', 'numbers')
        if os.uname().machine == 'x86_64':
            self.assertIn('rsync\nDICE/scripts/sysroot debian sysroot\n', (self.folder / 'numbers/README.md').read_text())
            self.assertIn('dice_add_board(board_of_rock DICE_BOARD -mcpu=cortex-a53 TOOLCHAIN aarch64-linux-gnu.cmake)',
                          (self.folder / 'numbers/CMakeLists.txt').read_text())  # for its smaller cores
        self.hosts(own={**machines.PI4, 'mpi': '5.0.5'})  # which its user has compiled
        self.init('own', '--hosts', 'own', '--name', 'numbers')
        if os.uname().machine == 'x86_64':
            self.assertIn('sysroot board own sysroot\n', (self.folder / 'own/README.md').read_text())

    def test_names_of_models(self):
        self.hosts(pi=machines.PI4)
        for name in ('cluster', 'class', '2 nets'):  # a header of the project, a word of C++, no name in C++
            shutil.copy(MODEL, self.folder / f'{name}.onnx')
            self.run_tool('init', f'{name}.onnx', '--onnx2hpp', ONNX2HPP, '--no-links', '--hosts', 'pi')
            network = 'net_' + name.replace(' ', '_')
            plan = (self.folder / name.replace(' ', '-') / 'plan.hpp').read_text()
            self.assertTrue(plan.startswith(f'// The plan of the deployment {name.replace(" ", "-")}: '), plan)
            self.assertTrue(f'#include "{network}.hpp"' in plan and f'<{network}::network' in plan, plan)
        # Each option takes one word, also before MODEL.
        self.run_tool('init', '--name', 'sized', '--onnx2hpp', ONNX2HPP, '--no-links', '--hosts', 'pi', '-i', 'picture:1x1x8x8', MODEL, 'sized')
        self.assertIn(' INPUT "picture:1x1x8x8" PROFILE sized.profile.json)', (self.folder / 'sized/CMakeLists.txt').read_text())
        (self.folder / 'a "$b;\\').mkdir()
        shutil.copy(MODEL, self.folder / 'a "$b;\\/digits.onnx')
        self.run_tool('init', 'a "$b;\\/digits.onnx', 'quoted', '--onnx2hpp', ONNX2HPP, '--no-links', '--hosts', 'pi')
        self.assertIn(r' ONNX "../a \"\$b\;\\/digits.onnx" PROFILE', (self.folder / 'quoted/CMakeLists.txt').read_text())
        said = self.run_tool('init', 'class.onnx', 'new', '--dry-run', '--onnx2hpp', './no such').stderr
        self.assertIn("+ './no such' class.onnx --list-layers --name class", said)
        self.assertIn(f'+ onnx2hpp {MODEL} --list', self.run_tool('init', MODEL, 'new', '--dry-run').stderr)  # of the PATH
        said = self.run_tool('init', MODEL, 'new', '--dry-run', '--to', '/opt/site', '--hosts', 'pi', '--input', 'a:1', '--dimension', 'N=1').stderr
        self.assertIn("--list-layers -i a:1 -d N=1 --name digits\n", said)
        self.assertIn('; dice_run /opt/site; exit\n', said)
        shutil.copy(MODEL, self.folder / '_My  Ä Net-2_.onnx')
        self.assertIn(' --name my_net_2\n', self.run_tool('init', '_My  Ä Net-2_.onnx', '--dry-run').stderr)
        self.assertIn('MODEL', self.run_tool('init', code=2).stderr)
        for name, network in (('plan', 'net_plan'), ('machines', 'net_machines'), ('deployment', 'net_deployment'), ('3d', 'net_3d'), ('a-b.c+', 'a_b_c_')):
            said = self.run_tool('init', MODEL, 'new', '--dry-run', '--onnx2hpp', 'x', '--name', name, '-i', 'a:1', '-i', 'b:2', '-d', 'N=1', '-d', 'M=2').stderr
            self.assertIn(f'+ x {MODEL} --list-layers -i a:1 -i b:2 -d N=1 -d M=2 --name {network}\n', said)
        for name in ('a', '+ab', '-ab', 'aB', 'a b', 'a_b'):
            self.assertIn(f'"{name}" cannot name a deployment, because Debian packages are named after it: a --name has at least two', self.run_tool('init', MODEL, 'new', f'--name={name}', code=2).stderr)
        for name in ('app', 'hosts', 'ranks', 'all', 'clean', 'help', 'install', 'test', 'package', 'dice'):
            self.assertIn(f'"{name}" is taken by', self.run_tool('init', MODEL, 'new', '--name', name, code=2).stderr)
        self.assertIn('"." is a folder; name the model', self.run_tool('init', '.', 'new', code=2).stderr)
        self.assertIn('"true" is not onnx2hpp: it lists no layers', self.run_tool('init', MODEL, 'new', '--onnx2hpp', 'true', code=1).stderr)
        self.assertFalse((self.folder / 'new').exists())
        self.assertIn('there is no model "none.onnx"', self.run_tool('init', 'none.onnx', code=2).stderr)
        self.assertIn('there is no converter "./no such"; name one', self.run_tool('init', MODEL, 'new', '--onnx2hpp', './no such', code=1).stderr)

    def test_each_name_has_its_place(self):
        self.hosts(pi=machines.PI4, box={**machines.PC, 'mpi': ''})
        site = self.folder / 'to/site'
        site.mkdir(parents=True)  # an empty folder will do
        (self.folder / 'lists').write_text('#!/bin/sh\necho "  id  name  operator"\n')
        (self.folder / 'lists').chmod(0o755)
        said = self.run_tool('init', MODEL, 'to/site', '--hosts', 'pi,box', '--name', 'my-net', '--to', '/opt/my site', '--watts', 'pi=6/2', '-d', 'N=1', '-i', 'picture:1x1x8x8',
                             '--onnx2hpp', './lists', '--no-links', '-v', code=1).stderr  # box has no mpirun
        self.assertIn(f'+ ./lists {MODEL} --list-layers -i picture:1x1x8x8 -d N=1 --name my_net\n', said)
        self.assertIn('using deployment = dice::best_mapping<my_net::network, machines, dice::throughput>;', plan := (site / 'plan.hpp').read_text())
        self.assertTrue(plan.startswith('// The plan of the deployment my-net: ') and '#include "my_net.hpp"  //' in plan, plan)
        self.assertIn('\n#pragma once\n\n#include <dice/dice.hpp>\n\n#include "my_net.hpp"  // made by onnx2hpp\n#include "cluster.hpp"\n\nusing ', plan)
        lists = (site / 'CMakeLists.txt').read_text()
        boards = '# How programs for the boards of cluster.hpp are compiled.\ndice_add_board(board_of_box DICE_BOARD x86-64-v3)\n'
        if os.uname().machine == 'x86_64':
            self.assertIn(boards, lists)
            self.assertEqual(re.sub('ONNX "[^"]*"', 'ONNX ""', lists.replace(boards, '')), '''\
# Made by dice-run init. README.md says what to do with it.
cmake_minimum_required(VERSION 3.25)
project(my-net VERSION 1.0 LANGUAGES CXX)

find_package(dice CONFIG REQUIRED)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# dice-run measure writes the PROFILE; until then it is left out.
dice_add_network(my_net ONNX "" INPUT "picture:1x1x8x8" DIM "N=1" PROFILE my-net.profile.json)
# ANY_MAPPING: with all kernels, boards of each kind measure all layers, and try other mappings.
dice_add_deployment(my-net NETWORK my_net PLAN plan.hpp ANY_MAPPING)
''')
        readme = (site / 'README.md').read_text()
        to = " --to '/opt/my site'"
        build = 'cmake --build build --target my-net-packages --parallel $(nproc)\n'
        for text in ('# my-net\n', f' && {build}', f'\ndice-run deploy{to}\ndice-run start{to} -- --random 1 --frames 100\n',
                     '`build/my-net --help`', '`build/my-net --plan`', f'\ndice-run measure{to} --cluster cluster.hpp    # also writes my-net.profile.json, which CMakeLists.txt names\n{build}dice-run deploy{to}\n',
                     " --hosts pi,box --watts pi=6/2 --cluster cluster.hpp`"):
            self.assertIn(text, readme)

    @unittest.skipIf(os.uname().machine == 'aarch64', 'this is one')
    def test_a_project_made_on_arm(self):
        """This machine says that it is one."""
        (self.folder / 'arm.cpp').write_text('#include <sys/syscall.h>\n#include <sys/utsname.h>\n#include <unistd.h>\n#include <cstring>\n'
            'extern "C" int uname(utsname* out) noexcept { syscall(SYS_uname, out); std::strcpy(out->machine, "aarch64"); return 0; }\n')
        subprocess.run([COMPILER, '-shared', '-fPIC', '-o', self.folder / 'arm.so', self.folder / 'arm.cpp'], check=True)
        jetson = {**machines.ORIN, 'compatible': '', 'mpi': '4.1.4'}
        self.hosts(pi4=machines.PI4, pi4small={**machines.PI4, 'memory': 1900000}, pi5=machines.PI5, orin=jetson, rock=machines.ROCK, pc=machines.PC,
                   newer={**machines.PC, 'memory': 4000000},
                   nano={**jetson, 'model': 'NVIDIA Jetson Nano Developer Kit\0'}, tx2={**jetson, 'model': 'NVIDIA Jetson TX2 Developer Kit\0'},
                   xavier={**jetson, 'model': 'NVIDIA Jetson Xavier NX Developer Kit\0'})
        with unittest.mock.patch.dict(os.environ, {'LD_PRELOAD': str(self.folder / 'arm.so'), 'ASAN_OPTIONS': 'verify_asan_link_order=0'}):
            self.init('mine', '--hosts', 'pi4,pi4small,pi5,orin,rock,nano,tx2,xavier')
            self.assertIn('pc: this machine does not compile for x86_64', self.init('other', '--hosts', 'pi4,pc', code=1).stderr)
            for pcs in 'pc', 'pc,newer':
                said = self.run_tool('check', '--hosts', f'pi4,{pcs}', '--no-links', '--cluster', 'cluster.hpp').stderr
                self.assertEqual([line for line in said.splitlines() if 'needs' in line], ['dice-run: note: with cluster.hpp, CMakeLists.txt needs dice_add_board(raspberry_pi_4 DICE_BOARD rpi4)'])
        lists = (self.folder / 'mine/CMakeLists.txt').read_text()
        boards = {'raspberry_pi_4': 'rpi4', 'raspberry_pi_5': 'rpi5', 'jetson_orin_nano': 'jetson_orin', 'board_of_rock': '-mcpu=cortex-a53',
                  'jetson_nano': 'jetson_nano', 'jetson_tx2': 'jetson_tx2', 'jetson_xavier_nx': '-march=armv8.2-a'}
        self.assertIn('compiled.\n' + ''.join(f'dice_add_board({name} DICE_BOARD {board})\n' for name, board in boards.items()) + '# dice-run measure', lists)
        self.assertNotIn('sysroot', (self.folder / 'mine/README.md').read_text())

    def test_this_machine_alone(self):
        said = self.init('--name', 'numbers').stdout
        self.assertNotIn('no ranks', said)
        self.assertTrue((self.folder / 'numbers/README.md').read_text().startswith('# numbers\n\nBuild the packages, '))
        self.assertIn(f'dice::host<"{os.uname().nodename}"', (self.folder / 'numbers/cluster.hpp').read_text())
        self.assertRegex((self.folder / 'numbers/CMakeLists.txt').read_text(), r'\ndice_add_board\(board_of_\w+ DICE_BOARD native\)\n')

    def test_what_is_in_the_way_of_a_job_is_said(self):
        self.hosts(pi={**machines.PI4, 'mpi': ''}, risc={**machines.ROCK, 'machine': 'riscv64'})
        self.assertTrue(self.init('mine', '--hosts', 'pi', code=1).stdout.endswith('start the job; mend the errors above before you start it\n'))
        self.assertTrue((self.folder / 'mine/README.md').exists())
        self.hosts(pi=machines.PI4)
        self.assertTrue(self.init('other', '--hosts', 'pi').stdout.endswith('\nother: README.md says how to build the packages, deploy them and start the job\n'))
        said = self.init('none', '--hosts', 'pi,risc', code=1).stderr
        self.assertIn('error: risc: this machine does not compile for riscv64; run dice-run init on a machine of this architecture\n', said)
        self.assertFalse((self.folder / 'none').exists())

    def test_nothing_is_overwritten_or_half_written(self):
        (self.folder / 'full').mkdir()
        (self.folder / 'full/README.md').write_text('mine')
        self.assertRegex(self.init('full', code=2).stderr, 'nothing is overwritten')
        self.assertEqual([file.name for file in (self.folder / 'full').iterdir()], ['README.md'])
        (self.folder / 'bad.onnx').write_text('this is no model')
        said = self.run_tool('init', 'bad.onnx', '--onnx2hpp', ONNX2HPP, code=1).stderr
        self.assertRegex(said, r"onnx2hpp: error: .*bad\.onnx(.|\n)*nothing was written")
        self.assertRegex(self.init('--hosts', 'gone', '--name', 'numbers', code=1).stderr, 'gone: it does not answer(.|\n)*nothing was written')
        self.assertRegex(self.init('--name', 'run', code=2).stderr, 'another --name')
        self.assertEqual(sorted(file.name for file in self.folder.iterdir()), ['bad.onnx', 'full', 'hosts'])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
