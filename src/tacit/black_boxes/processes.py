"""Evaluators at work: processes that are started, fed, timed, restarted and ended.

Whatever an evaluator does (dies, hangs, answers nonsense), the call's place is the grid's bottom and the next call goes
on; nothing is raised that depends on data. Only that the function cannot be sent to another process is an error, found
before anything is charged, or that the system cannot confine it.

A call that nobody trusts cannot end or disturb the evaluator (`namespaces`), so no call changes what the next answers.
Should the machine end one (for lack of memory, say), the call is made once more by a new one of the same public setup.
"""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from importlib import import_module
from types import TracebackType
from typing import Any, Self, TypeVar

from tacit.black_boxes.evaluator import SLICE, EvaluatorSetup, Incremental, receive, send
from tacit.black_boxes.namespaces import NAME
from tacit.errors import InvalidInput
from tacit.numbers.exact import positive, whole

T = TypeVar("T")

START = 120.0
"""Seconds in which an evaluator must have loaded the function."""

LONGEST = 86_400
"""The longest time limit of one call, in seconds."""

LACKING = (
    "f cannot be kept apart from other calls, which needs {}; nothing was spent. If its author is honest and it keeps "
    "nothing between calls, say trusted=True."
)

GRACE = 5.0
"""Seconds beyond all limits after which an evaluator counts as stuck."""

PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "VIRTUAL_ENV")
"""What an evaluator sees of the environment, which may hold passwords."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_FIXED = {"PYTHONHASHSEED": "0"} | dict.fromkeys(_THREADS, "1")
"""So that all evaluators compute the same."""
_BOOT = "import sys; sys.path[:] = {path!r}; from tacit.black_boxes.evaluator import serve; serve({descriptor})"


def pack(thing: Any) -> bytes | None:
    """Anything as bytes, what the main program defines by value if cloudpickle is installed; None if that fails."""
    for name in ("pickle", "cloudpickle"):
        with suppress(Exception):
            data: bytes = import_module(name).dumps(thing)
            if name == "cloudpickle" or b"__main__" not in data:
                return data
    return None


def blob(record: Any) -> bytes:
    """A record as bytes; one that cannot be sent is None, whosever it is."""
    return pack(record) or pickle.dumps(None)


def pickle_function(function: Any) -> bytes:
    """A function as bytes; one that cannot be sent is refused."""
    if not callable(function) and not isinstance(function, Incremental):
        raise InvalidInput("f must be a function of a list of records, or an object with add, remove and value.")
    if (data := pack(function)) is not None:
        return data
    raise InvalidInput(
        "f cannot be sent to another process; nothing was spent. Define it in a module of its own, and let it hold no "
        "open files, connections or locks."
    )


def name_of(function: Any) -> str:
    """What a function is called."""
    return str(getattr(function, "__name__", type(function).__name__))


def describe_separation(trusted: bool) -> str:
    """What keeps calls apart, in a sentence."""
    if trusted:
        return "The function is trusted to depend on the records of its group alone."
    return f"Every call ran in {NAME}; the promise is for functions that read no clock."


def limits(time_limit: float, memory_limit: int, workers: int | None) -> tuple[float, int, int]:
    """Seconds and bytes for each call, and how many processes."""
    seconds = float(positive(time_limit, "time_limit"))
    if seconds > LONGEST:
        raise InvalidInput(f"time_limit must be at most a day, {LONGEST} seconds.")
    count = default_workers() if workers is None else whole(workers, "workers", 1)
    return seconds, whole(memory_limit, "memory_limit", 2**24), count


def default_workers() -> int:
    """One for each processor this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


class Worker:
    """One evaluator and the line to it."""

    def __init__(self, setup: EvaluatorSetup) -> None:
        self._setup = replace(setup, path=tuple(path or os.getcwd() for path in sys.path))
        self._blobs: Sequence[bytes] | None = None
        self._closed = False
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ} | dict.fromkeys(
            _THREADS, "1"
        )
        self._control = ours
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _BOOT.format(path=list(self._setup.path), descriptor=theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment | _FIXED,
                start_new_session=True,  # an interrupt of the terminal is for us
            )
        try:
            ours.settimeout(START + self._setup.seconds)
            send(ours, pickle.dumps(self._setup))
            told = receive(ours.recv)
        except (OSError, EOFError):
            told = b"-"
        except BaseException:
            self.close()
            raise
        if not told.startswith(b"+"):
            self.close()
            if told.startswith(b"!"):
                raise InvalidInput(LACKING.format(told[1:].decode()))
            raise InvalidInput(
                "f could not be loaded in another process; nothing was spent. Define it in a module that can be "
                "imported there, together with all it uses."
            )
        self.modules = tuple(told[1:].decode().split())
        ours.settimeout(GRACE)

    def alone(self, blobs: Sequence[bytes]) -> list[int]:
        """The places of the function's value on pickled records, in a process of its own; the bottom if it fails.

        If the evaluator is gone afterwards the call is made once more: what an earlier call did to it must not show.
        """
        answer, alive = self._called(blobs)
        if not alive:
            self._restart()
            answer, alive = self._called(blobs)
            if not alive:
                self._restart()
        return self._checked(answer)

    def _called(self, blobs: Sequence[bytes]) -> tuple[bytes, bool]:
        """What a call answered, and whether the evaluator still lives."""
        answer = b""
        mine, theirs = socket.socketpair()
        with mine, suppress(OSError, MemoryError):  # out of time, gone, or too large to send
            with theirs:
                socket.send_fds(self._control, [b"c"], [theirs.fileno()])
            answer = _asked(mine, pickle.dumps(blobs), self._setup.seconds, 32 * len(self._setup.grids))
        with suppress(OSError):
            self._control.sendall(b"d")
            return answer, self._control.recv(1) == b"."
        return answer, False

    def load(self, blobs: Sequence[bytes]) -> None:
        """Send everybody's records, for calls made together."""
        self._blobs = blobs
        self._control.settimeout(None)
        self._control.sendall(b"l")
        send(self._control, pickle.dumps(blobs))

    def together(self, missing: int, start: int, stop: int) -> array[int] | None:
        """The places for the first of these sets of missing persons, one at least; None if the evaluator failed."""
        found = array("q")
        try:
            self._control.settimeout(SLICE + self._setup.seconds + GRACE)
            self._control.sendall(b"t")
            send(self._control, pickle.dumps((missing, start, stop)))
            found.frombytes(receive(self._control.recv))
        except (OSError, EOFError, ValueError):
            self._restart()
            return None
        grid = self._setup.grids[0]
        return array("q", (place if 0 <= place < grid.size else 0 for place in found))

    def _checked(self, answer: bytes) -> list[int]:
        grids = self._setup.grids
        try:
            found = [int(word) for word in answer.split()]
        except ValueError:
            found = []
        if len(found) != len(grids):
            return [0] * len(grids)
        return [place if 0 <= place < grid.size else 0 for place, grid in zip(found, grids, strict=True)]

    def _restart(self) -> None:
        if not self._closed:
            self._end()
            self._start()
            if self._blobs is not None:
                self.load(self._blobs)

    def close(self) -> None:
        """End the evaluator and the call it is at."""
        self._closed = True
        self._end()

    def _end(self) -> None:
        self._control.close()  # which it notices between calls, and then ends what it started
        try:
            self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _asked(connection: socket.socket, message: bytes, seconds: float, longest: int) -> bytes:
    """The line answered within the time, or what came of it."""
    end = time.monotonic() + seconds
    connection.settimeout(seconds)
    send(connection, message)
    line = b""
    while not line.endswith(b"\n") and len(line) <= longest and (left := end - time.monotonic()) > 0:
        connection.settimeout(left)
        chunk = connection.recv(longest)
        if not chunk:
            break
        line += chunk
    return line if line.endswith(b"\n") else b""


class Workers:
    """Several evaluators of one function."""

    def __init__(self, setup: EvaluatorSetup, count: int) -> None:
        self._stack = ExitStack()
        self._all: list[Worker] = []
        try:
            for _ in range(count):
                worker = Worker(setup)
                setup = replace(setup, modules=worker.modules)  # which need not be looked for again
                self._stack.callback(worker.close)
                self._all.append(worker)
        except BaseException:
            self._stack.close()
            raise

    def __len__(self) -> int:
        return len(self._all)

    def each(self, work: Callable[[Worker], None]) -> None:
        """Do something with every evaluator."""
        for worker in self._all:
            work(worker)

    def over(self, tasks: Iterable[T], work: Callable[[Worker, T], None]) -> None:
        """Give the tasks to whichever evaluator is free, until all are done or an interrupt comes."""
        waiting, lock, stopped = iter(tasks), threading.Lock(), threading.Event()
        failures: list[BaseException] = []

        def loop(worker: Worker) -> None:
            try:
                while not stopped.is_set():
                    with lock:
                        task = next(waiting, stopped)
                    if task is stopped:
                        return
                    work(worker, task)  # type: ignore[arg-type]
            except BaseException as failure:
                failures.append(failure)
                stopped.set()

        threads = [threading.Thread(target=loop, args=[worker], daemon=True) for worker in self._all]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.1)
        finally:
            stopped.set()
        if failures:
            raise failures[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
