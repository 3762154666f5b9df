#!/usr/bin/env python3
"""closes_fail.py PROGRAM [ARGUMENT…]: runs a program whose standard output reports only when it is closed that a quota is used up, as on
NFS. The program must fail because of it. Exit code 77: this system has no seccomp filters."""
import ctypes
import errno
import os
import platform
import struct
import subprocess
import sys

CLOSE = {'x86_64': 3, 'aarch64': 57}.get(platform.machine())
PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38
LOAD, UNLESS_EQUAL, RETURN = 0x20, 0x15, 0x06  # of BPF
ALLOW, FAIL = 0x7fff0000, 0x00050000 | errno.EDQUOT


def let_closes_fail():
    # At 0 is the call's number, at 16 its first argument. The program is started without a standard input, so the files that the
    # loader opens and closes have the number 0. The program occupies it, and a copy of its standard output has the number 3.
    code = [(LOAD, 0, 0, 0), (UNLESS_EQUAL, 0, 3, CLOSE), (LOAD, 0, 0, 16), (UNLESS_EQUAL, 0, 1, 3), (RETURN, 0, 0, FAIL), (RETURN, 0, 0, ALLOW)]
    steps = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *step) for step in code))
    libc = ctypes.CDLL(None)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, struct.pack('HP', len(code), ctypes.addressof(steps))):
        os._exit(77)
    os.close(0)


if sys.argv[1] == '--inside':
    let_closes_fail()
    os.execv(sys.argv[2], sys.argv[2:])
done = CLOSE and subprocess.run([sys.executable, __file__, '--inside', *sys.argv[1:]], text=True, capture_output=True)
if not done or done.returncode == 77:
    sys.exit(77)
print(done.returncode, done.stderr)
sys.exit(done.returncode != 1 or 'the standard output cannot be written: Disk quota exceeded' not in done.stderr)
