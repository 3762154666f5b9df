"""Hosts that a deployment no longer has."""
import json
import re
import unittest

from cases import Case, HOSTS, NAMES, ONE, tearDownModule  # noqa: F401


class Leaving(Case):
    @classmethod
    def setUpClass(cls):
        cls.only_a = HOSTS.packages('only_a', b'for one host', names=['a'])
        cls.more = HOSTS.packages('more', b'for one host, changed', names=['a'])

    def setUp(self):
        for name in NAMES:
            HOSTS.on(name, f'rm -rf "{HOSTS.site}"/* "{HOSTS.site}"/.dice-run')
        self.dice_run('deploy')

    def tearDown(self):
        super().tearDown()
        self.dice_run('stop')

    def versions_of(self, packages):
        return {host['host']: (host['current'], host['previous']) for host in json.loads(self.dice_run('status', '--json', packages=packages))['hosts']}

    def test_a_job_of_a_host_that_has_left(self):
        self.dice_run('start', '--from', 'b')
        [(first, _)] = set(self.versions())
        said = self.dice_run('deploy', packages=self.only_a)
        self.assertIn('a job is running, with the version that it was started with; to run the new version: dice-run stop, then dice-run start\n', said)
        self.assertIn(f'dice-run: note: b has no ranks any more; it keeps {first} for rollback\n', said)
        self.assertNotIn('a has no ranks', said)
        self.assertNotIn('no ranks any more', self.dice_run('deploy', packages=self.only_a))
        said = self.dice_run('status', packages=self.only_a)
        self.assertRegex(said, rf'(?m)^b +- +{first} +left +1 ')
        self.assertIn('started on b; runs since', said)
        self.assertIn('runs already, started on b', self.dice_run('start', code=1, packages=self.only_a))
        self.assertIn('and on b a process of numbers runs; dice-run stop ends it', self.dice_run('deploy', '--forget', 'b', code=1, packages=self.only_a))
        self.assertIn('frames arrive', self.dice_run('logs', packages=self.only_a))
        self.assertIn('is stopped; no process of it is left', self.dice_run('stop', packages=self.only_a))
        self.assertEqual(HOSTS.on('b', f'cat "{HOSTS.site}/.dice-run/numbers/job/log" | tail -n 1').split()[-4:-2], ['stopped', 'after'])
        self.assertEqual(json.loads(self.dice_run('status', '--json', packages=self.only_a))['job']['phase'], 'stopped')

    def test_rollback_brings_it_back(self):
        [(first, _)] = set(self.versions())
        self.dice_run('deploy', packages=self.only_a)
        second = self.versions_of(self.only_a)['a'][0]
        self.assertEqual(self.versions_of(self.only_a), {'a': (second, first), 'b': ('', first)})
        self.assertIn('is now on b, a, and', self.dice_run('rollback', packages=self.only_a))
        self.assertEqual(self.versions_of(ONE), {'a': (first, second), 'b': (first, '')})
        self.assertIn(f'the hosts have version {first}, for b, a; the packages here are {second}', said := self.dice_run('start', packages=self.only_a))
        self.assertIn('runs on 2 hosts, started on a', said)
        self.dice_run('stop', packages=self.only_a)
        only_b = HOSTS.packages('only_b', b'x', names=['b'])  # rank 0 was on a
        self.assertIn('started on a', self.dice_run('start', packages=only_b))
        self.dice_run('stop', packages=only_b)
        for words in ('start', '--foreground', '--', '--quick'), ('logs',):
            self.assertIn('a #0     | frames arrive', self.dice_run(*words, packages=only_b))
        (HOSTS.folder / 'ssh.log').unlink()
        self.dice_run('measure', '-o', str(HOSTS.folder / 'profile.json'), packages=only_b)
        self.assertRegex((HOSTS.folder / 'ssh.log').read_text(), r'(?m)^a rsync --server --sender')
        for another in only_b, HOSTS.packages('exchanged', b'x', names=['b', 'a']):  # built, but not deployed
            (HOSTS.folder / 'ssh.log').unlink()
            self.dice_run('bench', '--frames', '7', '-o', str(HOSTS.folder / 'bench'), packages=another)
            self.assertEqual(re.findall('(?m)^(.*) rsync --server --sender', (HOSTS.folder / 'ssh.log').read_text()), ['a', 'a'])
        self.assertIn('"c" is not a host of numbers; its hosts are b, a', self.dice_run('start', '--from', 'c', code=2, packages=only_b))
        for name in NAMES:
            HOSTS.on(name, f'cd "{HOSTS.site}/numbers" && printf "rank 0\\nrank 1=b\\n" >ranks')
        self.assertIn(f'b: the files of version {first} do not say where its ranks are; deploy again', self.dice_run('start', code=1, packages=only_b))
        for name in NAMES:
            HOSTS.on(name, f'cd "{HOSTS.site}/numbers" && echo rank 0=z >ranks && echo z >hosts')
        self.assertIn('z: the deployed version needs this host, and no host remembers it; deploy again', self.dice_run('start', code=1, packages=only_b))
        self.dice_run('rollback', packages=self.only_a)
        self.assertEqual(self.versions_of(self.only_a), {'a': (second, first), 'b': ('', first)})

    def test_it_is_cleaned_and_forgotten(self):
        for name in NAMES:
            HOSTS.on(name, f'rm "{HOSTS.site}/.dice-run/numbers/members"')  # as before they were kept: the version's hosts are known
        self.dice_run('deploy', packages=self.only_a)
        self.dice_run('deploy', packages=self.more)
        self.assertEqual(list(self.versions_of(self.more)), ['a'])
        self.assertEqual(HOSTS.on('b', f'cd "{HOSTS.site}" && ls -d numbers .dice-run/numbers/*[0-9a-f]*[0-9]* 2>/dev/null'), '')

    def test_a_host_that_is_gone(self):
        HOSTS.behave('b', 'unknown')
        self.assertIn('b: this name is unknown; add it to ~/.ssh/config or /etc/hosts, or check the plan\'s cluster; an earlier version ran there; later commands ask it again. If it is gone for good: dice-run deploy --forget b\n',
                      self.dice_run('deploy', packages=self.only_a))
        self.dice_run('deploy', packages=self.more)  # it still has what it had
        self.assertIn('(an earlier version ran there)', self.dice_run('status', code=1, packages=self.more))
        self.assertIn('if a job of an earlier deployment runs there', self.dice_run('start', packages=self.more))
        self.assertIn('dice-run: warning: b: this name is unknown', self.dice_run('logs', packages=self.more))
        self.assertRegex(self.dice_run('stop', code=1, packages=self.more), r'b: .*; an earlier version ran there\. If it is gone for good: dice-run deploy '
                         r'--forget b\n.*: what still runs there is not known; run dice-run stop again when it answers\n$')
        HOSTS.behave('b')
        self.assertIn('does not run', self.dice_run('stop', packages=self.more))
        self.dice_run('deploy', packages=self.more)  # sees it again
        self.assertEqual({name: current for name, (current, _) in self.versions_of(self.more).items() if name == 'b'}.get('b', ''), '')
        said = self.dice_run('deploy', '--forget', 'b,b9', code=1, packages=self.more)
        self.assertIn('--forget: none of the hosts that answer remembers "b9"; they remember a, b\n', said)
        self.assertNotIn('"b"', said)
        self.assertIn('\nb is forgotten\n', self.dice_run('deploy', '--forget', 'b', packages=self.more))
        self.assertIn('remembers "b"; they remember a\n', self.dice_run('deploy', '--forget', 'b', code=1, packages=self.more))
        self.assertEqual(list(self.versions_of(self.more)), ['a'])
        self.assertIn('is a host of these packages', self.dice_run('deploy', '--forget', 'a', code=2, packages=self.more))

    def test_it_is_gone_for_good(self):
        HOSTS.behave('b', 'unknown')
        self.dice_run('deploy', '--forget', 'b', packages=self.only_a)
        self.assertEqual(list(self.versions_of(self.only_a)), ['a'])
        self.assertIn('does not run', self.dice_run('stop', packages=self.only_a))
        self.assertIn('b: the previous version needs this host, which was forgotten', self.dice_run('rollback', code=1, packages=self.only_a))
        self.assertNotIn('b', HOSTS.on('a', f'cat "{HOSTS.site}/.dice-run/numbers/members"'))
        self.assertIn('remembers "b"; they remember a\n', self.dice_run('deploy', '--forget', 'b', code=1, packages=self.only_a))


if __name__ == '__main__':
    unittest.main()
