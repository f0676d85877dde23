"""What takes longer than a second says what it does, on a terminal or in a notebook.

It names the step and the seconds since the question began, and nothing of the data: no number of rows, no cap. The line
goes away with the answer. Where standard error is neither a terminal nor a notebook, as in Serve, nothing is shown.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

PATIENCE = 1.0
"""Seconds of work before anything is shown."""
_EVERY = 0.5
wanted: ContextVar[bool] = ContextVar("wanted", default=True)
"""Whether anything is to be shown; the command line sets it to False with --quiet."""

Show = Callable[[str], None]
"""Puts a text in the place of the one before; the empty text ends it."""


class _Shown:
    """The steps that are under way, innermost last, and the thread that shows the last of them."""

    def __init__(self) -> None:
        self._steps: list[str] = []
        self._lock = threading.Lock()

    @contextmanager
    def during(self, step: str, show: Show) -> Iterator[None]:
        """Show the step once the first one has taken long enough."""
        with self._lock:
            self._steps.append(step)
            first = len(self._steps) == 1
        done = threading.Event()
        if first:
            watcher = threading.Thread(target=self._watch, args=(show, done), name="tacit-progress", daemon=True)
            watcher.start()
        try:
            yield
        finally:
            with self._lock:
                self._steps.remove(step)
            done.set()
            if first:
                watcher.join()

    def _watch(self, show: Show, done: threading.Event) -> None:
        begin, shown = time.monotonic(), False
        with suppress(Exception):  # nothing that shows may end an answer
            wait = PATIENCE
            while not done.wait(wait):
                with self._lock:
                    step = self._steps[-1] if self._steps else ""
                show(f"Tacit: {step} ({time.monotonic() - begin:.0f} s)")
                shown, wait = True, _EVERY
        if shown:
            with suppress(Exception):
                show("")


_shown = _Shown()


@contextmanager
def doing(step: str) -> Iterator[None]:
    """Show a step while it runs, if it is not alone in taking less than a second and somebody can see it."""
    show = _place() if wanted.get() else None
    if show is None:
        yield
        return
    with _shown.during(step, show):
        yield


def _place() -> Show | None:
    """Where a line can be shown and taken away again."""
    if "ipykernel" in sys.modules:
        return _notebook()
    if sys.stderr is not None and sys.stderr.isatty():
        return _terminal
    return None


def _terminal(text: str) -> None:
    sys.stderr.write(f"\r\x1b[2K{text}")
    sys.stderr.flush()


def _notebook() -> Show | None:
    """One output of the cell, updated."""
    try:
        from IPython.display import HTML, display
    except ImportError:
        return None
    handles: list[object] = []

    def show(text: str) -> None:
        content = HTML(f"<small>{text}</small>")
        if handles:
            handles[0].update(content)  # type: ignore[attr-defined]
        else:
            handles.append(display(content, display_id=True))

    return show
