"""`tacit ask`: one question about one table or several."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from tacit.cli.speech import Json, notice, say, say_json, working
from tacit.cli.tables import (
    Dataset,
    Flags,
    OnePerson,
    OneTable,
    PrivateTables,
    PublicTables,
    ReaderOptions,
    Settings,
    find_dataset,
    unsaid,
)
from tacit.errors import InvalidInput, UnsupportedQuery

if TYPE_CHECKING:
    from tacit.tables import Preview

HELP = """Ask one question about private tables; without a ledger the spending is not recorded.

A file is a table under its own name: orders.parquet is orders. In a DuckDB file or a database every table can be asked
that --private or --public declares.

\b
Examples:
  tacit ask orders.parquet --person customer --epsilon 0.5 \\
        "SELECT SUM(amount) FROM orders"
  tacit ask orders.csv --person customer --epsilon 1 --keys EU,US \\
        "SELECT region, COUNT(*) FROM orders GROUP BY region"
  tacit ask shop.duckdb --private orders:customer --public nations \\
        --epsilon 1 "SELECT name, AVG(amount) FROM orders
        JOIN nations ON nation = code GROUP BY name"
  tacit ask orders.parquet items.parquet --private orders:customer \\
        --private items:order_id=orders.id --epsilon 1 \\
        "SELECT SUM(quantity) FROM items"
  tacit ask postgresql:///shop --table orders --person customer \\
        --ledger ledger.db --epsilon 0.5 "SELECT AVG(amount) FROM orders"
  tacit ask --preview --epsilon 0.5 "SELECT COUNT(*) FROM orders"

The last one finds its tables in tacit.toml, and shows what the question would cost."""

REFUSED = 3
"""The exit code of a preview that says the budget does not pay for the question."""


class Interrupted(Exception):
    """Ctrl-C while a question was asked; the message says what the budget says."""


def ask(
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE", help="Parquet, CSV, JSON or DuckDB files, or a connection string."),
    ] = None,
    *,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="One SELECT with aggregates, or - to read it from standard input.")
    ],
    person: OnePerson = None,
    private: PrivateTables = None,
    public: PublicTables = None,
    config: Settings = None,
    epsilon: Annotated[str | None, typer.Option(metavar="NUMBER", help="Cost in ε.")] = None,
    delta: Annotated[str | None, typer.Option(metavar="NUMBER", help="Cost in δ, with --epsilon.")] = None,
    rho: Annotated[str | None, typer.Option(metavar="NUMBER", help="Cost in ρ (Gaussian noise).")] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY,KEY…", help="Public group keys; repeat it for each further column of GROUP BY."),
    ] = None,
    table: OneTable = None,
    option: ReaderOptions = None,
    ledger: Annotated[
        str | None, typer.Option(envvar="TACIT_LEDGER", help="The ledger that keeps the budget.", metavar="FILE")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The dataset's name in the ledger and in tacit.toml; the only table's unless given."
        ),
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show what the question would cost and whether that is left; it is free.")
    ] = False,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the answer's certificate goes, for tacit verify.")
    ] = None,
    as_json: Annotated[bool, Json] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Comma-separated output.")] = False,
) -> None:
    """Ask one question."""
    from tacit.tables import Session
    from tacit.tables.sql.privacy_clause import price

    if as_json and as_csv:
        raise InvalidInput("--json and --csv are two forms of output; choose one.")
    if certificate is not None and not certificate.absolute().parent.is_dir():
        raise InvalidInput(f"there is no directory for {certificate}; nothing was asked or spent.")
    query = _read_query(query)
    cost = price(query, epsilon, delta, rho).cost
    flags = Flags(sources or (), person or (), private or (), public or (), table, option or (), config)
    found = find_dataset(flags, name)
    for called in found.tables:
        if not (flags.table or called.replace(".", "_").isidentifier()):
            notice(f'the table is "{called}" in SQL, with its quotes; --table gives it another name.')
    if ledger and found.ledger:
        raise InvalidInput(
            "the configuration is a gateway's, whose budget is in a ledger of its own; leave out --ledger and "
            "TACIT_LEDGER."
        )
    kept = ledger or found.ledger
    if kept is None:
        session = Session(found.tables, cost)
    elif found.name is None:
        raise InvalidInput("a ledger keeps budgets by name; give this dataset's with --name.")
    else:
        session = Session(found.tables, found.budget, composition=found.composition, name=found.name, ledger=kept)
    chosen = _keys(keys)
    with _explained(found):
        if preview:
            _show_preview(session.preview(query, keys=chosen, epsilon=epsilon, delta=delta, rho=rho), as_json)
        try:
            with working("asking"):
                answer = session.sql(query, keys=chosen, epsilon=epsilon, delta=delta, rho=rho)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted; the budget says: {session.budget!r}.") from None
        finally:
            if kept is None and any(session.budget.spent.keywords().values()):
                notice("no ledger, so this spending is not recorded.")
    if certificate is not None:
        certificate.write_text(json.dumps(answer.certificate(), indent=2) + "\n", encoding="utf-8")
    if as_json:
        say_json(answer.to_dict() | {"certificate": answer.certificate() if answer.releases else None})
    elif as_csv:
        print(_csv(answer), end="")
    else:
        say(str(answer))


def _read_query(query: str) -> str:
    """The query as given, or from standard input; a source in its place means that it was forgotten."""
    if len(query.split()) == 1 and ("://" in query or Path(query).is_file()):
        raise InvalidInput('the query is missing; write it last, in quotes, such as "SELECT COUNT(*) FROM orders".')
    return sys.stdin.read() if query == "-" else query


@contextmanager
def _explained(found: Dataset) -> Iterator[None]:
    """Say how to declare a table that is in the database and was not declared."""
    try:
        yield
    except UnsupportedQuery as error:
        unknown = re.match(r"there is no table '(.*?)'", str(error))
        for name in found.undeclared:
            if unknown is not None and name.lower() == unknown[1].lower():
                raise unsaid(name) from None
        raise


def _show_preview(seen: Preview, as_json: bool) -> NoReturn:
    if as_json:
        say_json(seen.to_dict())
    else:
        say(str(seen))
    raise typer.Exit(0 if seen.fits else REFUSED)


def _keys(given: list[str] | None) -> list[Any] | None:
    """Keys from lists separated by commas, one for each column: numbers are read as numbers, true and false as truth.

    With several columns every combination is a key.
    """
    columns = [[_key(part.strip()) for part in next(csv.reader([text]), [])] for text in given or []]
    if any(not column for column in columns):
        raise InvalidInput("--keys needs at least one key, such as --keys EU,US.")
    return None if not columns else columns[0] if len(columns) == 1 else list(product(*columns))


def _key(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return int(text)
    except ValueError:
        return text


def _csv(answer: Any) -> str:
    from tacit.answers import Answer
    from tacit.answers.results import alone

    table = (alone(answer) if isinstance(answer, Answer) else answer).to_arrow()
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(table.column_names)
    writer.writerows(zip(*table.to_pydict().values(), strict=True))
    return out.getvalue()
