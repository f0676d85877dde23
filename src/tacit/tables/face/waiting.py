"""A sign of life while a question takes long, for whoever sits at a terminal.

It shows that time passes and nothing else: how far flows or an engine have come would depend on the rows.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

AFTER = 1.0
"""Seconds before anything is shown."""


@contextmanager
def waiting(after: float = AFTER) -> Iterator[None]:
    """A moving bar with the time on stderr, if that is a terminal, gone when the work is done."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    shown = threading.Thread(target=_show, args=(done, after), name="tacit-waiting", daemon=True)
    shown.start()
    try:
        yield
    finally:
        done.set()
        shown.join()


def _show(done: threading.Event, after: float) -> None:
    if done.wait(after):
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task("answering", total=None)
        done.wait()
