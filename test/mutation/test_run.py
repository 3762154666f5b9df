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
add_test(NAME check.all COMMAND check)
'''
KILLED = '''# killed
file value.hpp
old ? 10 : x
new ? 11 : x
test check *
'''
OTHERS = '''
# killed by ctest
file value.hpp
old x > 10
new x > 12
test check ctest check.all

# killed by the compiler
file value.hpp
old 2 * x
new 3 * x
test check build

// nobody calls limited(11)
# alive
file value.hpp
old x > 10
new x > 11
test check *

# equivalent
file value.hpp
old x > 10
new x >= 10
equivalent both are 10

# invalid
file value.hpp
old 2 * x
new 2 * y
test check *
'''


class Run(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.write('project/value.hpp', HEADER)
        self.write('project/check.cpp', PROGRAM)
        self.write('project/CMakeLists.txt', CMAKE)
        self.write('project/.gitignore', 'build/\n')
        subprocess.run(['git', 'init', '--quiet'], cwd=self.folder / 'project', check=True)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
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
        self.assertIn('3 killed, 1 alive, 1 invalid, 1 equivalent: 60.0 %', text)
        found = json.loads((self.folder / 'out.json').read_text())
        outcomes = {m['name']: m['outcome'].split(':')[0] for m in found['mutants']}
        self.assertEqual(outcomes, {'killed': 'killed', 'killed by ctest': 'killed', 'killed by the compiler': 'killed',
                                    'alive': 'alive', 'equivalent': 'equivalent', 'invalid': 'invalid'})
        self.assertEqual((self.folder / 'project/value.hpp').read_text(), HEADER)
        code, text = self.run_on(KILLED + OTHERS, '--only', '^killed')
        self.assertEqual(code, 0, text)
        self.assertIn('3 killed, 0 alive, 0 invalid, 0 equivalent: 100.0 %', text)
        self.assertEqual(self.run_on(KILLED + OTHERS, '--only', 'killed$|alive', '--least', '50')[0], 0)

    def test_mistakes(self):
        for mutants, part in [(KILLED.replace('? 10', '? 9'), 'contains the old text 0 times'),
                              (KILLED.replace('old ? 10 : x', 'old x'), 'contains the old text'),
                              (KILLED.replace('value.hpp', 'other.hpp'), "there is no file 'other.hpp'"),
                              (KILLED.replace('test check *\n', ''), 'expected a test or a reason'),
                              (KILLED + KILLED, 'this name occurs twice'),
                              ('what\n', "list.txt:1: expected '# name'")]:
            code, text = self.run_on(mutants, '--check')
            self.assertEqual(code, 2, text)
            self.assertIn(part, text)
        self.assertIn("no mutant matches 'z'", self.run_on(KILLED, '--only', 'z')[1])

    def test_tests_that_fail_anyway(self):
        self.write('project/value.hpp', HEADER.replace('? 10', '? 9'))
        code, text = self.run_on(KILLED.replace('? 10', '? 9'))
        self.assertEqual(code, 2, text)
        self.assertIn('check * fails without a change', text)


if __name__ == '__main__':
    unittest.main()
