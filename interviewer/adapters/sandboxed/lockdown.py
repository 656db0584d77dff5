"""Takes everything away from this process that code by a stranger must not have; there is no way back.

A seccomp filter leaves about thirty system calls: memory, clocks, and reading and writing what is open already. There
is no open, no socket, no fork, no thread, no exec and no signal to anybody, whatever the code does in Python or in
machine code. Where the filter cannot be set, :class:`NoLockdown` is raised and nothing may be run.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import signal
import struct
import sys
from collections.abc import Mapping

_X86_64: Mapping[str, int] = dict(
    read=0, write=1, close=3, fstat=5, lseek=8, mmap=9, mprotect=10, munmap=11, brk=12, rt_sigaction=13,
    rt_sigprocmask=14, rt_sigreturn=15, writev=20, sched_yield=24, mremap=25, madvise=28, nanosleep=35, getpid=39,
    exit=60, gettimeofday=96, getrusage=98, times=100, sigaltstack=131, gettid=186, time=201, futex=202,
    sched_getaffinity=204, restart_syscall=219, clock_gettime=228, clock_getres=229, clock_nanosleep=230,
    exit_group=231, getcpu=309, getrandom=318, membarrier=324, rseq=334,
)  # fmt: skip
_AARCH64: Mapping[str, int] = dict(
    close=57, lseek=62, read=63, write=64, writev=66, fstat=80, exit=93, exit_group=94, futex=98, nanosleep=101,
    clock_gettime=113, clock_getres=114, clock_nanosleep=115, sched_getaffinity=123, sched_yield=124,
    restart_syscall=128, sigaltstack=132, rt_sigaction=134, rt_sigprocmask=135, rt_sigreturn=139, times=153,
    getrusage=165, getcpu=168, gettimeofday=169, getpid=172, gettid=178, brk=214, munmap=215, mremap=216, mmap=222,
    mprotect=226, madvise=233, getrandom=278, membarrier=283, rseq=293,
)  # fmt: skip
MACHINES: Mapping[str, tuple[int, int, Mapping[str, int]]] = {
    "x86_64": (0xC000003E, 317, _X86_64),
    "aarch64": (0xC00000B7, 277, _AARCH64),
}
"""By machine: the kernel's name of its calling convention, the number of ``seccomp``, and the calls that are left."""

CPU_SECONDS = 5
"""Processor time that the code may use."""

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_SET_MODE_FILTER, _ALL_THREADS = 1, 1
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_X32 = 0x40000000
"""Numbers from here on are the second calling convention of x86_64; none of them is left."""


class NoLockdown(Exception):
    """This machine cannot lock a process down."""


def why_not() -> str:
    """Return why a process cannot be locked down here; empty when it can, as far as can be told without doing it."""
    if sys.platform != "linux":
        return f"it needs Linux, and this is {sys.platform}"
    if platform.machine() not in MACHINES:
        return f"there is no list of system calls for {platform.machine()}"
    return ""


def lock(memory: int, cpu_seconds: int, alive_seconds: int) -> None:
    """Lock this process down for good.

    Args:
        memory: Bytes that may be allocated from here on.
        cpu_seconds: Processor time from here on.
        alive_seconds: Longest time that the process may exist from here on, used or not.

    Raises:
        NoLockdown: it is not possible; run nothing.
    """
    if reason := why_not():
        raise NoLockdown(reason)
    try:
        used = resource.getrusage(resource.RUSAGE_SELF)
        spent = int(used.ru_utime + used.ru_stime) + 1
        with open("/proc/self/statm", encoding="ascii") as statm:
            mapped = int(statm.read().split()[0]) * resource.getpagesize()
        _limit(resource.RLIMIT_AS, mapped + memory)
        resource.setrlimit(resource.RLIMIT_CPU, (spent + cpu_seconds, spent + cpu_seconds + 1))
        for kind in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_NPROC, resource.RLIMIT_MEMLOCK):
            _limit(kind, 0)
        _limit(resource.RLIMIT_NOFILE, 16)
    except (OSError, ValueError) as error:
        raise NoLockdown(f"its limits cannot be set: {error}") from error
    signal.alarm(alive_seconds)
    _filter()


def _limit(kind: int, value: int) -> None:
    resource.setrlimit(kind, (value, value))


def _filter() -> None:
    arch, seccomp, calls = MACHINES[platform.machine()]
    lines = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, arch),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _REFUSE),
    ]
    for number in calls.values():
        lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    lines.append((_RETURN, 0, 0, _REFUSE))
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in lines))
    program = struct.pack("HxxxxxxP", len(lines), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise NoLockdown(f"privileges cannot be given up: {os.strerror(ctypes.get_errno())}")
    if libc.syscall(seccomp, _SET_MODE_FILTER, _ALL_THREADS, program) != 0:
        raise NoLockdown(f"the kernel refuses the filter: {os.strerror(ctypes.get_errno())}")
