"""The process in which a function runs: a clean interpreter that knows the function and the grid, and no data.

*Alone*: for every call the process forks; the child reads the group's records from a socket of its own, calls the
function, answers with places on the grid and is killed with all it started. It holds no record but the group's, and
nothing it does to its memory outlives it. *Together*: records are sent once, and calls follow one another in the
process itself; answers come after every quarter of a second.

Here is what both share, and the process for functions that are trusted to keep nothing between calls. What they print
is thrown away, files cannot grow, memory is limited; that is no sandbox. Functions that nobody trusts are called alone,
by `confined`.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import resource
import signal
import socket
import struct
import sys
import time
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import compress
from types import FrameType
from typing import Any, NoReturn, Protocol, runtime_checkable

from tacit.black_boxes.namespaces import lower
from tacit.black_boxes.subsets import missing_sets
from tacit.black_boxes.values import place, place_below, places
from tacit.grids import Grid

SLICE = 0.25
"""Seconds after which calls made together are answered."""

PLAIN = (int, float, str, bytes, bool, type(None))
"""Records of these types, and tuples of them, cannot be changed by a function."""


@runtime_checkable
class Incremental(Protocol):
    """A function that persons can be added to and removed from, one at a time; it starts with nobody.

    Its value must depend on who is inside alone, not on how they came: count in whole numbers or fractions.
    """

    def add(self, record: Any) -> None:
        """Let a person in."""

    def remove(self, record: Any) -> None:
        """Let a person go."""

    def value(self) -> Any:
        """The value for those inside."""


@dataclass(frozen=True)
class EvaluatorSetup:
    """All that an evaluator knows before data arrive."""

    function: bytes
    """The pickled function."""
    grids: tuple[Grid, ...]
    vector: bool
    """Whether the function returns one number for each grid."""
    template: bytes | None
    """Where records are data frames, to be put together into one: an empty one, pickled."""
    seconds: float
    memory: int
    trusted: bool
    """Whether calls may share a process, its files and its rights."""
    path: tuple[str, ...] = ()
    """Where modules are found."""
    modules: tuple[str, ...] | None = None
    """The modules that a first evaluator found the function to use; None asks for them."""
    below: bool = False
    """Whether values are rounded down, and those beyond the grid's ends are its ends, as for a monotone function."""


class _TooLongError(BaseException):
    """A call exceeded its time; not an Exception, so that few functions catch it."""


class Evaluator:
    """The function, ready to be called."""

    def __init__(self, setup: EvaluatorSetup) -> None:
        self.setup = setup
        self.function = pickle.loads(setup.function)
        self._incremental = isinstance(self.function, Incremental)
        self._place = lru_cache(maxsize=2**14, typed=True)(
            partial(place_below if setup.below else place, setup.grids[0])
        )
        self._records: list[Any] = []
        self._inside: list[int] | None = None  # who is inside an incremental function, None after a failure
        self._running: Any = None

    def warm_up(self) -> None:
        """Call the function once with nobody, so that what it imports is loaded before processes are copied."""
        signal.signal(signal.SIGALRM, _interrupt)
        with suppress(BaseException):
            self._limited(lambda: self._value(()))

    def alone(self, blobs: Sequence[bytes]) -> list[int]:
        """The places of the function's value on pickled records."""
        return self._placed(self._value([pickle.loads(blob) for blob in blobs]))

    def load(self, blobs: Sequence[bytes]) -> None:
        """Keep everybody's records for calls that are made together."""
        records = [pickle.loads(blob) for blob in blobs]
        fixed = self._incremental or all(_fixed(record) for record in records)
        self._records, self._fixed = (records, True) if fixed else (list(blobs), False)
        self._inside = None

    def together(self, missing: int, start: int, stop: int) -> array[int]:
        """The places for consecutive sets of missing persons, as many as fit into a slice of time."""
        found, end = array("q"), time.monotonic() + SLICE
        for absent in missing_sets(len(self._records), missing, start, stop):
            found.append(self._one(absent))
            if time.monotonic() > end:
                break
        return found

    def _one(self, absent: list[int]) -> int:
        keep = [1] * len(self._records)
        for person in absent:
            keep[person] = 0
        try:
            value = self._limited(lambda: self._subset(keep))
            return self._place(value) if type(value) in (int, float) else self._placed(value)[0]
        except BaseException:
            self._inside = None
            return 0

    def _subset(self, keep: list[int]) -> Any:
        if self._incremental:
            return self._moved(keep)
        kept = compress(self._records, keep)
        return self._value(list(kept) if self._fixed else [pickle.loads(blob) for blob in kept])

    def _moved(self, keep: list[int]) -> Any:
        """Let persons in and out of the running function until those inside are the ones kept."""
        if self._inside is None:
            self._running, self._inside = pickle.loads(self.setup.function), [0] * len(keep)
        inside, self._inside = self._inside, None
        for person, (now, then) in enumerate(zip(inside, keep, strict=True)):
            if then > now:
                self._running.add(self._records[person])
            elif now > then:
                self._running.remove(self._records[person])
        self._inside = keep
        return self._running.value()

    def _value(self, records: Sequence[Any]) -> Any:
        if self._incremental:
            for record in records:
                self.function.add(record)
            return self.function.value()
        return self.function(list(records) if self.setup.template is None else self._framed(records))

    def _framed(self, frames: Sequence[Any]) -> Any:
        import pandas as pd

        assert self.setup.template is not None
        return pd.concat([pickle.loads(self.setup.template), *frames], ignore_index=True)

    def _placed(self, value: Any) -> list[int]:
        return places(self.setup.grids, value, self.setup.vector, self.setup.below)

    def _limited(self, call: Any) -> Any:
        """A call that is interrupted when its time is over, again and again if it goes on."""
        signal.setitimer(signal.ITIMER_REAL, self.setup.seconds, self.setup.seconds)
        try:
            return call()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def _fixed(record: Any) -> bool:
    return type(record) in PLAIN or (type(record) is tuple and all(map(_fixed, record)))


# ---- the process ------------------------------------------------------------------------------------------------


def send(connection: socket.socket, message: bytes) -> None:
    """A message with its length."""
    connection.sendall(struct.pack("!Q", len(message)) + message)


def receive(read: Callable[[int], bytes]) -> bytes:
    """Read a message that `send` sent; EOFError where it is cut short."""
    (length,) = struct.unpack("!Q", _exactly(read, 8))
    return _exactly(read, length)


def _exactly(read: Callable[[int], bytes], length: int) -> bytes:
    chunks = []
    while length:
        chunk = read(min(length, 1 << 20))
        if not chunk:
            raise EOFError
        chunks.append(chunk)
        length -= len(chunk)
    return b"".join(chunks)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise _TooLongError


def serve(descriptor: int) -> None:
    """Answer on a control socket until it closes: "+" when ready, "-" when the function cannot be loaded.

    "!" and what is lacking where a function that nobody trusts cannot be confined.
    """
    control = socket.socket(fileno=descriptor)
    os.set_inheritable(descriptor, False)
    setup: EvaluatorSetup = pickle.loads(receive(control.recv))
    if not setup.trusted:
        from tacit.black_boxes.confined import serve_confined

        serve_confined(control, setup)
        return
    try:
        evaluator = Evaluator(setup)
    except BaseException:
        send(control, b"-")
        return
    evaluator.warm_up()
    gc.freeze()  # a collection in a child would touch, and so copy, all that is loaded here
    limit_memory(setup.memory, memory_used())
    send(control, b"+")
    child = 0
    while True:
        kind, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if kind == b"c":
            child = os.fork()
            if not child:
                control.close()
                os.setpgid(0, 0)
                if _PRCTL is not None:
                    _PRCTL(1, signal.SIGKILL)
                answer_alone(lambda: evaluator, descriptors[0])
            os.close(descriptors[0])
        elif kind == b"d":
            end(child)
            child = 0
            control.sendall(b".")
        elif kind == b"l":
            evaluator.load(pickle.loads(receive(control.recv)))
        elif kind == b"t":
            send(control, evaluator.together(*pickle.loads(receive(control.recv))).tobytes())
        else:
            if child:
                end(child)
            return


_PRCTL = getattr(ctypes.CDLL(None), "prctl", None)
"""Linux only: lets a child end when its parent does."""


def answer_alone(load: Callable[[], Evaluator], descriptor: int) -> NoReturn:
    """Load the function, then read a group's records, and answer with the places of its value, in a line, and end."""
    try:
        evaluator = load()
        answer = " ".join(map(str, evaluator.alone(pickle.loads(receive(partial(os.read, descriptor))))))
    except BaseException:
        answer = ""
    try:
        os.write(descriptor, f"{answer}\n".encode())
    finally:
        os._exit(0)


def end(child: int) -> None:
    """Kill a child and what it started in its group, and wait for it."""
    for kill in (os.killpg, os.kill):
        with suppress(OSError):  # gone, or it left its group
            kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def memory_used() -> int:
    """The bytes of memory in use, where the system tells."""
    if sys.platform != "linux":
        return 0
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[0]) * resource.getpagesize()


def limit_memory(memory: int, used: int) -> None:
    """Allow ``memory`` bytes beyond what is in use; no file may grow, no crash leaves a core."""
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_FSIZE, 0)
    if sys.platform == "linux":
        lower(resource.RLIMIT_AS, used + memory)
