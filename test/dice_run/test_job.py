"""start, stop, status, logs, bench and measure."""
import json
import os
import pathlib
import shlex
import shutil
import signal
import stat
import subprocess
import time
import unittest

from cases import DICE_RUN, FOLDER, HOSTS, JOB, JobCase, ONE, TWO, tearDownModule  # noqa: F401
from hosts import until


class Job(JobCase):
    def test_start_and_stop(self):
        both = [self.begin('start', '--', '--late', "it's; $HOME") for _ in range(2)]
        said = ''.join(run.communicate()[0] for run in both)
        self.assertEqual(sorted(run.returncode for run in both), [0, 1], said)
        self.assertIn('numbers runs on 2 hosts, started on a', said)
        self.assertEqual(self.ranks(), [1, 1])
        HOSTS.on('b', f'cd "{HOSTS.site}/numbers/" && cp numbers x && mv x numbers')  # a deploy mends a file while it runs
        self.assertEqual(self.ranks(), [1, 1])
        job = f'"{HOSTS.site}/.dice-run/numbers/job"'
        for seconds, text in ((90, r'(9\d|1[01]\d) s'), (330, '5 min'), (6630, '110 min'), (7530, '2 h 5 min')):
            HOSTS.on('a', f'cd {job} && set -- $(readlink state) && ln -sfn "$1 $2 $(($(date +%s) - {seconds})) $4 $5 $6" state')
            self.assertRegex(self.dice_run('status'), rf'runs since \S+ \S+ \({text}\)\n')
        HOSTS.on('a', f'cd {job} && read -r up rest </proc/uptime && set -- $(readlink state) && ln -sfn "$1 $2 1 $4 $5 $6 $((${{up%.*}} - 90))" state')
        self.assertRegex(self.dice_run('status'), r'runs since \S+ \S+ \((9\d|1[01]\d) s\)\n')  # whatever the clock says
        HOSTS.on('b', f'mkdir {job} && cd {job} && ln -s "ended 99 1 0 0 2" state && printf "%s\\n" "number 99" "version x" >about')
        self.assertIn('started on a; runs since', self.dice_run('status'))  # a job that runs counts before others
        HOSTS.on('b', f'rm -r {job}')
        HOSTS.on('a', f'rm {job}/state')
        self.assertIn('runs, but cannot save its state: is the disk of a full?', self.dice_run('status'))
        HOSTS.on('a', f'printf "ends here" >>"{HOSTS.site}/.dice-run/numbers/job/log"')
        said = self.dice_run('logs')
        self.assertIn("a #0     | frames arrive: --late it's; $HOME --tag-output -x DICE_TIMESTAMP_OUTPUT=1 -x DICE_STATUS\n", said)
        self.assertIn('ends here\n', said)
        HOSTS.on('a', f'head -c 40000000 /dev/zero | tr "\\0" x >>"{HOSTS.site}/.dice-run/numbers/job/log"')  # is shown in pieces
        pieces = [len(line) for line in self.dice_run('logs', '-n', '1').splitlines()]
        self.assertGreater(len(pieces), 2)
        self.assertLess(max(pieces), 20_000_000)
        self.assertGreater(sum(pieces), 40_000_000)
        self.assertIn('runs already, started on a', self.dice_run('start', code=1))
        self.assertIn('a job is running', self.dice_run('deploy', packages=TWO))
        three = HOSTS.packages('three', b'x', names=['b', 'a'])
        self.dice_run('deploy', packages=three)
        self.assertIn('a #0     | frames arrive', self.dice_run('logs', packages=three))
        self.assertEqual(self.ranks(), [1, 1])  # of a version that is neither current nor previous now
        self.assertEqual(self.dice_run('stop'), 'numbers is stopped; no process of it is left on any host\n')  # all ended in order
        self.assertEqual((self.ranks(), self.phase()), ([0, 0], 'stopped'))
        self.assertIn('does not run', self.dice_run('stop'))
        self.dice_run('deploy')
        self.assertEqual(self.phase(), 'stopped')

    def test_what_status_says(self):
        self.dice_run('start', '--from', 'b', '--restart', '3')
        said = json.loads(self.dice_run('status', '--json'))
        base, version = f'{HOSTS.site}/.dice-run/numbers', said['packages']
        number = int(HOSTS.on('b', f'readlink "{base}/last_job"').split()[0])
        before = [os.path.basename(HOSTS.on(name, f'readlink "{base}/previous"').strip()) for name in 'ab']
        processes, since = [host.pop('processes') for host in said['hosts']], said['job'].pop('since')
        self.assertTrue(time.time() - 60 < since <= time.time())
        job = {'number': number, 'host': 'b', 'phase': 'running', 'version': version, 'ended': 0, 'restarts': 0, 'allowed': 3, 'exit': -1, 'last_failure': ''}
        self.assertEqual(said, {'deployment': 'numbers', 'packages': version, 'folder': str(HOSTS.site), 'hosts': [
            {'host': name, 'planned': True, 'reachable': True, 'ranks': [i], 'current': version, 'previous': before[i]} for i, name in enumerate('ab')], 'job': job})
        self.assertEqual([sorted({(p['program'], p['rank']) for p in one if p['program'] in ('numbers', 'dash')}) for one in processes],
                         [[('numbers', True)], [('dash', False), ('numbers', True)]])
        ranks = [next(p for p in one if p['rank']) for one in processes]
        lines = self.dice_run('status').splitlines()
        self.assertEqual(lines[0], f'numbers in {HOSTS.site}; the packages here: {version}')
        self.assertEqual(lines[1].split(), ['host', 'version', 'previous', 'ranks', 'running', 'CPU', 'memory', 'pids'])
        for i, rank in enumerate(ranks):
            self.assertRegex(lines[2 + i], rf'^{"ab"[i]} +{version} +{before[i] or "-"} +{i} +1 of 1 +0\.0 s +{rank["memory_bytes"] / 1024:.1f} KiB +{rank["pid"]}$')
        left = HOSTS.on('a', f'"{base}/{version}/numbers" 100 >/dev/null 2>&1 & echo $!').strip()
        self.assertTrue(until(lambda: self.ranks() == [2, 1]))
        said = self.dice_run('status')
        self.assertRegex(said, rf'\na +{version} .* 0 +1 of 1 ')
        self.assertIn('\na: 2 processes of numbers run, but only 1 should; the others are left from another run, or were started by hand: dice-run stop ends all\n', said)
        HOSTS.on('a', f'kill {left}')
        packages = HOSTS.packages('of two ranks')
        for name, old, new in (('b', '"ranks": [1]', '"ranks": [1, 2]'), ('b', '', ''), ('a', '', '')):
            manifest = packages / name / 'numbers/manifest.json'
            (manifest.parent / 'app').write_text('-np 1 ./numbers\n' * 3)
            manifest.write_text(manifest.read_text().replace(old, new))
        self.assertRegex(self.dice_run('status', packages=packages), rf'\nb +{version} .* 1,2 +1 of 1 ')  # of the ranks of the job's version
        shell = f'cd "{base}/job"'
        for state, text in (('starting', 'is being started'), ('waiting', 'waits before it starts again')):
            HOSTS.on('b', f'{shell} && set -- $(readlink state) && shift && ln -sfn "{state} $*" state')
            self.assertIn(f'\njob: version {version}, started on b; {text}; restarts: 0 of 3\n', self.dice_run('status'))
        HOSTS.on('b', f'{shell} && mv about kept && set -- $(readlink state) && shift && ln -sfn "starting $*" state')
        self.assertIn('\njob: is being started on b\n', self.dice_run('status'))
        HOSTS.on('b', f'{shell} && mv kept about')
        self.dice_run('stop')
        at = time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(2000000))
        for phase, text in (('ended', f'has ended at {at} without an error'), ('failed', f'has failed at {at}'), ('stopped', f'was stopped at {at}')):
            HOSTS.on('b', f'ln -sfn "{phase} {number} 1000000 2 7 2000000 3" "{base}/job/state"')
            self.assertTrue((said := self.dice_run('status')).endswith(f'\njob: version {version}, started on b; {text}; restarts: 2 of 3\n'), said)
        self.assertEqual(json.loads(self.dice_run('status', '--json'))['job'], {**job, 'phase': phase, 'since': 1000000, 'ended': 2000000, 'restarts': 2, 'exit': 7})
        HOSTS.on('b', f'rm -r "{base}/job"')
        HOSTS.behave('b', 'refuses')
        b = json.loads(self.dice_run('status', '--json', code=1))['hosts'][1]
        self.assertEqual(b, {'host': 'b', 'planned': True, 'reachable': False, 'ranks': [1], 'failure': "b: it refuses this user's key; let it in: ssh-copy-id b"})

    def test_failures_have_reasons(self):
        self.assertIn('the job has failed: rank 1 (host b): there are no weights', self.dice_run('start', '--', '--fail', code=1))
        self.assertIn('last failure: rank 1 (host b)', self.dice_run('status'))
        self.assertIn('there are no weights', json.loads(self.dice_run('status', '--json'))['job']['last_failure'])
        HOSTS.on('a', f'cd "{HOSTS.site}/.dice-run/numbers/job" && head -n -1 log >log.1 && tail -n 1 log >x && mv x log')  # the log was full
        self.assertIn('last failure: rank 1 (host b)', self.dice_run('status'))
        HOSTS.on('a', f'echo junk >"{HOSTS.site}/.dice-run/numbers/job/about"')
        self.assertIn('job/about is damaged', self.dice_run('status'))
        HOSTS.on('a', f'rm "{HOSTS.site}/.dice-run/numbers/job/state"')
        self.assertIn('job: started on a, where its file job/about is damaged', self.dice_run('status'))
        HOSTS.on('a', f'cd "{HOSTS.site}/.dice-run/numbers/job" && rm output && mkdir -p output/x')
        self.assertEqual(self.dice_run('start', code=1), f'dice-run: error: the job has failed: {HOSTS.site}/.dice-run/numbers/job cannot be written\n')
        HOSTS.on('a', f'rm -r "{HOSTS.site}/.dice-run/numbers/job/output"')
        self.assertIn('ended already, without an error', self.dice_run('start', '--from', 'b', '--', '--quick'))
        self.assertIn('started on b; has ended at', self.dice_run('status'))
        HOSTS.on('b', f'cd "{HOSTS.site}/.dice-run/numbers/job" && mv log before.log')  # a start that was interrupted
        self.assertRegex(self.dice_run('logs'), r'^dice-run +\| \S+ \S+ the last job has no log; this is the log of the job before\n(.*\n)*.*frames arrive: --quick')
        HOSTS.on('b', f'rm "{HOSTS.site}/.dice-run/numbers/job/before.log"')
        self.assertIn('b: there is no log', self.dice_run('logs', code=1))
        self.assertIn('the connection to b was lost', self.dice_run('start', '--', '--die5', code=1))
        HOSTS.behave('b', 'refuses')
        self.assertIn('b: it refuses', self.dice_run('start', code=1))
        self.assertIn('not reached: b: it refuses', self.dice_run('status', code=1))
        self.assertRegex(self.dice_run('logs'), r'^dice-run: warning: b: it refuses .*\n(.*\n)*.*frames arrive: --die5')
        HOSTS.behave('b')
        HOSTS.behave('a', 'refuses')
        self.assertIn('the last one was started on a, which is not reached', self.dice_run('status', code=1))
        self.assertIn('error: a, which has started the last job, is not reached\n', self.dice_run('logs', code=1))

    def test_a_host_is_lost_when_it_has_started(self):
        with self.begin('start') as run:
            self.assertTrue(until((HOSTS.folder / 'wanted').exists))
            HOSTS.behave('a', 'refuses')
            said = run.communicate(timeout=40)[0]
        HOSTS.behave('a')
        self.assertEqual(run.returncode, 1, said)
        self.assertRegex(said, 'a: it refuses .*\n.*the job was started, and then this host was lost; dice-run status')
        self.assertEqual(self.phase(), 'running')

    def test_numbers_that_are_none(self):
        self.dice_run('start', '--', '--quick')
        base = f'"{HOSTS.site}/.dice-run/numbers/'
        for number in (1 << 63) - 1, 1 << 64, -1:
            HOSTS.on('b', f'ln -sfn "{number} b" {base}last_job"; mkdir -p {base}job"; ln -sfn "running {number} 1 0 - -" {base}job/state"; echo number {number} >{base}job/about"')
            self.dice_run('start', '--', '--quick')
            self.assertIn('started on a; has ended', self.dice_run('status'))
        HOSTS.on('b', f'rm -r {base}job"')

    def test_what_mpirun_refuses(self):
        said = self.dice_run('start', code=1, MPIRUN_OPTIONS='--foo "\\c"\n-x A')
        self.assertEqual(said, 'dice-run: error: the job has failed: mpirun: unknown option "--foo"; MPIRUN_OPTIONS is --foo "\\c" -x A (exit status 1)\n')
        self.assertIn('last failure: mpirun: unknown option "--foo"; MPIRUN_OPTIONS is --foo', self.dice_run('status'))
        said = self.dice_run('bench', code=1, MPIRUN_OPTIONS='--foo')
        self.assertIn('the job has failed: mpirun: unknown option "--foo"; MPIRUN_OPTIONS is --foo\n', said)

    def test_only_its_own_processes_are_ended(self):
        self.dice_run('start')
        base = f'{HOSTS.site}/.dice-run/numbers'
        supervisor, began, boot = HOSTS.on('a', f'readlink "{base}/owner"').split()
        environment = HOSTS.on('a', f'tr "\\0" "\\n" </proc/{supervisor}/environ').splitlines()
        self.assertLess({f'OMPI_MCA_dice_run_job={JOB}', f'PRTE_MCA_dice_run_job={JOB}'}, set(environment))
        stat = HOSTS.on('a', f'cat /proc/{supervisor}/stat').rpartition(') ')[2].split()
        self.assertEqual((stat[22 - 3], stat[6 - 3]), (began, supervisor))  # when it began; its session is its own, proc(5)
        self.assertTheSupervisorAloneKeepsTheLock()
        HOSTS.on('a', f'kill -HUP {supervisor}')  # does nothing
        daemons = HOSTS.on('b', f'cd "{HOSTS.folder}" && cp "$(command -v tail)" orted; exec 2>/dev/null; '
                           f'for word in {JOB} x{JOB}; do ./orted -f /dev/null --pid=1 $word >/dev/null & echo $!; done').split()
        found = [p['pid'] for p in json.loads(self.dice_run('status', '--json'))['hosts'][1]['processes'] if p['program'] == 'orted']
        self.assertEqual(found, [int(daemons[0])])
        HOSTS.on('b', f'kill {" ".join(daemons)}')
        # One has its mark in its command line, another is what the supervisor was, by its number.
        pids = HOSTS.on('b', f'exec 2>/dev/null; sh -c "sleep 100; : {JOB}" >/dev/null & echo $!; tail -f /dev/null --pid=1 {JOB} >/dev/null & echo $!; sleep 100 >/dev/null & echo $!').split()
        self.assertEqual(len(pids), 3)
        if os.geteuid() == 0:  # another user's
            pids.append(HOSTS.on('b', f'exec 2>/dev/null; OMPI_MCA_dice_run_job={JOB} setpriv --reuid 12345 sleep 100 >/dev/null & echo $!').strip())
        HOSTS.on('b', f'ln -sfn "{pids[2]} 1 $(cat /proc/sys/kernel/random/boot_id)" "{base}/owner"')
        self.assertEqual(self.phase(), 'running')
        HOSTS.on('a', f'mkdir "{base}/job/state.new"')  # no state can be saved
        self.assertIn('no process of it is left', self.dice_run('stop'))
        self.assertEqual(HOSTS.on('a', f'cd "{base}/job" && rm -r state.new && readlink state'), '')  # which is better than that it runs
        self.assertEqual(HOSTS.on('b', f'for p in {" ".join(pids)}; do readlink /proc/$p/exe >/dev/null && echo alive; done').split(), ['alive'] * len(pids))
        HOSTS.on('b', f'kill {" ".join(pids)}; pkill sleep')

    def test_what_processes_have_used(self):
        pid = HOSTS.on('b', f"cp $(command -v sh) '{FOLDER}/s\\th'; OMPI_MCA_dice_run_job={JOB} '{FOLDER}/s\\th' -c 'i=0; while [ $i -lt 30000 ]; do : </dev/null; i=$((i+1)); done; kill -STOP $$' >/dev/null 2>&1 & echo $!").strip()
        state = f'set -- $(cat /proc/{pid}/stat); echo $3 $14'.replace('$14', '${14} ${15}')
        self.assertTrue(until(lambda: HOSTS.on('b', state).startswith('T')))
        user, system = map(int, HOSTS.on('b', state).split()[1:])
        self.assertGreater(user + system, 1)
        memory = int(HOSTS.on('b', f'cat /proc/{pid}/status').partition('VmRSS:')[2].split()[0])
        [found] = json.loads(self.dice_run('status', '--json'))['hosts'][1]['processes']
        self.assertEqual((found['pid'], found['program'], found['cpu_seconds'], found['memory_bytes']), (int(pid), 's\\th', (user + system) / 100, memory * 1024))
        HOSTS.on('b', f'kill -KILL {pid}')

    def test_containers_are_left_alone(self):
        pid = HOSTS.on('b', f"""cd "{FOLDER}" && mkdir root && PATH=$PATH:/usr/sbin && exec unshare --mount sh -c '
            mount -t tmpfs x root && mkdir -p root/usr root/old "root/$0" && mount --rbind /usr root/usr && cp -r "$0/.dice-run" "root/$0" &&
            for l in lib lib64; do [ ! -L "/$l" ] || ln -s "usr/$l" "root/$l"; done && cd root && pivot_root . old &&
            "$0"/.dice-run/numbers/[0-9a-f]*/numbers 1000 >old/dev/null 2>&1 & echo $!' "{HOSTS.site}" """).strip()
        running = f'sleep 0.3; readlink /proc/{pid}/exe'
        self.assertIn('.dice-run/numbers/', HOSTS.on('b', running))
        self.assertIn('does not run', self.dice_run('stop'))
        self.assertIn('.dice-run/numbers/', HOSTS.on('b', f'{running}; kill {pid}'))

    def test_foreground(self):
        with self.begin('start', '--foreground', start_new_session=True) as run:
            self.assertIn('runs on 2 hosts', run.stdout.readline())
            self.assertIn('starts version', run.stdout.readline())
            os.killpg(run.pid, signal.SIGINT)  # as Ctrl-C does
            self.assertRegex(run.communicate(timeout=30)[0],  # the log to its end
                             r'dice-run +\| \S+ \S+ the job is asked to end; mpirun and ranks may call that an abort or a failure\n'
                             r'a mpirun +\| Primary job  terminated normally, .*\ndice-run +\| \S+ \S+ stopped after \d+ s\n'
                             r'numbers is stopped; no process of it is left on any host\n$')
        self.assertEqual((self.ranks(), self.phase()), ([0, 0], 'stopped'))
        with self.begin('start', '--foreground') as run:
            self.assertIn('runs on 2 hosts', run.stdout.readline())
            self.dice_run('stop')  # from elsewhere
            self.assertIn('stopped after', run.communicate(timeout=30)[0])
        self.assertEqual(run.returncode, 1)
        with self.begin('start', '--foreground') as run:
            self.assertIn('runs on 2 hosts', run.stdout.readline())
            self.assertIn('starts version', run.stdout.readline())
            HOSTS.on('a', 'read -r pid name state shell rest </proc/$(pgrep -nx tail)/stat; kill -9 "$shell"')
            self.assertRegex(run.communicate(timeout=30)[0], r'dice-run: error: a: .*\ndice-run: error: the job may still run: dice-run status\n$')
        self.assertEqual((run.returncode, self.phase()), (1, 'running'))
        self.dice_run('stop')
        for command in (('start', '--foreground'), ('bench',)):
            with self.begin(*command) as run:
                self.assertTrue(until((HOSTS.folder / 'wanted').exists))
                run.send_signal(signal.SIGINT)  # before all ranks have run for two seconds
                self.assertIn('no process of it is left', said := run.communicate(timeout=30)[0])
                self.assertNotIn('in order', said)
            self.assertEqual((run.returncode, self.ranks()), (1, [0, 0]), said)

    def test_what_cannot_be_printed(self):
        self.dice_run('start')
        with self.begin('logs', '-f') as run:
            self.assertIn('starts version', run.stdout.readline())
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=30)
        self.assertEqual(run.returncode, 0)
        self.assertTrue(until(lambda: HOSTS.on('a', 'readlink /proc/[0-9]*/exe | grep -E "/(flock|tail)$"') == ''))  # nobody follows any more
        HOSTS.behave('b', 'interrupts 1 HUP')  # under nohup
        (HOSTS.folder / 'ssh.log').unlink()
        with self.begin('deploy', preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as run:
            self.assertIn('on all hosts already', run.communicate(timeout=30)[0])
        HOSTS.behave('b')
        said = self.unprinted('stop')
        self.assertEqual(self.ranks(), [0, 0])
        self.assertIn('dice-run: error: numbers is stopped; no process of it is left on any host, but', said[0])
        self.assertIn('dice-run: error: numbers does not run on any host, but', said[1])
        said = self.unprinted('start', '--foreground', '--', '--quick')
        self.assertIn('dice-run: error: the job has ended already, without an error, but', said[0])

    def test_an_interruption_says_what_may_run(self):
        self.assertEqual(self.interrupted('start', at=('b', 4)), 'dice-run: error: interrupted; nothing was started\n')
        self.assertEqual(self.ranks(), [0, 0])
        self.assertEqual(self.interrupted('start', at=('a', 5)), 'dice-run: error: interrupted; the job may have been started: dice-run status\n')
        self.dice_run('stop')
        self.assertEqual(self.interrupted('start', at=('a', 6), by='HUP'),
                         'dice-run: error: interrupted; the job was started on a; dice-run status shows it, dice-run stop ends it\n')
        self.assertEqual(self.phase(), 'running')
        self.assertEqual(self.interrupted('stop', at=('a', 2), by='TERM'), 'dice-run: error: interrupted; what still runs is not known; run dice-run stop again\n')
        self.assertIn('numbers ', self.dice_run('stop'))
        self.assertEqual(self.ranks(), [0, 0])

    def test_a_lost_job_does_not_run_while_bench_does(self):
        self.dice_run('start', '--', '--quick')
        HOSTS.on('a', f'cd "{HOSTS.site}/.dice-run/numbers/job" && ln -sfn "running $(readlink state | cut -d " " -f 2) 1 0 - -" state')
        self.assertEqual(self.phase(), 'lost')
        with self.begin('bench') as run:
            self.assertTrue(until((HOSTS.folder / 'wanted').exists))
            self.assertEqual(self.phase(), 'lost')
            environment = HOSTS.on('a', f'cd "{HOSTS.site}/.dice-run/numbers" && set -- $(readlink owner) && tr "\\0" "\\n" </proc/$1/environ').splitlines()
            self.assertLess({f'OMPI_MCA_dice_run_job={JOB}', f'PRTE_MCA_dice_run_job={JOB}'}, set(environment))
            self.assertEqual(HOSTS.on('a', f'cd "{HOSTS.site}/.dice-run/numbers" && for f in job.lock mutex; do flock -n $f true && echo $f; done'), 'mutex\n')
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=30)

    def test_measured_cluster(self):
        project = FOLDER / 'project'
        project.mkdir()
        measured = pathlib.Path(__file__).parent / 'measured'
        words = 'measure', '-o', 'project/p.json', '--cluster', 'project/cluster.hpp'
        self.assertEqual(self.dice_run(*words, code=1), 'a table\ndice-run: error: the profile is damaged; measure again\n'
                         'dice-run: error: project/p.json is written, project/cluster.hpp is as it was\n')
        self.assertEqual({f.name: f.read_text() for f in project.iterdir()}, {'p.json': 'figures\n'})
        shutil.copy(measured / 'measured.json', HOSTS.folder / 'profile')
        self.addCleanup((HOSTS.folder / 'profile').unlink)
        shutil.copy(measured / 'before.json', project / 'p.json')
        said = self.dice_run(*words)
        self.assertRegex(said, '^a table\ndice-run: note: nano: .*; the times of the profile before stay\n(dice-run: note: orin: .*\n){2}'
                         'dice-run: note: with project/cluster.hpp, dice_add_network in CMakeLists.txt needs PROFILE project/p.json\n'
                         'project/cluster.hpp: the cluster with what was measured; project/p.json: the profile that it needs\n$')
        self.assertEqual((project / 'cluster.hpp').read_text(), (measured / 'cluster.hpp').read_text())
        self.assertEqual((project / 'p.json').read_text(), (measured / 'digits.profile.json').read_text())
        (project / 'CMakeLists.txt').write_text('dice_add_network(digits ONNX digits.onnx PROFILE p.json)\n')
        self.assertNotIn('needs PROFILE', self.dice_run(*words))
        (HOSTS.folder / 'ssh.log').unlink()
        for wrong, code, text in (('missing/x.hpp', 1, "'missing/x.hpp' cannot be written"), ('/dev/stdout', 2, '--cluster: "/dev/stdout" is not a file')):
            self.assertIn(text, self.dice_run('measure', '--cluster', wrong, code=code))
        self.assertIn('--cluster: "/dev/stdout" is not a file', self.dice_run('measure', '--cluster', 'x.hpp', '-o', '/dev/stdout', code=2))
        self.assertFalse((HOSTS.folder / 'ssh.log').exists(), 'before the run')

    def test_files_are_fetched(self):
        (FOLDER / 'own').mkdir()
        self.assertEqual(self.dice_run('measure', '-o', 'a:b.json', TMPDIR=str(FOLDER / 'own')),
                         'a table\na:b.json: the profile; onnx2hpp MODEL --profile a:b.json makes a header of it\n')
        self.assertEqual(os.listdir(FOLDER / 'own'), [])
        self.assertEqual((FOLDER / 'a:b.json').read_text(), 'figures\n')
        said = self.dice_run('bench', '--frames', '7', '-o', 'bench', MPIRUN_OPTIONS='--of mine')
        self.assertEqual({f.name: f.read_text() for f in (FOLDER / 'bench').iterdir() if f.name != 'explanation.txt'},
                         {'figures.json': 'for --json\n', 'trace.json': 'for --trace\n'})
        at = f'{HOSTS.site}/.dice-run/numbers/bench'
        page = f'[1,0]<stdout>:frames arrive: --random 1 --frames 7 --warmup 5 --explain --json {at}/figures.json --trace {at}/trace.json --of mine\n'
        self.assertEqual((FOLDER / 'bench/explanation.txt').read_text(), page)
        self.assertEqual(said, page + 'bench: figures.json, explanation.txt, trace.json (for chrome://tracing or ui.perfetto.dev)\n')
        said = self.dice_run('--dry-run', 'bench') + self.dice_run('--dry-run', 'measure')
        self.assertTrue(" --random 1 --frames 200 --warmup 5 " in said and f"'{at}/profile.json' numbers.profile.json" not in said, said)
        self.assertFalse((FOLDER / 'numbers-bench').exists())
        self.dice_run('measure')
        self.assertEqual((FOLDER / 'numbers.profile.json').read_text(), 'figures\n')
        said = self.dice_run('bench', '--frames', '9', code=1)
        self.assertRegex(said, r'^\[1,0\]<stdout>:frames arrive: (.*)\ndice-run: error: the job has failed: exit status 7\n$')
        self.assertEqual(os.listdir(FOLDER / 'numbers-bench'), [])
        os.mkfifo(FOLDER / 'fifo')
        with subprocess.Popen(['cat', FOLDER / 'fifo'], stdout=subprocess.PIPE, text=True) as reader:
            self.dice_run('measure', '-o', 'fifo')
            self.assertEqual(reader.communicate(timeout=30)[0], 'figures\n')
        self.assertTrue((FOLDER / 'fifo').is_fifo())
        (FOLDER / 'link').symlink_to('linked.json')
        self.dice_run('measure', '-o', 'link')
        self.assertEqual(((FOLDER / 'link').is_symlink(), (FOLDER / 'linked.json').read_text()), (True, 'figures\n'))
        done = subprocess.run([DICE_RUN, '-p', ONE, '--to', HOSTS.site, '--ssh', shlex.quote(str(HOSTS.ssh)), 'measure', '-o', '/dev/stdout'], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ('figures\n', 'a table\n'))
        (FOLDER / 'rsync').write_text('#!/bin/sh\necho "rsync: write failed: No space left on device (28)" >&2\nexit 11\n')
        (FOLDER / 'rsync').chmod(0o755)
        self.assertRegex(self.dice_run('measure', '-o', 'x', code=1, PATH=f'{FOLDER}:{os.environ["PATH"]}'),
                         r'error: "/.*/dice-run-\w+" is full on this machine; remove something, or name another folder by TMPDIR\n$')
        self.assertIn('no folder can be made in "nowhere" on this machine: No such file', self.dice_run('measure', '-o', 'x', code=1, TMPDIR='nowhere'))
        if os.geteuid() == 0:
            os.mknod(FOLDER / 'device', 0o600 | stat.S_IFCHR, os.makedev(1, 7))  # as /dev/full
            self.assertIn("'device' cannot be written on this machine: No space left on device", self.dice_run('measure', '-o', 'device', code=1))
            self.assertTrue((FOLDER / 'device').is_char_device())
            (FOLDER / 'set').mkdir()
            (FOLDER / 'set/trace.json').symlink_to('../device')
            self.assertIn("'set/trace.json' cannot be written on this machine: No space", self.dice_run('bench', '--frames', '7', '-o', 'set', code=1))
            self.assertEqual(os.listdir(FOLDER / 'set'), ['trace.json'])  # no part of them
        self.assertRegex(self.dice_run('bench', '--frames', '8', '-o', 'bench', code=1), 'a: .*figures.json')  # the job has not written it
        (FOLDER / 'kept/explanation.txt').mkdir(parents=True)
        for words, file in ((('measure', '-o', 'missing/x.json'), 'missing/x.json'), (('bench', '-o', 'kept'), 'kept/explanation.txt')):
            (HOSTS.folder / 'ssh.log').unlink(missing_ok=True)
            self.assertIn(f"'{file}' cannot be written", self.dice_run(*words, code=1))
            self.assertFalse((HOSTS.folder / 'ssh.log').exists(), 'before the run')
            self.dice_run('--dry-run', *words)


if __name__ == '__main__':
    unittest.main()
