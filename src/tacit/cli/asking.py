"""What commands that ask have in common: the cost, the ledger, versions and periods, and the session they open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from tacit.cli.speech import notice, say, say_json
from tacit.cli.tables import Dataset
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.guarantees import Guarantee
    from tacit.tables import Preview, Session
    from tacit.tables.face.preview import ReportPreview

REFUSED = 3
"""The exit code of a preview that says the budget does not pay for the question."""

Epsilon = Annotated[str | None, typer.Option(metavar="NUMBER", help="Cost in ε.")]
Delta = Annotated[str | None, typer.Option(metavar="NUMBER", help="Cost in δ, with --epsilon.")]
Rho = Annotated[str | None, typer.Option(metavar="NUMBER", help="Cost in ρ (Gaussian noise).")]
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
    if path is not None and not path.absolute().parent.is_dir():
        raise InvalidInput(f"there is no directory for {path}; nothing was asked or spent.")


def show_preview(seen: Preview | ReportPreview, as_json: bool) -> NoReturn:
    """Show what a question would cost and leave, with a code that says whether it fits."""
    if as_json:
        say_json(seen.to_dict())
    else:
        say(str(seen))
    raise typer.Exit(0 if seen.fits else REFUSED)
