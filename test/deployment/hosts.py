"""Hosts on this machine: each is a name and a folder, which it sees as SITE. Enough for Open MPI to start a daemon on each; they
share the network, the cores and the rest of the files. Needs namespaces: root, or a kernel that lets users have their own."""
import os
import pathlib
import shutil
import subprocess


class Hosts:
    def __init__(self, folder, names, emulator=None):
        """`emulator`: QEMU and a sysroot, by the names of hosts that are ARM boards."""
        self.folder, self.site = pathlib.Path(folder), pathlib.Path(folder) / 'site'
        self.emulator = emulator or {}
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in (*names, 'site'):
            (self.folder / name).mkdir(parents=True)
        self.agent = self.folder / 'agent'  # what mpirun calls in place of ssh
        # An ARM board's daemon is emulated as its program is: they share memory, each at its own addresses.
        cases = ''.join(f'{name}) [ ! -d {self.folder}/{name}/*/arm ] || set -- $(echo "$*" | sed "s#[^ ;]*\\(orted\\|prted\\) #{qemu} -L {root} {root}/usr/bin/\\1 #") ;;\n'
                        for name, (qemu, root) in self.emulator.items())
        self.agent.write_text(f'#!/bin/sh\nhost=$1\nshift\ncase $host in\n{cases}esac\nexec {self.enter} "$host" "$*"\n')
        self.agent.chmod(0o755)

    @property
    def enter(self):
        own = '' if os.geteuid() == 0 else '--map-root-user '
        return (f'unshare {own}--uts --mount sh -c \'hostname "$0" && mount --bind {self.folder}/"$0" {self.site} && '
                f'cd {self.site} && exec sh -c "$1"\'')

    def possible(self):
        """Whether this machine has namespaces."""
        return subprocess.run(f'{self.enter} site true', shell=True, capture_output=True).returncode == 0

    def unpack(self, name, package, emulated=True):
        """Unpacks a .tar.gz on a host. Unless `emulated` is False, QEMU runs the program of an ARM board."""
        shutil.rmtree(self.folder / name)
        (self.folder / name).mkdir()
        subprocess.run(['tar', '-C', self.folder / name, '-xzf', package], check=True)
        if emulated and name in self.emulator:
            qemu, root = self.emulator[name]
            [deployment] = (self.folder / name).iterdir()
            program, weights = deployment / deployment.name, deployment / f'{deployment.name}.packed'
            (deployment / 'arm').mkdir()
            shutil.move(program, deployment / 'arm')
            (deployment / 'arm' / weights.name).symlink_to(f'../{weights.name}')
            program.write_text(f'#!/bin/sh\nexec {qemu} -L {root} arm/{program.name} "$@"\n')
            program.chmod(0o755)

    def run(self, name, command, **environment):
        """Runs a shell's command on a host, in SITE. Returns the exit status, and all output."""
        run = subprocess.run(f'{self.enter} {name} "$COMMAND"', shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, timeout=120, start_new_session=True,
                             env={**os.environ, 'COMMAND': command, **{name: str(self.agent) for name in ('OMPI_MCA_plm_rsh_agent', 'PRTE_MCA_plm_ssh_agent')},
                                  # Open MPI 5.0 asks the kernel for the way to other hosts, but these have the same addresses.
                                  'OMPI_MCA_reachable': 'weighted', **environment})
        return run.returncode, run.stdout
