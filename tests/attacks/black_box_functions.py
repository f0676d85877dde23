"""A function that passes on what it has seen: every way there is to leave a mark for another call, or to find one.

Its records are the name of a way, and 13 where the victim is inside. It then leaves a mark; in any case it looks for
one.
"""

import ctypes
import fcntl
import mmap
import os
import pickle
import resource
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAME = "tacit-black-box-channel"
PORT = 47_813
SHARED = mmap.mmap(-1, 8)  # memory that copies of this process share, as they share pipes
try:
    LISTEN, TELL = os.pipe()
    os.set_blocking(LISTEN, False)
except OSError:
    LISTEN = TELL = -1
LIBC = ctypes.CDLL(None, use_errno=True)
KEPT: list[Any] = []


def made(path: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """A directory, or a file."""
    return lambda: os.mkdir(path), lambda: os.path.exists(path)


def started(number: int) -> int:
    """The number of a process or thread started now, less that of this one."""
    done: list[int] = []
    thread = threading.Thread(target=lambda: done.append(threading.get_native_id()))
    thread.start()
    thread.join()
    return done[0] - number


def many_threads() -> None:
    for _ in range(300):
        started(0)


def shm(flags: int) -> int:
    found: int = LIBC.shmget(0x13131313, 4096, flags)
    return found


def listen_abstract() -> None:
    KEPT.append(socket.socket(socket.AF_UNIX))
    KEPT[-1].bind(f"\0{NAME}")
    KEPT[-1].listen()


def connect_abstract() -> bool:
    socket.socket(socket.AF_UNIX).connect(f"\0{NAME}")
    return True


def listen_loopback() -> None:
    KEPT.append(socket.socket())
    KEPT[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    KEPT[-1].bind(("127.0.0.1", PORT))
    KEPT[-1].listen()


def connect_loopback() -> bool:
    socket.create_connection(("127.0.0.1", PORT), timeout=1)
    return True


def lock() -> None:
    KEPT.append(os.open(os.__file__, os.O_RDONLY))
    fcntl.flock(KEPT[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)


def locked() -> bool:
    descriptor = os.open(os.__file__, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def others() -> list[int]:
    """Processes whose name says that they are marked."""
    return [
        int(place.name)
        for place in Path("/proc").iterdir()
        if place.name.isdigit() and int(place.name) != os.getpid() and (place / "comm").read_text().strip() == NAME[:15]
    ]


def named() -> None:
    LIBC.prctl(15, NAME[:15].encode(), 0, 0, 0)


def signalled() -> bool:
    """Whether a marked process, or anybody near this one, takes a signal."""
    near = [pid for pid in range(max(2, os.getpid() - 300), os.getpid() + 300) if pid != os.getpid()]
    for pid in near:
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, PermissionError):
            continue
        return True
    return False


def key(create: bool) -> bool:
    if create:
        return bool(LIBC.syscall(248, b"user", NAME.encode(), b"x", 1, -4) > 0)
    return bool(LIBC.syscall(250, 10, -4, b"user", NAME.encode(), 0) > 0)


def escape() -> None:
    """Leave a process behind that listens, in a session of its own."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            listen_abstract()
            time.sleep(4)
        os._exit(0)
    time.sleep(0.2)


def copy() -> None:
    if os.fork() == 0:
        os._exit(0)


def done(work: Callable[[], Any]) -> bool:
    """Whether it did not fail."""
    work()
    return True


def parent_memory() -> bool:
    with open(f"/proc/{os.getppid()}/maps") as maps:
        return bool(maps.read())


WAYS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "directory": made(f"/tmp/{NAME}"),
    "file": (lambda: open(f"/tmp/{NAME}.file", "x").close(), lambda: os.path.exists(f"/tmp/{NAME}.file")),
    "shared memory file": made(f"/dev/shm/{NAME}"),
    "time of a file": (lambda: os.utime(__file__, (13, 13)), lambda: os.stat(__file__).st_mtime == 13),
    "System V memory": (lambda: shm(0o1666), lambda: shm(0) >= 0),
    "memory shared by copies": (lambda: SHARED.__setitem__(0, 13), lambda: SHARED[0] == 13),
    "kept descriptor": (lambda: os.write(TELL, b"x"), lambda: bool(os.read(LISTEN, 1))),
    "flags of standard output": (lambda: os.set_blocking(1, False), lambda: not os.get_blocking(1)),
    "numbers of processes": (many_threads, lambda: os.getpid() > 300 or started(os.getpid()) > 300),
    "key": (lambda: key(True), lambda: key(False)),
    "host name": (lambda: socket.sethostname("marked"), lambda: socket.gethostname() == "marked"),
    "process left behind": (escape, connect_abstract),
    "priority": (lambda: os.setpriority(os.PRIO_USER, 0, 3), lambda: os.getpriority(os.PRIO_USER, 0) == 3),
    "limits of the parent": (
        lambda: resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (100, 100)),
        lambda: resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 100,
    ),
    "affinity of the parent": (
        lambda: os.sched_setaffinity(os.getppid() or 1, {0}),
        lambda: os.sched_getaffinity(0) == {0} and (os.cpu_count() or 1) > 1,
    ),
}
"""Marks that outlive the call, how to leave one and how to find it."""

MEANWHILE: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "lock": (lock, locked),
    "abstract socket": (listen_abstract, connect_abstract),
    "loopback": (listen_loopback, connect_loopback),
    "processes": (named, lambda: bool(others())),
    "signal": (named, signalled),
}
"""Marks that are there as long as the call is."""

REACH: dict[str, Callable[[], Any]] = {
    "memory of the parent": parent_memory,
    "another signal": lambda: done(lambda: os.kill(os.getppid(), signal.SIGTERM)),
    "data beside the module": lambda: bool((Path(__file__).parent / "test_black_box_channels.py").read_bytes()),
    "passwords": lambda: bool(Path("/etc/passwd").read_bytes()),
    "environment": lambda: any("TACIT" in name for name in os.environ),
    "new process": lambda: done(copy),
    "writable directory": lambda: bool(tempfile.gettempdir()),
    "load of the machine": lambda: LIBC.sysinfo(ctypes.create_string_buffer(512)) == 0,
    "what the interpreter holds": lambda: any("control" in frame.f_locals for frame in frames()),
}
"""What a call must not reach at all."""


def frames() -> list[Any]:
    frame: Any = sys._getframe()
    found = []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return [
        each for each in found if each.f_locals.get("control") is not None and each.f_locals["control"].fileno() >= 0
    ]


def found(look: Callable[[], Any]) -> bool:
    try:
        return bool(look())
    except BaseException:
        return False


def gossip(records: list[Any]) -> int:
    """9 where a mark is found, 3 where there is none."""
    if not records:
        return 3
    way, marked = records[0], 13 in records
    leave, look = (str, REACH[way]) if way in REACH else (WAYS | MEANWHILE)[way]
    before = found(look)
    if marked:
        found(leave)
    if way in MEANWHILE and marked:
        time.sleep(1.5)
    return 9 if before else 3


def directory(records: list[int]) -> int:
    """High for every group once a call has seen 13: the issue's own reproduction."""
    place = f"/tmp/{NAME}-{os.getuid()}"
    if 13 in records:
        with_mark = found(lambda: done(lambda: os.mkdir(place)))
        return 9 if with_mark else 3
    return 9 if os.path.exists(place) else 3


def take_over() -> Any:
    """Replace how calls are answered and processes copied, as soon as it is loaded."""
    import tacit.black_boxes.evaluator as evaluator

    seen: list[Any] = []

    def alone(self: Any, blobs: list[bytes]) -> list[int]:
        seen.extend(blobs)
        return [9 if pickle.dumps(13) in seen else 3]

    evaluator.Evaluator.alone = alone  # type: ignore[method-assign, assignment]
    os.fork = lambda: 0
    return Takeover()


class Takeover:
    """Loaded by a call of the above."""

    def __reduce__(self) -> Any:
        return take_over, ()

    def __call__(self, records: list[Any]) -> int:
        return 3
