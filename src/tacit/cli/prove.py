"""`tacit audit --prove`: every proof checked on this machine, with its broken twins and mutants."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli.speech import QUIET, say, say_json

if TYPE_CHECKING:
    from tacit.audit.proving.report import Job, ProofLine

WIDE = 140
FEW = 12
"""So few lines are done before another process has started."""


def prove(wanted: str | None, html: Path | None, as_json: bool) -> int:
    """Check the proofs and tell; code 1 where something failed."""
    from datetime import date
    from time import monotonic

    from tacit.audit.proving.report import KINDS, TRUSTED, jobs, summary

    planned, start = jobs(wanted or ""), monotonic()
    order = list(KINDS)
    lines = sorted(_made(planned), key=lambda line: order.index(line.kind))
    seconds = monotonic() - start
    if as_json:
        from dataclasses import asdict

        from tacit.proofs import fingerprint

        passed = all(line.passed for line in lines)
        found = {"passed": passed, "seconds": round(seconds, 1), "fingerprint": fingerprint()}
        say_json({**found, "trusted": TRUSTED, "lines": [asdict(line) for line in lines]})
    else:
        _print(lines)
        say(f"Trusted: {TRUSTED}.")
        say(f"{summary(lines)} {seconds:.0f} s.")
    if html is not None:
        from tacit.audit.proving.page import page

        html.write_text(page(lines, seconds, date.today().isoformat()), encoding="utf-8")
    return 0 if all(line.passed for line in lines) else 1


def _made(planned: Sequence[Job]) -> list[ProofLine]:
    """All lines, with a progress bar on stderr where somebody watches."""
    from rich.console import Console
    from rich.progress import Progress

    from tacit.audit.proving.report import run

    screen, lines = Console(stderr=True), []
    processes = min(len(planned), os.cpu_count() or 1) if len(planned) > FEW else 1
    with Progress(console=screen, transient=True, disable=QUIET.get() or not screen.is_terminal) as progress:
        task = progress.add_task("checking proofs", total=len(planned))
        for line in run(planned, processes):
            lines.append(line)
            progress.update(task, advance=1, description=line.name[:40].ljust(40))
    return lines


def _print(lines: Sequence[ProofLine]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tacit.audit.proving.report import KINDS

    console = Console(width=None if sys.stdout.isatty() else WIDE)
    for kind, (title, _) in KINDS.items():
        chosen = [line for line in lines if line.kind == kind]
        if not chosen:
            continue
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
        names = ("what", "promised", "verified exhaustively", "verdict", "s")
        for name in names if kind == "proof" else ("what", "verdict", "s", ""):
            table.add_column(name)
        for line in chosen:
            verdict = Text(line.verdict, style="green" if line.passed else "bold red")
            time = f"{line.seconds:.1f}"
            if kind == "proof":
                table.add_row(Text(line.name), Text(line.promised), Text(line.verified), verdict, time)
            else:
                note = line.verified if kind == "mutant" else line.how if kind == "law" else line.note
                table.add_row(Text(line.name), verdict, time, Text(note))
        console.print(table)
