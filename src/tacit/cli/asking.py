"""What commands that ask have in common: the cost, the ledger, versions and periods, and the session they open."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from tacit.cli.speech import notice, number, picture_file, save, say, say_json, working
from tacit.cli.tables import Dataset
from tacit.errors import InvalidInput, tell

if TYPE_CHECKING:
    from tacit.guarantees import Guarantee
    from tacit.tables import Session
    from tacit.tables.face.preview import ForeseenPart, ReportPreview
    from tacit.tables.face.preview import Preview as Question

REFUSED = 3
"""The exit code of a preview that says the budget does not pay for the question."""

Epsilon = Annotated[str | None, typer.Option(metavar="NUMBER", callback=number, help="Cost in ε.")]
Delta = Annotated[str | None, typer.Option(metavar="NUMBER", callback=number, help="Cost in δ, with --epsilon.")]
Rho = Annotated[str | None, typer.Option(metavar="NUMBER", callback=number, help="Cost in ρ (Gaussian noise).")]
LedgerFile = Annotated[
    str | None, typer.Option(envvar="TACIT_LEDGER", help="The ledger that keeps the budget.", metavar="FILE")
]
Name = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The dataset's name in the ledger and in tacit.toml; the only table's unless given."
    ),
]
Version = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL",
        help="A public label of the data as they are now, such as 2026-11; an answer is stored for its version.",
    ),
]
PeriodName = Annotated[
    str | None,
    typer.Option(
        metavar="PERIOD",
        help="The period that is asked about and pays, such as 2026-11, where the budget is by period.",
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Ask and pay again even if the same was answered before.")]
Preview = Annotated[
    bool,
    typer.Option(
        "--preview",
        "--dry-run",
        help="Show what the question would cost, whether that is left, and how far off answers will be; it is free.",
    ),
]
PersonsGuess = Annotated[
    int | None,
    typer.Option(metavar="NUMBER", help="With --dry-run: about how many persons there are, to forecast errors for."),
]
ForecastPicture = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="With --dry-run and --persons: errors against ε, as a picture (.png or .svg)."),
]
CertificateFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Where the answer's certificate goes, for tacit verify.")
]


class Interrupted(Exception):
    """Ctrl-C while a question was asked; the message says what the budget says."""


def open_session(
    found: Dataset, cost: Guarantee, ledger: str | None, version: str | None, period: str | None
) -> Session:
    """The tables under the budget that a ledger keeps, or without one under what the question costs."""
    from tacit.tables import Session

    if ledger and found.ledger:
        raise InvalidInput(
            "the configuration is a gateway's, whose budget is in a ledger of its own; leave out --ledger and "
            "TACIT_LEDGER."
        )
    kept, label, when = ledger or found.ledger, version or found.version, period or found.period
    if kept is None:
        if period is not None:
            raise InvalidInput("--period needs the ledger that keeps the periods; give --ledger.")
        return Session(found.tables, cost, version=label)
    if found.name is None:
        raise InvalidInput("a ledger keeps budgets by name; give this dataset's with --name.")
    return Session(
        found.tables,
        found.budget,
        composition=found.composition,
        name=found.name,
        ledger=kept,
        version=label,
        period=when,
    )


def notice_unrecorded(session: Session, ledger: str | None, found: Dataset) -> None:
    """Say that nothing keeps what was spent, where that is so."""
    if not (ledger or found.ledger) and any(session.budget.spent.keywords().values()):
        notice("no ledger, so this spending is not recorded.")


def writable(path: Path | None) -> None:
    """Refuse a file that cannot be written, before anything is asked."""
    if path is None:
        return
    if not path.absolute().parent.is_dir():
        raise InvalidInput(f"there is no directory for {path}; nothing was asked or spent.")
    if path.is_dir() or not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise InvalidInput(f"{path} cannot be written; nothing was asked or spent.")


def guessed(persons: int | None, preview: bool, plot: Path | None = None) -> None:
    """Refuse a number of persons that nothing is forecast for, and a picture of no forecast."""
    if persons is not None and not (preview and persons > 0):
        raise InvalidInput("--persons says about how many persons there are, for the forecast of --dry-run; add that.")
    if plot is not None:
        if persons is None:
            raise InvalidInput(
                "--plot draws the forecast of --dry-run; say about how many persons there are, persons=10000."
            )
        picture_file(plot)


def show_preview(
    seen: Question | ReportPreview, as_json: bool, persons: int | None = None, plot: Path | None = None
) -> NoReturn:
    """Show what a question would cost and how far off it would be, and leave with a code that says whether it fits."""
    from tacit.tables.face.preview import ReportPreview

    releases = seen.releases if isinstance(seen, ReportPreview) else (seen,)
    with working("asking made-up data"):
        errors = [(part.cost, part.expected_error(persons)) for each in releases for part in each.parts]
        if plot is not None:
            _draw([part for each in releases for part in each.parts], persons or 1, plot)
    if as_json:
        told = [{"words": e.words, "noise_std": e.noise_std, "share": e.share, "cost": repr(c)} for c, e in errors]
        say_json(seen.to_dict() | {"persons": persons, "expected_errors": told})
        raise typer.Exit(0 if seen.fits else REFUSED)
    if isinstance(seen, ReportPreview):
        for release in seen.releases:
            say("; ".join([release.words, *_errors(release, persons)]) + ".")
        say(str(seen).splitlines()[-1])
        if not persons and any(_asks_persons(release) for release in seen.releases):
            say("Say about how many persons there are, such as --persons 10000, for a forecast of all errors.")
    else:
        say(tell(str(seen), "command line"))
        for _, error in errors:
            say(tell(error.words, "command line"))
    if any(error.share is not None for _, error in errors):
        say("Forecasts are for made-up data, skewed like incomes; a heavier tail gives larger errors.")
    raise typer.Exit(0 if seen.fits else REFUSED)


def _asks_persons(release: Question) -> bool:
    """Whether some error of a release is not known before the number of persons is."""
    return any(part.noise_std is None for part in release.parts)


def _errors(release: Question, persons: int | None) -> Iterator[str]:
    """How far off each part of a release will be, as far as that is known, without the names that stand before it."""
    for part in release.parts:
        if persons or part.noise_std is not None:
            words = tell(part.expected_error(persons).words, "command line").removesuffix(".")
            yield words.removeprefix(part.words).lstrip(":, ") if len(release.parts) == 1 else words


def _draw(parts: Sequence[ForeseenPart], persons: int, plot: Path) -> None:
    """Draw how far off each answer will be, at this ε and around it."""
    found = [forecast for part in parts if (forecast := part.forecast(persons)) is not None]
    if not found:
        raise InvalidInput(
            "nothing of this question is forecast at this cost, so there is nothing to draw; leave out --plot."
        )
    from tacit.plots import accuracy

    save(accuracy(*found), plot)
