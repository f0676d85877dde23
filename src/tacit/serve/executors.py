"""Executors: processes in which everything that a caller wrote is parsed, planned and computed, and which can be ended.

Python in a thread cannot be stopped, and one thread of it keeps all others waiting. So the process that serves HTTP
reads a bounded body and hands it on; executors (`tacit.serve.work`) do the rest, each one piece of work at a time.

PROMISE. (1) No work holds an executor for longer than its pool's seconds, or grows it beyond the pool's megabytes by
more than it can take in `GLANCE` seconds, whatever runs: Python, an engine, or code that has crashed. (2) No caller
waits for another's work except for places that several others hold at once (`tacit.serve.running.Turns`), each for at
most these seconds. (3) Nobody's work is ended for memory that was somebody else's, up to half of the limit.
PROOF. (1) The gateway watches from outside, by the clock and by what the system says of the process, and ends it with
SIGKILL, which no code can refuse (`tacit.serve.zygote`). The gateway itself runs nothing of a caller's, so it is always
there to watch. (2) An executor that was ended is replaced at once by a copy of the zygote. (3) An executor whose memory
stays above half of the limit after a piece of work is replaced before the next.

Who takes more than `LONG` seconds of a processor stands back for everybody else, so that short work stays quick on a
machine that somebody keeps busy; not far, because it may hold the ledger for a moment, which others wait for. Whoever
held places for more than `GREEDY` seconds lately stands back further, and from the beginning, and gets one place at a
time: many short pieces of work are one long one. A process cannot come forward again, so it is replaced afterwards, and
kept for whoever works far back: where a machine is too slow for everybody, nobody waits for new processes besides.

Whoever is ended after a charge has paid: the charge stands, and the gateway records that it failed, unless the outcome
had reached the ledger before. An executor says so before it begins to charge; of one that was ended before it said so
it is certain that nothing was spent, and the caller is told. Where the system does not say how large a process is (no
/proc), memory is limited by the engine alone.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from tacit.engines import FAILED, UNREACHABLE
from tacit.errors import EngineError, TacitError
from tacit.serve.running import CANCELLED, Cancelled, Pool, Ticket, Turns
from tacit.serve.wire import Parcel, read
from tacit.serve.work import ExecutorSetup, Work
from tacit.serve.zygote import Zygote

GLANCE = 0.05
"""Seconds between two looks at the memory of an executor that works."""
LONG = 1.0
"""Seconds of a processor after which work stands back, by `BACK` steps of niceness."""
BACK = 5
GREEDY = 5.0
"""Seconds of places lately, besides the padding, above which somebody's work is `FAR` steps back."""
FAR = 15
OPENING = 120.0
"""Seconds for opening all datasets: a Spark session may take long."""
GRACE = 10.0
"""Seconds in which a killed process is gone."""
UNFINISHED = (
    "this did not finish within the limits of the gateway, and nothing was spent; ask for less at once, or ask the "
    "custodian for higher limits."
)
"""What a caller is told whose work was ended before it could charge anything."""
TAKEN_BACK = (
    "you cancelled this question after it had begun to charge; what was charged stays charged, and counts as one that "
    "failed: see your history."
)
"""What a caller is told who cancelled a question that was being answered."""
_PAGE, _TICKS = os.sysconf("SC_PAGESIZE"), os.sysconf("SC_CLK_TCK")


class Unforeseen(Exception):
    """Something that nobody foresaw, of a kind that may be written down."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Stopped(Exception):
    """An executor was ended, or ended by itself, before it answered."""


@dataclass(frozen=True)
class Bounds:
    """What one piece of work may take."""

    seconds: float
    megabytes: int


class Executor:
    """The gateway's end of the line to one executor."""

    def __init__(self, zygote: Zygote, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._zygote, self._number, self._reader, self._writer = zygote, number, reader, writer
        self.setup: ExecutorSetup | None = None
        """What it was told first."""
        self._first: int | None = None
        self._steps = 0

    @property
    def fresh(self) -> bool:
        """Whether it stands where it was put."""
        return not self._steps

    @classmethod
    async def start(cls, zygote: Zygote, setup: ExecutorSetup) -> Executor:
        """A new one that has opened all datasets, or the reason why they cannot be opened."""
        reader, writer = await asyncio.open_unix_connection(sock=zygote.copy())
        executor = None
        try:
            async with asyncio.timeout(OPENING):
                writer.write(Parcel(body=pickle.dumps(setup)).pack())
                (number,) = struct.unpack(">I", await reader.readexactly(4))
                executor = cls(zygote, number, reader, writer)
                _raised(await read(reader))
                executor.setup = setup
        except BaseException as error:
            if executor is None:
                writer.close()
            else:
                await executor.end()
            if isinstance(error, TimeoutError | asyncio.IncompleteReadError | OSError):
                raise Stopped from None
            if isinstance(error, TacitError):  # its words are for the custodian: they may name files
                raise EngineError(f"{UNREACHABLE} Nothing was charged.") from None
            raise
        return executor

    async def answer(
        self,
        work: Work,
        bounds: Bounds,
        heard: Callable[[Mapping[str, Any] | None], object],
        over: Callable[[], bool] = lambda: False,
        greedy: Callable[[], bool] = lambda: False,
    ) -> Parcel:
        """What comes of a piece of work; whoever takes too long or too much is ended, or when it is ``over``."""
        loop, before = asyncio.get_running_loop(), self.worked
        end = loop.time() + bounds.seconds
        self._writer.write(Parcel(work).pack())
        reading = asyncio.create_task(self._reply(heard))
        try:
            while not (await asyncio.wait({reading}, timeout=min(GLANCE, max(end - loop.time(), 0.001))))[0]:
                if loop.time() >= end or self.megabytes > bounds.megabytes or over():
                    await self.end(reading)
                    break
                if greedy():
                    self.stand_back(FAR)
                elif self.worked - before > LONG:
                    self.stand_back(BACK)
            return await reading  # even of one just ended: what it said before then counts
        except (asyncio.IncompleteReadError, asyncio.CancelledError, OSError):
            await self.end()
            raise Stopped from None

    def stand_back(self, steps: int) -> None:
        """Give way to others, for good: so many steps from where it was put, and never fewer than before."""
        if steps <= self._steps:
            return
        self._steps = steps
        with suppress(OSError):  # of the group: on Linux that means all threads
            self._first = os.getpriority(os.PRIO_PROCESS, self._number) if self._first is None else self._first
            os.setpriority(os.PRIO_PGRP, self._number, min(self._first + steps, 19))

    async def _reply(self, heard: Callable[[Mapping[str, Any] | None], object]) -> Parcel:
        while True:
            message = await read(self._reader)
            if "charged" not in message.facts:
                return message
            heard(message.facts["charged"])

    @property
    def megabytes(self) -> float:
        """The memory that is this process's own; 0 where the system does not say."""
        try:
            with open(f"/proc/{self._number}/statm") as file:
                _, resident, shared, *_ = map(int, file.read().split())
        except (OSError, ValueError):
            return 0.0
        return (resident - shared) * _PAGE / 2**20

    @property
    def worked(self) -> float:
        """The seconds of processors that this process took; those of the clock where the system does not say."""
        try:
            with open(f"/proc/{self._number}/stat") as file:
                words = file.read().rpartition(")")[2].split()
        except OSError:
            return asyncio.get_running_loop().time()
        return (int(words[11]) + int(words[12])) / _TICKS

    @property
    def alive(self) -> bool:
        """Whether it can be given work."""
        return not self._reader.at_eof() and not self._writer.is_closing()

    async def end(self, reading: asyncio.Task[Any] | None = None) -> None:
        """Kill it, and wait until it is gone: until nobody holds the other end of the line."""
        if self._writer.is_closing():
            return
        self._zygote.kill(self._number)
        gone = reading or asyncio.create_task(self._reader.read())
        await asyncio.wait({gone}, timeout=GRACE)
        gone.cancel()
        self._writer.close()


class Executors(Pool[Work]):
    """Some executors for one kind of work, started when they are needed and replaced when they ended."""

    def __init__(
        self,
        turns: Turns,
        zygote: Zygote,
        setup: ExecutorSetup,
        bounds: Bounds,
        stopped: Callable[[Work, list[Mapping[str, Any]]], None],
        after: Turns | None = None,
    ) -> None:
        """``stopped`` hears of work that was ended, with what was charged."""
        super().__init__(turns, after)
        self._zygote, self._setup, self._bounds, self._stopped = zygote, setup, bounds, stopped
        self._spare: list[asyncio.Future[Executor]] = []
        self._behind: list[Executor] = []
        """Spare ones that stood back, for those who work far back anyway."""

    async def _done(self, work: Work, ticket: Ticket) -> Parcel:
        heard: list[Mapping[str, Any] | None] = []
        greedy = partial(self.turns.lately.greedy, ticket.name)
        try:
            executor = self._behind.pop() if self._behind and greedy() else await self._taken()
            if not executor.alive:  # ended by somebody while it had nothing to do
                executor = await self._started()
            spare = executor.fresh
            if greedy():
                executor.stand_back(FAR)
            message = await executor.answer(work, self._bounds, heard.append, lambda: ticket.cancelled, greedy)
        except Stopped:
            self._spare.append(self._started())
            await asyncio.to_thread(self._stopped, work, [charged for charged in heard if charged is not None])
            if ticket.cancelled:
                raise Cancelled(TAKEN_BACK if heard else CANCELLED) from None
            raise EngineError(FAILED if heard else UNFINISHED) from None
        await self._keep(executor, spare)
        _raised(message)
        return message

    def renew(self, setup: ExecutorSetup) -> None:
        """Have later work done by executors of another setup; what is being worked on goes on as it began."""
        if setup == self._setup:
            return
        spare = [*self._spare, *map(_ready, self._behind)]
        self._setup, self._spare, self._behind = setup, [], []
        for task in spare:
            ending = asyncio.ensure_future(_ended(task))
            self._tasks.add(ending)
            ending.add_done_callback(self._tasks.discard)

    def _taken(self) -> asyncio.Future[Executor]:
        """A spare executor, or a new one."""
        while self._spare:
            spare = self._spare.pop()
            if not (spare.done() and spare.exception()):
                return spare
        return self._started()

    def _started(self) -> asyncio.Future[Executor]:
        """An executor on its way; whoever takes it waits for it."""
        task = asyncio.create_task(Executor.start(self._zygote, self._setup))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task

    async def _keep(self, executor: Executor, spare: bool) -> None:
        """Put an executor back, or a fresh one in its place if it was a spare one."""
        good = executor.setup is self._setup and executor.alive and executor.megabytes <= self._bounds.megabytes / 2
        if good and executor.fresh:
            self._spare.append(_ready(executor))
            return
        if spare and len(self._spare) < self.turns.places:
            self._spare.append(self._started())
        if good and len(self._behind) < self.turns.places:
            self._behind.append(executor)
        else:
            await executor.end()

    async def close(self) -> None:
        """Wait for what is being worked on, then end all."""
        await super().close()
        for task in [*self._spare, *map(_ready, self._behind)]:
            await _ended(task)


def _ready(executor: Executor) -> asyncio.Future[Executor]:
    """An executor as one that is there already."""
    found: asyncio.Future[Executor] = asyncio.get_running_loop().create_future()
    found.set_result(executor)
    return found


async def _ended(task: asyncio.Future[Executor]) -> None:
    """End an executor, which may still be on its way."""
    with suppress(Exception):
        await (await task).end()


def _raised(message: Parcel) -> None:
    """Raise what went wrong there as it would have been raised here."""
    facts = message.facts
    if "unforeseen" in facts:
        raise Unforeseen(facts["unforeseen"])
    if "error" in facts:
        known = _kinds(TacitError)
        kind = next((known[name] for name in facts["error"] if name in known), TacitError)
        error = kind.__new__(kind)
        error.args = (facts["message"],)
        raise error


def _kinds(kind: type[TacitError]) -> dict[str, type[TacitError]]:
    """All errors of ours by their names."""
    found = {kind.__name__: kind}
    for below in kind.__subclasses__():
        found |= _kinds(below)
    return found
