"""Where a function runs that nobody trusts: namespaces of its own, in which nothing can be written or reached.

PROMISE  What a call answers is a function of its group's records and of public facts, up to time and load: no call
leaves anything for another, sees another at work, or reads data that it was not given.

PROOF  (1) *No author's code runs in a process that lives on.* The supervisor that starts calls never loads the
function; it imports installed packages only, by name. Every call is a fresh copy of it, loads the function itself, and
is killed with all its threads. So nothing is shared through memory, and what calls inherit is the same for all. Memory
that copies would share is taken from them. (2) *Nothing inherited links calls.* A call keeps one descriptor, its own
line to the asker, and a null device that it opened itself. (3) *No file.* The root is new and read-only, so that not
even times of access are written. It holds installed libraries and the source of the function's own modules; neither
/proc, /sys, /run, devices, temporary directories nor anybody's data. (4) *No network, no shared memory or queues, no
other process*: user, mount, network, ipc, host name and control group namespaces are the evaluator's own; the process
namespace is the call's own, so that not even numbers of processes tell. (5) *Nothing else of the kernel*: `syscalls`.
(6) Counts that the kernel keeps for each user are those of the evaluator's namespace, one call at a time; a call has at
most 64 threads, 256 open files, and its memory limit. All of this is in force before the function is loaded, and
records arrive after that.

NOT PROMISED  *Time and load.* Calls come one after another, so when one starts depends on how long others took, and a
clock can be read without asking the kernel. A function made for it can sleep where it sees somebody and look at the
clock elsewhere, or time files that an earlier call made quick to read: then its answer depends on other groups. No
slots of equal length are kept, for they would take the longest time for every call. Whoever must not rely on an author
reading no clock declines untrusted functions.

Needs Linux 5.14 with unprivileged user namespaces, or root; where that is not to be had, `enter` says what is lacking.
What is installed with the interpreter is trusted: whoever installs a package runs its code anyway.
"""

from __future__ import annotations

import ctypes
import errno
import os
import py_compile
import resource
import signal
import site
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tacit.black_boxes.syscalls import MACHINES, check_result, confine, control, program

NAME = "namespaces of its own, with a read-only root and a filter of system calls"
"""What is in use, in words."""

OLDEST = (5, 14)
"""The first Linux that counts threads for each user namespace."""

THREADS, FILES = 64, 256
"""The most threads and open files of a call."""

NOBODY = 65534
"""Whom root becomes, because no limit on threads holds for root."""

_USER, _MOUNTS, _NETWORK, _IPC, _HOST, _GROUP = 0x10000000, 0x20000, 0x40000000, 0x08000000, 0x04000000, 0x02000000
_PROCESSES = 0x20000000
_BIND, _RECURSIVE, _PRIVATE, _DETACH = 0x1000, 0x4000, 0x40000, 2
_READ_ONLY_NO_SUID = 1 | 2
_PIVOT_ROOT, _CAPSET, _MOUNT_SETATTR = (155, 41), (126, 91), (442, 442)
_HIGHEST = 2**31 - 1
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
_LIBRARIES = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/nix/store")
_SINGLE = ("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo")


class LackingError(Exception):
    """The system does not offer what isolation needs; says what."""


def list_installed() -> list[str]:
    """The directories of installed packages and of the standard library."""
    found = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    found += [sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix, "base": sys.base_prefix})]
    found += [*site.getsitepackages(), site.getusersitepackages()]
    return sorted({path for path in found if os.path.isdir(path)})


def beneath(path: str, directories: Iterable[str]) -> bool:
    """Whether a path is one of some directories or inside one."""
    return any(path == each or path.startswith(each.rstrip("/") + "/") for each in directories)


def _shown() -> list[str]:
    """What of the file system calls may read: software."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix} - {"/", "/usr"}
    paths = [f"{prefix}/{part}" for prefix in prefixes for part in ("lib", "lib64", "share/zoneinfo")]
    paths += [*_LIBRARIES, *_SINGLE, *list_installed(), str(Path(__file__).parent.parent)]
    paths += os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return [path for path in paths if path.startswith("/") and path.strip("/") and os.path.exists(path)]


@dataclass(frozen=True)
class Supervisor:
    """The first process inside, which starts calls."""

    libc: ctypes.CDLL
    column: int
    maps: int
    """Its own map of memory, open."""
    sizes: int
    processes: int
    """Its own process namespace, open."""
    code: bytes
    """The filter of a call, whose number is 1 in its own namespace."""

    def used(self) -> int:
        """The bytes of memory in use."""
        return int(os.pread(self.sizes, 200, 0).split()[0]) * resource.getpagesize()

    def keep_memory(self) -> None:
        """Let no call inherit memory that would be shared with others."""
        text, chunk = b"", b"."
        while chunk:
            chunk = os.pread(self.maps, 1 << 16, len(text))
            text += chunk
        for line in text.splitlines():
            where, rights = line.split()[:2]
            if b"w" in rights and b"s" in rights:
                first, last = (int(end, 16) for end in where.split(b"-"))
                check_result(self.libc.madvise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), 10), "madvise")

    def fork(self) -> int:
        """A copy that is the first process of a namespace of its own."""
        check_result(self.libc.unshare(_PROCESSES), "unshare")
        child = os.fork()
        if child:
            check_result(self.libc.setns(self.processes, _PROCESSES), "setns")  # back, where threads can be started
        return child

    def confine(self, line: int) -> int:
        """In the copy: give up everything but one descriptor, which gets the number returned."""
        kept = 3
        os.setsid()
        null = os.open("/dev/null", os.O_RDWR)  # one of its own: flags of an inherited one would be shared
        for number in range(3):
            os.dup2(null, number)
        if line != kept:
            os.dup2(line, kept)
        os.closerange(kept + 1, _HIGHEST)
        lower(resource.RLIMIT_NPROC, THREADS)
        lower(resource.RLIMIT_NOFILE, FILES)
        drop_powers(self.libc, self.column)
        control(self.libc, 1, signal.SIGKILL)  # ends with the supervisor
        control(self.libc, 4, 0)  # a crash is not written down anywhere
        confine(self.libc, self.code)
        return kept


def lower(kind: int, most: int) -> None:
    """Limit a resource, or leave it where it was lower."""
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))


def drop_powers(libc: ctypes.CDLL, column: int) -> None:
    """Give up every capability in the namespace too."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    check_result(libc.syscall(_CAPSET[column], header, (ctypes.c_uint32 * 6)()), "capset")


def enter(files: Mapping[str, bytes]) -> Supervisor:
    """Go into namespaces whose root holds installed software and some files; the process that asked waits outside.

    Returns in another process than it was called in, whose exit ends the first.
    """
    machine = os.uname()
    release = tuple(int("".join(filter(str.isdigit, part)) or 0) for part in machine.release.split(".")[:2])
    if sys.platform != "linux" or release < OLDEST or machine.machine not in MACHINES:
        raise LackingError(f"Linux {OLDEST[0]}.{OLDEST[1]} or later on {' or '.join(MACHINES)}")
    libc, column = ctypes.CDLL(None, use_errno=True), MACHINES[machine.machine][0]
    try:
        nobody = _apart(libc)
        return _inside(libc, column, files, nobody)
    except OSError as failure:
        raise LackingError(f"user namespaces in which this user may mount ({failure.strerror} failed)") from None


def _apart(libc: ctypes.CDLL) -> bool:
    """New namespaces, users mapped by a helper that stays outside; whether root can become nobody there."""
    listen, tell = os.pipe()
    helper = os.fork()
    if not helper:
        status = 1
        try:
            os.close(tell)
            status = 1 if os.read(listen, 1) != b"." else 0 if _mapped(os.getppid()) else 2
        finally:
            os._exit(status)
    spaces = _USER | _MOUNTS | _NETWORK | _IPC | _HOST | _GROUP | _PROCESSES
    try:
        check_result(libc.unshare(spaces), "unshare")
        os.write(tell, b".")
    finally:
        os.close(tell)
        os.close(listen)
        status = os.waitstatus_to_exitcode(os.waitpid(helper, 0)[1])
    if status not in (0, 2):
        raise OSError(errno.EPERM, "mapping of users")
    return status == 0


def _mapped(process: int) -> bool:
    """Map its user, or root and nobody; whether nobody is there."""
    user, group, place = os.geteuid(), os.getegid(), f"/proc/{process}"
    if user == 0:
        with suppress(OSError):
            for name in ("uid_map", "gid_map"):
                _write(f"{place}/{name}", f"0 0 1\n{NOBODY} {NOBODY} 1\n")
            return True
        if Path("/proc/self/uid_map").read_text().split()[:2] == ["0", "0"]:
            raise PermissionError  # root itself, whose threads nothing limits
    _write(f"{place}/setgroups", "deny")
    _write(f"{place}/uid_map", f"{user} {user} 1\n")
    _write(f"{place}/gid_map", f"{group} {group} 1\n")
    return False


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _inside(libc: ctypes.CDLL, column: int, files: Mapping[str, bytes], nobody: bool) -> Supervisor:
    """The first process of the process namespace, in its new root; the one that made it waits for it and ends."""
    listen, tell = os.pipe()  # so that a failure inside is told outside, where the asker is still heard
    child = os.fork()
    if child:
        os.close(tell)
        failed = os.read(listen, 200)
        if failed:
            os.waitpid(child, 0)
            raise OSError(errno.EPERM, failed.decode())
        os.closerange(0, _HIGHEST)
        os.waitpid(child, 0)
        os._exit(0)
    try:
        os.umask(0o022)
        maps, sizes, processes = (
            os.open(f"/proc/self/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in ("maps", "statm", "ns/pid")
        )
        _new_root(libc, column, files)
        if nobody:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            control(libc, 8, 1)  # keeps what is needed for new process namespaces
            os.setresuid(NOBODY, NOBODY, NOBODY)
            _raise_again(libc, column)
        control(libc, 1, signal.SIGKILL)  # ends with the process outside
        found = Supervisor(libc, column, maps, sizes, processes, program(os.uname().machine, 1))
        os.close(tell)
        os.close(listen)
    except BaseException as failure:
        os.write(tell, str(getattr(failure, "strerror", None) or failure or "?").encode()[:200])
        os._exit(1)
    return found


def _raise_again(libc: ctypes.CDLL, column: int) -> None:
    """Take up again the one capability that new process namespaces need, kept through a change of user."""
    header, admin = (ctypes.c_uint32 * 2)(0x20080522, 0), 1 << 21
    check_result(libc.syscall(_CAPSET[column], header, (ctypes.c_uint32 * 6)(admin, admin, 0, 0, 0, 0)), "capset")


def _new_root(libc: ctypes.CDLL, column: int, files: Mapping[str, bytes]) -> None:
    """A root in memory that shows software and holds some files, all of it read-only; the old one is let go."""

    def mount(source: str, target: str, kind: bytes | None, flags: int, data: bytes | None = None) -> None:
        place = target.encode()
        check_result(libc.mount(source.encode(), place, kind, ctypes.c_ulong(flags), data), f"mount {target}")

    real = {os.path.realpath(path) for path in _shown()}
    links = {path: os.path.realpath(path) for path in _shown() if os.path.realpath(path) != path}
    mount("none", "/", None, _RECURSIVE | _PRIVATE)
    base = next(each for each in ("/tmp", "/mnt", "/srv", "/usr") if os.path.isdir(each))
    mount("tmpfs", base, b"tmpfs", 0, b"mode=755,size=256m")
    os.mkdir(f"{base}/old")
    os.chdir(base)
    check_result(libc.syscall(_PIVOT_ROOT[column], b".", b"old"), "pivot_root")
    os.chdir("/")
    done: list[str] = []
    for path in sorted([*real, *(each for each in _DEVICES if os.path.exists(f"/old{each}"))]):
        if beneath(path, done):
            continue
        if os.path.isdir(f"/old{path}"):
            os.makedirs(path, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            Path(path).touch()
        mount(f"/old{path}", path, None, _BIND | _RECURSIVE)
        done.append(path)
    for path, content in files.items():
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            Path(path).write_bytes(content)
            if path.endswith(".py"):
                py_compile.compile(path, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    for path, target in links.items():
        if not os.path.lexists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.symlink(target, path)
    check_result(libc.umount2(b"/old", _DETACH), "umount")
    os.rmdir("/old")
    attributes = (ctypes.c_uint64 * 4)(_READ_ONLY_NO_SUID, 0, 0, 0)
    check_result(
        libc.syscall(_MOUNT_SETATTR[column], -100, b"/", 0x8000, attributes, ctypes.c_size_t(32)), "mount_setattr"
    )
