"""Waiting for a statement in a thread of its own, so that Ctrl-C and a time limit stop it at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from tacit.engines import FAILED
from tacit.errors import EngineError

T = TypeVar("T")

NAME = "tacit-statement"
"""The thread's, by which log records of statements can be told."""
_PATIENCE = 0.1
"""Seconds of one wait for a statement: some libraries' signal handlers let Ctrl-C end only a wait with a limit."""


def wait_for(
    work: Callable[[], T],
    interrupt: Callable[[], object] | None,
    timeout: float | None,
    thread: Callable[..., threading.Thread] = threading.Thread,
    grace: float | None = None,
) -> T:
    """What the work returns; whatever it raises becomes one `EngineError` without a trace of the rows.

    Interrupted work is waited for until it ends, or for ``grace`` seconds: an engine that is gone never says that it
    has. Work that nothing interrupts, because it reads no rows, is not waited for.
    """
    results: list[T] = []
    done = threading.Event()

    def run() -> None:
        try:
            results.append(work())
        except Exception:
            results.clear()
        finally:
            done.set()

    try:
        thread(target=run, name=NAME, daemon=True).start()
    except Exception:
        raise EngineError(FAILED) from None
    try:
        _wait(done, timeout)
    finally:
        if interrupt is not None and not done.is_set():
            stopper = threading.Thread(target=_stop, args=(interrupt, done), name=NAME, daemon=True)
            stopper.start()
            if _wait(done, grace):
                stopper.join(grace)
    if not results:
        raise EngineError(FAILED)
    return results[0]


def _wait(done: threading.Event, seconds: float | None) -> bool:
    """Whether it was done in time."""
    limit = time.monotonic() + (float("inf") if seconds is None else seconds)
    while not done.wait(_PATIENCE) and time.monotonic() < limit:
        pass
    return done.is_set()


def _stop(interrupt: Callable[[], object], done: threading.Event) -> None:
    """Again and again: an interrupt before the statement began is lost."""
    while not done.is_set():
        with suppress(Exception):
            interrupt()
        done.wait(0.05)
