"""`tacit audit`: every promise of the library checked on this machine, in a table, as JSON or as an HTML report."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import completing
from tacit.cli.speech import QUIET, Json, picture_file, save, say_json
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from rich.table import Table

    from tacit.audit.survey import Job, SurveyLine

COLOURS = {"tight": "green", "loose": "green", "consistent": "green", "caught": "green"}


def audit(
    mechanism: Annotated[
        str | None,
        typer.Argument(
            help="Only what carries this name, such as threshold_scan or sum.", autocompletion=completing.audits
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="More samples, the broken twins, and slow statistics: some minutes.")
    ] = False,
    prove: Annotated[
        bool, typer.Option("--prove", help="Check the proofs for every dataset by two solvers: some two minutes.")
    ] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a report that needs no other file.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="A picture of losses (.png, .svg or .pdf).")] = None,
    as_json: Annotated[bool, Json] = False,
) -> int:
    """Verify the promises on this machine.

    Ends with code 1 when one is broken.

    Example: tacit audit threshold_scan --html report.html --plot losses.png
    """
    from datetime import date
    from time import monotonic

    from tacit.audit.survey import jobs, summary

    if html is not None and not html.absolute().parent.is_dir():
        raise InvalidInput("--html must name a file in a directory that exists.")
    if prove:
        from tacit.cli.prove import prove as check_proofs

        if full or plot is not None:
            raise InvalidInput("--prove goes with --html and --json alone; leave out --full and --plot.")
        return check_proofs(mechanism, html, as_json)
    planned = jobs(mechanism, full)
    if plot is not None:
        picture_file(plot)
    start = monotonic()
    lines = _made(planned)
    seconds = monotonic() - start
    if as_json:
        _print_json(lines, seconds, full)
    else:
        _print_tables(lines)
        print(f"{summary(lines)} {seconds:.0f} s.")
    if html is not None:
        from tacit.audit.html import page

        html.write_text(page(lines, seconds, full, date.today().isoformat()), encoding="utf-8")
    if plot is not None:
        from tacit import plots

        save(plots.audit(lines), plot)
    return 1 if any(line.failed for line in lines) else 0


def _made(work: Sequence[Job]) -> list[SurveyLine]:
    """All lines, with a progress bar on stderr where somebody watches."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from tacit.audit.survey import run

    screen = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    processes = min(len(work), os.cpu_count() or 1) if len(work) > FEW else 1
    lines = []
    with Progress(*columns, console=screen, transient=True, disable=QUIET.get() or not screen.is_terminal) as progress:
        task = progress.add_task("checking promises", total=len(work))
        for line in run(work, processes):
            lines.append(line)
            progress.update(task, advance=1, description=line.name[:40].ljust(40))
    return lines


WIDE = 120
"""The width of tables that go to a file or another program."""
FEW = 12
"""So few lines are done before another process has started."""


def _print_json(lines: Sequence[SurveyLine], seconds: float, full: bool) -> None:
    from dataclasses import asdict

    passed = not any(line.failed for line in lines)
    found = {"passed": passed, "mode": "full" if full else "quick", "seconds": round(seconds, 1)}
    say_json({**found, "lines": [asdict(line) for line in lines]})


def _print_tables(lines: Sequence[SurveyLine]) -> None:
    from rich.console import Console

    from tacit.audit.html import HEADINGS

    console = Console(width=None if sys.stdout.isatty() else WIDE)
    for kind, (title, _) in HEADINGS.items():
        chosen = [line for line in lines if line.kind == kind]
        if chosen:
            console.print(_table(title, chosen))


def _table(title: str, lines: Sequence[SurveyLine]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("what", min_width=24)
    for name in ("promised", "exactly", "from samples", "verdict"):
        table.add_column(name)
    for line in lines:
        colour = "bold red" if line.failed else COLOURS.get(line.verdict, "dim")
        cells = [Text(text) for text in (line.name, line.promised, line.exact, line.sampled)]
        table.add_row(*cells, Text(line.verdict, style=colour))
    return table
