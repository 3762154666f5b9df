#!/usr/bin/env python3
"""test_deployment.py CMAKE PREFIX EXAMPLE FOLDER QEMU SYSROOT: examples/deployment with the dice that is installed in PREFIX, from
`cmake --build` to jobs that are started with the packages' own files, on a host of this machine's architecture and an ARM board."""
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import unittest

from hosts import Hosts

CMAKE, PREFIX, EXAMPLE, FOLDER, QEMU, SYSROOT = sys.argv[1:7]
BUILD = pathlib.Path(FOLDER) / 'build'
PACKAGES = BUILD / 'numbers-packages'
DIGITS = pathlib.Path(EXAMPLE).parent / 'digits'
OWN = r'''
#include <dice/engine.hpp>
#include "plan.hpp"
#include <cstdio>

int main(int, char** argv) {
  auto engine = dice::start<digits::network, deployment, machines>(
      {.mapping = "mapping<dev<0, threads<1>>, layers<all>>", .weights = argv[1], .by = dice::job::transport::in_process});
  engine.push([](auto&& frame) { frame.fill(0); });
  if (engine.take()) std::puts(SAID);
  engine.close();
  engine.wait();
}
'''
SHIM = r'''
#include <string.h>
int MPI_Get_library_version(char *to, int *length) { strcpy(to, "Open MPI v4.1.99, not this one"); *length = 30; return 0; }
'''


def sh(*command, code=0):
    """Runs a command, which must exit with `code`; returns what it prints."""
    run = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode != code:
        raise AssertionError(f'{command} exits with {run.returncode}:\n{run.stdout}')
    return run.stdout


def retrained(folder):
    """The weights of another training of digits."""
    folder.mkdir(exist_ok=True)
    sh(sys.executable, pathlib.Path(__file__).parent / 'retrain.py', DIGITS / 'digits.onnx', folder / 'digits.onnx')
    sh(pathlib.Path(PREFIX) / 'bin/onnx2hpp', folder / 'digits.onnx', '-o', folder, '-q')
    return folder / 'digits.safetensors'


class Deployment(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sh(CMAKE, '-S', EXAMPLE, '-B', BUILD, '-G', 'Ninja', f'-DCMAKE_PREFIX_PATH={PREFIX}', '-DDICE_CUDA=OFF',
           f'-DDICE_SYSROOT={SYSROOT}', '-DCMAKE_BUILD_TYPE=None', '-DDICE_LIBRARY_OPTIMISED=OFF',
           '-DCMAKE_UNITY_BUILD=ON')  # compiles faster, without -g, too
        sh(CMAKE, '--build', BUILD)
        cls.said = sh(CMAKE, '--build', BUILD, '--target', 'numbers-packages')
        cls.hosts = Hosts(pathlib.Path(FOLDER) / 'hosts', ['pc', 'pi'], {'pi': (QEMU, SYSROOT)})
        cls.new = retrained(pathlib.Path(FOLDER) / 'new')

    def setUp(self):
        for host in ('pc', 'pi'):
            self.hosts.unpack(host, PACKAGES / f'{host}.tar.gz')

    def job(self, options='', code=0, **environment):
        if not self.hosts.possible():
            self.skipTest('no namespaces here, so no two hosts')
        status, out = self.hosts.run('pc', f'numbers/run --input digits_in.npy {options}', OMP_NUM_THREADS='1', **environment)
        self.assertEqual(status, code, out)
        return out

    def pack(self, host, rank, *options):
        file = self.hosts.folder / host / 'numbers/numbers.packed'
        sh(BUILD / 'numbers', '--pack', file, '--ranks', rank, *options)

    def test_packages(self):
        weights = {}
        for host, board, rank, architecture in (('pc', 'small_pc', 0, 'amd64'), ('pi', 'raspberry_pi_4', 1, 'arm64')):
            with tarfile.open(PACKAGES / f'{host}.tar.gz') as package:
                self.assertEqual({member.name: oct(member.mode) for member in package if member.isdir() or 'run' in member.name},
                                 {'numbers': '0o755', 'numbers/run': '0o755'})
                files = {name.removeprefix('numbers/'): package.extractfile(name).read()
                         for name in package.getnames() if name != 'numbers'}
            self.assertEqual(set(files), {'numbers', 'numbers.packed', 'hosts', 'ranks', 'app', 'run', 'manifest.json', 'LICENSE.dice',
                                          'NOTICES', 'labels.txt', 'digits_in.npy'})
            about = json.loads(files.pop('manifest.json'))
            self.assertEqual({file['file']: (file['bytes'], file['sha256']) for file in about['files']},
                             {name: (len(data), hashlib.sha256(data).hexdigest()) for name, data in files.items()})
            self.assertEqual((about['name'], about['version'], about['host'], about['board'], about['ranks']),
                             ('numbers', '1.0', host, board, [rank]))
            self.assertEqual(about['model_sha256'], hashlib.sha256((DIGITS / 'digits.onnx').read_bytes()).hexdigest())
            self.assertRegex(about['open_mpi'], r'^\d+\.\d+\.\d+$')
            self.assertRegex(about['glibc'], r'^2\.\d+$')
            self.assertIs(about['reports_status'], True)
            if board == 'raspberry_pi_4':
                self.assertEqual(about['instructions'], ['crc'])  # of its Cortex-A72, which ARMv8.0 need not have
            else:
                self.assertEqual('avx2' in about['instructions'], ' avx2 ' in pathlib.Path('/proc/cpuinfo').read_text())
            self.assertEqual(files['ranks'].decode(), 'rank 0=pc slot=*:*\nrank 1=pi slot=*:*\n')
            self.assertEqual(files['hosts'].decode(), 'pc slots=1\npi slots=1\n')
            self.assertRegex(files['run'].decode(), r'exec mpirun --hostfile hosts (--rankfile ranks|--map-by rankfile:file=ranks) .* -np 2 \$\{folder:.* \./numbers "\$@"\n$')
            self.assertEqual(files['numbers'][18], {'amd64': 62, 'arm64': 183}[architecture])  # ELF's machine
            weights[host] = len(files['numbers.packed'])
            if shutil.which('dpkg-deb'):
                fields = sh('dpkg-deb', '-f', PACKAGES / f'numbers-{board}.deb')
                self.assertIn(f'Architecture: {architecture}\n', fields)
                self.assertRegex(fields, r'Depends: openmpi-bin, .*libboost-mpi1\.\d+\.0')
        self.assertLess(weights['pc'] + 100_000, weights['pi'])  # each has only its own
        plan = json.loads(sh(BUILD / 'numbers', '--plan=json'))
        self.assertEqual(about['plan'], plan['plan'])

    def test_nothing_to_do(self):
        again = sh(CMAKE, '--build', BUILD)
        self.assertNotIn('Building', again)
        self.assertNotIn('Linking', again)

    def test_programs_have_their_ranks_only(self):
        program = self.hosts.folder / 'pc/numbers/numbers'
        self.assertLess(program.stat().st_size, (BUILD / 'numbers').stat().st_size * 0.9)
        refusal = sh(program, '--input', DIGITS / 'digits_in.npy', '--transport', 'in-process', code=2)
        self.assertIn("this program is for boards of the kind 'small_pc' and has only rank 0; start each rank", refusal)
        self.assertIn('rank 1', refusal)
        self.assertIn('--mapping: this program', sh(program, '--plan', '--mapping', 'mapping<dev<0>, layers<all>>', code=2))
        self.assertNotIn('--mapping MAPPING', sh(program, '--help'))
        self.assertIn('only rank 0; pack', sh(program, '--pack', program.parent / 'other.packed', '--ranks', '1', '--weights',
                                              BUILD / 'dice_networks/digits.safetensors', code=1))
        own = program.parent / 'own.packed'
        self.assertRegex(sh(program, '--pack', own, '--weights', BUILD / 'dice_networks/digits.safetensors'), r'(?m)^0 +\S+ KiB$')
        self.assertEqual(own.read_bytes(), (program.parent / 'numbers.packed').read_bytes())
        plan = sh(program, '--plan')
        # Only a program with all kernels knows how other mappings would do.
        whole = re.sub(r'(?m)^(Best for (one frame|many): .*| +Of the first, .*|--search=latency .*)\n', '', sh(BUILD / 'numbers', '--plan'))
        self.assertEqual(plan, whole)

    def test_job(self):
        out = self.job(f'--expect {DIGITS}/digits_out.npy --top 1 --labels labels.txt')
        self.assertRegex(out, r'(?m)^0 +pc .*\n1 +pi ')
        self.assertIn('frame 0: 2 two', out)
        self.assertRegex(out, r'scores: error \d')

    def test_arguments_stay_as_they_are(self):
        out = self.job("--top 1 --output 'out of; $HOME.npy' --gather")
        self.assertTrue((self.hosts.folder / 'pc/numbers/out of; $HOME.npy').exists(), out)

    def test_ranks_on_wrong_boards(self):
        about = json.loads((self.hosts.folder / 'pc/numbers/manifest.json').read_text())
        if int(about['open_mpi'].split('.')[0]) > 4:
            self.skipTest("rank 0, on the emulated board, would accept rank 1's connection: Open MPI 5 limits the time for it (SO_RCVTIMEO), "
                          'and QEMU fails (EDOM)')
        for host in ('pc', 'pi'):
            (self.hosts.folder / host / 'numbers/ranks').write_text('rank 0=pi slot=*:*\nrank 1=pc slot=*:*\n')
        out = self.job(code=2)
        self.assertRegex(out, r"rank 0 \(host pi\): this program is for boards of the kind 'raspberry_pi_4'")

    def test_weights_of_another_host(self):
        self.pack('pc', 1)
        self.assertRegex(self.job(code=1), r'rank 0 \(host pc\): .*rank 0.*package')

    def test_new_weights(self):
        self.pack('pi', 1, '--weights', self.new)
        out = self.job(code=1)
        self.assertIn('(host pi)', out)
        self.assertRegex(out, 'content|training')
        self.pack('pc', 0, '--weights', self.new)
        self.assertIn('frame 0: 3 three', self.job('--top 1 --labels labels.txt'))

    def test_another_open_mpi(self):
        folder = self.hosts.folder / 'pc/numbers'
        (folder / 'shim.c').write_text(SHIM)
        sh('gcc', '-shared', '-fPIC', '-o', folder / 'shim.so', folder / 'shim.c')
        (folder / 'numbers').rename(folder / 'real')
        (folder / 'numbers.packed').rename(folder / 'real.packed')
        (folder / 'numbers').write_text('#!/bin/sh\nLD_PRELOAD=./shim.so exec ./real "$@"\n')
        (folder / 'numbers').chmod(0o755)
        self.assertRegex(self.job(code=1), r'host pc has Open MPI v4\.1\.99, and this program was built with Open MPI v\d+\.\d+\.\d+; install')
        # A program that is not for one kind of board takes any version, if all ranks have the same.
        shutil.copy(BUILD / 'numbers', folder / 'real')
        self.assertRegex(self.job(code=1), r'rank 1 \(host pi\) runs Open MPI v\d+\.\d+\.\d+, rank 0 \(host pc\) Open MPI v4\.1\.99; '
                         'install the same version on all hosts')

    def test_changed_plan_on_one_host(self):
        source = BUILD / 'changed'
        shutil.rmtree(source, ignore_errors=True)
        shutil.copytree(DIGITS, source / 'digits')
        shutil.copytree(EXAMPLE, source / 'deployment')
        plan = source / 'deployment/plan.hpp'
        plan.write_text(plan.read_text().replace('pool2', 'conv2').replace('conv3', 'relu2').replace('cores<0>', 'cores<0, 999>')
                        .replace('dice::boards::raspberry_pi_4', 'small_pc'))
        with open(source / 'deployment/CMakeLists.txt', 'a') as lists:
            lists.write('dice_add_deployment(own NETWORK digits PLAN plan.hpp SOURCES own.cpp SETUP own.cmake ANY_MAPPING)\n')
        (source / 'deployment/own.cmake').write_text('target_compile_definitions(${DICE_TARGET} PRIVATE SAID="a result")\n')
        (source / 'deployment/own.cpp').write_text(OWN)
        sh(CMAKE, '-S', source / 'deployment', '-B', source / 'build', '-G', 'Ninja', f'-DCMAKE_PREFIX_PATH={PREFIX}', '-DDICE_CUDA=OFF',
           '-DCMAKE_BUILD_TYPE=None')
        sh(CMAKE, '--build', source / 'build', '--target', 'numbers-packages', 'own-boards')
        self.assertIn('a result', sh(source / 'build/dice_boards/small_pc/own', source / 'build/dice_networks/digits.safetensors'))
        changed = source / 'build/numbers-packages'
        shutil.copy(changed / 'pc/numbers/numbers', self.hosts.folder / 'pc/numbers')
        self.assertRegex(self.job(code=1), r'rank 1 \(host pi\) runs the plan \w{16}, rank 0 \(host pc\) the plan \w{16}')
        # Both hosts are PCs now, and one of them lacks a core.
        for host in ('pc', 'pi'):
            self.hosts.unpack(host, changed / f'{host}.tar.gz', emulated=False)
        self.assertRegex(self.job(code=1), r'rank 0 \(host pc\): cannot use core 999, which its unit lists; cores here are 0 to')

    def test_preset(self):
        root = pathlib.Path(EXAMPLE).parents[1]
        said = sh(CMAKE, '--preset', 'rpi4', '-S', root, '-B', pathlib.Path(FOLDER) / 'rpi4', f'-DDICE_SYSROOT={SYSROOT}',
                  f'-DDICE_ONNX2HPP={PREFIX}/bin/onnx2hpp', '-DDICE_CUDA=OFF')
        self.assertRegex(said, r'dice: OpenMP \S+, CPU rpi4; Open MPI [\d.]+, Boost.MPI')

    def test_dice_as_a_folder(self):
        """Also with the project's own lists in a folder of its own."""
        source = pathlib.Path(FOLDER) / 'as a folder'
        shutil.rmtree(source, ignore_errors=True)
        shutil.copytree(DIGITS, source / 'digits')
        shutil.copytree(EXAMPLE, source / 'deployment')
        root = pathlib.Path(EXAMPLE).parents[1]
        (source / 'CMakeLists.txt').write_text(
            'cmake_minimum_required(VERSION 3.25)\nproject(all LANGUAGES CXX)\n'
            f'add_subdirectory({root} dice EXCLUDE_FROM_ALL)\nadd_subdirectory(deployment)\n')
        lists = source / 'deployment/CMakeLists.txt'
        lists.write_text(lists.read_text().replace('find_package(dice CONFIG REQUIRED)', ''))
        sh(CMAKE, '-S', source, '-B', source / 'build', '-G', 'Ninja', '-DDICE_CUDA=OFF', '-DCMAKE_BUILD_TYPE=Debug',
           f'-DDICE_ONNX2HPP={PREFIX}/bin/onnx2hpp')
        settings = (source / 'build/dice_deployments/Debug/numbers.cmake').read_text()
        self.assertIn(f'set(dice_folder [==[{root}]==])', settings)
        self.assertIn(f'set(licence [==[{root}/LICENSE]==])', settings)
        self.assertIn(f'-P {root}/cmake/deployment/build.cmake', (source / 'build/build.ninja').read_text())

    def test_mistakes_of_the_project(self):
        source = pathlib.Path(FOLDER) / 'wrong'
        shutil.rmtree(source, ignore_errors=True)
        shutil.copytree(DIGITS, source / 'digits')
        shutil.copytree(EXAMPLE, source / 'deployment')
        lists = source / 'deployment/CMakeLists.txt'
        text = lists.read_text()
        configure = (CMAKE, '-S', source / 'deployment', '-B', source / 'build', '-G', 'Ninja', f'-DCMAKE_PREFIX_PATH={PREFIX}',
                     '-DDICE_CUDA=OFF')
        for change, message in ((('PLAN plan.hpp', 'PLAN plam.hpp'), "no file '.*plam.hpp' (PLAN of 'numbers')"),
                                (('NETWORK digits', 'NETWORK digit'), "there is no network 'digit'; make it with dice_add_network"),
                                (('FILES', 'FILE'), "unknown argument 'FILE"),
                                (('PLAN plan.hpp', 'PLAN plan.hpp FOLDER here'), "FOLDER 'here' is not an absolute path"),
                                (('PLAN plan.hpp', 'PLAN plan.hpp FOLDER /'), "FOLDER '/' is not an absolute path"),
                                (('dice_add_deployment(numbers', 'dice_add_deployment(Numbers'), "'Numbers' cannot be the name"),
                                (('dice_add_deployment(numbers', 'dice_add_deployment(run'), "packages have a file 'run', so their program"),
                                (('FILES ', 'FILES plan.hpp ../deployment/plan.hpp '), "packages have a file 'plan.hpp' already"),
                                (('FILES ', 'MPIRUN_OPTIONS "--mca a b" FILES '), "has '--mca a b' as one word; write its words"),
                                (('DICE_BOARD native', 'TOOLCHAIN none.cmake'), "there is no toolchain file 'none.cmake'")):
            lists.write_text(text.replace(*change))
            said = re.sub(r'\s+', ' ', sh(*configure, code=1))
            self.assertRegex(said, message.replace('(', r'\(').replace(')', r'\)'))
        lists.write_text(text)
        sh(*configure)
        self.assertIn('there is no sysroot', re.sub(r'\s+', ' ', sh(CMAKE, '--build', source / 'build', code=1)))
        lists.write_text(text.replace('dice_add_board(small_pc DICE_BOARD native)', ''))
        said = re.sub(r'\s+', ' ', sh(CMAKE, '--build', source / 'build', code=1))
        self.assertRegex(said, r"CMake does not know how to compile for boards of the kind 'small_pc'. Say how, for each with dice_add_board\(KIND")


if __name__ == '__main__':
    if not pathlib.Path(SYSROOT).exists():
        made = subprocess.run([pathlib.Path(PREFIX) / 'lib/cmake/dice/sysroot', 'debian', SYSROOT], capture_output=True, text=True)
        if made.returncode:
            print(made.stdout + made.stderr)
            sys.exit(made.returncode)  # 77: the packages cannot be downloaded
    unittest.main(argv=[sys.argv[0], *sys.argv[7:]], verbosity=2)
