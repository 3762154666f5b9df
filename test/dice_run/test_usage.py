"""What needs no other host: command lines, packages, this machine as a host."""
import hashlib
import json
import os
import pwd
import shlex
import shutil
import socket
import subprocess
import unittest

from cases import Case, DICE_RUN, FOLDER, HOSTS, NAMES, ONE, tearDownModule  # noqa: F401


class Here(Case):
    def test_this_machine_needs_no_ssh(self):
        top, to = FOLDER / 'here-packages', FOLDER / 'to'
        shutil.copytree(ONE / 'a', top / socket.gethostname())
        package = top / socket.gethostname() / 'numbers'
        manifest = json.loads((package / 'manifest.json').read_text())
        (package / 'app').write_text('-np 1 ./numbers\n')
        (package / 'hosts').write_text(f'{socket.gethostname()} slots=1\n')
        manifest['host'] = socket.gethostname()
        for file in manifest['files']:
            file['bytes'] = (package / file['file']).stat().st_size
            file['sha256'] = hashlib.sha256((package / file['file']).read_bytes()).hexdigest()
        (package / 'manifest.json').write_text(json.dumps(manifest))

        def run(*words):
            done = subprocess.run([DICE_RUN, '-p', top, '--to', to, '--ssh', 'false', *words], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout)
            return done.stdout
        self.assertIn('9 of 9 files copied', run('deploy'))
        (package / 'numbers').write_bytes((package / 'numbers').read_bytes() + b'\n')
        manifest['files'] = [f for f in manifest['files'] if f['file'] != 'numbers']
        manifest['files'].append({'file': 'numbers', 'bytes': (package / 'numbers').stat().st_size,
                                  'sha256': hashlib.sha256((package / 'numbers').read_bytes()).hexdigest()})
        (package / 'manifest.json').write_text(json.dumps(manifest))
        self.assertIn('2 of 9 files copied', run('deploy'))
        self.assertIn('ended already, without an error', run('start', '--', '--quick'))
        self.assertEqual(os.readlink(next(to.rglob('stat[e]'))).split()[1], '1')  # the first job
        self.assertIn('has ended at', run('status'))
        self.assertIn('does not run', run('stop'))


class Usage(Case):
    def test_commands(self):
        empty = 'the text is empty, as of a variable that is not set'
        for words, message in [
                (('deplyo',), 'there is no command "deplyo"; see dice-run --help'), (('--jsn',), 'there is no option "--jsn"; see dice-run --help'),
                ((), 'name a command: init, check, deploy, '), (('status', '--jsn'), 'there is no option "--jsn"; see dice-run status --help'),
                (('init', '--jsn'), 'there is no option "--jsn"; see dice-run init --help'), (('deploy', 'a'), '"a" is one word too many; see dice-run deploy'),
                (('start', '--random', '1', '--foreground', '--frames', '5'), 'options of the program go after --: dice-run start -- --random 1 --frames 5\n'),
                (('--to', '/a', 'status', '--to', '/b'), '--to is given twice; '), (('status', '--to'), '--to needs a value: FOLDER; '),
                (('start', '--restart', 'many'), "'many' is not a whole number from 0 to 1000000; "), (('start', '--restart', '-1', '--', '--random', '1'), "--restart: '-1' is not a whole number"),
                (('start', '--restart=x', '--'), "--restart: 'x' is not a whole number"), (('start', '--restart', '--', '--random', '1'), '--restart needs a value: N; '),
                (('logs', '-n', '-1'), "'-1' is not a whole number"),
                (('bench', '--frames', '1e3'), "'1e3' is not a whole number from 1 to"), (('check', 'b1,b2'), 'write hosts as separate words: dice-run check b1 b2'),
                (('check', '--hosts', 'a,,b'), '--hosts: "a,,b" has an empty name'), (('check', '--hosts', 'a,'), '--hosts: "a," has an empty name'),
                (('deploy', '--forget', ','), '--forget: "," has an empty name'),
                (('check', '--cluster=', 'a'), '--cluster: ' + empty),
                *((words, f'{words[-2]}: {empty}') for words in (
                    ('status', '--to', ''), ('check', '--hosts', ''), ('deploy', '--forget', ''), ('status', '--ssh', ''), ('start', '--from', ''))),
                (('status', '-p', ''), '--packages: ' + empty), (('measure', '-o', ''), '--output: ' + empty), (('bench', '-o', ''), '--output: ' + empty)]:
            done = subprocess.run([DICE_RUN, *words], stderr=subprocess.PIPE, text=True, cwd=FOLDER)
            self.assertIn('dice-run: error: ', done.stderr)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.returncode, 2)
        helps = [subprocess.run([DICE_RUN, *words, '--help'], stdout=subprocess.PIPE, text=True).stdout for words in
                 [(), *((c,) for c in 'init check deploy rollback start stop status logs bench measure install-service uninstall-service'.split())]]
        self.assertEqual([(text.count('\nExit codes: 0 done; '), text.split('\n')[-2][:9], '1000000' in text) for text in helps], [(1, 'Exit code', False)] * len(helps))
        with self.assertRaises(AssertionError):
            self.dice_run('--help', code=1)
        self.assertIn(" '' --x= ", self.dice_run('--dry-run', 'start', '--', '', '--x=') + ' ')  # those of the program may be empty

    def test_folders(self):
        for to in (f'{HOSTS.site}//', f'/.{HOSTS.site}/.', str(HOSTS.site).replace('/', '//')):
            done = subprocess.run([DICE_RUN, '-p', ONE, '--to', to, '--ssh', shlex.quote(str(HOSTS.ssh)), 'status', '--json'], stdout=subprocess.PIPE)
            self.assertEqual(json.loads(done.stdout)['folder'], str(HOSTS.site))

    def test_packages(self):
        for words, message in [((), 'no packages in . or ./build'), (('-p', 'nothing'), 'there is no folder "nothing"'),
                               (('-p', FOLDER), 'no packages in'), (('-p', ONE, '--ssh', "ssh '"), 'opening quote')]:
            done = subprocess.run([DICE_RUN, *words, 'status'], cwd=FOLDER, stderr=subprocess.PIPE, text=True)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.returncode, 2)
        done = subprocess.run([DICE_RUN, 'status', '--dry-run'], cwd=ONE.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ('other', 'a', 'zoo', 'b2', 'm', '.kept'):
            (ONE.parent / f'{name}-packages').mkdir()
        done = subprocess.run([DICE_RUN, 'status'], cwd=ONE.parent, stderr=subprocess.PIPE, text=True)
        self.assertIn('several deployments: a-packages, b2-packages, m-packages, numbers-packages, other-packages, zoo-packages', done.stderr)
        for name, content, code, message in [('app', '', 1, 'is empty'), ('manifest.json', '', 1, 'is empty'), ('app', '-np 1 ./numbers\n', 1, 'have 2 ranks, but the file app'),
                                             ('manifest.json', None, 1, 'is not a name')]:
            top = HOSTS.packages('damaged')
            for host in NAMES:
                file = top / host / 'numbers' / name
                file.write_text(file.read_text().replace('"numbers"', r'"n\u001b[31m"') if content is None else content)
            self.assertIn(message, self.dice_run('status', code=code, packages=top))
        for name in '../app', r'app\r':
            manifest = HOSTS.packages('wrong') / 'b/numbers/manifest.json'
            manifest.write_text(manifest.read_text().replace('"app"', f'"{name}"'))
            self.assertIn('is not a file of a package', self.dice_run('status', code=1, packages=manifest.parents[2]))
        manifest = HOSTS.packages('cut') / 'b/numbers/manifest.json'
        manifest.write_text(manifest.read_text().replace('"sha256": "', '"sha256": "0', 1))
        self.assertIn('"#\\t1" is not a file of a package', self.dice_run('status', code=1, packages=manifest.parents[2]))
        top = HOSTS.packages('moved')
        (top / 'b').rename(top / 'c')
        self.assertIn('c/numbers" is the package of the host "b" of the deployment "numbers"', self.dice_run('status', code=1, packages=top))
        top = HOSTS.packages('mixed')
        manifest = top / 'b/other/manifest.json'  # of two deployments
        (top / 'b/numbers').rename(manifest.parent)
        manifest.write_text(manifest.read_text().replace('"numbers"', '"other"', 1))
        self.assertRegex(self.dice_run('status', code=1, packages=top), 'is the package of the host "[ab]" of the deployment "(numbers|other)"')
        manifest = HOSTS.packages('twice') / 'b/numbers/manifest.json'
        manifest.write_text(manifest.read_text().replace('"ranks": [1]', '"ranks": [0]'))
        self.assertRegex(self.dice_run('status', code=1, packages=manifest.parents[2]), 'two packages in ".*" have rank 0')
        manifest = HOSTS.packages('wrong') / 'b/numbers/manifest.json'
        shutil.rmtree(manifest.parents[1])
        self.assertRegex(self.dice_run('status', code=1, packages=manifest.parents[2]), 'no .*numbers-packages/HOST/numbers/manifest.json has rank 1; ')
        for old, new, message in [
                ('"ranks"', '"rank"', "has no 'ranks'"), ('"bytes": 7', '"bytes": -5', "is damaged: 'bytes' is -5, and not a number of bytes"),
                ('"bytes": 7', '"bytes": "7"', """is damaged: 'bytes' is "7", and not"""), ('"ranks": [1]', '"ranks": [-1]', 'is damaged: -1 is not a rank'),
                ('"file": "hosts"', '"file": "app"', 'lists "app" twice'), ('"file": "hosts"', '"file": "manifest.json"', 'lists "manifest.json" itself'),
                ('"files": [', '"files": [3, ', "has no 'file'"), ('"board"', '\n\n "board":', 'is damaged: line 3, column 10: this is not JSON'),
                ('"files": [', '"files": 3, "x": [', "is damaged: 'files' is 3, and not a list")]:
            manifest = HOSTS.packages('wrong') / 'b/numbers/manifest.json'
            text = manifest.read_text()
            self.assertIn(old, text)
            manifest.write_text(text.replace(old, new, 1))
            said = self.dice_run('status', code=1, packages=manifest.parents[2])
            self.assertIn(f'numbers/manifest.json" {message}', said)
            self.assertTrue(said.endswith('; build the packages again\n'), said)
            self.assertNotIn('json.exception', said)
        for damaged, message in ((text[:50], 'line 1, column 51: it ends too early'), ('x', 'line 1, column 1: this is not JSON')):
            manifest.write_text(damaged)
            self.assertIn('is damaged: ' + message, self.dice_run('status', code=1, packages=manifest.parents[2]))
        self.assertIn(f'in {HOSTS.site};', self.dice_run('status', packages=HOSTS.packages('above').parent))
        (HOSTS.packages('more') / 'b/numbers/notes.txt').write_text('of mine')
        self.assertRegex(self.dice_run('deploy', '--dry-run', packages=HOSTS.folder / 'more'), r'warning: .*b/numbers/notes\.txt" is not copied, because manifest.json')

    def test_folder_of_the_deployment(self):
        done = subprocess.run([DICE_RUN, '-p', ONE, '--dry-run', 'status'], capture_output=True, text=True)
        self.assertIn(f'dice_run /var/tmp/dice-{pwd.getpwuid(os.getuid()).pw_name} numbers ', done.stderr)
        for ssh, shown in (('', '+ ssh -o '), ('my "own ssh"', "+ my 'own ssh' -o ")):
            done = subprocess.run([DICE_RUN, '-p', ONE, '--dry-run', 'status'], capture_output=True, text=True, env={**os.environ, 'DICE_RUN_SSH': ssh})
            self.assertTrue(done.stderr.startswith(shown), done.stderr)
        self.assertRegex(subprocess.run([DICE_RUN, '--version'], capture_output=True, text=True).stdout, r'^dice-run \d+\.\d+\.\d+\n$')
        top = HOSTS.packages('placed')
        for host in NAMES:
            (top / host / 'numbers/app').write_text('-np 1 -wdir /opt/my site/numbers ./numbers\n' * 2)
        done = subprocess.run([DICE_RUN, '-p', top, '--ssh', shlex.quote(str(HOSTS.ssh)), 'status', '--json'], capture_output=True, text=True)
        self.assertEqual(json.loads(done.stdout)['folder'], '/opt/my site', done.stderr)
        done = subprocess.run([DICE_RUN, '-p', top, '--ssh', shlex.quote(str(HOSTS.ssh)), '--to', '/opt/my site//', 'status'], capture_output=True, text=True)
        self.assertIn('numbers in /opt/my site; ', done.stdout, done.stderr)
        self.assertIn('was built for the folder "/opt/my site"', self.dice_run('status', code=2, packages=top))
        subprocess.run([DICE_RUN, '-p', top, '--ssh', shlex.quote(str(HOSTS.ssh)), 'check', '--no-links', '--json', FOLDER / 'found.json'], capture_output=True)
        found = json.loads((FOLDER / 'found.json').read_text())
        self.assertEqual((found['folder'], [host['host'] for host in found['hosts']]), ('/opt/my site', NAMES))


if __name__ == '__main__':
    unittest.main()
