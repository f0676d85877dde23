"""Whose turn it is, how soon a response may go out, and how often somebody may ask.

PROMISE. However much one caller sends, they hold at most their share of the places of a pool; with a share below the
number of places somebody else's request begins at once unless the remaining places are held by others. Whoever held
places for long lately (`Lately`) gets one at a time.
PROOF. `Turns` gives a place only to a name that holds fewer than the share, and gives free places to waiting names one
after the other, each name's own requests in their order. A name waits behind its own requests alone, and for places
that other names hold; each of these is given back within the limits of `tacit.serve.executors`.

Padding. How long an answer takes depends on the data. With ``padding`` = p seconds an answer, and every refusal of a
question, is sent at the next multiple of p after the question arrived, so that only ⌈time/p⌉ shows. A p above the time
limit of a question hides everything but a failure. The place is given back no sooner, so that whoever waits for it does
not tell; and what the same caller wants to see meanwhile waits until then, because budgets and histories would tell.
What counts as lately is how long places were held, so that it tells no more than they do.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from math import ceil, inf
from pathlib import Path
from typing import Any, Generic, TypeVar

from tacit.errors import TacitError

W = TypeVar("W")


class Busy(TacitError):
    """Too many requests; nothing was done."""


class Cancelled(TacitError):
    """Whoever asked took it back."""


STOPPING = "the gateway is stopping, and nothing was spent; ask again in a moment."
CANCELLED = "you cancelled this before it began, and nothing was spent."


class Lately:
    """How many seconds names held places lately: what is past counts half after `HALF` seconds, and so on."""

    HALF = 30.0

    def __init__(self, most: float = inf) -> None:
        """Above ``most`` seconds a name is greedy."""
        self._most = most
        self._known: dict[str, tuple[float, float, int]] = {}
        """For each name the sum, when it was that, and how many places it holds since then."""

    def seconds(self, name: str) -> float:
        """The sum as it is now."""
        taken, at, held = self._known.get(name, (0.0, 0.0, 0))
        passed = time.monotonic() - at
        return float(taken * 0.5 ** (passed / self.HALF)) + held * passed

    def greedy(self, name: str) -> bool:
        """Whether a name held places for long lately."""
        return self.seconds(name) > self._most

    def begins(self, name: str) -> None:
        """A name takes a place."""
        self._change(name, 1)

    def ends(self, name: str) -> None:
        """It gives one back."""
        self._change(name, -1)

    def _change(self, name: str, by: int) -> None:
        held = self._known[name][2] if name in self._known else 0
        self._known[name] = self.seconds(name), time.monotonic(), held + by


class Turns:
    """Places that names hold for a while, in turn."""

    def __init__(
        self, places: int, share: int, waiting: int, padding: float = 0.0, lately: Lately | None = None
    ) -> None:
        """``share`` places at most for one name, and always fewer than all; ``waiting`` requests of a name may wait."""
        self._padding, self.lately = padding, lately or Lately()
        self._over: dict[str, list[asyncio.Future[None]]] = {}
        self.places, self._free, self._waiting = places, places, waiting
        self._share = max(1, min(share, places - 1))
        self._held: Counter[str] = Counter()
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}
        self._closed = False

    @property
    def held(self) -> int:
        """How many places are taken."""
        return self._held.total()

    @property
    def queued(self) -> int:
        """How many requests wait."""
        return sum(map(len, self._queues.values()))

    @asynccontextmanager
    async def turn(self, name: str, since: float | None = None) -> AsyncIterator[None]:
        """A place, held until the block ends, and for what arrived ``since`` then until the padding is over.

        Raises `Busy` where too many of the same name wait.
        """
        if self._closed:
            raise Busy(STOPPING)
        if self._free and self._more(name):
            self._give(name)
        else:
            await self._queue(name)
        loop = asyncio.get_running_loop()
        over: asyncio.Future[None] = loop.create_future()
        self._over.setdefault(name, []).append(over)
        self.lately.begins(name)
        try:
            yield
        finally:
            if since is None or not self._padding:
                self._ended(name, over)
            else:
                loop.call_later(rest(since, self._padding), self._ended, name, over)

    def _ended(self, name: str, over: asyncio.Future[None]) -> None:
        self.lately.ends(name)
        over.set_result(None)
        self._over[name].remove(over)
        self._over = {key: left for key, left in self._over.items() if left}
        self._back(name)

    async def quiet(self, name: str) -> None:
        """Wait, where there is padding, until the places are given back that a name holds now."""
        if self._padding and (held := self._over.get(name)):
            await asyncio.wait(held)

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

    def _more(self, name: str) -> bool:
        """Whether a name may hold one more place."""
        return self._held[name] < (1 if self.lately.greedy(name) else self._share)

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
        return next((name for name in self._queues if self._more(name)), None)

    def refuse(self) -> None:
        """Send away all that wait, and whoever comes."""
        self._closed = True
        for queue in self._queues.values():
            for place in queue:
                if not place.done():
                    place.set_exception(Busy(STOPPING))
        self._queues = {}


def _without(line: deque[asyncio.Future[None]], place: asyncio.Future[None]) -> deque[asyncio.Future[None]]:
    return deque(other for other in line if other is not place)


@dataclass(eq=False)
class Ticket:
    """A piece of work that waits or is worked on, in the turn of a name."""

    name: str = ""
    task: asyncio.Task[Any] | None = None
    begun: bool = False
    cancelled: bool = False

    def cancel(self) -> None:
        """Take it back: one that waits is gone at once, one that is worked on is ended at the next look."""
        self.cancelled = True
        if not self.begun and self.task is not None:
            self.task.cancel()


class Pool(ABC, Generic[W]):
    """Work done in turn; a caller who goes away does not stop it, and one who says so does."""

    def __init__(self, turns: Turns, after: Turns | None = None) -> None:
        """Work of a name waits for what it holds of the turns ``after`` which it comes (`Turns.quiet`)."""
        self.turns, self._after = turns, after
        self._tasks: set[asyncio.Task[Any]] = set()
        self.tickets: dict[str, set[Ticket]] = {}
        """What can be cancelled, by the names it can be called."""

    async def run(self, name: str, work: W, called: Sequence[str] = (), since: float | None = None) -> Any:
        """What the work of a name returns; ``called`` says under which names it can be cancelled.

        Work that arrived ``since`` a time of `time.monotonic` is padded from then.
        """
        if self._after is not None:
            await self._after.quiet(name)
        ticket = Ticket(name)
        ticket.task = task = asyncio.create_task(self._in_turn(name, work, ticket, since))
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        for word in called:
            self.tickets.setdefault(word, set()).add(ticket)
            task.add_done_callback(partial(self._forget, word, ticket))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if ticket.cancelled and task.cancelled():
                raise Cancelled(CANCELLED) from None
            raise

    def cancel(self, word: str) -> None:
        """Take back what is called so, if there is anything."""
        for ticket in list(self.tickets.get(word, ())):
            ticket.cancel()

    def _forget(self, word: str, ticket: Ticket, _: object) -> None:
        self.tickets[word].discard(ticket)
        if not self.tickets[word]:
            del self.tickets[word]

    async def _in_turn(self, name: str, work: W, ticket: Ticket, since: float | None) -> Any:
        async with self.turns.turn(name, since):
            ticket.begun = True
            return await self._done(work, ticket)

    @abstractmethod
    async def _done(self, work: W, ticket: Ticket) -> Any:
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

    def __init__(self, turns: Turns, places: int, name: str, after: Turns | None = None) -> None:
        super().__init__(turns, after)
        self._pool = ThreadPoolExecutor(places, thread_name_prefix=name)

    async def _done(self, work: Callable[[], Any], ticket: Ticket) -> Any:
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
    if (left := rest(start, padding)) > 0:
        await asyncio.sleep(left)


def rest(start: float, padding: float) -> float:
    """Seconds until then."""
    passed = time.monotonic() - start
    return ceil(passed / padding) * padding - passed if padding > 0 else 0.0


class Pace:
    """A limit of requests a minute for each name: a bucket that refills evenly, one for all workers of a machine.

    Where there are several, each bucket is a small file that whoever takes from it locks: what is left, and when. Where
    there is one, buckets that are full again are forgotten when there are more than `MANY`.
    """

    MANY = 1000

    def __init__(self, per_minute: int, own: Mapping[str, int] | None = None, folder: Path | None = None) -> None:
        """``own`` are names with limits of their own; ``folder`` is where workers share their buckets."""
        self._most, self._own, self._folder = per_minute, own or {}, folder
        self._buckets: dict[str, tuple[float, float]] = {}
        if folder is not None:
            folder.mkdir(mode=0o700, exist_ok=True)

    def take(self, name: str) -> None:
        """Count one request, or refuse it."""
        most = float(self._own.get(name, self._most))
        if self._folder is None:
            if len(self._buckets) > self.MANY:
                past = time.monotonic() - 60
                self._buckets = {key: kept for key, kept in self._buckets.items() if kept[1] > past}
            self._buckets[name] = self._less(self._buckets.get(name, (most, time.monotonic())), most)
            return
        file = os.open(self._folder / sha256(name.encode()).hexdigest(), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            kept = os.pread(file, _BUCKET.size, 0)
            bucket = _BUCKET.unpack(kept) if len(kept) == _BUCKET.size else (most, time.monotonic())
            os.pwrite(file, _BUCKET.pack(*self._less(bucket, most)), 0)
        finally:
            os.close(file)

    @staticmethod
    def _less(bucket: tuple[float, float], most: float) -> tuple[float, float]:
        """A bucket after one more request."""
        now = time.monotonic()  # the same for all processes of a machine
        left = min(most, bucket[0] + max(now - bucket[1], 0.0) * most / 60)
        if left < 1:
            raise Busy("too many requests in a short time, and nothing was spent; slow down.")
        return left - 1, now


_BUCKET = struct.Struct("dd")
