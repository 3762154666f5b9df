#!/usr/bin/env python3
"""test_adapting.py, with the arguments of test_check.py: what `dice-run init`, `check` and `measure` write for the hosts at hand."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

import machines
from test_check import MODEL, ONNX2HPP, Recorded


class Adapting(Recorded):
    def test_measured_cluster(self):
        """What measured_cluster_test.cpp expects: with the profile, it is a cluster."""
        measured = pathlib.Path(__file__).parent / 'measured'
        subprocess.run([ONNX2HPP, MODEL, '--name', 'digits', '-o', self.folder, '-q'], check=True)
        digest = re.search(r'\.structure = "(\w+)"', (self.folder / 'digits.hpp').read_text())[1]
        profile = self.folder / 'digits.profile.json'
        profile.write_text((measured / 'digits.profile.json').read_text().replace('"digest":"D"', f'"digest":"{digest}"'))
        self.compiles((measured / 'cluster.hpp').read_text(), profile=('--profile', profile))

    def test_watts(self):
        powercap = {'intel-rapl:0': {'name': 'package-0', 'constraint_0_power_limit_uw': 15000000, 'energy_uj': 7000000},
                    'intel-rapl:0:0': {'name': 'core', 'constraint_0_power_limit_uw': 9000000, 'energy_uj': 1}, 'dtpm': {}}
        self.hosts(pc=machines.PC, rapl=machines.PC, pi=machines.PI4)
        for zone, files in powercap.items():
            folder = self.folder / 'hosts/rapl/sys/class/powercap' / zone
            folder.mkdir(parents=True)
            for name, value in files.items():
                (folder / name).write_text(f'{value}\n')
        self.check('rapl')  # whose energy counter stands still
        self.assertIn('// RAPL lets its processors draw 15 W.\n// Its power is not known.', (self.folder / 'cluster.hpp').read_text())
        sleep = self.folder / 'hosts/rapl/bin/sleep'
        sleep.write_text(f'#!/bin/sh\n[ "$*" = 1 ] && echo 10500000 >"{self.folder}/hosts/rapl/sys/class/powercap/intel-rapl:0/energy_uj"\n')
        sleep.chmod(0o755)
        self.check('rapl', 'pc', 'pi', options=('--no-links', '--watts', 'pc=45/10', '--watts=pi=6/3'))
        header = (self.folder / 'cluster.hpp').read_text()
        for board in ('dice::processor<dice::cpu, dice::gflops<435>, dice::gbytes_per_s<5>, dice::watts<15, 3.5>>>;',
                      'dice::processor<dice::cpu, dice::gflops<435>, dice::gbytes_per_s<5>, dice::watts<45, 10>>>;',
                      'dice::gflops<48>, dice::gbytes_per_s<4>, dice::watts<6, 3>>>;'):
            self.assertIn(board, header)
        self.assertNotIn('not known', header)
        self.compiles(header, 'energy')
        self.assertIn("--watts: \"gone=5\" does not begin with a host and '='; the hosts are pc\n",
                      self.run_tool('check', 'pc', '--watts', 'gone=5', code=2).stderr)

    def test_names_in_the_readme_are_words_of_a_shell(self):
        self.hosts(**{'my pi': machines.PI4})
        self.run_tool('init', MODEL, 'mine', '--onnx2hpp', ONNX2HPP, '--no-links', '--hosts', 'my pi', '--watts', 'my pi=6/2')
        self.assertIn("`dice-run check --hosts 'my pi' --watts 'my pi=6/2' --cluster cluster.hpp`", (self.folder / 'mine/README.md').read_text())

    @unittest.skipUnless(os.uname().machine == 'x86_64', 'the imitated hosts are PCs')
    def test_hosts_with_the_cpu_of_this_machine(self):
        here = pathlib.Path('/proc/cpuinfo').read_text()
        flags = re.search(r'(?m)^flags\s*: (.*)$', here)[1].split()
        alike = {**machines.PC, 'cpuinfo': machines.x86(8, 'another model', ' '.join(flags[::-1]))}
        fewer = {**machines.PC, 'cpuinfo': machines.x86(8, 'a third model', ' '.join(flags[:-1]))}
        self.hosts(one=alike, two={**alike, 'memory': 4000000}, old=fewer, more={**alike, 'cpuinfo': machines.x86(8, 'new', ' '.join([*flags, 'avx1024']))}, pi=machines.PI4)
        for name, hosts, native in (('alone', 'one', True), ('several', 'one,two,pi', True), ('older', 'one,old', False), ('newer', 'more', False)):
            self.run_tool('init', MODEL, name, '--onnx2hpp', ONNX2HPP, '--no-links', '--hosts', hosts)
            lists = (self.folder / name / 'CMakeLists.txt').read_text()
            self.assertEqual(lists.count('\ndice_add_board(board_of_one DICE_BOARD native)' if name == 'alone' else '\ndice_add_board(x86 DICE_BOARD native)'), native, lists)
            self.assertEqual(('# native: all of these hosts' in lists, ' native)' in lists), (native, native), lists)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
