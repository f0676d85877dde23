"""Waiting for a statement in a thread of its own, so that Ctrl-C and a time limit stop it at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from tacit.engines import FAILED
from tacit.errors import EngineError

T = TypeVar("T")

NAME = "tacit-statement"
"""The thread's, by which log records of statements can be told."""
_PATIENCE = 0.1
"""Seconds of one wait for a statement: some libraries' signal handlers let Ctrl-C end only a wait with a limit."""


def waited(
    work: Callable[[], T],
    interrupt: Callable[[], object],
    timeout: float | None,
    thread: Callable[..., threading.Thread] = threading.Thread,
) -> T:
    """What the work returns; whatever it raises becomes one `EngineError` without a trace of the rows."""
    results: list[T] = []
    done = threading.Event()

    def run() -> None:
        try:
            results.append(work())
        except Exception:
            results.clear()
        finally:
            done.set()

    limit = time.monotonic() + (timeout or float("inf"))
    thread(target=run, name=NAME, daemon=True).start()
    try:
        while not done.wait(_PATIENCE) and time.monotonic() < limit:
            pass
    finally:
        while not done.is_set():  # again and again: an interrupt before the statement began is lost
            interrupt()
            done.wait(0.05)
    if not results:
        raise EngineError(FAILED)
    return results[0]
