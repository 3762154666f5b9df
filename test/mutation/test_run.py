"""test/mutation/run on a project of one header."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().parent / 'run'

HEADER = '''constexpr int twice(int x) { return 2 * x; }
inline int limited(int x) { return x > 10 ? 10 : x; }
static_assert(twice(3) == 6);
'''
PROGRAM = '''#include "value.hpp"
#include <cstdio>
int main() {
  while (limited(3) > 3) {}
  if (limited(12) != 10) return 1;
  std::puts("[  PASSED  ] 1 test.");
}
'''
CMAKE = '''cmake_minimum_required(VERSION 3.16)
project(one LANGUAGES CXX)
enable_testing()
add_executable(check check.cpp)
target_include_directories(check PRIVATE include)
add_custom_target(script)
add_test(NAME script COMMAND sh ${CMAKE_SOURCE_DIR}/scripts/say)
add_test(NAME check.all COMMAND check)
'''
SCRIPT = '''say() {
  echo "$1"
}
[ "$(say 3)" = 3 ]
'''
KILLED = '''# killed
in limited
old ? 10 : x
new ? 11 : x
test check *
'''
OTHERS = '''
# killed by ctest
in limited
old x > 10
new x > 12
test check ctest check.all

# killed by the compiler
in twice
old 2 * x
new 3 * x
test check build

# killed in a script
file say
old "$1"
new 4
test script ctest script

// nobody calls limited(11)
# alive
in limited
old x > 10
new x > 11
test check *

# equivalent
in limited
old x > 10
new x >= 10
equivalent both are 10

# invalid
in twice
old 2 * x
new 2 * y
test check *
'''


class Run(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.write('project/include/value.hpp', HEADER)
        self.write('project/scripts/say', SCRIPT)
        self.write('project/check.cpp', PROGRAM)
        self.write('project/CMakeLists.txt', CMAKE)
        self.write('project/.gitignore', 'build/\n')
        subprocess.run(['git', 'init', '--quiet'], cwd=self.folder / 'project', check=True)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run_on(self, mutants, *options):
        done = subprocess.run([sys.executable, '-B', RUN, '--sources', self.folder / 'project', '--list',
                               self.write('list.txt', mutants), '--json', self.folder / 'out.json', *options],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_outcomes(self):
        code, text = self.run_on(KILLED + OTHERS)
        self.assertEqual(code, 1, text)
        self.assertIn('4 killed, 1 alive, 1 invalid, 1 equivalent: 66.7 %', text)
        found = json.loads((self.folder / 'out.json').read_text())
        outcomes = {m['name']: m['outcome'].split(':')[0] for m in found['mutants']}
        self.assertEqual(outcomes, {'killed': 'killed', 'killed by ctest': 'killed', 'killed by the compiler': 'killed', 'killed in a script': 'killed',
                                    'alive': 'alive', 'equivalent': 'equivalent', 'invalid': 'invalid'})
        self.assertEqual({m['file'] for m in found['mutants']}, {'include/value.hpp', 'scripts/say'})
        self.assertEqual((self.folder / 'project/include/value.hpp').read_text(), HEADER)
        code, text = self.run_on(KILLED + OTHERS, '--only', '^killed')
        self.assertEqual(code, 0, text)
        self.assertIn('4 killed, 0 alive, 0 invalid, 0 equivalent: 100.0 %', text)
        self.assertEqual(self.run_on(KILLED + OTHERS, '--only', 'killed$|alive', '--least', '50')[0], 0)

    def test_mistakes(self):
        for mutants, part in [(KILLED.replace('? 10', '? 9'), 'contains the old text 0 times'),
                              (KILLED.replace('old ? 10 : x', 'old x'), 'contains the old text 3 times'),
                              (KILLED.replace('in limited', 'in limit'), "nothing is called 'limit'"),
                              (KILLED.replace('in limited', 'file other.sh'), "there is no file 'other.sh'"),
                              (KILLED.replace('in limited\n', ''), "expected 'in' or 'file'"),
                              (KILLED.replace('test check *\n', ''), 'expected a test or a reason'),
                              (KILLED + KILLED, 'this name occurs twice'),
                              ('what\n', "list.txt:1: expected '# name'")]:
            code, text = self.run_on(mutants, '--check')
            self.assertEqual(code, 2, text)
            self.assertIn(part, text)
        self.assertIn("no mutant matches 'z'", self.run_on(KILLED, '--only', 'z')[1])

    def test_tests_that_fail_anyway(self):
        self.write('project/include/value.hpp', HEADER.replace('? 10', '? 9'))
        code, text = self.run_on(KILLED.replace('? 10', '? 9'))
        self.assertEqual(code, 2, text)
        self.assertIn('check * fails without a change', text)


if __name__ == '__main__':
    unittest.main()
