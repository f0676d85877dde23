"""The survey as one HTML file that needs nothing else: no script, no font, no address."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tacit import __version__
from tacit.audit.survey import SurveyLine, summary

HEADINGS = {
    "mechanism": ("Mechanisms", "Exact laws over all small datasets, and samplers on a pair that should show most."),
    "statistic": ("Statistics", "Each draw of each statistic, verified through the public face and the real engine."),
    "museum": ("A museum of mistakes", "Broken mechanisms that the same checks must catch."),
    "session": ("A whole session", "Canaries hidden among persons, guessed from what one run releases."),
    "library": ("Other libraries", "The auditor on mechanisms of others, where they are installed."),
}

STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #1a7f37; --bad: #cf222e; --quiet: #6e7781; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin: 2rem 0 0; }
p.quiet, td.note { color: var(--quiet); font-size: .9em; }
table { border-collapse: collapse; width: 100%; margin-top: .5rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); font-weight: 600; }
.absent { color: var(--quiet); }
"""


def page(lines: Sequence[SurveyLine], seconds: float, full: bool, date: str) -> str:
    """The report of a survey."""
    state = "good" if not any(line.failed for line in lines) else "bad"
    mode = "full" if full else "quick"
    sections = "".join(_section(kind, [line for line in lines if line.kind == kind]) for kind in HEADINGS)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>Tacit audit, {escape(date)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<h1>Tacit audit</h1>\n<p class="{state}">{escape(summary(lines))}</p>\n'
        f'<p class="quiet">Tacit {escape(__version__)}, {mode} mode, {escape(date)}, {seconds:.0f} seconds on this '
        "machine. Exact numbers are rigorous enclosures of the worst neighbouring pair of small datasets. Numbers from "
        "samples are lower bounds, each wrong with probability at most 10<sup>-7</sup>: they can refute a promise, "
        f"never prove it.</p>\n{sections}</body>\n</html>\n"
    )


def _section(kind: str, lines: Sequence[SurveyLine]) -> str:
    if not lines:
        return ""
    title, words = HEADINGS[kind]
    head = "".join(f"<th>{name}</th>" for name in ("what", "promised", "exactly", "from samples", "verdict", ""))
    rows = "".join(_row(line) for line in lines)
    return (
        f'<h2>{title}</h2>\n<p class="quiet">{words}</p>\n'
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
    )


def _row(line: SurveyLine) -> str:
    state = "bad" if line.failed else "absent" if line.verdict.startswith("not ") else "good"
    numbers = "".join(f'<td class="number">{escape(text)}</td>' for text in (line.promised, line.exact, line.sampled))
    return (
        f"<tr><td>{escape(line.name)}</td>{numbers}"
        f'<td class="{state}">{escape(line.verdict)}</td><td class="note">{escape(line.note)}</td></tr>\n'
    )
