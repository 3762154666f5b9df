"""test_run.py RUN: how test/gpu/run handles stages that pass, fail, hang or are stopped, and how it continues."""
import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import tarfile
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv[1])
# A copy of the script with a test's own stages.
DRIVER = '''
import importlib.machinery, importlib.util, pathlib, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # the caller may ignore it
script, stages, *sys.argv[1:] = sys.argv[1:]
sys.path.insert(0, str(pathlib.Path(script).parent))
loader = importlib.machinery.SourceFileLoader('run', script)
run = importlib.util.module_from_spec(importlib.util.spec_from_loader('run', loader))
loader.exec_module(run)
run.STAGES.clear()
exec(stages, run.__dict__)
sys.exit(run.main())
'''
GOOD = '''
@stage('')
def good(t):
    return call(t, ['echo', 'all', 'is', 'well']).stdout.strip()
'''


class Run(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.work = pathlib.Path(scratch.name)

    def start(self, stages, *arguments):
        return subprocess.Popen([sys.executable, '-B', '-c', DRIVER, SCRIPT, stages, '--work', self.work, *arguments],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run_stages(self, stages, *arguments):
        """(exit status, last line, {stage: result})."""
        process = self.start(stages, *arguments)
        lines = process.communicate()[0].splitlines()
        state = self.work / 'out/results.json'
        self.known = json.loads(state.read_text()) if state.exists() else {}
        return process.returncode, lines[-1], {name: r['result'] for name, r in self.known.items()}

    def test_all_pass(self):
        self.assertEqual(self.run_stages(GOOD), (0, 'PASS: passed 1 of 1 stages', {'good': 'ok'}))
        self.assertEqual(self.known['good']['remark'], 'all is well')
        self.assertIn('all is well\n', (self.work / 'out/good.log').read_text())
        self.assertEqual(self.run_stages(GOOD)[0], 0)  # there is nothing to do

    def test_failures_of_every_kind(self):
        stages = GOOD + '''
@stage('')
def wrong(t):
    call(t, ['sh', '-c', 'echo "error: it is broken"; exit 3'])
@stage('')
def crash(t):
    return {}['x']
@stage('')
def hangs(t):
    call(t, ['sleep', '600'], most=1)
@stage('')
def left_out(t):
    raise Skipped('nothing here')
'''
        status, line, results = self.run_stages(stages)
        self.assertEqual((status, line), (1, 'FAIL: passed 1 of 5 stages; failed: wrong, crash, hangs; not done: left-out'))
        self.assertEqual(results, {'good': 'ok', 'wrong': 'failed', 'crash': 'failed', 'hangs': 'failed',
                                   'left-out': 'skipped'})
        self.assertEqual(self.known['wrong']['remark'], 'sh fails (3): error: it is broken')
        self.assertIn('KeyError', (self.work / 'out/crash.log').read_text())
        self.assertIn('hangs', self.known['hangs']['remark'])
        self.assertEqual(self.run_stages(stages, 'good')[:2], (0, 'PASS: passed 1 of 1 stages'))
        self.assertEqual(self.run_stages(stages, 'good', 'left-out')[0], 2)

    def test_goes_on(self):
        """Stages without a turn come first, then stopped ones; items of a stage that passed are not repeated."""
        stages = '''
def check(item, path):
    with open(path.parent / 'turns', 'a') as file:
        print(item, file=file)
    if not (path.parent / 'fixed').exists():
        if item == 'slow': raise OutOfTime('slow')
        if item == 'broken': raise Failed('it is')
    return item
@stage('')
def stopped(t):
    return ' '.join(every(t, {'a': t.work / 'a', 'slow': t.work / 'a', 'b': t.work / 'b'}, check))
@stage('')
def fails(t):
    return ' '.join(every(t, {'broken': t.work / 'a', 'c': t.work / 'b'}, check))
'''
        late = '@stage("")\ndef late(t):\n    return check("late", t.work / "a")\n'
        for name in 'a', 'b':
            (self.work / name).write_text(name)
        self.assertEqual(self.run_stages(stages)[2], {'stopped': 'out of time', 'fails': 'failed'})
        self.assertEqual(self.known['fails']['remark'], '1 of 2 (passed: 1): broken: it is')
        self.assertEqual(self.known['stopped']['remark'], '1 of 3 so far: slow: slow')
        (self.work / 'fixed').touch()
        self.assertEqual(self.run_stages(stages + late)[:2], (0, 'PASS: passed 3 of 3 stages'))
        self.assertEqual((self.work / 'turns').read_text().split(),
                         ['a', 'slow', 'broken', 'c', 'late', 'slow', 'b', 'broken'])
        self.run_stages(stages, 'fails')  # it had passed, so all of it runs again
        self.assertEqual((self.work / 'turns').read_text().split()[8:], ['broken', 'c'])
        (self.work / 'out/results.json').write_text('{}')
        (self.work / 'b').write_text('another program')
        self.run_stages(stages, 'stopped')
        self.assertEqual((self.work / 'turns').read_text().split()[10:], ['b'])

    def test_interrupted(self):
        stages = GOOD + '''
@stage('')
def waits(t):
    call(t, ['sh', '-c', f'sleep 600 & echo $! > {t.work}/pid; echo begun; wait'])
'''
        for how in signal.SIGINT, signal.SIGTERM:
            process = self.start(stages, '--out', self.work / 'all.tar.gz', 'good', 'waits')
            process.stdout.readline(), process.stdout.readline()
            log = self.work / 'out/waits.log'
            while not (log.exists() and 'begun\n' in log.read_text()):  # the log is written before the command ends
                self.assertIsNone(process.poll())
            process.send_signal(how)
            lines = process.communicate(timeout=30)[0].splitlines()
            self.assertEqual((process.returncode, lines[-1]), (2, 'INCOMPLETE: passed 1 of 2 stages; not done: waits'))
            with tarfile.open(self.work / 'all.tar.gz') as tar:
                self.assertIn('out/waits.log', tar.getnames())
                known = json.load(tar.extractfile('out/results.json'))
            self.assertEqual({name: r['result'] for name, r in known.items()}, {'good': 'ok', 'waits': 'out of time'})
            child = pathlib.Path('/proc', (self.work / 'pid').read_text().strip(), 'cmdline')
            self.assertFalse(child.exists() and child.read_text())
            log.unlink()

    def test_time(self):
        status, line, results = self.run_stages(GOOD, '--minutes', '0.1')
        self.assertEqual((status, line, results), (2, 'INCOMPLETE: passed 0 of 1 stages; not done: good', {}))
        stages = '@stage("")\ndef slow(t):\n    t.end = time.monotonic() + 1\n    call(t, ["sleep", "600"], most=300)\n'
        self.assertEqual(self.run_stages(stages)[2], {'slow': 'out of time'})

    def test_out_and_with(self):
        out = self.work / 'elsewhere'
        self.assertEqual(self.run_stages(GOOD, '--out', out)[0], 0)
        self.assertTrue((out / 'results.json').exists() and (out / 'good.log').exists())
        status, line, _ = self.run_stages(GOOD, '--with', out)
        self.assertEqual((status, line.split(': ')[1]), (1, f'{out} is not what --pack made'))
        archive = self.work / 'pack.tar.gz'
        archive.write_bytes(gzip.compress(os.urandom(100_000))[:50_000])
        status, line, _ = self.run_stages(GOOD, '--with', archive)
        self.assertEqual((status, line.split(': ')[1]), (1, f'{archive} is not what --pack made, or is cut short'))

    def test_newest_cudnn(self):
        sys.path.insert(0, str(SCRIPT.parent))
        import common
        for minor in (9, 14):
            header = self.work / str(minor) / 'cudnn_version.h'
            header.parent.mkdir()
            header.write_text(f'#define CUDNN_MAJOR 9\n#define CUDNN_MINOR {minor}\n#define CUDNN_PATCHLEVEL 2\n'
                              '#define CUDNN_MAX_SM_MINOR_NUMBER 1\n')
        found = [(self.work / '14', 'newer'), (self.work / '9', 'older'), (None, None)]
        self.assertEqual(common.newest(found), found[0])
        self.assertEqual(common.cudnn_version(self.work / '9'), [9, 9, 2])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
