"""Each process goes along with what the custodian does, in whichever process that was done.

PROMISE. A request that arrives after an act was recorded is decided with that act known: a revoked token is refused, a
new one is let in. PROOF. Before a request is looked at, the acts are read once more, by a look that began after the
request arrived; requests that arrive while a look is under way share the next one. Questions are guarded besides: each
of their charges looks at the acts in its own transaction (`Gateway.ask`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.serve.gateway import Gateway


class Following:
    """Looks at the acts for one process, by a thread that has nothing else to do."""

    def __init__(self, gateway: Gateway, changed: Callable[[], None]) -> None:
        """``changed`` is called, in the event loop, after the gateway went along with something."""
        self._gateway, self._changed = gateway, changed
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="following")
        self._now: asyncio.Task[None] | None = None
        self._next: asyncio.Task[None] | None = None

    async def follow(self) -> None:
        """Go along with everything that was recorded before this call."""
        if self._next is None:
            self._next = asyncio.create_task(self._look(self._now))
            self._next.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.shield(self._next)

    async def _look(self, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait({before})
        self._now, self._next = self._next, None
        if await asyncio.get_running_loop().run_in_executor(self._pool, self._gateway.follow):
            self._changed()

    def close(self) -> None:
        """Stop the thread."""
        self._pool.shutdown()
