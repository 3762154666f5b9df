#!/usr/bin/env python3
"""test_suitability.py DICE_RUN ONNX2HPP MODEL: hosts on which programs cannot run, and networks on which jobs would wait, on imitated
hosts (machines.py)."""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import machines

DICE_RUN, ONNX2HPP, MODEL = sys.argv[1:4]
PI32 = {**machines.PI4, 'bits': 'echo 32', 'dpkg': 'echo armhf', 'loaders': ['ld-linux-armhf.so.3']}
PI64 = {**machines.PI4, 'dpkg': 'echo arm64', 'loaders': ['ld-linux-aarch64.so.1']}
TOO_SMALL = 'programs need a 64-bit one; install that, such as Raspberry Pi OS (64-bit)\n'
NOEXEC = 'because its file system is mounted noexec; choose another folder '


class Suitability(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / 'hosts').mkdir()

    def hosts(self, **hosts):
        for name, machine in hosts.items():
            machines.write(self.folder / 'hosts' / name, name, machine)

    def said(self, *words, code=0):
        """What dice-run says on its standard error."""
        done = subprocess.run([DICE_RUN, *map(str, words)], text=True, cwd=self.folder, capture_output=True,
                              env={**os.environ, 'DICE_RUN_SSH': machines.write_ssh(self.folder / 'hosts')})
        self.assertEqual(done.returncode, code, f'{done.stdout}\n{done.stderr}')
        return done.stderr

    def init(self, *words, code=0):
        return self.said('init', MODEL, *words, '--onnx2hpp', ONNX2HPP, '--name', 'numbers', code=code)

    def packages(self, app='-np 1 ./numbers', **manifests):
        """Packages for hosts, with these entries in their manifests."""
        for rank, (host, more) in enumerate(manifests.items()):
            package = self.folder / 'numbers-packages' / host / 'numbers'
            package.mkdir(parents=True, exist_ok=True)
            (package / 'app').write_text((app + '\n') * len(manifests))
            file = {'file': 'app', 'bytes': (package / 'app').stat().st_size, 'sha256': hashlib.sha256((package / 'app').read_bytes()).hexdigest()}
            (package / 'manifest.json').write_text(json.dumps({'name': 'numbers', 'host': host, 'board': 'x86', 'ranks': [rank], 'files': [file], **more}))

    def test_a_system_of_32_bits(self):
        self.hosts(pi64=PI64, pi32=PI32)
        self.assertEqual(self.said('check', 'pi64', '--no-links'), '')
        error = f'dice-run: error: pi32: its system is 32-bit (armhf), although its kernel is 64-bit, and {TOO_SMALL}'
        self.assertEqual(self.said('check', 'pi64', 'pi32', '--no-links', code=1), error)
        self.assertEqual(self.init('--hosts', 'pi64,pi32', '--no-links', code=1), error +
                         'dice-run: error: nothing was written, because not all hosts have a 64-bit system; mend this, or name the other hosts only\n')
        self.assertFalse((self.folder / 'numbers').exists())
        self.packages(pi64={}, pi32={})
        self.assertEqual(self.said('deploy', '--to', self.folder / 'to', code=1), error + 'dice-run: error: nothing was changed on any host\n')
        self.assertFalse((self.folder / 'to').exists())
        # Without getconf, and then without dpkg, too.
        for more in ({'bits': 'exit 127'}, {'bits': 'exit 127', 'dpkg': 'exit 127'}):
            self.hosts(pi64={**PI64, **more}, pi32={**PI32, **more})
            self.assertIn('pi32: its system is 32-bit', self.said('check', 'pi32', '--no-links', code=1))
            self.assertEqual(self.said('check', 'pi64', '--no-links'), '')

    def test_a_folder_from_which_programs_cannot_run(self):
        self.hosts(pi={**machines.PI4, 'mount': 'nosuid,noexec'})
        self.assertEqual(self.said('check', 'pi', '--no-links', code=1), f'dice-run: error: pi: programs cannot run in /var/tmp, {NOEXEC}with --to\n')
        self.packages(pi={})
        self.assertEqual(self.said('deploy', '--to', self.folder / 'not/yet', code=1),
                         f'dice-run: error: pi: programs cannot run in {self.folder}/not/yet, {NOEXEC}with --to\ndice-run: error: nothing was changed on any host\n')
        self.assertFalse((self.folder / 'not').exists())
        self.packages(app=f'-np 1 -wdir {self.folder}/numbers ./numbers', pi={})
        for command in ('deploy', 'check --no-links'):
            self.assertIn(f'pi: programs cannot run in {self.folder}, {NOEXEC}as FOLDER of dice_add_deployment\n', self.said(*command.split(), code=1))

    @unittest.skipUnless(os.uname().machine == 'x86_64', 'only PCs compile for PCs')
    def test_a_processor_without_the_instructions_of_a_program(self):
        old = {**machines.PC, 'cpuinfo': machines.PC['cpuinfo'].replace(' avx avx2 fma', ' pni')}
        self.hosts(pc=machines.PC, old=old)
        needs = {'processor': 'x86_64', 'instructions': ['ssse3', 'avx2', 'fma', 'lzcnt']}
        self.packages(pc=needs, old=needs)
        error = ('dice-run: error: old: its CPU (Intel(R) Core(TM) i5-8250U CPU @ 1.60GHz) lacks avx2, fma, which its program needs; let CMakeLists.txt '
                 'have dice_add_board(x86 DICE_BOARD x86-64-v2), and build the packages again\n')
        self.assertEqual(self.said('deploy', '--to', self.folder / 'to', code=1), error + 'dice-run: error: nothing was changed on any host\n')
        self.assertEqual(self.said('check', '--no-links', code=1), error)
        self.assertEqual(self.said('check', 'old', '--no-links', '-p', '.', code=1), error)
        self.assertEqual(self.said('check', 'old', '--no-links'), '')  # its packages are not asked for
        self.packages(pc=needs, old={})  # an old package says nothing
        self.assertEqual(self.said('check', '--no-links'), '')

    def test_another_libc(self):
        needs = {'glibc': '2.38'}
        self.hosts(new={**machines.PI4, 'glibc': '2.41'}, old={**machines.PI4, 'libc': 'exit 1', 'ldd': 'echo "ldd (Debian GLIBC 2.31-13) 2.31"'},
                   alpine={**machines.PI4, 'libc': 'exit 1', 'ldd': 'echo "musl libc (aarch64)" >&2; echo "Version 1.2.4" >&2; exit 1'})
        self.packages(new=needs, old=needs, alpine=needs)
        self.assertEqual(self.said('deploy', '--to', self.folder / 'to', code=1),
                         'dice-run: error: old: it has glibc 2.31, and its program needs 2.38 or newer; install a newer system there, or build the packages '
                         'for its system (docs/building.md, Which systems fit)\n'
                         'dice-run: error: alpine: its C library is musl, and its program needs glibc; install a system with glibc there, such as Debian\n'
                         'dice-run: error: nothing was changed on any host\n')
        self.assertIn('dice-run: error: alpine: its C library is musl', self.said('check', '--no-links', code=1))
        self.assertEqual(self.said('check', 'alpine', '--no-links'),
                         'dice-run: warning: alpine: its C library is musl, on which programs that were built for glibc, as on Debian, do not run\n')

    def test_networks_that_only_look_like_one(self):
        docker = {'docker0': '172.17.0.1/16'}
        self.hosts(pc={**machines.PI4, 'networks': {'eth0': '10.0.0.1/24', **docker}}, pi={**machines.PI4, 'networks': {'eth0': '10.0.0.2/24', **docker}})
        self.assertRegex(self.said('check', 'pc', 'pi', '--no-links'),
                         r'^dice-run: warning: pc, pi have the address 172\.17\.0\.1 \(docker0\); .* dice-run start keeps jobs to 10\.0\.0\.0/24; .*\n$')
        self.assertEqual(self.said('check', 'pc', '--no-links'), '')

    def test_a_project_uses_the_network_that_was_measured(self):
        def measured(over, networks):
            for name, number, perl in ('pc', 1, 'echo port 7; echo to_server 90'), ('pi', 2, f'echo between {over}.2 {over}.1; echo us 200; echo to_client 40'):
                self.hosts(**{name: {**machines.PI4, 'networks': {i: f'{net}.{number}/24' for i, net in networks.items()}, 'perl': perl}})
            project = f'{over}-{len(networks)}'
            self.init(project, '--hosts', 'pi,pc')
            return (self.folder / project / 'CMakeLists.txt').read_text().split('PLAN plan.hpp')[1]
        both = {'eth0': '10.0.0', 'wlan0': '10.1.0'}
        self.assertEqual(measured('10.0.0', both), ' ANY_MAPPING\n  MPIRUN_OPTIONS --mca btl_tcp_if_include 10.0.0.0/24 --mca oob_tcp_if_include 10.0.0.0/24)\n')
        self.assertEqual(measured('10.1.0', both), ' ANY_MAPPING\n  MPIRUN_OPTIONS --mca btl_tcp_if_include 10.1.0.0/24 --mca oob_tcp_if_include 10.1.0.0/24)\n')
        self.assertEqual(measured('10.0.0', {'eth0': '10.0.0'}), ' ANY_MAPPING)\n')
        self.assertEqual(measured('10.9.9', both), ' ANY_MAPPING)\n')  # through a router


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
