"""Whose turn it is, how soon a response may go out, and how often somebody may ask.

PROMISE. However much one caller sends, they hold at most their share of the places of a pool; with a share below the
number of places somebody else's request begins at once unless the remaining places are held by others.
PROOF. `Turns` gives a place only to a name that holds fewer than the share, and gives free places to waiting names one
after the other, each name's own requests in their order. A name waits behind its own requests alone, and for places
that other names hold; each of these is given back within the limits of `tacit.serve.executors`.

Padding. How long an answer takes depends on the data. With ``padding`` = p seconds an answer, and every refusal of a
question, is sent at the next multiple of p after the question arrived, so that only ⌈time/p⌉ shows. A p above the time
limit of a question hides everything but a failure.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from math import ceil
from typing import Any, Generic, TypeVar

from tacit.errors import TacitError

W = TypeVar("W")


class Busy(TacitError):
    """Too many requests; nothing was done."""


class Turns:
    """Places that names hold for a while, in turn."""

    def __init__(self, places: int, share: int, waiting: int) -> None:
        """``share`` places at most for one name, and always fewer than all; ``waiting`` requests of a name may wait."""
        self._free, self._waiting = places, waiting
        self._share = max(1, min(share, places - 1))
        self._held: Counter[str] = Counter()
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}

    @property
    def held(self) -> int:
        """How many places are taken."""
        return self._held.total()

    @property
    def queued(self) -> int:
        """How many requests wait."""
        return sum(map(len, self._queues.values()))

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        """A place, held until the block ends; `Busy` where too many of the same name wait."""
        if self._free and self._held[name] < self._share:
            self._give(name)
        else:
            await self._queue(name)
        try:
            yield
        finally:
            self._back(name)

    async def _queue(self, name: str) -> None:
        queue = self._queues.setdefault(name, deque())
        if len(queue) >= self._waiting:
            raise Busy("too many of your requests are waiting, and nothing was spent; ask again in a few seconds.")
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self._queues = {key: kept for key, line in self._queues.items() if (kept := _without(line, place))}
            else:
                self._back(name)
            raise

    def _give(self, name: str) -> None:
        self._free -= 1
        self._held[name] += 1

    def _back(self, name: str) -> None:
        self._free += 1
        self._held[name] -= 1
        self._held += Counter()  # forget who holds nothing
        while self._free and (chosen := self._next()) is not None:
            queue = self._queues.pop(chosen)
            place = queue.popleft()
            if queue:
                self._queues[chosen] = queue  # behind all others
            if not place.done():
                self._give(chosen)
                place.set_result(None)

    def _next(self) -> str | None:
        """The name whose turn it is."""
        return next((name for name in self._queues if self._held[name] < self._share), None)

    def refuse(self) -> None:
        """Send away all that wait."""
        for queue in self._queues.values():
            for place in queue:
                if not place.done():
                    place.set_exception(Busy("the gateway is stopping, and nothing was spent; ask again later."))
        self._queues = {}


def _without(line: deque[asyncio.Future[None]], place: asyncio.Future[None]) -> deque[asyncio.Future[None]]:
    return deque(other for other in line if other is not place)


class Pool(ABC, Generic[W]):
    """Work done in turn; a caller who goes away does not stop it."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(self, name: str, work: W) -> Any:
        """What the work of a name returns."""
        task = asyncio.create_task(self._in_turn(name, work))
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    async def _in_turn(self, name: str, work: W) -> Any:
        async with self.turns.turn(name):
            return await self._done(work)

    @abstractmethod
    async def _done(self, work: W) -> Any:
        """Do a piece of work whose turn it is."""

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, in case nobody waits any more

    async def close(self) -> None:
        """Wait for what is being worked on: charged questions get their outcome written down."""
        self.turns.refuse()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class Threads(Pool[Callable[[], Any]]):
    """Threads of this process, for what is quick and was not written by a caller: ledgers, files, public facts."""

    def __init__(self, turns: Turns, places: int, name: str) -> None:
        super().__init__(turns)
        self._pool = ThreadPoolExecutor(places, thread_name_prefix=name)

    async def _done(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def close(self) -> None:
        """Wait for what is being worked on."""
        await super().close()
        self._pool.shutdown()


class SharedLook:
    """One look for all who want it at the same time, by a thread that has nothing else to do.

    So whoever asks holds nobody's place and waits in nobody's queue, and many who ask make no more work than one.
    """

    def __init__(self, work: Callable[[], Any], name: str) -> None:
        self._work = work
        self._now: asyncio.Future[Any] | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def run(self) -> None:
        """Look, or wait for the look that somebody began; raises what it raises."""
        if self._now is None or self._now.done():
            self._now = asyncio.get_running_loop().run_in_executor(self._pool, self._work)
            self._now.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.shield(self._now)

    def close(self) -> None:
        """Stop the thread."""
        self._pool.shutdown()


async def pad(start: float, padding: float) -> None:
    """Wait for the next multiple of the padding after ``start``, a time of `time.monotonic`."""
    if padding > 0:
        passed = time.monotonic() - start
        await asyncio.sleep(ceil(passed / padding) * padding - passed)


class Pace:
    """A limit of requests a minute for each name: a bucket that refills evenly."""

    def __init__(self, per_minute: int) -> None:
        self._rate, self._most = per_minute / 60, float(per_minute)
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, name: str) -> None:
        """Count one request, or refuse it."""
        now = time.monotonic()
        left, last = self._buckets.get(name, (self._most, now))
        left = min(self._most, left + (now - last) * self._rate)
        if left < 1:
            raise Busy("too many requests in a short time, and nothing was spent; slow down.")
        self._buckets[name] = (left - 1, now)
