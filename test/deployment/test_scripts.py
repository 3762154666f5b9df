#!/usr/bin/env python3
"""test_scripts.py CMAKE SOURCES FOLDER: the scripts behind dice_add_deployment, without compilers: a stand-in prints the program's plan
and packs weights, and another takes the place of the cmake that configures and compiles a board's programs."""
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tarfile
import unittest
import unittest.mock

CMAKE, SOURCES, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
# As `numbers --plan=json`; `--pack FILE` writes a file. FAILS in the environment: what of this, and of what follows, fails.
PROGRAM = r"""#!/bin/sh
case $1 in
--plan=json) cat "$(dirname "$0")/plan.json" ;;
*) [ "$FAILS" != pack ] || { echo "no such layer" >&2; exit 1; }
  while [ "$1" != --pack ]; do shift; done; printf 'structure 12\ncontent 34\nmodel 56\n' >"$2" ;;
esac
"""
# Configuring writes what deployment/CMakeLists.txt writes, and compiling makes a program if there is none. Boards of the kind new
# have another Open MPI.
BOARDS = r"""#!/bin/sh
case $1 in
-E) exec @CMAKE@ "$@" ;;
-S) arguments=$*
  while [ "$1" != -B ]; do shift; done
  echo "$arguments" >"$2/arguments"
  echo configured >>"@FOLDER@/log"
  [ "$FAILS" != configure ] || { echo "no such compiler" >&2; exit 1; }
  mpi=4.1.4 processor=x86_64
  case $2 in */new) mpi=5.0.3 ;; */arm) processor=aarch64 ;; esac
  printf 'set(open_mpi %s)\nset(processor %s)\nset(readelf "@FOLDER@/readelf")\n' "$mpi" "$processor" >"$2/board.cmake"
  touch "$2/CMakeCache.txt" ;;
--build) [ "$FAILS" != compile ] || exit 1
  echo "$*" >"$2/built"
  [ -f "$2/numbers" ] || { echo compiled >>"@FOLDER@/log"; printf '#!/bin/sh\necho "numbers: $*"\n' >"$2/numbers"; } ;;
esac
"""
# As GNU readelf -d prints what a board's program needs.
READELF = r"""#!/bin/sh
cat <<'END'

Dynamic section at offset 0xf0d28 contains 37 entries:
  Tag        Type                         Name/Value
END
for library in libboost_mpi.so.1.74.0 libmpi.so.40 libmpi_cxx.so.40 libgomp.so.1 libstb.so.0 libstdc++.so.6 libm.so.6 libgcc_s.so.1 libc.so.6
do echo " 0x0000000000000001 (NEEDED)             Shared library: [$library]"; done
"""
# As mpirun starts a rank; also prints where.
MPIRUN = r"""#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in -wdir) cd "$2" || exit 1; echo "$2" ;; ./*) exec "$1" ;; esac
  shift
done
"""


def write(path, text, executable=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace('@CMAKE@', CMAKE).replace('@FOLDER@', str(FOLDER)))
    path.chmod(0o755 if executable else 0o644)


# A build with a deployment, without dice and without looking at the compiler.
PROJECT = """cmake_minimum_required(VERSION 3.25)
set(CMAKE_CXX_COMPILER_FORCED TRUE)
project(numbers VERSION 1.2 LANGUAGES CXX)
include(@SOURCES@/cmake/DiceDeployment.cmake)
add_library(dice::dice INTERFACE IMPORTED)
add_library(dice_network_digits INTERFACE)
add_library(dice::network::digits ALIAS dice_network_digits)
set_target_properties(dice_network_digits PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/network)
dice_add_deployment(numbers NETWORK digits PLAN plan.hpp FILES @FILES@)
"""


class Scripts(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(FOLDER, ignore_errors=True)
        self.sysroot = FOLDER / 'sysroot'
        for name, text in (('numbers', PROGRAM), ('cmake', BOARDS), ('readelf', READELF)):
            write(FOLDER / name, text, True)
        write(FOLDER / 'LICENSE', 'licence')
        write(FOLDER / 'network/digits.safetensors', 'weights')
        write(FOLDER / 'settings/numbers.cache.cmake', '')
        key = hashlib.sha1(b'pc').hexdigest()
        write(FOLDER / 'settings/boards.cmake', f'set(boards pc new arm)\nset(options_{key} [==[-DCMAKE_SYSROOT={self.sysroot}]==])\n'
              f'set(options_{hashlib.sha1(b"arm").hexdigest()} [==[-DCMAKE_TOOLCHAIN_FILE=arm.cmake]==])\n')
        self.use_sysroot('one')
        self.plan()

    def use_sysroot(self, libc):
        write(self.sysroot / 'usr/lib/x86_64-linux-gnu/libc.so.6', libc)

    def plan(self, input_at=0, unit='cpu', boards=('pc', 'pc'), hosts=('a', 'b')):
        about = {'plan': '0123456789abcdef', 'dice': '1.0', 'ranks': [{'unit': 'cpu'}, {'unit': unit}],
                 'inputs': [{'layer': 'picture', 'rank': input_at}],
                 'hosts': [{'host': host, 'board': board, 'ranks': [rank]} for rank, (host, board) in enumerate(zip(hosts, boards))]}
        write(FOLDER / 'plan.json', json.dumps(about))

    def build(self, action='packages', code=0, fails='', umask=-1, **more):
        """What it says, in one line."""
        settings = {'name': 'numbers', 'network': 'digits', 'network_folder': FOLDER / 'network', 'more_weights': '',
                    'program': FOLDER / 'numbers', 'gpu': '', 'files': '', 'folder': '', 'mpirun_options': '',
                    'contact': 'nobody <nobody@localhost>', 'version': '1.0', 'licence': FOLDER / 'LICENSE', 'settings': FOLDER / 'settings',
                    'boards_folder': FOLDER / 'boards', 'packages_folder': FOLDER / 'packages', 'dice_folder': '', 'package_file': '',
                    'generator': 'Ninja', 'make_program': 'ninja', 'compiler': 'c++', 'build_type': 'Release',
                    'CMAKE_COMMAND': FOLDER / 'cmake', **more}
        write(FOLDER / 'settings/numbers.cmake', ''.join(f'set({name} [==[{value}]==])\n' for name, value in settings.items()))
        done = subprocess.run([CMAKE, f'-DDEPLOYMENT={FOLDER}/settings/numbers.cmake', f'-DACTION={action}', '-P',
                               SOURCES / 'cmake/deployment/build.cmake'], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, 'FAILS': fails}, umask=umask)
        self.assertEqual(done.returncode, code, done.stdout)
        return ' '.join(done.stdout.split())

    def log(self):
        """What happened to the board's folder since the last call."""
        file = FOLDER / 'log'
        text = file.read_text().split() if file.exists() else []
        file.unlink(missing_ok=True)
        return text

    def packed(self, name):
        with tarfile.open(FOLDER / 'packages/b.tar.gz') as package:
            return package.extractfile(f'numbers/{name}').read().decode()

    def test_another_sysroot_leaves_no_object(self):
        self.build('boards')
        self.assertEqual(self.log(), ['configured', 'compiled'])
        self.build('boards')
        self.assertEqual(self.log(), [])
        self.use_sysroot('two')
        self.assertIn('boards of the kind pc have another sysroot: everything is compiled again', self.build('boards'))
        self.assertEqual(self.log(), ['configured', 'compiled'])
        write(FOLDER / 'settings/numbers.cache.cmake', 'set(CMAKE_UNITY_BUILD ON CACHE STRING "" FORCE)\n')
        self.build('boards')  # other settings: its compiler's own rules say what is compiled again
        self.assertEqual(self.log(), ['configured'])

    def test_standard_input_reaches_the_rank_of_the_input(self):
        for rank, said in ((0, []), (1, ['--stdin', '1'])):
            self.plan(input_at=rank)
            self.build()
            words = self.packed('run').splitlines()[-1].split()
            at = words.index('--stdin') if '--stdin' in words else len(words)
            self.assertEqual(words[at:at + 2], said)
            self.assertLess(at, words.index('-np') if said else len(words) + 1)

    def test_what_fails_ends_the_build(self):
        for fails, said in (('configure', "boards of the kind 'pc' cannot be configured. They are compiled by c++, since dice_add_board(pc …) "
                             "names no TOOLCHAIN. no such compiler"), ('compile', "the program for boards of the kind 'pc' cannot be compiled"),
                            ('pack', 'the weights of a cannot be packed: no such layer')):
            self.assertIn(said, self.build(code=1, fails=fails))
        for plan, said in (({'unit': 'gpu'}, 'the plan has ranks on GPUs; write GPU in dice_add_deployment'),
                           ({'boards': ('pc', 'other')}, "boards of the kind 'other'. Say how"),
                           ({'boards': ('pc', 'new')}, 'different versions of Open MPI, 5.0.3, 4.1.4, with which no job can start'),
                           ({'hosts': ('a', 'b/c')}, "the host 'b/c' cannot name a package")):
            self.plan(**plan)
            self.assertIn(said, self.build(code=1))
        self.assertFalse((FOLDER / 'packages').exists())

    def test_all_may_read_the_packages(self):
        self.build(umask=0o077)
        with tarfile.open(FOLDER / 'packages/b.tar.gz') as package:
            self.assertEqual({member.name: oct(member.mode) for member in package},
                             {'numbers': '0o755', **{f'numbers/{name}': '0o755' for name in ('numbers', 'run')}, **{
                                 f'numbers/{name}': '0o644' for name in ('numbers.packed', 'hosts', 'ranks', 'app', 'LICENSE.dice', 'NOTICES', 'manifest.json')}})
        if shutil.which('dpkg-deb'):
            said = subprocess.run(['dpkg-deb', '-c', FOLDER / 'packages/numbers-pc.deb'], check=True, text=True, capture_output=True).stdout
            modes = {line.split()[-1]: line.split()[0] for line in said.splitlines()}
            self.assertEqual(modes, {'./opt/': 'drwxr-xr-x', './opt/numbers/': 'drwxr-xr-x', './opt/numbers/numbers': '-rwxr-xr-x',
                                     './opt/numbers/LICENSE.dice': '-rw-r--r--', './opt/numbers/NOTICES': '-rw-r--r--'})

    def test_what_packages_have(self):
        write(FOLDER / 'labels.txt', 'zero\none\n')
        about = json.loads((FOLDER / 'plan.json').read_text())
        about['ranks'].append({'unit': 'cpu'})
        about['hosts'] = [{'host': 'a', 'board': 'pc', 'ranks': [0, 2]}, {'host': 'b', 'board': 'arm', 'ranks': [1]}]
        about['predicted'] = {'cluster': {'hosts': [{'host': host} for host in 'cbad']}}
        write(FOLDER / 'plan.json', json.dumps(about))
        self.assertIn('numbers: c, d: no ranks, because they would not make the job better', self.build(files=FOLDER / 'labels.txt'))
        self.assertEqual(self.packed('labels.txt'), 'zero\none\n')
        self.assertEqual(self.packed('hosts'), 'a slots=2\nb slots=1\n')
        self.assertEqual(self.packed('ranks'), 'rank 0=a slot=*:*\nrank 1=b slot=*:*\nrank 2=a slot=*:*\n')
        # A board with a toolchain file has its compiler, others have this build's.
        self.assertIn('-DCMAKE_CXX_COMPILER=c++', (FOLDER / 'boards/pc/arguments').read_text().split())
        self.assertNotIn('-DCMAKE_CXX_COMPILER', (FOLDER / 'boards/arm/arguments').read_text())
        # By a link, from anywhere.
        shutil.unpack_archive(FOLDER / 'packages/b.tar.gz', FOLDER / 'unpacked')
        (FOLDER / 'link').symlink_to('unpacked/numbers/run')
        said = subprocess.run([FOLDER / 'link', '--help'], check=True, text=True, capture_output=True).stdout.splitlines()
        self.assertIn('Starts numbers by mpirun on these hosts: a b.', said[1])
        self.assertEqual(said[-1], 'numbers: --help')
        with unittest.mock.patch.dict(os.environ, CMAKE_BUILD_PARALLEL_LEVEL='3'):
            self.build('boards')
        self.assertIn(' --target numbers --parallel 3\n', (FOLDER / 'boards/pc/built').read_text())
        self.plan(unit='gpu')
        self.build(gpu='TRUE')
        self.assertIn('-DDICE_CUDA=ON', (FOLDER / 'boards/pc_gpu/arguments').read_text().split())
        self.assertIn('-DDICE_CUDA=ELSEWHERE', (FOLDER / 'boards/pc/arguments').read_text().split())

    def test_options_of_mpirun(self):
        self.build(mpirun_options="-x;A=it's $HOME")
        words = shlex.split(self.packed('run').splitlines()[-1])
        self.assertEqual(words[words.index('-x') + 1], "A=it's $HOME")
        self.assertEqual(words[words.index('--rankfile') + 1], 'ranks')
        self.plan(boards=('new', 'new'))
        self.build()
        self.assertIn('--map-by rankfile:file=ranks --prtemca ', self.packed('run'))
        self.assertNotIn('--rankfile', self.packed('run'))

    @unittest.skipUnless(shutil.which('dpkg-deb'), 'no dpkg-deb')
    def test_the_deb_depends_on_all_libraries(self):
        self.build()
        depends = subprocess.run(['dpkg-deb', '-f', FOLDER / 'packages/numbers-pc.deb', 'Depends'], check=True, text=True, capture_output=True)
        self.assertEqual(depends.stdout.strip().split(', '), [
            'openmpi-bin', 'libboost-mpi1.74.0', 'libopenmpi3 | libopenmpi3t64 | libopenmpi40', 'libgomp1', 'libstb0 | libstb0t64', 'libstdc++6',
            'libc6', 'libgcc-s1'])
        files = subprocess.run(['dpkg-deb', '-c', FOLDER / 'packages/numbers-pc.deb'], check=True, text=True, capture_output=True).stdout
        self.assertIn(' ./opt/numbers/numbers\n', files)
        self.plan(boards=('pc', 'arm'))
        self.build()
        for board, architecture in (('pc', 'amd64'), ('arm', 'arm64')):
            said = subprocess.run(['dpkg-deb', '-f', FOLDER / f'packages/numbers-{board}.deb', 'Architecture'], check=True, text=True, capture_output=True)
            self.assertEqual(said.stdout, architecture + '\n')

    def configure(self, generator, files, code=0):
        write(FOLDER / 'project/CMakeLists.txt', PROJECT.replace('@SOURCES@', str(SOURCES)).replace('@FILES@', files))
        for name in ('plan.hpp', 'labels.txt', 'more/labels.txt'):
            write(FOLDER / 'project' / name, '')
        build = FOLDER / generator.replace(' ', '_')
        done = subprocess.run([CMAKE, '-G', generator, '-S', FOLDER / 'project', '-B', build], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, code, done.stdout)
        return build, ' '.join(done.stdout.split())

    @unittest.skipUnless(shutil.which('ninja'), 'no ninja')
    def test_builds_with_several_configurations(self):
        build, _ = self.configure('Ninja Multi-Config', 'labels.txt')
        for kind in ('Release', 'Debug'):  # each has its boards' builds, with one configuration, where the program is not in a folder Release
            settings = (build / f'dice_deployments/{kind}/numbers.cmake').read_text()
            for name, value in (('generator', 'Ninja'), ('build_type', kind), ('version', '1.2'), ('program', build / kind / 'numbers')):
                self.assertIn(f'set({name} [==[{value}]==])\n', settings)

    @unittest.skipUnless(shutil.which('ninja'), 'no ninja')
    def test_files_of_one_name(self):
        for files, name in (('labels.txt more/labels.txt', 'labels.txt'), ('plan.hpp plan.hpp', 'plan.hpp')):
            self.assertIn(f"packages have a file '{name}' already", self.configure('Ninja', files, code=1)[1])

    def test_folders_that_commands_accept(self):
        asked = ['/opt', '/opt/', '/opt//', '//opt', '/opt/.', '/opt/dice/../x/', '/', '//', '/..', '/opt/..', 'opt', '/o pt', '/a+b.c-d_1']
        script = f'include({SOURCES}/cmake/DiceDeployment.cmake)\n'
        script += ''.join(f'dice_deployment_folder(out [[{folder}]])\nmessage("[${{out}}]")\n' for folder in asked)
        write(FOLDER / 'folders.cmake', script)
        done = subprocess.run([CMAKE, '-P', FOLDER / 'folders.cmake'], check=True, text=True, capture_output=True)
        self.assertEqual(done.stderr.split(), ['[/opt]'] * 5 + ['[/opt/x]'] + ['[]'] * 6 + ['[/a+b.c-d_1]'])
        self.build(folder='/opt')
        self.assertEqual(self.packed('app'), '-np 1 -wdir /opt/numbers ./numbers\n' * 2)

    def test_a_job_keeps_its_version(self):
        write(FOLDER / 'bin/mpirun', MPIRUN, True)
        site = FOLDER / 'site'  # where hosts have their packages: here, a link
        self.build(folder=str(site))
        for place, said in (('real/.dice-run/numbers/1', 'one'), ('real/.dice-run/numbers/2', 'two'), ('elsewhere/numbers', 'no rank')):
            write(FOLDER / place / 'run', self.packed('run'), True)
            write(FOLDER / place / 'numbers', f'#!/bin/sh\necho {said}\n', True)
        site.symlink_to('real')
        (site / 'numbers').symlink_to('.dice-run/numbers/2')
        for package, said in ((site / '.dice-run/numbers/1', f'{site}/.dice-run/numbers/1\none\n'),  # a restart after another deploy
                              (site / 'numbers', f'{site}/.dice-run/numbers/2\ntwo\n'),
                              (FOLDER / 'elsewhere/numbers', f'{site}/numbers\ntwo\n')):
            done = subprocess.run([package / 'run'], text=True, capture_output=True, env={**os.environ, 'PATH': f'{FOLDER}/bin:{os.environ["PATH"]}'})
            self.assertEqual(done.stdout, said, done.stderr)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
