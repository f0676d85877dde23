"""Connections: how many there may be, and how long they may keep us waiting.

PROMISE. A worker has at most `most()` connections, so whoever opens more takes no file from its ledger, its executors
or its data. A connection that does not bring a whole request within `ARRIVAL` seconds, or does not take its response
within `TAKING`, is closed. Whoever has sent a whole request is not put out by others who have not. What is no HTTP
leaves no line in a log: whoever sends it would fill a disk, or stop us where nobody reads what we print.
PROOF. Each connection is looked at every `ARRIVAL` seconds from its first moment, or from its last response; what it
sends does not put that off. One too many puts out the oldest that has no whole request, or itself if there is none.
(uvicorn's own ``limit_concurrency`` refuses requests, not connections: those who only connect would shut out all.)
"""

from __future__ import annotations

import asyncio
import logging
import resource
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

ARRIVAL = 10.0
"""Seconds in which a request arrives whole."""
TAKING = 60.0
"""Seconds for which somebody may take nothing of a response."""
MOST = 1_000
"""The most connections of a worker where the system allows many open files; else half of these."""


def most() -> int:
    """How many connections a worker may have."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST if allowed == resource.RLIM_INFINITY else min(MOST, max(allowed // 2, 1))


_OWN_MISTAKES = logging.getLogger("tacit.serve")
"""Where a mistake of ours is said; a caller's is not."""
_OWN_MISTAKES.setLevel(logging.ERROR)


class Connection(H11Protocol):
    """One connection, bounded."""

    _look: asyncio.TimerHandle | None = None
    _untaken = 0.0
    """For how long nothing was taken of a response that waits."""
    _waiting = 0
    """How many bytes of it waited at the last look."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; put out the oldest idle one if there are too many."""
        self.logger = _OWN_MISTAKES
        super().connection_made(transport)
        self.begun = self.loop.time()
        self._again()
        if len(self.connections) > most():
            mine = [each for each in self.connections if isinstance(each, Connection) and not each.busy]
            min(mine, key=lambda each: each.begun, default=self).put_out()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """The time for the next request begins."""
        self._again()
        super().on_response_complete()

    @property
    def busy(self) -> bool:
        """Whether a whole request is being answered."""
        return self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete

    def put_out(self) -> None:
        """Close at once, whatever has not been sent."""
        self.connections.discard(self)
        self.transport.abort()

    def _again(self) -> None:
        if self._look is not None:
            self._look.cancel()
        self._look = self.loop.call_later(ARRIVAL, self._looked)

    def _looked(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        self._untaken = self._untaken + ARRIVAL if waiting and waiting >= self._waiting else 0.0
        self._waiting = waiting
        if self._untaken >= TAKING or not (waiting or self.busy):
            self.put_out()
        else:
            self._again()


SETTINGS: dict[str, Any] = {
    "http": Connection,
    "ws": "none",
    "h11_max_incomplete_event_size": 16_384,  # the line of a request and its headers
    "backlog": 100,  # so few are taken before they are counted
    "timeout_keep_alive": 5,
    "server_header": False,
}
"""How uvicorn listens."""
