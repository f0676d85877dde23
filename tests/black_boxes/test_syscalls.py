"""The filter as the kernel reads it, run here step by step for both machines."""

import errno
import os
import struct

import pytest

from tacit.black_boxes.syscalls import ALLOWED, MACHINES, program

ALLOW, KILL = 0x7FFF0000, 0x80000000
ITSELF = 77
SPECIAL = {"openat": (257, 56), "mmap": (9, 222), "fcntl": (72, 25), "futex": (202, 98), "clone": (56, 220)}
SIGNALS = {"kill": (62, 129), "tgkill": (234, 131), "prlimit64": (302, 261)}
REFUSED = {
    "socket": (41, 198),
    "pipe2": (293, 59),
    "mkdirat": (258, 34),
    "flock": (73, 32),
    "shmget": (29, 194),
    "ptrace": (101, 117),
    "inotify_init1": (294, 26),
    "mincore": (27, 232),
    "preadv2": (327, 286),
    "sysinfo": (99, 179),
    "add_key": (248, 217),
    "io_uring_setup": (425, 425),
    "clone3": (435, 435),
    "execve": (59, 221),
    "statfs": (137, 43),
    "utimensat": (280, 88),
    "setpriority": (141, 140),
}


def decided(machine: str, number: int, *arguments: int, name: int | None = None) -> int:
    """What the filter answers to a call."""
    code = program(machine, ITSELF)
    steps = [struct.unpack_from("=HBBI", code, at) for at in range(0, len(code), 8)]
    words = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("=IIQ6Q", number, MACHINES[machine][1] if name is None else name, 0, *words)
    at, held = 0, 0
    while True:
        kind, yes, no, value = steps[at]
        at += 1
        if kind == 0x20:
            (held,) = struct.unpack_from("=I", data, value)
        elif kind == 0x06:
            return int(value)
        else:
            holds = held == value if kind == 0x15 else bool(held & value)
            at += yes if holds else no


def refused(number: int) -> int:
    return 0x00050000 | number


@pytest.mark.parametrize("machine", MACHINES)
def test_calls(machine: str) -> None:
    column = MACHINES[machine][0]
    for numbers in ALLOWED.values():
        number = numbers[column]
        assert number is None or decided(machine, number) == ALLOW
    for numbers in REFUSED.values():
        assert decided(machine, numbers[column]) == refused(errno.ENOSYS)
        assert decided(machine, numbers[column], name=0x40000003) == KILL  # a call in the way of another machine
    assert decided(machine, 0x40000000) == refused(errno.ENOSYS)


@pytest.mark.parametrize("machine", MACHINES)
def test_arguments(machine: str) -> None:
    number = {name: numbers[MACHINES[machine][0]] for name, numbers in (SPECIAL | SIGNALS).items()}
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC, os.O_RDWR | os.O_CLOEXEC):
        assert decided(machine, number["openat"], 0, 0, flags) == refused(errno.EROFS)
    assert decided(machine, number["openat"], 0, 0, os.O_RDONLY | os.O_CLOEXEC) == ALLOW
    assert decided(machine, number["mmap"], 0, 0, 0, 0x22) == ALLOW
    assert decided(machine, number["mmap"], 0, 0, 0, 0x40022) == refused(errno.ENOMEM)
    for command in (5, 6, 7, 8, 37, 38, 1024, 1026, 1031):  # locks, owner, lease, notice, size of a pipe
        assert decided(machine, number["fcntl"], 0, command) == refused(errno.EPERM)
    assert decided(machine, number["fcntl"], 0, 1030) == ALLOW
    assert decided(machine, number["futex"], 0, 129) == ALLOW
    assert decided(machine, number["futex"], 0, 1) == refused(errno.EAGAIN)
    assert decided(machine, number["clone"], 0x3D0F00) == ALLOW  # a thread
    for flags in (17, 0x10000 | 0x10000000, 0x20000000 | 17):  # a process, and new namespaces
        assert decided(machine, number["clone"], flags) == refused(errno.EPERM)
    for name in SIGNALS:
        assert decided(machine, number[name], ITSELF) == ALLOW
        assert decided(machine, number[name], ITSELF + 1) == refused(errno.EPERM)
    for pid in (0, 0xFFFFFFFF):
        assert decided(machine, number["kill"], pid) == refused(errno.EPERM)
