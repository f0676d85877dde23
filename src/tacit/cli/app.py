"""The commands of `tacit`.

Exit codes: 0 fine; 2 user error and 3 budget refused (nothing spent); 4 engine or ledger failure, 130 interrupted
(the message says what was spent). Errors are one sentence on stderr; a traceback only with --debug.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from tacit import __version__
from tacit.cli.audit import audit
from tacit.errors import BudgetExceeded, EngineError, InvalidInput, LedgerError, TacitError, UnsupportedQuery

app = typer.Typer(
    name="tacit",
    help="Differentially private answers about personal data, without clipping bounds.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

CODES: list[tuple[type[TacitError], int]] = [
    (BudgetExceeded, 3),
    (InvalidInput, 2),
    (UnsupportedQuery, 2),
    (EngineError, 4),
    (LedgerError, 4),
]


INTERRUPTED = 130
UNCHARGED = "interrupted; nothing was charged."


class Interrupted(Exception):
    """Ctrl-C while a question was asked; the message says what the budget says."""


def run(arguments: Sequence[str]) -> int:
    """Run one command and turn what happens into an exit code."""
    try:
        result = app([a for a in arguments if a != "--debug"], standalone_mode=False, prog_name="tacit")
        sys.stdout.flush()  # a closed pipe shows here, not when the interpreter is gone
    except (BrokenPipeError, SystemExit):  # whoever reads has seen enough; typer leaves by SystemExit then
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Exception, KeyboardInterrupt) as error:
        if "--debug" in arguments:
            traceback.print_exc()
        sentence, code = _said(error)
        if sentence:
            print(f"tacit: {sentence}", file=sys.stderr)
        return code
    if result == INTERRUPTED:  # typer's own way to say so
        print(f"tacit: {UNCHARGED}", file=sys.stderr)
    return int(result or 0) if isinstance(result, int) else 0


def _said(error: BaseException) -> tuple[str, int]:
    """One sentence about an error, and its exit code."""
    if isinstance(error, TacitError):
        return str(error), next((code for kind, code in CODES if isinstance(error, kind)), 2)
    if isinstance(error, Interrupted):
        return str(error), INTERRUPTED
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return UNCHARGED, INTERRUPTED
    if callable(words := getattr(error, "format_message", None)):  # a usage error of the command line itself
        context, message = getattr(error, "ctx", None), words().rstrip(".")
        return message and f"{message}; see {context.command_path if context else 'tacit'} --help.", 2
    return f"{type(error).__name__} inside Tacit, which is a bug; add --debug to see where.", 4


def _version(wanted: bool) -> None:
    if wanted:
        print(f"tacit {__version__}")
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Differentially private answers about personal data, without clipping bounds."""


app.command()(audit)


@app.command()
def demo() -> None:
    """A tour on bundled data."""
    from tacit.cli.demo import tour

    tour()


@app.command()
def schema(
    source: Annotated[str, typer.Argument(help="A Parquet, CSV, JSON or DuckDB file.")],
    table: Annotated[str | None, typer.Option(help="The table inside a database.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """The public facts as read, names and types, to be confirmed or corrected."""
    import tacit

    found = tacit.schema(source, table=table)
    if as_json:
        print(json.dumps({name: str(kind) for name, kind in found.columns}, indent=2))
        return
    width = max(len(name) for name in found)
    for name, kind in found.columns:
        print(f"{name:<{width}}  {kind}")


@app.command()
def ask(
    source: Annotated[str, typer.Argument(help="A Parquet, CSV, JSON or DuckDB file.")],
    query: Annotated[str, typer.Argument(help="One SELECT with aggregates.")],
    person: Annotated[str, typer.Option(help="The column that says who a row is about.")],
    epsilon: Annotated[str | None, typer.Option(help="Cost in ε.")] = None,
    delta: Annotated[str | None, typer.Option(help="Cost in δ, with --epsilon.")] = None,
    rho: Annotated[str | None, typer.Option(help="Cost in ρ (Gaussian noise).")] = None,
    keys: Annotated[str | None, typer.Option(help="Public group keys, separated by commas.")] = None,
    table: Annotated[str | None, typer.Option(help="The table's name in SQL, or inside a database.")] = None,
    ledger: Annotated[
        str | None, typer.Option(envvar="TACIT_LEDGER", help="The ledger that keeps the budget.", metavar="FILE")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The dataset's name in the ledger; the table's unless given.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Comma-separated output.")] = False,
) -> None:
    """Ask one question; without a ledger the spending is not recorded.

    Example: tacit ask orders.parquet --person customer --epsilon 0.5 "SELECT SUM(amount) FROM orders"
    """
    import tacit
    from tacit.tables.declare import default_name
    from tacit.tables.privacy_clause import priced

    given = {k: v for k, v in {"epsilon": epsilon, "delta": delta, "rho": rho}.items() if v is not None}
    cost = priced(query, given).cost  # type: ignore[arg-type]
    if ledger is None:
        print("tacit: no ledger, so this spending is not recorded.", file=sys.stderr)
        asked = tacit.read(source, person=person, budget=cost, table=table)
    else:
        asked = tacit.read(
            source, person=person, table=table, ledger=ledger, name=name or table or default_name(source)
        )
    try:
        answer = asked.sql(query, keys=_keys(keys), **given)  # type: ignore[arg-type]
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; the budget says: {asked.budget!r}.") from None
    if as_json:
        print(json.dumps(answer.to_dict(), indent=2))
    elif as_csv:
        print(_csv(answer), end="")
    else:
        print(answer)


def _keys(text: str | None) -> list[Any] | None:
    """Keys from a comma-separated list; numbers are read as numbers, true and false as truth values."""
    return None if text is None else [_key(part.strip()) for part in text.split(",")]


def _key(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return int(text)
    except ValueError:
        return text


def _csv(answer: Any) -> str:
    import csv
    import io

    from tacit.answers import Answers

    records = answer._records() if isinstance(answer, Answers) else Answers({"": answer}, answer.guarantee)._records()
    out = io.StringIO()
    writer = csv.DictWriter(out, records[0].keys() if records else ["value"])
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


book = typer.Typer(help="Durable budgets.", no_args_is_help=True)
app.add_typer(book, name="ledger")

Where = Annotated[str, typer.Option("--ledger", envvar="TACIT_LEDGER", help="The ledger's file or connection string.")]


@book.command()
def create(
    name: Annotated[str, typer.Argument(help="The dataset's name.")],
    ledger: Where,
    epsilon: Annotated[str | None, typer.Option(help="Total ε.")] = None,
    delta: Annotated[str | None, typer.Option(help="Total δ, with --epsilon.")] = None,
    rho: Annotated[str | None, typer.Option(help="Total ρ.")] = None,
    person: Annotated[str, typer.Option(help="The person column, or columns separated by commas.")] = "person",
    composition: Annotated[str, typer.Option(help="basic or advanced.")] = "basic",
) -> None:
    """Register a dataset and its budget."""
    from tacit.ledger import open_ledger
    from tacit.tables.costs import cost_of

    total = cost_of(epsilon, delta, rho)
    budget = open_ledger(ledger).register(name, total, kinds=tuple(person.split(",")), composition=composition)
    print(f"{name}: {budget!r}")


@book.command()
def show(ledger: Where) -> None:
    """All datasets with what is spent and left."""
    from tacit import ledger as books

    print(books.show(books.open_ledger(ledger, read_only=True)))


@book.command()
def history(name: Annotated[str, typer.Argument(help="The dataset's name.")], ledger: Where) -> None:
    """Everything that happened to a dataset's budget."""
    from tacit import ledger as books

    for line in books.history(books.open_ledger(ledger, read_only=True), name):
        print(line)


@book.command()
def verify(name: Annotated[str, typer.Argument(help="The dataset's name.")], ledger: Where) -> None:
    """Check the chain of entries and the sums; anything wrong ends with code 4."""
    from tacit import ledger as books

    found = books.verify(books.open_ledger(ledger, read_only=True), name)
    print(found)
    if not found.sound:
        raise LedgerError("the ledger does not verify; keep a copy of it and ask who can write to it.")


@book.command()
def export(
    name: Annotated[str, typer.Argument(help="The dataset's name.")],
    ledger: Where,
    form: Annotated[str, typer.Option("--format", help="csv, json or report.")] = "csv",
) -> None:
    """A dataset's charges for spreadsheets and programs, or a report of one page."""
    from tacit import ledger as books

    forms = {"csv": books.to_csv, "json": books.to_json, "report": books.report}
    if form not in forms:
        raise InvalidInput(f"--format must be one of {', '.join(forms)}.")
    print(forms[form](books.open_ledger(ledger, read_only=True), name))
