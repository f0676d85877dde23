"""The zygote: a process that has loaded everything and holds nothing; executors are copies of it.

A process with threads cannot be copied safely, and a new Python takes a second to load the engines. So a gateway starts
one process that loads them, starts no thread and opens no data. It does two things: copy itself, and end its copies.

PROMISE. No executor outlives its gateway, keeps its rows on the disk, or can refuse to end.
PROOF. An executor is a process group of its own, ended by SIGKILL. The zygote waits for the gateway's socket; when the
gateway ends, in whatever way, that socket closes, and the zygote kills all copies, removes their folders and ends. If
the zygote itself is killed, the system ends its copies (PR_SET_PDEATHSIG, on Linux), and the gateway removes their
folders when it starts another zygote, or ends. What an engine puts on the disk is in a folder of its copy, which the
zygote removes when the copy has ended.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock

ENGINES = (
    *("numpy", "duckdb", "sqlglot.dialects.duckdb", "tacit.engines.duckdb.engine", "tacit.serve.work"),
    *("scipy.optimize", "scipy.sparse.csgraph"),  # which rows need a solver is not to be told by waiting for it
)
"""What is loaded before copies are made; none of it starts a thread."""
_BOOT = "import sys; sys.path[:] = {paths!r}; from tacit.serve.zygote import live; live{arguments!r}"
_ALONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_ORDER = struct.Struct(">cI")
_START, _KILL = b"s", b"k"
_GLANCE = 1.0
"""Seconds between two looks for copies that ended by themselves."""
_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of Linux."""


class Zygote:
    """The gateway's end of the line to its zygote, which is started when it is first needed."""

    def __init__(self, modules: Iterable[str] = ()) -> None:
        self._modules = (*ENGINES, *modules)
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._folders: list[str] = []
        """Where copies put what they need on the disk; that of the last zygote stands last."""
        self._lock = Lock()

    def start(self) -> None:
        """Load everything now rather than with the first question."""
        with self._lock:
            if self._control is None:
                self._boot()

    def copy(self) -> socket.socket:
        """A line to a new copy; the first four bytes on it are its number."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._order(_START, 0, [theirs.fileno()])
        return ours

    def kill(self, number: int) -> None:
        """End a copy and all it started; one that has ended already is left alone."""
        self._order(_KILL, number, [])

    def tidy(self) -> None:
        """Remove what zygotes left on the disk that were ended by somebody else; the others do it themselves."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._sweep()

    def _sweep(self) -> None:
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)
        self._folders = [folder for folder in self._folders if Path(folder).exists()]

    def _order(self, what: bytes, number: int, files: list[int]) -> None:
        message = _ORDER.pack(what, number)
        with self._lock:
            try:
                socket.send_fds(self._control or self._boot(), [message], files)
            except OSError:  # somebody ended the zygote, and its copies with it
                socket.send_fds(self._boot(), [message], files)

    def _boot(self) -> socket.socket:
        if self._control is not None and self._process is not None:
            self._control.close()
            self._process.kill()
            self._process.wait()
        self._sweep()
        folder = tempfile.mkdtemp(prefix="tacit-executors-")
        self._folders.append(folder)
        self._control, theirs = socket.socketpair()
        paths = [path or os.getcwd() for path in sys.path]
        own = {name: value for name, value in os.environ.items() if not name.startswith("TACIT_SERVE_")}  # no secret
        code = _BOOT.format(paths=paths, arguments=(theirs.fileno(), self._modules, folder))
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=own | _ALONE,
                process_group=0,  # an interrupt of the terminal is for the gateway; the session, and so nice, is shared
            )
        return self._control


@cache
def shared_zygote() -> Zygote:
    """The one zygote of this process."""
    return Zygote()


def live(descriptor: int, modules: Iterable[str], place: str) -> None:
    """The life of a zygote, whose copies have their folders in a place."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)  # the gateway decides when it is over
    control, folder = socket.socket(fileno=descriptor), Path(place)
    for module in modules:
        if _over(control):
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(0)
        import_module(module)
    import_module("tacit.proofs").fingerprint()  # read once for all copies
    gc.collect()
    gc.freeze()  # so that copies share their pages for long
    copies: set[int] = set()
    control.settimeout(_GLANCE)
    try:
        while True:
            with suppress(TimeoutError):
                message, files, _, _ = socket.recv_fds(control, _ORDER.size, 1)
                if not message:
                    break
                what, number = _ORDER.unpack(message)
                if what == _START:
                    copies.add(_copied(control, files, folder))
                elif number in copies:
                    _killed(number)
            copies = {number for number in copies if not _gone(number, folder)}
    finally:
        for number in copies:
            _killed(number)
            with suppress(ChildProcessError):
                os.waitpid(number, 0)
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)  # nothing else is to be put away


def _over(control: socket.socket) -> bool:
    """Whether the gateway has ended already."""
    try:
        return not control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False


def _copied(control: socket.socket, files: list[int], folder: Path) -> int:
    """Copy this process; the copy never comes back from here."""
    parent = os.getpid()
    number = os.fork()
    if number:
        with suppress(OSError):
            os.setpgid(number, number)
        for file in files:
            os.close(file)
        return number
    try:
        os.setpgid(0, 0)
        _die_with(parent)
        control.close()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what a library complains of may show rows
        own = folder / str(os.getpid())
        own.mkdir(mode=0o700)
        tempfile.tempdir = str(own)
        line = socket.socket(fileno=files[0])
        line.sendall(struct.pack(">I", os.getpid()))
        from tacit.serve.work import serve

        serve(line)
    finally:
        os._exit(0)


def _die_with(parent: int) -> None:
    """End when the parent does."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def _killed(number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(number, signal.SIGKILL)


def _gone(number: int, folder: Path) -> bool:
    """Whether a copy has ended; then nothing of it stays."""
    try:
        ended = os.waitpid(number, os.WNOHANG)[0] == number
    except ChildProcessError:
        ended = True
    if ended:
        shutil.rmtree(folder / str(number), ignore_errors=True)
    return ended
