"""Hosts on this machine, each with a name, processes and a folder SITE of its own, and a `ssh` that reaches them. They share the
network and the rest of the files. Needs namespaces: root, or a kernel that lets users have their own."""
import hashlib
import json
import os
import platform
import pathlib
import shlex
import shutil
import subprocess
import threading
import time

# ssh, as dice-run and rsync call it: what is in FOLDER/ssh.HOST happens in place of, or to, the connection.
SSH = r'''#!/bin/sh
F=FOLDER
while :; do
  case $1 in -o) shift 2 ;; --) shift ;; *) break ;; esac
done
host=$1
shift
printf '%s\n' "$host $*" >>"$F/ssh.log"
say() { echo "$*" >&2; exit 255; }
# Whether this is the N-th connection, or the first one after it if two begin at once.
nth() { [ "$(grep -c "^$host " "$F/ssh.log")" -ge "$bytes" ] && mkdir "$F/done.$host" 2>/dev/null; }
enter() { [ -f "$F/$host.pid" ] || say "ssh: connect to host $host port 22: No route to host"; PATH=$F/bin:$PATH exec nsenter -t "$(cat "$F/$host.pid")" -a --preserve-credentials sh -c "$*"; }
[ -f "$F/ssh.$host" ] || enter "$@"
read -r what bytes signal <"$F/ssh.$host"
case $what in
refuses) say "user@$host: Permission denied (publickey)." ;;
changed) say "WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!" ;;
closed) say "ssh: connect to host $host port 22: Connection refused" ;;
prints) echo "Welcome to $host"; enter "$@" ;;
is) host=$bytes; enter "$@" ;;
interrupts) # dice-run, at its N-th connection, by a signal
  ! nth || kill -"$signal" $PPID
  enter "$@" ;;
breaks) # the N-th connection
  nth || enter "$@"
  say "Connection to $host closed by remote host." ;;
stops) # dice-run, at its N-th connection
  ! nth || { kill -STOP $PPID; touch "$F/stopped"; }
  enter "$@" ;;
unknown) say "ssh: Could not resolve hostname $host: Name or service not known" ;;
fills) # the disk, after dice-run has looked
  case $* in rsync*) ;; *) enter "$@" ;; esac
  echo "rsync: [receiver] write failed on \"x\": No space left on device (28)" >&2
  exit 11 ;;
cuts) # the data of rsync, after some bytes
  case $* in rsync*) ;; *) enter "$@" ;; esac
  stdbuf -o0 head -c "$bytes" | (enter "$@")
  say "Connection to $host closed by remote host." ;;
esac
'''

# `ssh` on the hosts themselves: a command for another one runs here, and the path that it reads becomes that of the other's SITE. What
# is in FOLDER/between.HOST happens to it.
BETWEEN = r'''#!/bin/sh
F=FOLDER
case $* in *'sh -s') # a script: the test runs it, since a host cannot enter another
  while [ "$1" = -o ]; do shift 2; done
  [ "$(cat "$F/between.$1" 2>/dev/null)" != refuses ] || exit 255
  call=$(mktemp -d "$F/calls/XXXXXX") && mkfifo "$call/in" "$call/out" && echo "$1" >"$call/new" && mv "$call/new" "$call/host" || exit 1
  exec 3<&0
  cat <&3 >"$call/in" &
  cat "$call/out"
  kill $! 2>/dev/null
  until [ -f "$call/code" ]; do sleep 0.05; done
  cat "$call/err" >&2
  exit "$(cat "$call/code")" ;;
esac
printf '%s\n' "$*" >>"$F/between.log"
while [ "$1" = -o ]; do shift 2; done
host=$1
shift
what=$(cat "$F/between.$host" 2>/dev/null)
case $what in hangs) exec sleep 100 ;; refuses) exit 255 ;; esac
[ -f "$F/$host.pid" ] || exit 255
IFS= read -r path && printf '%s\n' "$F/$host/${path#"$F/site/"}" | sh -c "$*"
'''

# A job: the "program" sleeps on all hosts; AGENT below starts it on the others, as mpirun's daemons would, and ends it there.
# Options: --fail and --quick end it, --foo is refused as by mpirun, --die ends it after a second, --once the first time, --deaf does not end in order, but says
# something at SIGTERM, --chatty prints 5 MB, --slow prints more when it finds a file `speak`, --late starts the ranks after three seconds, --long lets exactly a minute pass on a host
# whose uptime is a file of the test, --input - reads its standard input to its end, once there is no file `hold`, --says says of the job what the file `says` holds. Of bench, --frames 7 writes its files, --frames 8 does not, and --frames 9 fails.
RUN = r'''#!/bin/sh
F=FOLDER
[ -n "$AGAIN" ] || AGAIN=1 exec "$0" "$@" $MPIRUN_OPTIONS # with the name of the job, as mpirun
cd "$(dirname "$(readlink -f "$0")")" || exit 1
[ "$1" != --measure ] || { echo "a table"; cat "$F/profile" >"$2" 2>/dev/null || echo figures >"$2"; exit; }
case $* in *--foo*) ;; *) printf '%s\n' "[1,0]<stdout>:frames arrive: $*" ;; esac
case $* in *--long*) read -r up rest </proc/uptime; echo $((${up%.*} + 60)) 0 >/proc/uptime ;; esac
case $* in
*--foo*) echo 'mpirun: Error: unknown option "--foo"' >&2; echo "Type 'mpirun --help' for usage." >&2; exit 1 ;;
*--fail*) printf '[1,1]<stderr>:dice: error: rank 1 (host b): there are no weights \377\n'; exit 1 ;;
*--quick*) printf 'a line without an end'; exit 0 ;;
*--die5*) echo "PRTE has lost communication with a remote daemon."; echo "  Remote daemon: [prterun-a-9@0,1] on node b"; exit 0 ;;
*--chatty*) yes "a line of many" | head -c 5000000; echo; echo "the last line" ;;
*"--frames 7 "*)
  while [ $# -gt 0 ]; do
    case $1 in --json | --trace) echo "for $1" >"$2" ;; esac
    shift
  done
  exit 0 ;;
*"--frames 8 "*) exit 0 ;;
*"--frames 9 "*) exit 7 ;;
*--once*) [ -f "$F/once" ] && exit 0; touch "$F/once"; echo "PRTE has lost communication with a remote daemon."; exit 0 ;;
*--die*) sleep 1; echo "  Remote daemon: [[1,0],2] on node b"; exit 1 ;;
esac
stop() {
  case $* in *--deaf*) return ;; esac
  rm -f "$F/wanted"; kill $! $rank; echo "Primary job  terminated normally, but 1 process returned"; exit 3
}
trap 'stop "$@"' USR1
case $* in *--deaf*) trap 'echo "the last words"; rm -f "$F/wanted"; exit 4' TERM ;; esac
case $* in *--late*) sleep 3 ;; esac
printf '%s\n' "'$PWD/numbers' 1000" >"$F/starts"
cat /proc/sys/kernel/hostname >>"$F/starts"
mv "$F/starts" "$F/wanted"
case $* in *--says*) # what the test lets rank 0 say of the job
  while [ -f "$F/wanted" ]; do
    [ ! -f "$F/says" ] || { cp "$F/says" "$F/saying" && mv "$F/saying" "$DICE_STATUS"; }
    sleep 0.2
  done & ;;
esac
./numbers 1000 &
rank=$!
case $* in *"--input -"*)
  exec 3<&0
  while [ -f "$F/hold" ]; do sleep 0.1; done
  stdbuf -o0 head -c "$(cat "$F/enough" 2>/dev/null || echo 1G)" <&3 >"$F/frames" &
  wait $!
  rm "$F/wanted"; kill $rank; exit 0 ;;
esac
case $* in *--slow*)
  while sleep 0.2; do [ ! -f "$F/speak" ] || { rm "$F/speak"; yes "$(printf %096d 0) end" | head -c 700000; }; done ;;
esac
while :; do wait; done
'''


class Hosts:
    def __init__(self, folder, names):
        self.folder, self.names = pathlib.Path(folder), names
        self.site, self.ssh = self.folder / 'site', self.folder / 'my ssh'
        self.holders = {}
        shutil.rmtree(self.folder, ignore_errors=True)
        self.site.mkdir(parents=True)
        self.ssh.write_text(SSH.replace('FOLDER', shlex.quote(str(self.folder))))
        self.ssh.chmod(0o755)
        (self.folder / 'bin').mkdir()
        (self.folder / 'calls').mkdir()
        between = self.folder / 'bin/ssh'
        between.write_text(BETWEEN.replace('FOLDER', shlex.quote(str(self.folder))))
        between.chmod(0o755)
        for name in names:
            (self.folder / name).mkdir()
            self.power_on(name)
        self.ending = threading.Event()
        self.helper = threading.Thread(target=self.agent)
        self.helper.start()

    def power_on(self, name):
        own = [] if os.geteuid() == 0 else ['--user', '--map-root-user']
        holder = subprocess.Popen(
            ['unshare', *own, '--uts', '--mount', '--pid', '--fork', '--mount-proc', 'sh', '-c',
             f'hostname {name} && mount --bind "$0" "$1" && echo up && exec sleep 1000', self.folder / name, self.site],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if holder.stdout.readline() != 'up\n':
            holder.communicate()
            raise OSError('no namespaces here')
        children = pathlib.Path(f'/proc/{holder.pid}/task/{holder.pid}/children').read_text().split()
        (self.folder / f'{name}.pid').write_text(children[0])
        self.holders[name] = holder, int(children[0])

    def power_off(self, name):
        holder, first = self.holders.pop(name)
        (self.folder / f'{name}.pid').unlink()
        os.kill(first, 9)  # with it, the kernel ends all processes of the host
        holder.wait()
        holder.stdout.close()

    def agent(self):
        """Starts and ends the job's ranks on all hosts but the one that starts it, and runs scripts that hosts send to others."""
        wanted, running, others, calls = self.folder / 'wanted', False, [], []
        while not self.ending.wait(0.1):
            for call in (self.folder / 'calls').glob('*/host'):
                host = call.read_text().strip()
                call.unlink()
                first = self.holders.get(host, (None, None))[1]
                enter = f'nsenter -t {first} -a --preserve-credentials env PATH={shlex.quote(str(self.folder / "bin"))}:"$PATH" sh -s' if first else 'exit 255'
                calls.append(subprocess.Popen(['sh', '-c', f'({enter}) <in >out 2>err; echo $? >new; mv new code'], cwd=call.parent))
            calls = [call for call in calls if call.poll() is None]
            if wanted.exists() != running:
                running = not running
                if running:
                    command, starter = wanted.read_text().splitlines()
                    others = [name for name in self.names if name != starter]
                for name in others:
                    pid = shlex.quote(str(self.folder / f'{name}.rank'))
                    self.on(name, f'{command} >/dev/null 2>&1 & echo $! >{pid}' if running else f'kill $(cat {pid})')

    def down(self):
        self.ending.set()
        self.helper.join()
        for name in list(self.holders):
            self.power_off(name)

    def behave(self, name, what='', where='ssh'):
        path, done = self.folder / f'{where}.{name}', self.folder / f'done.{name}'
        if done.exists():
            done.rmdir()
        path.write_text(what + '\n') if what else path.unlink()

    def on(self, name, command):
        """What a shell's command prints on a host."""
        return subprocess.run([self.ssh, name, command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout

    def packages(self, build, weights=b'weights', processor=platform.machine(), names=None):
        """Makes packages like NAME-packages, with a rank for each host (of `names`); returns their folder."""
        names = names or self.names
        top = self.folder / build / 'numbers-packages'
        shutil.rmtree(top, ignore_errors=True)
        for rank, host in enumerate(names):
            package = top / host / 'numbers'
            package.mkdir(parents=True)
            shutil.copy(shutil.which('sleep'), package / 'numbers')
            (package / 'numbers.packed').write_bytes(weights)
            (package / 'app').write_text('-np 1 ./numbers\n' * len(names))
            (package / 'hosts').write_text(''.join(f'{name} slots=1\n' for name in reversed(names)))  # as in the cluster
            (package / 'ranks').write_text(''.join(f'rank {i}={name} slot=*:*\n' for i, name in enumerate(names)))
            (package / "it's; a file").write_text('of the user')
            (package / '#\\t1').write_text('')
            (package / 'run').write_text(RUN.replace('FOLDER', shlex.quote(str(self.folder))))
            (package / 'run').chmod(0o755)
            files = [{'file': f.name, 'bytes': f.stat().st_size, 'sha256': hashlib.sha256(f.read_bytes()).hexdigest()}
                     for f in sorted(package.iterdir())]
            (package / 'manifest.json').write_text(json.dumps(
                {'name': 'numbers', 'host': host, 'board': 'pc', 'ranks': [rank], 'processor': processor, 'files': files}))
        return top


def until(condition, seconds=10):
    """Waits for a condition; returns whether it holds."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.5)
    return condition()
