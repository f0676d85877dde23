"""Questions block, so they run in threads: a few at once, some waiting, the rest asked to come back.

Padding. How long an answer takes depends on the data. With ``padding`` = p seconds an answer, and every refusal of a
question, is sent at the next multiple of p after the question arrived, so that only ⌈time/p⌉ shows. A p above the time
limit of two rounds hides everything but a failure.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from typing import TypeVar

from tacit.errors import TacitError

T = TypeVar("T")


class Busy(TacitError):
    """Too many requests; nothing was done."""


class Threads:
    """A pool of threads with a bounded queue."""

    def __init__(self, concurrency: int, waiting: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix=name)
        self._concurrency, self._most = concurrency, concurrency + waiting
        self.pending = 0

    @property
    def running(self) -> int:
        """How many are being worked on."""
        return min(self.pending, self._concurrency)

    async def run(self, work: Callable[[], T]) -> T:
        """What some blocking work returns; a caller who goes away does not stop it."""
        if self.pending >= self._most:
            raise Busy("the gateway is busy and nothing was spent; ask again in a few seconds.")
        self.pending += 1
        future = asyncio.get_running_loop().run_in_executor(self._pool, work)
        future.add_done_callback(self._done)
        return await asyncio.shield(future)

    def _done(self, future: asyncio.Future[T]) -> None:
        self.pending -= 1
        if not future.cancelled():
            future.exception()  # looked at, in case nobody waits any more

    def close(self) -> None:
        """Wait for what is being worked on: charged questions get their outcome written down."""
        self._pool.shutdown(wait=True, cancel_futures=True)


async def padded(start: float, padding: float) -> None:
    """Wait for the next multiple of the padding after ``start``, a time of `time.monotonic`."""
    if padding > 0:
        passed = time.monotonic() - start
        await asyncio.sleep(ceil(passed / padding) * padding - passed)


class Pace:
    """At most so many requests a minute for each name: a bucket that refills evenly."""

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
