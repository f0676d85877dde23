"""`tacit check`: what the custodian should know about the data before anybody asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from tacit.cli.speech import Json, notice, say, say_json, working
from tacit.errors import InvalidInput

HELP = """What the custodian should know about the data: unreadable lines, repeated keys, odd identifiers.

It looks at the rows themselves and shows numbers about them: its output is for the custodian alone.

\b
Examples:
  tacit check orders.csv --person customer
  tacit check orders.csv --person customer --option encoding=latin-1
  tacit check tacit.toml --json

Exit codes: 0 nothing was found, 1 there are findings, 2 and 4 as everywhere."""

FOUND = 1
"""The exit code of a check with findings."""


def check(
    source: Annotated[str, typer.Argument(help="A file, a connection string, or the gateway's tacit.toml.")],
    person: Annotated[list[str] | None, typer.Option(help="The column that says who a row is about.")] = None,
    table: Annotated[str | None, typer.Option(help="The table inside a database.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of the reader, such as encoding=latin-1.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Leave out what takes longer than this.")] = None,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Check a file, a table or a whole configuration."""
    from tacit.checks import Report
    from tacit.checks import check as checked

    if seconds is not None and not 0 < seconds < 10**6:
        raise InvalidInput("seconds must be a number above 0, such as 60.")
    if source.lower().endswith(".toml"):
        if person or table or option:
            raise InvalidInput("a configuration says by itself what its tables are; leave out the options.")
        from tacit.serve.config import load

        datasets = load(source).datasets
        with working("looking at the data"):
            report = Report.together({name: checked(one.tables, seconds) for name, one in datasets.items()})
    else:
        with working("looking at the data"):
            report = checked(_tables(source, person, table, _options(option or [])), seconds)
        if not person:
            notice("no --person, so nothing about persons was checked.")
    if as_json:
        say_json(report.to_dict())
    else:
        say(str(report))
    if report.findings:
        raise typer.Exit(FOUND)


def _tables(source: str, person: list[str] | None, table: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    from tacit.tables import Private, Public
    from tacit.tables.face.declarations import default_name

    declared = Private(source, person, table=table, **options) if person else Public(source, table=table, **options)
    return {table or default_name(source): declared}


def _options(given: list[str]) -> dict[str, Any]:
    """Options of the reader; true, false and whole numbers are read as such."""
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals) or name in ("table", "schema", "person", "source", "through", "unit", "key"):
            raise InvalidInput("an option of the reader is written NAME=VALUE, such as encoding=latin-1.")
        found[name] = {"true": True, "false": False}.get(value, int(value) if value.isdecimal() else value)
    return found
