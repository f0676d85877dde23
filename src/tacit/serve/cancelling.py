"""Cancelling a question of one's own, in whichever worker it waits or is worked on.

A question is called by the key that its sender gave it. A worker takes back what it has under that name, and notes the
name in a file that the others look at.

PROMISE. Cancelling tells nothing and gives nothing back. The response is the same whether or not there was such a
question. One that waits was not charged; one that was charged stays so, has no answer, and counts among the failures
that are allowed (`tacit.budgets.books`), so how long an answer took cannot be found out by cancelling at chosen moments
more often than questions may fail. What becomes of it is said to whoever asked, no sooner than the padding allows.
"""

from __future__ import annotations

import asyncio
import os
from hashlib import sha256
from pathlib import Path

from tacit.serve.executors import Executors
from tacit.serve.tokens import Caller

GLANCE = 0.1
"""Seconds between two looks at what other workers were told."""


def called(caller: Caller, dataset: str, key: str) -> str:
    """The name under which somebody's question can be cancelled; nobody else's has it."""
    return sha256("\x00".join((caller.key, dataset, key)).encode(errors="surrogatepass")).hexdigest()


class Cancelling:
    """What this worker and the others were told to cancel."""

    def __init__(self, pool: Executors, path: Path | None = None) -> None:
        self._pool, self._path, self._read = pool, path, 0
        self._looking: asyncio.Task[None] | None = None

    def cancel(self, name: str) -> None:
        """Cancel what is called so, here and elsewhere."""
        self._pool.cancel(name)
        if self._path is not None:
            file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, f"{name}\n".encode())
            finally:
                os.close(file)

    def start(self) -> None:
        """Begin to look, where there are other workers."""
        if self._path is not None:
            self._read = self._size
            self._looking = asyncio.create_task(self._look(self._path))

    async def close(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    @property
    def _size(self) -> int:
        try:
            return self._path.stat().st_size if self._path is not None else 0
        except OSError:
            return 0

    async def _look(self, path: Path) -> None:
        while True:
            await asyncio.sleep(GLANCE)
            if self._size > self._read:
                with path.open("rb") as file:
                    file.seek(self._read)
                    lines = file.read()
                whole = lines[: lines.rfind(b"\n") + 1]
                self._read += len(whole)
                for name in whole.decode("ascii", errors="replace").split():
                    self._pool.cancel(name)
