"""`tacit check`: what the custodian should know about the data before anybody asks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import tables as said
from tacit.cli.speech import Json, notice, say, say_json, working
from tacit.errors import InvalidInput

HELP = """What the custodian should know about the data: unreadable lines, repeated keys, odd identifiers.

It looks at the rows themselves and shows numbers about them: its output is for the custodian alone.

\b
Examples:
  tacit check orders.csv --person customer
  tacit check orders.csv --person customer --encoding latin-1
  tacit check shop.duckdb --private orders:customer --public nations
  tacit check tacit.toml --json

Exit codes: 0 nothing was found, 1 there are findings, 2 and 4 as everywhere."""

FOUND = 1
"""The exit code of a check with findings."""


def check(
    sources: Annotated[
        list[str], typer.Argument(help="Files, a connection string, or the gateway's tacit.toml.", metavar="SOURCE")
    ],
    person: said.OnePerson = None,
    private: said.PrivateTables = None,
    public: said.PublicTables = None,
    table: said.OneTable = None,
    encoding: said.Encoding = None,
    kind: said.Format = None,
    delimiter: said.Delimiter = None,
    option: said.ReaderOptions = None,
    seconds: Annotated[float | None, typer.Option(help="Leave out what takes longer than this.")] = None,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Check files, tables or a whole configuration."""
    from tacit.checks import Report
    from tacit.checks import check as checked

    if seconds is not None and not 0 < seconds < 10**6:
        raise InvalidInput("seconds must be a number above 0, such as 60.")
    given = (person or (), private or (), public or (), table, said.reader_options(option, encoding, kind, delimiter))
    if sources[0].lower().endswith(".toml"):
        path = said.Flags(sources[1:], *given, Path(sources[0])).settings()
        from tacit.serve.config import load

        datasets = load(path or sources[0], serving=False).datasets
        with working("looking at the data"):
            report = Report.together({name: checked(one.tables, seconds) for name, one in datasets.items()})
    else:
        flags = said.Flags(sources, *given)
        if not person and not private:
            notice("no --person, so nothing about persons was checked.")
        tables = said.declare(flags, said.find_places(flags), of_persons=False)
        with working("looking at the data"):
            report = checked(tables, seconds)
    if as_json:
        say_json(report.to_dict())
    else:
        say(str(report))
    if report.findings:
        raise typer.Exit(FOUND)
