"""The survey of proofs as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tacit import __version__
from tacit.audit.html import STYLE
from tacit.audit.proving.report import KINDS, TRUSTED, ProofLine, summary
from tacit.proofs.solvers import versions

COLUMNS = ("what", "promised", "how", "verified exhaustively", "verdict", "solver, s", "")


def page(lines: Sequence[ProofLine], seconds: float, date: str) -> str:
    """The report of a survey of proofs."""
    state = "good" if all(line.passed for line in lines) else "bad"
    solvers = ", ".join(f"{name} {version}" for name, version in versions().items())
    sections = "".join(_section(kind, [line for line in lines if line.kind == kind]) for kind in KINDS)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>Tacit proofs, {escape(date)}</title>\n"
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>Tacit proofs</h1>\n"
        f'<p class="{state}">{escape(summary(lines))}</p>\n'
        f'<p class="quiet">Tacit {escape(__version__)}, {escape(solvers)}, {escape(date)}, {seconds:.0f} seconds on '
        f"this machine. What is trusted: {escape(TRUSTED)}.</p>\n{sections}</body>\n</html>\n"
    )


def _section(kind: str, lines: Sequence[ProofLine]) -> str:
    if not lines:
        return ""
    title, words = KINDS[kind]
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    rows = "".join(map(_row, lines))
    return (
        f'<h2>{title}</h2>\n<p class="quiet">{words}</p>\n<table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}</tbody>\n</table>\n"
    )


def _row(line: ProofLine) -> str:
    name = line.name if line.kind != "twin" else f"{line.covers}: {line.name}"
    cells = "".join(f"<td>{escape(text)}</td>" for text in (name, line.promised, line.how, line.verified))
    state = "good" if line.passed else "bad"
    return (
        f'<tr>{cells}<td class="{state}">{escape(line.verdict)}</td><td class="number">{line.seconds:.2f}</td>'
        f'<td class="note">{escape(line.note)}</td></tr>\n'
    )
