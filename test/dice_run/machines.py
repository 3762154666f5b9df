"""Imitated hosts: what /proc, /sys and some programs say on boards, as trees of files for DICE_RUN_ROOT and PATH. The texts follow
the kernel's formats and are shortened to what scripts/check.sh reads; none was recorded on a board."""
import os
import pathlib

ARM = 'Features\t: fp asimd evtstrm crc32 cpuid\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: {part}\nCPU revision\t: 3\n'


def arm(cores, part):
    return ''.join(f'processor\t: {i}\nBogoMIPS\t: 108.00\n{ARM.format(part=part)}\n' for i in range(cores))


def x86(cores, name, flags):
    return ''.join(f'processor\t: {i}\nvendor_id\t: GenuineIntel\nmodel name\t: {name}\ncpu MHz\t\t: 800.{i}12\nflags\t\t: {flags}\n\n' for i in range(cores))


PI4 = {'machine': 'aarch64', 'model': 'Raspberry Pi 4 Model B Rev 1.4\0', 'compatible': 'raspberrypi,4-model-b\0brcm,bcm2711\0',
       'cpuinfo': arm(4, '0xd08'), 'khz': [1500000] * 4, 'memory': 3885396}
PI5 = {'machine': 'aarch64', 'model': 'Raspberry Pi 5 Model B Rev 1.0\0', 'compatible': 'raspberrypi,5-model-b\0brcm,bcm2712\0',
       'cpuinfo': arm(4, '0xd0b'), 'khz': [2400000] * 4, 'memory': 8255136}
ORIN = {'machine': 'aarch64', 'model': 'NVIDIA Jetson Orin Nano Developer Kit\0',
        'compatible': 'nvidia,p3768-0000+p3767-0005\0nvidia,p3767-0005\0nvidia,tegra234\0', 'cpuinfo': arm(6, '0xd42'),
        'khz': [1510400] * 6, 'memory': 7802468, 'mpi': '4.1.2', 'glibc': '2.35',
        'tegra': '# R36 (release), REVISION: 3.0, GCID: 36106755, BOARD: generic, EABI: aarch64\n'}
PC = {'machine': 'x86_64', 'cpuinfo': x86(8, 'Intel(R) Core(TM) i5-8250U CPU @ 1.60GHz',
      'fpu sse sse2 ssse3 sse4_1 sse4_2 cx16 lahf_lm popcnt abm movbe avx avx2 fma f16c bmi1 bmi2'), 'khz': [3400000] * 8, 'threads': 4, 'memory': 16263928}
# A board that dice does not know, with cores of two kinds (as in Rockchip's RK3399).
ROCK = {'machine': 'aarch64', 'model': 'Radxa ROCK Pi 4B\0', 'compatible': 'radxa,rockpi4b\0rockchip,rk3399\0', 'memory': 3919872,
        'cpuinfo': arm(4, '0xd03') + arm(2, '0xd08').replace('processor\t: 0', 'processor\t: 4').replace('processor\t: 1', 'processor\t: 5'),
        'khz': [1416000] * 4 + [1800000] * 2}


def write(folder, name, machine):
    """The machine as FOLDER, a host of this name."""
    folder = pathlib.Path(folder)

    def put(path, text, mode=0o644):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)

    def program(name, text):
        put(f'bin/{name}', f'#!/bin/sh\n{text}\n', 0o755)

    put('proc/sys/kernel/hostname', machine.get('hostname', name) + '\n')
    if 'boot' in machine:
        put('proc/sys/kernel/random/boot_id', machine['boot'])
    put('proc/cpuinfo', machine['cpuinfo'])
    put('proc/meminfo', f'MemTotal:       {machine["memory"]} kB\nMemFree:        1 kB\n')
    for key in ('model', 'compatible'):
        if key in machine:
            put(f'proc/device-tree/{key}', machine[key])
    if 'tegra' in machine:
        put('etc/nv_tegra_release', machine['tegra'])
    for i, khz in enumerate(machine['khz']):
        if i > 0:  # which cannot be switched off
            put(f'sys/devices/system/cpu/cpu{i}/online', '0\n' if i in machine.get('off', []) else '1\n')
        put(f'sys/devices/system/cpu/cpu{i}/cpufreq/cpuinfo_max_freq', f'{khz}\n')
        other = (i + machine['threads']) % (2 * machine['threads']) if 'threads' in machine else i
        put(f'sys/devices/system/cpu/cpu{i}/topology/thread_siblings_list', f'{min(i, other)},{max(i, other)}\n' if other != i else f'{i}\n')
    program('uname', 'kill -9 $PPID' if machine.get('dies') else f'echo {machine["machine"]}')
    program('getconf', f'case $1 in LONG_BIT) {machine.get("bits", "echo 64")} ;; *) {machine.get("libc", "echo glibc " + machine.get("glibc", "2.36"))} ;; esac')
    program('dpkg', f'[ "$*" != --print-architecture ] || {machine.get("dpkg", "exit 1")}')
    program('ldd', machine.get('ldd', 'exit 1'))
    for loader in machine.get('loaders', []):
        put(f'lib/{loader}', '')
    program('findmnt', f'[ "$1 $2 $3" = "-no OPTIONS -T" ] && [ -d "$4" ] || exit 1; echo rw,{machine.get("mount", "relatime")}')
    # In the form of iproute2.
    networks = {'lo': '127.0.0.1/8', **machine.get('networks', {})}
    program('ip', '[ "$*" = "-o -4 addr show up" ] || exit 1\n' + '\n'.join(
        f"echo '{i}: {interface}    inet {address} scope global {interface}\\       valid_lft forever preferred_lft forever'"
        for i, (interface, address) in enumerate(networks.items(), 1)))
    # Messages are in English, and the third time is the fastest.
    program('dd', f'[ "$LC_ALL $*" = "C if=/dev/zero of=/dev/null bs=64M count=4" ] || exit 2; cd "{folder}" && echo >>times\n'
            'case $(($(wc -l <times) % 3)) in 0) s=0.0536870912 ;; *) s=0.2 ;; esac; echo "268435456 bytes (268 MB, 256 MiB) copied, $s s, some GB/s"')
    program('df', f'[ -d "$2" ] || exit 1; echo Filesystem 1024-blocks Used Available Capacity Mounted on; echo /dev/root 30000000 1 {machine.get("disk", 20000000)} 1% /')
    libraries = machine.get('libraries', 'libmpi.so.40 libboost_mpi.so.1.74.0 libgomp.so.1 libstb.so.0')
    program('ldconfig', f'for l in {libraries}; do echo "\t$l (libc6) => /usr/lib/$l"; done')
    program('nvidia-smi', 'exit 9' if 'gpu' not in machine else '[ "$*" = "--query-gpu=name,memory.total,driver_version --format=csv,noheader" ] || exit 9\n'
            f'echo {machine["gpu"]}')
    program('timeout', '[ "$1" = 15 ] && shift && export LIMITED=yes && exec "$@"')
    program('rsync', 'exit 0')
    if 'perl' in machine:
        program('perl', machine['perl'])
    program('mpirun', f'echo "mpirun (Open MPI) {machine.get("mpi", "4.1.4")}"' if machine.get('mpi', '4.1.4') else 'exit 127')
    if 'clock' in machine:
        program('date', f'exec /bin/date -d "{machine["clock"]} seconds" "$@"')
    # In place of ssh between hosts.
    refused = ' | '.join(machine.get('refused', [])) or '-'
    program('between', '[ "$LIMITED" ] || { echo no limit >&2; exit 255; }\n'
            f'case $1 in {refused}) printf "{machine.get("refusal", "Permission denied (publickey).")}\\r\\n" >&2; exit 255 ;; esac')
    if 'ssh' in machine:
        program('ssh', machine['ssh'])


SSH = '''#!/bin/sh
while :; do case $1 in -o) shift 2 ;; --) shift ;; *) break ;; esac; done
host=$1; shift
[ -d "HOSTS/$host" ] || { echo "ssh: connect to host $host port 22: No route to host" >&2; exit 255; }
export DICE_RUN_ROOT="HOSTS/$host" PATH="HOSTS/$host/bin:$PATH" OMPI_MCA_plm_rsh_agent="HOSTS/$host/bin/between"
[ ! -e "HOSTS/$host/bin/ssh" ] || export OMPI_MCA_plm_rsh_agent=
export SSH_CONNECTION='127.0.0.2 1 127.0.0.1 22' DICE_RUN_SECONDS=0.1
sh -c "$*"
code=$?
[ $code -le 128 ] || code=255 # as ssh, if a signal ended the shell
exit $code
'''


def write_ssh(folder):
    """A `ssh` that reaches the hosts below `folder`; returns its path."""
    file = pathlib.Path(folder) / 'ssh.sh'
    file.write_text(SSH.replace('HOSTS', os.fspath(folder)))
    file.chmod(0o755)
    return os.fspath(file)
