"""`tacit publish`: a named set of questions about a period, answered once and written for readers and programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.speech import Json, say, say_json, working

HELP = """Publish the answers to a set of questions about a period: tables, a page and a privacy statement.

The file names the questions, what they may cost, the tables and the folder; docs/how-to/publishing.md describes it. All
questions are paid for, or none is asked. Publishing the same period again costs nothing, and one that was interrupted
goes on where it stopped.

\b
Examples:
  tacit publish report.toml
  tacit publish report.toml --period 2026 --ledger ledger.db
  tacit publish report.toml --preview
  tacit publish report.toml --fresh-only persons"""


def publish(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What is to be published, as TOML.")],
    period: Annotated[str | None, typer.Option(metavar="PERIOD", help="The period, such as 2026 or 2026-11.")] = None,
    version: Annotated[
        str | None, typer.Option(metavar="LABEL", help="The version of the data; the period unless one is named.")
    ] = None,
    folder: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where the files go.")] = None,
    ledger: Annotated[
        str | None, typer.Option(envvar="TACIT_LEDGER", metavar="FILE", help="The ledger that keeps the budget.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Ask and pay for all of it again.")] = False,
    fresh_only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Ask and pay for this question again; repeat it.")
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show what it would cost and whether that is left; it is free.")
    ] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Publish a period."""
    from tacit import publishing
    from tacit.publishing.statement import releases_of, spent_on

    edition = publishing.read_edition(file, period=period, version=version, folder=folder, ledger=ledger)
    anew: bool | list[str] = fresh or list(fresh_only or ())
    if preview:
        charge, fits = publishing.preview(edition, fresh=anew)
        if as_json:
            say_json({"name": edition.name, "period": edition.period, "charge": repr(charge), "fits": fits})
        else:
            cost = "costs nothing: it was answered before" if charge is None else f"would be charged {charge!r}"
            say(f"{edition.name}, {edition.period}: {cost}{'' if fits else ', which is not left'}. Nothing was spent.")
        raise typer.Exit(0 if fits else 3)
    with working("publishing"):
        found = publishing.publish(edition, fresh=anew)
    spent = spent_on(releases_of(found))
    if as_json:
        facts = {"name": edition.name, "period": edition.period, "version": edition.version, "stored": found.stored}
        say_json(facts | {"cost": None if spent is None else repr(spent), "folder": str(edition.folder)})
    else:
        paid = "all of it was answered before, so nothing was charged" if found.stored else f"paid for with {spent!r}"
        say(f"{edition.title}: {len(found.results)} questions in {edition.folder}; {paid}.")
