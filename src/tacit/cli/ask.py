"""`tacit ask`: a question about one table or several, or some questions planned together."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.asking import (
    CertificateFile,
    Delta,
    Epsilon,
    ForecastPicture,
    Fresh,
    Interrupted,
    LedgerFile,
    Name,
    PeriodName,
    PersonsGuess,
    Preview,
    Rho,
    Version,
    guessed,
    notice_unrecorded,
    open_session,
    show_preview,
    writable,
)
from tacit.cli.narrow import fitting
from tacit.cli.speech import Json, notice, say, say_json, width, working
from tacit.cli.tables import (
    SOURCES,
    Dataset,
    Dates,
    Delimiter,
    Encoding,
    Flags,
    Format,
    OnePerson,
    OneTable,
    PrivateTables,
    PublicTables,
    ReaderOptions,
    Settings,
    find_dataset,
    reader_options,
    unsaid,
)
from tacit.errors import InvalidInput, UnsupportedQuery

if TYPE_CHECKING:
    from tacit.answers import Answer, Answers
    from tacit.answers.report import Report

HELP = """Ask a question about private tables; without a ledger the spending is not recorded.

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
  tacit ask --dry-run --persons 10000 --plot errors.png --epsilon 0.5 \\
        "SELECT region, SUM(amount) FROM orders GROUP BY region"
  tacit ask --epsilon 1 --fresh-only 2 \\
        "SELECT COUNT(*) FROM orders; SELECT AVG(amount) FROM orders"

The last two find their tables in tacit.toml. The first of them shows what the question would cost and how far off its
answers would be, and draws it; the other asks two questions together, 1 and 2, and the second anew even if it was
answered before."""


def ask(
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE", help=SOURCES),
    ] = None,
    *,
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY",
            help="A SELECT with aggregates, or - to read it from standard input; several with semicolons between them "
            "are planned together, all or none.",
        ),
    ],
    person: OnePerson = None,
    private: PrivateTables = None,
    public: PublicTables = None,
    config: Settings = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY,KEY…", help="Public group keys; repeat it for each further column of GROUP BY."),
    ] = None,
    table: OneTable = None,
    encoding: Encoding = None,
    kind: Format = None,
    delimiter: Delimiter = None,
    option: ReaderOptions = None,
    date: Dates = None,
    ledger: LedgerFile = None,
    name: Name = None,
    version: Version = None,
    period: PeriodName = None,
    fresh: Fresh = False,
    fresh_only: Annotated[
        list[str] | None,
        typer.Option(metavar="NUMBER", help="Of several questions ask only this one anew; repeat it for others."),
    ] = None,
    preview: Preview = False,
    persons: PersonsGuess = None,
    plot: ForecastPicture = None,
    certificate: CertificateFile = None,
    nonnegative: Annotated[
        bool, typer.Option("--nonnegative", help="Show counts that noise took below 0 as 0; it costs nothing.")
    ] = False,
    as_json: Annotated[bool, Json] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Comma-separated output.")] = False,
) -> None:
    """Ask a question, or several."""
    from tacit.answers.report import Report
    from tacit.language.parsing import statements
    from tacit.tables.releasing.room import cost_of
    from tacit.tables.sql.privacy_clause import price

    if as_json and as_csv:
        raise InvalidInput("--json and --csv are two forms of output; choose one.")
    writable(certificate)
    guessed(persons, preview, plot)
    query = _read_query(query, sources or ())
    several = statements(query, "the query")
    if len(several) > 1 and (as_csv or keys or nonnegative):
        raise InvalidInput(
            "--csv, --keys and --nonnegative are for one question at a time; ask the SELECTs one after the other."
        )
    if fresh_only and len(several) < 2:
        raise InvalidInput("--fresh-only names one of several questions; for a single one write --fresh.")
    cost = cost_of(epsilon, delta, rho) if len(several) > 1 else price(query, epsilon, delta, rho).cost
    read = reader_options(option, encoding, kind, delimiter)
    flags = Flags(sources or (), person or (), private or (), public or (), table, read, config, date or ())
    found = find_dataset(flags, name)
    for called in found.tables:
        if not (flags.table or called.replace(".", "_").isidentifier()):
            notice(f'the table is "{called}" in SQL, with its quotes; --table gives it another name.')
    session = open_session(found, cost, ledger, version, period)
    chosen = _keys(keys)
    anew: bool | list[str] = fresh or list(fresh_only or ())
    with _explained(found):
        if preview and len(several) > 1:
            seen = session.report(several, epsilon=epsilon, delta=delta, rho=rho, fresh=anew, preview=True)
            show_preview(seen, as_json, persons, plot)
        elif preview:
            one = session.preview(query, keys=chosen, epsilon=epsilon, delta=delta, rho=rho, fresh=fresh)
            show_preview(one, as_json, persons, plot)
        try:
            with working("asking"):
                answer: Answer | Answers | Report = (
                    session.report(several, epsilon=epsilon, delta=delta, rho=rho, fresh=anew)
                    if len(several) > 1
                    else session.sql(query, keys=chosen, epsilon=epsilon, delta=delta, rho=rho, fresh=fresh)
                )
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted; the budget says: {session.budget!r}.") from None
        finally:
            notice_unrecorded(session, ledger, found)
    if nonnegative and not isinstance(answer, Report):
        answer = answer.nonnegative()
    if certificate is not None:
        certificate.write_text(json.dumps(answer.certificate(), indent=2) + "\n", encoding="utf-8")
    if as_json:
        earlier = {} if (said := _warned(answer)) is None else {"warning": said}
        say_json(
            earlier | answer.to_dict() | earlier | {"certificate": answer.certificate() if answer.releases else None}
        )
    elif as_csv:
        if (said := _warned(answer)) is not None:
            print(f"tacit: {said}", file=sys.stderr)  # even where notices are not wanted
        print(_csv(answer), end="")
    else:
        say(fitting(answer, width() if sys.stdout.isatty() else None))


def _warned(answer: Answer | Answers | Report) -> str | None:
    """That an answer, or one of several, is an earlier one."""
    from tacit.answers.report import Report
    from tacit.answers.several import warned

    if not isinstance(answer, Report):
        return warned(answer, "command line")
    said = {name: warned(result, "command line") for name, result in answer.items()}
    return " ".join(f"{name}: {words}" for name, words in said.items() if words is not None) or None


def _read_query(query: str, sources: Sequence[str]) -> str:
    """The query as given, or from standard input; a source in its place means that it was forgotten."""
    if any(source.upper() in ("SELECT", "WITH") for source in sources):
        raise InvalidInput('the query is in pieces; put it in quotes, such as "SELECT COUNT(*) FROM orders".')
    if len(query.split()) == 1 and ("://" in query or Path(query).is_file()):
        raise InvalidInput('the query is missing; write it last, in quotes, such as "SELECT COUNT(*) FROM orders".')
    return sys.stdin.read() if query == "-" else query


@contextmanager
def _explained(found: Dataset) -> Iterator[None]:
    """Say how to declare a table that is in the database and was not declared, and how to write keys of two columns."""
    try:
        yield
    except InvalidInput as error:
        if not str(error).startswith("keys must hold a tuple"):
            raise
        raise InvalidInput(
            "write --keys once for each column of GROUP BY, such as --keys EU,US --keys 2025,2026; every combination "
            "is a group."
        ) from None
    except UnsupportedQuery as error:
        unknown = re.match(r"there is no table '(.*?)'", str(error))
        for name in found.undeclared:
            if unknown is not None and name.lower() == unknown[1].lower():
                raise unsaid(name) from None
        raise


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
