"""A progress bar on the terminal, if there is one, that shows no more than is public."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def watch(words: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A function to be told how many evaluations are done; without a public total only the time is shown."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    shown = (BarColumn(), TextColumn("{task.percentage:.0f} %"), TimeRemainingColumn()) if total is not None else ()
    columns = (TextColumn("{task.description}"), *shown, TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(words, total=total)
        yield lambda done: progress.advance(task, done) if total is not None else None
