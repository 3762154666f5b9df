#!/usr/bin/env python3
"""test_scripts.py CMAKE SOURCES FOLDER: the scripts behind dice_add_deployment, without compilers: a stand-in prints the program's plan
and packs weights, and another takes the place of the cmake that configures and compiles a board's programs."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import unittest

CMAKE, SOURCES, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
# As `numbers --plan=json`; `--pack FILE` writes a file.
PROGRAM = r"""#!/bin/sh
case $1 in
--plan=json) cat "$(dirname "$0")/plan.json" ;;
*) while [ "$1" != --pack ]; do shift; done; printf 'structure 12\ncontent 34\nmodel 56\n' >"$2" ;;
esac
"""
# Configuring writes what deployment/CMakeLists.txt writes, and compiling makes a program if there is none.
BOARDS = r"""#!/bin/sh
case $1 in
-E) exec @CMAKE@ "$@" ;;
-S) while [ "$1" != -B ]; do shift; done
  echo configured >>"@FOLDER@/log"
  printf 'set(open_mpi 4.1.4)\nset(processor x86_64)\nset(readelf "@FOLDER@/readelf")\n' >"$2/board.cmake"
  touch "$2/CMakeCache.txt" ;;
--build) [ -f "$2/numbers" ] || { echo compiled >>"@FOLDER@/log"; echo program >"$2/numbers"; } ;;
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
        write(FOLDER / 'settings/boards.cmake', f'set(boards pc)\nset(options_{key} [==[-DCMAKE_SYSROOT={self.sysroot}]==])\n')
        self.use_sysroot('one')
        self.plan()

    def use_sysroot(self, libc):
        write(self.sysroot / 'usr/lib/x86_64-linux-gnu/libc.so.6', libc)

    def plan(self, input_at=0):
        about = {'plan': '0123456789abcdef', 'dice': '1.0', 'ranks': [{'unit': 'cpu'}, {'unit': 'cpu'}],
                 'inputs': [{'layer': 'picture', 'rank': input_at}],
                 'hosts': [{'host': 'a', 'board': 'pc', 'ranks': [0]}, {'host': 'b', 'board': 'pc', 'ranks': [1]}]}
        write(FOLDER / 'plan.json', json.dumps(about))

    def build(self, action='packages', folder=''):
        settings = {'name': 'numbers', 'network': 'digits', 'network_folder': FOLDER / 'network', 'more_weights': '',
                    'program': FOLDER / 'numbers', 'gpu': '', 'files': '', 'folder': folder, 'mpirun_options': '',
                    'contact': 'nobody <nobody@localhost>', 'version': '1.0', 'licence': FOLDER / 'LICENSE', 'settings': FOLDER / 'settings',
                    'boards_folder': FOLDER / 'boards', 'packages_folder': FOLDER / 'packages', 'dice_folder': '', 'package_file': '',
                    'generator': 'Ninja', 'make_program': 'ninja', 'compiler': 'c++', 'build_type': 'Release',
                    'CMAKE_COMMAND': FOLDER / 'cmake'}
        write(FOLDER / 'settings/numbers.cmake', ''.join(f'set({name} [==[{value}]==])\n' for name, value in settings.items()))
        done = subprocess.run([CMAKE, f'-DDEPLOYMENT={FOLDER}/settings/numbers.cmake', f'-DACTION={action}', '-P',
                               SOURCES / 'cmake/deployment/build.cmake'], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

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

    @unittest.skipUnless(shutil.which('dpkg-deb'), 'no dpkg-deb')
    def test_the_deb_depends_on_all_libraries(self):
        self.build()
        depends = subprocess.run(['dpkg-deb', '-f', FOLDER / 'packages/numbers-pc.deb', 'Depends'], check=True, text=True, capture_output=True)
        self.assertEqual(depends.stdout.strip().split(', '), [
            'openmpi-bin', 'libboost-mpi1.74.0', 'libopenmpi3 | libopenmpi3t64 | libopenmpi40', 'libgomp1', 'libstb0 | libstb0t64', 'libstdc++6',
            'libc6', 'libgcc-s1'])

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
