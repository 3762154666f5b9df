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
--plan=json) [ "$FAILS" != plan ] || { echo "no plan" >&2; exit 1; }; cat "$(dirname "$0")/plan.json" ;;
*) echo "$*" >>"@FOLDER@/packed"
  [ "$FAILS" != pack ] || { echo "no such layer" >&2; exit 1; }
  while [ "$1" != --pack ]; do shift; done; printf 'structure 12\ncontent 34\nmodel 56\n' >"$2" ;;
esac
"""
# Configuring prints and writes what deployment/CMakeLists.txt writes, and compiling makes a program if there is none. Boards of the kind new
# have another Open MPI; those of the kind pc were configured by an older dice, which did not write their instructions.
BOARDS = r"""#!/bin/sh
case $1 in
-E) exec @CMAKE@ "$@" ;;
-S) arguments=$*
  while [ "$1" != -B ]; do shift; done
  echo "$arguments" >"$2/arguments"
  echo configured >>"@FOLDER@/log"
  printf -- '-- a compiler\n-- dice: OpenMP 4.5; GPU ranks elsewhere; Boost.MPI\n-- done\n'
  [ "$FAILS" != configure ] || { echo "no such compiler" >&2; exit 1; }
  mpi=4.1.4 processor=x86_64
  case $2 in */new) mpi=5.0.3 ;; */arm) processor=aarch64 ;; esac
  printf 'set(open_mpi %s)\nset(processor %s)\nset(readelf "@FOLDER@/readelf")\n' "$mpi" "$processor" >"$2/board.cmake"
  case $2 in */arm) echo 'set(instructions "crc;lse")' >>"$2/board.cmake" ;; esac
  touch "$2/CMakeCache.txt" ;;
--build) [ "$FAILS" != compile ] || exit 1
  echo "$* $MAKEFLAGS$MFLAGS$MAKELEVEL" >"$2/built"
  [ -f "$2/numbers" ] || { echo compiled >>"@FOLDER@/log"; printf '#!/bin/sh\necho "numbers: $*"\n' >"$2/numbers"; } ;;
esac
"""
# As GNU readelf -d and -V print what a board's program needs.
READELF = r"""#!/bin/sh
[ "$FAILS" != readelf ] || exit 1
if [ "$1" = -V ]; then
  case $2 in */arm/*) newest=2.38 ;; *) newest=2.4 ;; esac
  for name in libc GLIBC_2.3.4 GLIBC_2.14 "GLIBC_$newest" GLIBC_PRIVATE GLIBCXX_3.4.30; do echo "  0x00c0:   Name: $name  Flags: none  Version: 33"; done
  exit
fi
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
add_library(dice_network_more INTERFACE)
foreach(network IN ITEMS digits more)
  add_library(dice::network::${network} ALIAS dice_network_${network})
  set_target_properties(dice_network_${network} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/${network} DICE_TUNED "${tuned_${network}}")
endforeach()
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
        write(FOLDER / 'settings/boards.cmake', f'set(boards pc new arm own)\nset(options_{hashlib.sha1(b"own").hexdigest()} -DCMAKE_CXX_COMPILER=mine)\nset(options_{key} [==[-DCMAKE_SYSROOT={self.sysroot}]==])\n'
              f'set(options_{hashlib.sha1(b"arm").hexdigest()} [==[-DCMAKE_TOOLCHAIN_FILE=arm.cmake]==])\n')
        self.use_sysroot('one')
        self.plan()

    def use_sysroot(self, libc):
        write(self.sysroot / 'usr/lib/x86_64-linux-gnu/libc.so.6', libc)

    def plan(self, input_at=0, unit='cpu', boards=('pc', 'pc'), hosts=('a', 'b'), cluster=()):
        about = {'plan': '0123456789abcdef', 'dice': '1.0', 'ranks': [{'unit': 'cpu'}, {'unit': unit}],
                 'inputs': [{'layer': 'picture', 'rank': input_at}],
                 'hosts': [{'host': host, 'board': board, 'ranks': [rank]} for rank, (host, board) in enumerate(zip(hosts, boards))]}
        if cluster:
            about['predicted'] = {'cluster': {'hosts': [{'host': f'h{i}', 'board': board} for i, board in enumerate(cluster)]}}
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
        self.build('boards', compiler='another', fails='configure', code=1)
        self.build('boards')
        self.assertEqual(self.log(), ['configured', 'configured'])
        for mark in ('lib/x86_64-linux-gnu/openmpi/include/mpi.h', 'local/include/mpi.h', 'include/boost/version.hpp'):
            write(self.sysroot / 'usr' / mark, '')
            self.build('boards')
            self.assertEqual(self.log(), ['configured', 'compiled'])
        self.build('boards')
        self.assertEqual(self.log(), [])

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
                            ('pack', 'the weights of a cannot be packed: no such layer'),
                            ('plan', f"dice_add_deployment(numbers): '{FOLDER}/numbers --plan=json' fails: no plan"),
                            ('readelf', f"'{FOLDER}/readelf -d {FOLDER}/packages.unfinished/{hashlib.sha1(b'pc').hexdigest()}/files/opt/numbers/numbers' fails: it lists")):
            self.assertIn(said, self.build(code=1, fails=fails))
        for plan, said in (({'unit': 'gpu'}, 'the plan has ranks on GPUs; write GPU in dice_add_deployment'),
                           ({'boards': ('one', 'other')}, "boards of the kind 'one', 'other'. Say how"), ({'boards': ('pc', 'one')}, 'The known kinds are pc, new, arm, own.'),
                           ({'boards': ('pc', 'new')}, 'different versions of Open MPI, 5.0.3, 4.1.4, with which no job can start'),
                           ({'hosts': ('a', 'b/c')}, "the host 'b/c' cannot name a package"),
                           ({'hosts': ('.a', 'b')}, "the host '.a' cannot name a package")):
            self.plan(**plan)
            self.assertIn(said, self.build(code=1))
        self.plan(boards=('pc', 'pc'))
        for own, cluster, said in (('pc arn', ('pc', 'arm'), "dice_add_board names 'arn', but the cluster has no such board. Its boards are pc, arm: is the name misspelt?"),
                                   ('pc arm', ('pc', 'arm'), ''), ('', ('pc',), ''), ('arn', (), '')):
            settings = FOLDER / 'settings/boards.cmake'
            before = settings.read_text()
            write(settings, f'{before}set(own_boards {own})\n')
            self.plan(cluster=cluster)
            found = self.build()
            self.assertIn(said, found)
            self.assertEqual('no such board' in found, said != '')
            write(settings, before)
            shutil.rmtree(FOLDER / 'packages')
        self.plan(boards=('arm', 'arm'))
        self.assertIn("boards of the kind 'arm' cannot be configured. no such compiler", self.build(code=1, fails='configure', compiler='another'))
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
        self.assertIn('numbers: no packages for c, d, which have no ranks: best_mapping leaves out hosts that would not make the job better; a mapping', self.build(files=FOLDER / 'labels.txt'))
        self.assertEqual(self.packed('labels.txt'), 'zero\none\n')
        self.assertEqual(self.packed('hosts'), 'a slots=2\nb slots=1\n')
        self.assertEqual(self.packed('ranks'), 'rank 0=a slot=*:*\nrank 1=b slot=*:*\nrank 2=a slot=*:*\n')
        self.assertEqual([line.split()[-1] for line in (FOLDER / 'packed').read_text().splitlines()], ['0,2', '1'])
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
        self.assertIn(' --target numbers --parallel 3 \n', (FOLDER / 'boards/pc/built').read_text())
        self.plan(unit='gpu')
        self.build(gpu='TRUE')
        self.assertIn('-DDICE_CUDA=ON', (FOLDER / 'boards/pc_gpu/arguments').read_text().split())
        self.assertIn('-DDICE_CUDA=ELSEWHERE', (FOLDER / 'boards/pc/arguments').read_text().split())

    def test_all_that_a_package_has(self):
        (FOLDER / 'link').symlink_to('LICENSE')
        write(FOLDER / 'more/other.safetensors', 'more weights')
        self.plan(boards=('pc', 'arm'))
        said = self.build(files=FOLDER / 'link', more_weights=FOLDER / 'more/other.safetensors', version='1.2')
        self.assertEqual(sorted(os.listdir(FOLDER / 'packages')), ['a', 'a.tar.gz', 'b', 'b.tar.gz', 'numbers-arm.deb', 'numbers-pc.deb'])
        self.assertFalse((FOLDER / 'packages.unfinished').exists())
        manifest = json.loads(self.packed('manifest.json'))
        names = ['numbers', 'numbers.packed', 'hosts', 'ranks', 'app', 'run', 'LICENSE.dice', 'NOTICES', 'link', 'other.safetensors']
        self.assertEqual(manifest.pop('files'), [{'file': name, 'bytes': len(text), 'sha256': hashlib.sha256(text).hexdigest()}
                                                 for name in names for text in [self.packed(name).encode()]])
        self.assertEqual(manifest, {'name': 'numbers', 'version': '1.2', 'host': 'b', 'board': 'arm', 'ranks': [1], 'network': 'digits',
                                    'plan': '0123456789abcdef', 'dice': '1.0', 'model_sha256': '56', 'structure': '12', 'weights': '34',
                                    'open_mpi': '4.1.4', 'processor': 'aarch64', 'glibc': '2.38', 'instructions': ['crc', 'lse']})
        manifest = json.loads((FOLDER / 'packages/a/numbers/manifest.json').read_text())
        self.assertEqual((manifest['glibc'], manifest['instructions']), ('2.14', []))
        self.assertEqual([self.packed(name) for name in ('app', 'link', 'LICENSE.dice', 'other.safetensors')],
                         ['-np 1 ./numbers\n' * 2, 'licence', 'licence', 'more weights'])
        self.assertEqual((FOLDER / 'packed').read_text().splitlines(), [
            f'--weights {FOLDER}/network/digits.safetensors --pack {FOLDER}/packages.unfinished/made/{host}/numbers/numbers.packed --ranks {rank}'
            for rank, host in enumerate('ab')])
        steps = ['boards of the kind arm: OpenMP 4.5; Boost.MPI', 'boards of the kind pc: OpenMP 4.5; Boost.MPI',
                 'builds the program for boards of the kind arm', 'builds the program for boards of the kind pc', 'package of a (pc, rank 0)',
                 'package of b (arm, rank 1)', 'package of boards of the kind arm', 'package of boards of the kind pc']
        steps += [f'{file} ({-(-file.stat().st_size // 1024)} KiB)' for file in (FOLDER / 'packages' / name for name in (
            'a.tar.gz', 'b.tar.gz', 'numbers-arm.deb', 'numbers-pc.deb'))]
        self.assertEqual(said, ' '.join('-- numbers: ' + step for step in steps))

    def test_what_configures_and_compiles_for_a_board(self):
        with unittest.mock.patch.dict(os.environ, MAKEFLAGS='w', MFLAGS='-w', MAKELEVEL='1'):
            self.build('boards', package_file='/dice', dice_folder='/sources', build_type='Debug', make_program='samu')
        self.assertEqual((FOLDER / 'boards/pc/arguments').read_text().split(), [
            '-S', f'{SOURCES}/cmake/deployment', '-B', f'{FOLDER}/boards/pc', '-G', 'Ninja', '-DCMAKE_MAKE_PROGRAM=samu', '-DCMAKE_BUILD_TYPE=Debug',
            '-C', f'{FOLDER}/settings/numbers.cache.cmake', '-Ddice_DIR=/dice', '-DDICE_FOLDER=/sources', '-DDICE_CUDA=ELSEWHERE',
            '-DDICE_DEPLOYED_BOARD=pc', f'-DDICE_DEPLOYMENTS={FOLDER}/settings/programs.cmake', f'-DCMAKE_SYSROOT={self.sysroot}',
            '-DCMAKE_CXX_COMPILER=c++'])
        self.assertRegex((FOLDER / 'boards/pc/built').read_text(), rf'^--build {FOLDER}/boards/pc --target numbers --parallel [1-9]\d* \n$')
        self.plan(boards=('own', 'own'))
        self.build('boards')
        self.assertEqual((FOLDER / 'boards/own/arguments').read_text().count('-DCMAKE_CXX_COMPILER='), 1)

    def test_options_of_mpirun(self):
        self.build(mpirun_options="-x;A=it's $HOME")
        words = shlex.split(self.packed('run').splitlines()[-1])
        self.assertEqual(words[words.index('-x') + 1], "A=it's $HOME")
        self.assertEqual(words[words.index('--rankfile') + 1], 'ranks')
        self.plan(boards=('new', 'new'))
        self.build()
        names = '--map-by rankfile:file=ranks --prtemca prte_keep_fqdn_hostnames 1'
        self.assertIn(f'exec mpirun --hostfile hosts {names} --mca oob_tcp_keepalive_time 2', self.packed('run'))
        self.plan()
        self.build()
        write(FOLDER / 'bin/mpirun', '#!/bin/sh\nprintf "%s\\n" "$@"\n', True)
        write(FOLDER / 'package/run', self.packed('run'), True)
        call = [FOLDER / 'package/run', '--input', 'a b']
        done = subprocess.run(call, text=True, capture_output=True, env={'PATH': f'{FOLDER}/bin:{os.environ["PATH"]}', 'MPIRUN_OPTIONS': '-x A'})
        names = '--rankfile ranks --mca orte_keep_fqdn_hostnames 1'
        self.assertEqual(done.stdout.splitlines(), f'--hostfile hosts {names} --mca oob_tcp_keepalive_time 2 --mca oob_tcp_keepalive_intvl 1 --mca '
                         'oob_tcp_keepalive_probes 3 --mca mpi_yield_when_idle 1 -x A -np 2 ./numbers --input'.split() + ['a b'], done.stderr)
        (FOLDER / 'bin/mpirun').unlink()
        for name in ('dirname', 'readlink'):
            (FOLDER / 'bin' / name).symlink_to(shutil.which(name))
        done = subprocess.run(call, text=True, capture_output=True, env={'PATH': f'{FOLDER}/bin'})
        self.assertEqual((done.returncode, done.stderr), (1, 'run: no mpirun here; install Open MPI (Debian: openmpi-bin)\n'))

    @unittest.skipUnless(shutil.which('dpkg-deb'), 'no dpkg-deb')
    def test_the_deb_depends_on_all_libraries(self):
        self.build()
        depends = subprocess.run(['dpkg-deb', '-f', FOLDER / 'packages/numbers-pc.deb', 'Depends'], check=True, text=True, capture_output=True)
        self.assertEqual(depends.stdout.strip().split(', '), [
            'openmpi-bin', 'libboost-mpi1.74.0', 'libopenmpi3 | libopenmpi3t64 | libopenmpi40', 'libgomp1', 'libstb0 | libstb0t64', 'libstdc++6',
            'libc6', 'libgcc-s1'])
        fields = subprocess.run(['dpkg-deb', '-f', FOLDER / 'packages/numbers-pc.deb', 'Package', 'Version', 'Section', 'Maintainer', 'Description'],
                                check=True, text=True, capture_output=True).stdout
        self.assertEqual(sorted(fields.splitlines()), sorted((
            'Package: numbers', 'Version: 1.0', 'Section: misc', 'Maintainer: nobody <nobody@localhost>',
            'Description: program of the deployment numbers for boards of the kind pc', ' Runs the network digits. The weights are in the package of each host.')))
        files = subprocess.run(['dpkg-deb', '-c', FOLDER / 'packages/numbers-pc.deb'], check=True, text=True, capture_output=True).stdout
        self.assertIn(' ./opt/numbers/numbers\n', files)
        self.plan(boards=('pc', 'arm'))
        self.build(folder='/srv/x')
        files = subprocess.run(['dpkg-deb', '-c', FOLDER / 'packages/numbers-pc.deb'], check=True, text=True, capture_output=True).stdout
        self.assertIn(' ./srv/x/numbers/numbers\n', files)
        for board, architecture in (('pc', 'amd64'), ('arm', 'arm64')):
            said = subprocess.run(['dpkg-deb', '-f', FOLDER / f'packages/numbers-{board}.deb', 'Architecture'], check=True, text=True, capture_output=True)
            self.assertEqual(said.stdout, architecture + '\n')

    def configure(self, generator, files, code=0, before='', version=' VERSION 1.2'):
        write(FOLDER / 'project/CMakeLists.txt', before + PROJECT.replace(' VERSION 1.2', version).replace('@SOURCES@', str(SOURCES)).replace('@FILES@', files))
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
    def test_settings(self):
        """All arguments of dice_add_deployment, and none but those that are needed."""
        project = FOLDER / 'project'
        for name in ('own.cpp', 'own.cmake'):
            write(project / name, '')
        build, _ = self.configure('Ninja', 'labels.txt plan.hpp CONTACT "Me <me@here>" FOLDER /opt//x/ MPIRUN_OPTIONS -x A NETWORKS more SETUP own.cmake '
                                  'SOURCES own.cpp MAPPING mine CLUSTER ours ANY_MAPPING', before='set(tuned_more /tuned.hpp)\n')
        text = (build / 'dice_deployments/numbers.cmake').read_text()
        program = (build / 'dice_deployments/numbers.program.cmake').read_text()
        for name, value in (('name', 'numbers'), ('network', 'digits'), ('network_folder', f'{project}/digits'), ('more_weights', f'{project}/more/more.safetensors'),
                            ('program', f'{build}/numbers'), ('gpu', 'FALSE'), ('files', f'{project}/labels.txt;{project}/plan.hpp'), ('folder', '/opt/x'),
                            ('mpirun_options', '-x;A'), ('contact', 'Me <me@here>'), ('version', '1.2'),
                            ('boards_folder', f'{build}/dice_boards'), ('packages_folder', f'{build}/numbers-packages'), ('dice_folder', SOURCES),
                            ('package_file', f'{SOURCES}/cmake'), ('generator', 'Ninja'), ('make_program', shutil.which('ninja')), ('build_type', 'Release')):
            self.assertIn(f'set({name} [==[{value}]==])\n', text)
        self.assertEqual(program, ''.join(f'set({name} [==[{value}]==])\n' for name, value in (
            ('name', 'numbers'), ('sources', f'{project}/own.cpp'), ('include_folders', f'{project}/digits;{project}/more'), ('forced_includes', '/tuned.hpp'),
            ('any_mapping', 'TRUE'), ('setup', f'{project}/own.cmake'))))
        self.assertIn('dice::main<digits::network, mine, ours>(argc, argv)', (build / 'dice_deployments/numbers.cpp').read_text())
        build, _ = self.configure('Ninja', 'labels.txt)\ndice_add_board(x86 DICE_BOARD mine', before='set(CMAKE_PREFIX_PATH /a /b)\n', version='')
        text = (build / 'dice_deployments/numbers.cmake').read_text()
        for name, value in (('version', '0.0.0'), ('contact', 'nobody <nobody@localhost>'), ('folder', ''), ('mpirun_options', ''), ('more_weights', '')):
            self.assertIn(f'set({name} [==[{value}]==])\n', text)
        self.assertIn('set(CMAKE_PREFIX_PATH [==[/a;/b]==] CACHE STRING "" FORCE)\n', (build / 'dice_deployments/numbers.cache.cmake').read_text())
        boards = (build / 'dice_deployments/boards.cmake').read_text()
        self.assertTrue(boards.startswith('set(boards [==[x86;raspberry_pi_4;raspberry_pi_5;jetson_nano;jetson_tx2;jetson_xavier_nx;jetson_orin_nano]==])\n'), boards)
        self.assertIn(f'set(options_{hashlib.sha1(b"x86").hexdigest()} [==[-DDICE_BOARD=mine]==])\n', boards)
        self.assertIn('set(own_boards [==[]==])\n', boards)
        self.assertEqual((build / 'dice_deployments/programs.cmake').read_text(), f'set(deployments [==[{build}/dice_deployments/numbers.program.cmake]==])\n')
        rules = (build / 'build.ninja').read_text()
        self.assertRegex(rules, r'(?m)^build all: phony .*numbers-boards')
        self.assertNotRegex(rules, r'(?m)^build all: phony .*numbers-packages')
        for action in ('boards', 'packages'):
            self.assertIn(f' -DDEPLOYMENT={build}/dice_deployments/numbers.cmake -DACTION={action} -P {SOURCES}/cmake/deployment/build.cmake\n', rules)
        main = build / 'dice_deployments/numbers.cpp'
        program = (build / 'dice_deployments/numbers.program.cmake').read_text()
        for name, value in (('sources', main), ('forced_includes', ''), ('any_mapping', 'FALSE'), ('setup', '')):
            self.assertIn(f'set({name} [==[{value}]==])\n', program)
        self.assertEqual(main.read_text().splitlines()[1:], ['#include <dice/dice.hpp>', '', '#include "digits.hpp"', f'#include "{project}/plan.hpp"', '',
                         'int main(int argc, char** argv) { return dice::main<digits::network, deployment, machines>(argc, argv); }'])

    @unittest.skipUnless(shutil.which('ninja'), 'no ninja')
    def test_boards_of_the_project(self):
        for more, own in ('', 'small;other'), (')\ndice_add_deployment(others NETWORK digits PLAN plan.hpp FILES labels.txt', ''):
            build, _ = self.configure('Ninja', f'labels.txt)\ndice_add_board(small)\ndice_add_board(other{more}')
            self.assertIn(f'set(own_boards [==[{own}]==])\n', (build / 'dice_deployments/boards.cmake').read_text())

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

    def script(self, text, code=0):
        """What a script of CMake prints after DiceDeployment.cmake, in one line."""
        write(FOLDER / 'script.cmake', f'cmake_minimum_required(VERSION 3.25)\ninclude({SOURCES}/cmake/DiceDeployment.cmake)\n{text}')
        done = subprocess.run([CMAKE, '-P', FOLDER / 'script.cmake'], text=True, capture_output=True, cwd=FOLDER)
        self.assertEqual(done.returncode, code, done.stderr)
        return ' '.join(done.stderr.split())

    def test_boards(self):
        write(FOLDER / 'own.cmake', '')
        arm = f'-DCMAKE_TOOLCHAIN_FILE={SOURCES}/cmake/aarch64-linux-gnu.cmake'
        expected = {'x86': '-DDICE_BOARD=x86-64-v3', **{name: f'-DDICE_BOARD={board};{arm}' for name, board in (
            ('raspberry_pi_4', 'rpi4'), ('raspberry_pi_5', 'rpi5'), ('jetson_nano', 'jetson_nano'), ('jetson_tx2', 'jetson_tx2'),
            ('jetson_xavier_nx', '-march=armv8.2-a'), ('jetson_orin_nano', 'jetson_orin'))},
            'one': f'-DA=b;-DC=d;{arm};-DCMAKE_SYSROOT=/root', 'two': f'-DCMAKE_TOOLCHAIN_FILE={FOLDER}/own.cmake;-DCMAKE_SYSROOT=/own',
            'three.3': '', 'four': f'-DCMAKE_SYSROOT={FOLDER}/here'}
        said = self.script('set(DICE_SYSROOT /root)\ndice_add_board(one OPTIONS -DA=b -DC=d TOOLCHAIN aarch64-linux-gnu.cmake)\n'
                           'dice_add_board(two TOOLCHAIN own.cmake SYSROOT /own)\ndice_add_board(three.3)\ndice_add_board(four SYSROOT here)\n'
                           'get_property(boards GLOBAL PROPERTY DICE_BOARDS)\nforeach(board IN LISTS boards)\nstring(SHA1 key "${board}")\n'
                           'get_property(options GLOBAL PROPERTY DICE_BOARD_OPTIONS_${key})\nmessage("${board}=${options}")\nendforeach()\n')
        self.assertEqual(said, ' '.join(f'{name}={options}' for name, options in expected.items()))
        for words, message in (('pc DICE_BORD x', "dice_add_board: 'DICE_BORD;x' is unknown, or lacks a value. Usage: dice_add_board(NAME"),
                               ('pc TOOLCHAIN', "dice_add_board: 'TOOLCHAIN' is unknown, or lacks a value."),
                               ('pc DICE_BOARD ""', "dice_add_board(pc): DICE_BOARD is one board, not ''"),
                               ('pc DICE_BOARD "x86-64;armv8"', "dice_add_board(pc): DICE_BOARD is one board, not 'x86-64;armv8'"),
                               ('a/b', "dice_add_board: 'a/b' cannot be the name of a folder; use letters, digits and . _ -"),
                               ('.a', "dice_add_board: '.a' cannot be the name of a folder"),
                               ('pc TOOLCHAIN none', "dice_add_board(pc): there is no toolchain file 'none'")):
            self.assertIn(message, self.script(f'dice_add_board({words})\n', code=1))

    def test_mistakes_of_a_project(self):
        taken = ['numbers', 'numbers.packed', 'app', 'hosts', 'ranks', 'run', 'manifest.json', 'LICENSE.dice', 'NOTICES', 'a"b']
        for name in ('plan.hpp', *(f'taken/{name}' for name in taken)):
            write(FOLDER / name, '')
        good, usage = 'numbers NETWORK none PLAN plan.hpp', 'Usage: dice_add_deployment(NAME NETWORK network PLAN plan.hpp [MAPPING type]'
        no_name = 'cannot be the name of Debian packages; use at least two lower-case letters, digits, + - and .'
        for words, message in (
                ('numbers NETWORK none', f'NETWORK and PLAN are needed. {usage}'), ('numbers PLAN plan.hpp', 'NETWORK and PLAN are needed.'),
                ('numbers NETWORK none PLAN', f'PLAN without a value. {usage}'), (good + ' X', f"unknown argument 'X'. {usage}"),
                *((good.replace('numbers', name), f"'{name}' {no_name}") for name in ('n', 'Numbers', '+n', 'n_m')),
                *((good.replace('numbers', name), f"packages have a file '{name}', so their program needs another name") for name in ('app', 'hosts', 'ranks', 'run')),
                *((f'{good} FOLDER {folder}', f"FOLDER '{folder}' is not an absolute path of letters, digits and _ . / + - to a folder below /, such as /opt")
                  for folder in ('here', '/', '/a~b')),
                (good + ' MPIRUN_OPTIONS -x "--mca a b"', "MPIRUN_OPTIONS has '--mca a b' as one word; write its words without quotes"),
                ('numbers NETWORK none PLAN plam.hpp', f"no file '{FOLDER}/plam.hpp' (PLAN of 'numbers')"),
                *((f'{good} {kind} plan.hpp taken', f"no file '{FOLDER}/taken' ({kind} of 'numbers')") for kind in ('SOURCES', 'FILES')),
                (good + ' SETUP taken', f"no file '{FOLDER}/taken' (SETUP of 'numbers')"),
                *((f'{good} FILES [[taken/{name}]]', f"packages have a file '{name}' already, or it cannot be listed in JSON; give this one of FILES another name")
                  for name in taken),
                (good + ' MPIRUN_OPTIONS -x "A=b c" FILES plan.hpp FOLDER /opt', "there is no network 'none'; make it with dice_add_network(none …) before")):
            self.assertIn('dice_add_deployment: ' + message, self.script(f'dice_add_deployment({words})\n', code=1))

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
