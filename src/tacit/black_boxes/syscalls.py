"""What a confined call may ask of the kernel: a list of what is allowed, everything else is answered "no such call".

PROMISE  After `confine` the process changes nothing that another process can see, and sees nothing that another
confined process can change, but for time and load.

PROOF  By the list. It has no call that makes or writes a file (files open for reading only), no socket, pipe, lock,
lease or notice of files, no memory, semaphore, queue or key shared with others, no new process, no signal but to
itself, nothing that looks at or moves another process, no question after the page cache, free memory or free disk.
Threads are private to the process. A futex can reach across processes by a mapped file, so it must be private; one
that is not is told to try again, which is what a thread that is waited for by its end does. What stays is what every
computation does: it takes time, memory bandwidth and cache.

The list is by name, with numbers for the two machines it knows; a call made in the way of another machine is fatal.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""The column of numbers below, and the kernel's name of the machine."""

ALLOWED = {
    # reading, and writing to what is open
    "read": (0, 63),
    "pread64": (17, 67),
    "readv": (19, 65),
    "preadv": (295, 69),
    "write": (1, 64),
    "writev": (20, 66),
    "lseek": (8, 62),
    "fstat": (5, 80),
    "stat": (4, None),
    "lstat": (6, None),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getdents64": (217, 61),
    "getcwd": (79, 17),
    "close": (3, 57),
    "close_range": (436, 436),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    # memory
    "munmap": (11, 215),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "brk": (12, 214),
    "madvise": (28, 233),
    "membarrier": (324, 283),
    # about itself
    "exit": (60, 93),
    "exit_group": (231, 94),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "getppid": (110, 173),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getgroups": (115, 158),
    "getresuid": (118, 148),
    "getresgid": (120, 150),
    "getpgrp": (111, None),
    "getrusage": (98, 165),
    "times": (100, 153),
    "getrlimit": (97, 163),
    "uname": (63, 160),
    "umask": (95, 166),
    "arch_prctl": (158, None),
    "set_tid_address": (218, 96),
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126),
    "getcpu": (309, 168),
    # its own signals
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    # time and chance
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "setitimer": (38, 103),
    "getitimer": (36, 102),
    "alarm": (37, None),
    "getrandom": (318, 278),
}

_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_LOAD, _EQUAL, _ANY, _RETURN = 0x20, 0x15, 0x45, 0x06  # of the filter's machine: load, jump if ==, jump if &, return
Step = tuple[int, int, int, int]


def _refuse(number: int) -> int:
    return 0x00050000 | number


def _argument(which: int) -> Step:
    return _LOAD, 0, 0, 16 + 8 * which


def _one_of(which: int, values: tuple[int, ...], otherwise: int = errno.EPERM) -> list[Step]:
    """Allowed where an argument has one of some values."""
    steps = [_argument(which)]
    for value in values:
        steps += [(_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW)]
    return [*steps, (_RETURN, 0, 0, _refuse(otherwise))]


def _without(which: int, bits: int, otherwise: int) -> list[Step]:
    """Allowed where an argument has none of some bits."""
    return [_argument(which), (_ANY, 0, 1, bits), (_RETURN, 0, 0, _refuse(otherwise)), (_RETURN, 0, 0, _ALLOW)]


def _with(which: int, bit: int, otherwise: int) -> list[Step]:
    """Allowed where an argument has a bit."""
    return [_argument(which), (_ANY, 1, 0, bit), (_RETURN, 0, 0, _refuse(otherwise)), (_RETURN, 0, 0, _ALLOW)]


_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_HUGE = 0x40000  # pages of a pool that all processes share
_THREAD, _SPACES = 0x10000, 0x7E020080
_DESCRIPTOR = (0, 1, 2, 3, 4, 1030)  # duplicate, get and set flags: neither locks, leases, owners nor notices
_TERMINAL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # is it a terminal, how much is there, close on exec
_NAMES = (15, 16, 0x53564D41)  # names of threads and of memory
_PRIVATE = 128


def _special(itself: int) -> dict[tuple[int, int | None], list[Step]]:
    """Calls that are allowed for some arguments."""
    starts = [
        _argument(0),
        (_ANY, 0, 1, _SPACES),
        (_RETURN, 0, 0, _refuse(errno.EPERM)),
        *_with(0, _THREAD, errno.EPERM),
    ]
    return {
        (2, None): _without(1, _WRITES, errno.EROFS),  # open
        (257, 56): _without(2, _WRITES, errno.EROFS),  # openat
        (9, 222): _without(3, _HUGE, errno.ENOMEM),  # mmap
        (72, 25): _one_of(1, _DESCRIPTOR),  # fcntl
        (16, 29): _one_of(1, _TERMINAL, errno.ENOTTY),  # ioctl
        (157, 167): _one_of(0, _NAMES),  # prctl
        (302, 261): _one_of(0, (0, itself)),  # prlimit64
        (202, 98): _with(1, _PRIVATE, errno.EAGAIN),  # futex
        (56, 220): starts,  # clone
        (62, 129): _one_of(0, (itself,)),  # kill
        (234, 131): _one_of(0, (itself,)),  # tgkill
    }


def program(machine: str, itself: int) -> bytes:
    """The filter for a process of a number, as the kernel reads it."""
    column, name = MACHINES[machine]
    steps: list[Step] = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, name), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    for numbers in ALLOWED.values():
        if numbers[column] is not None:
            steps += [(_EQUAL, 0, 1, numbers[column] or 0), (_RETURN, 0, 0, _ALLOW)]
    for numbers, block in _special(itself).items():
        if numbers[column] is not None:
            steps += [(_EQUAL, 0, len(block), numbers[column] or 0), *block]
    steps.append((_RETURN, 0, 0, _refuse(errno.ENOSYS)))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def check_result(result: int, what: str) -> int:
    """A result of the C library; OSError, naming what was tried, where it failed."""
    if result < 0:
        raise OSError(ctypes.get_errno(), what)
    return result


def control(libc: ctypes.CDLL, option: int, *arguments: int) -> None:
    """A change of this process by prctl."""
    given = [ctypes.c_ulong(each) for each in (*arguments, 0, 0, 0, 0)][:4]
    check_result(libc.prctl(option, *given), f"prctl {option}")


def confine(libc: ctypes.CDLL, code: bytes) -> None:
    """Hold this process, which has one thread, to a program, for ever."""
    filled = _Program(len(code) // 8, code)
    control(libc, 38, 1)  # no new privileges
    control(libc, 22, 2, ctypes.addressof(filled))
