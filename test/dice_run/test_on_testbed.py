#!/usr/bin/env python3
"""test_on_testbed.py: what runs by hand on tools/testbed (on_testbed.py here and in ../deployment, init_on_testbed.py) can fail: its
checks find what is not as expected. Needs no test bed."""
import contextlib
import importlib.util
import io
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

from hosts import until

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix='on_testbed'))


def load(path, *arguments):
    """A script as a module, with what it reads from its command line."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    before, sys.argv = sys.argv, [str(path), *map(str, arguments)]
    try:
        spec.loader.exec_module(module)
    finally:
        sys.argv = before
    return module


def tearDownModule():
    shutil.rmtree(FOLDER)


class CanFail(unittest.TestCase):
    def setUp(self):
        self.jobs = load(HERE / 'on_testbed.py', 'dice-run', FOLDER, FOLDER)
        self.init = load(HERE / 'init_on_testbed.py', FOLDER, FOLDER)

    def assertFailures(self, module, count, function, *arguments, **options):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            function(*arguments, **options)
        self.assertEqual((module.failures, said.getvalue().count('FAIL')), (count, count), said.getvalue())
        module.failures = 0

    def stub(self, text):
        """A program in place of dice-testbed."""
        file = FOLDER / 'stub'
        file.write_text(f'#!/bin/sh\n{text}\n')
        file.chmod(0o755)
        return file

    def test_expectations(self):
        right = (0, 'first\nh1: no power\n', 1.0)
        for patterns, result, options, count in [
                (['^h1: .*power'], right, {}, 0), (['^h2: '], right, {}, 1), (['^h1: ', '^h2: '], right, {}, 1), (['^h1: '], right, {'code': 1}, 1),
                (['^h1: '], (1, *right[1:]), {}, 1), (['^h1: '], (1, *right[1:]), {'code': 1}, 0), (['^h1: '], right, {'within': 1}, 1)]:
            self.assertFailures(self.jobs, count, self.jobs.expect, 'x', patterns, result, **options)
            if len(patterns) == 1:
                self.assertFailures(self.jobs.bed, count, self.jobs.bed.expect, 'x', patterns[0], result, **{'code': 0, **options})
        with self.assertRaises(SystemExit):
            self.jobs.sh('false')
        self.assertFalse(until(lambda: False, 0))
        self.assertTrue(until(lambda: True, 0))

    def test_processes_are_seen(self):
        self.jobs.bed.TESTBED = self.stub('printf "%s\\n" /usr/bin/orted /usr/bin/sh /site/numbers/numbers /site/numbers/run')
        self.assertEqual(self.jobs.processes('h1'), ['/usr/bin/orted', '/site/numbers/numbers'])

    def test_one_failure_is_a_failure(self):
        self.jobs.bed.TESTBED = self.stub('true')
        for right in (True, False):
            self.jobs.prepare, self.jobs.goes_wrong, self.jobs.goes_well = [lambda: None] * 2 + [lambda: self.jobs.check('x', right)]
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(self.jobs.main(), not right)

    def test_links_that_are_found_wrong(self):
        self.jobs.sh = lambda *words: None
        self.jobs.dice_run = lambda *words, **options: (0, 'h1  a PC  x86_64 \nh1 – h4 100\n', 1.0)
        for factor, count in ((1, 0), (0.85, 1), (1.15, 1)):
            found = [{'hosts': ['h1', 'h2'], 'mbit_per_s': 940, 'back_mbit_per_s': 940 * factor, 'us': 1000},
                     {'hosts': ['h1', 'h4'], 'mbit_per_s': 100, 'back_mbit_per_s': 100, 'us': 2000}]
            (FOLDER / 'found.json').write_text(json.dumps({'links': found}))
            self.assertFailures(self.jobs, count, self.jobs.links_are_found)
        for factors, right in (((1, 1), True), ((0.85, 1), False), ((1, 1.15), False)):
            found = [{'hosts': hosts, 'mbit_per_s': rate * factor, 'back_mbit_per_s': rate, 'us': 1000}
                     for (hosts, rate), factor in zip(((['h1', 'h2'], 100), (['h1', 'h3'], 20)), factors)]
            (FOLDER / 'found.json').write_text(json.dumps({'links': found}))
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(self.init.links_are_found(), right)


if __name__ == '__main__':
    unittest.main()
