"""The commands of `tacit`.

Exit codes: 0 fine; 2 user error and 3 budget refused (nothing spent); 4 engine or ledger failure, 130 interrupted
(the message says what was spent). Errors are one sentence on stderr; a traceback only with --debug.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit import __version__
from tacit.cli.audit import audit
from tacit.cli.check import HELP as CHECK
from tacit.cli.check import check
from tacit.cli.ledger import book
from tacit.cli.serve import HELP as SERVE
from tacit.cli.serve import serve
from tacit.cli.speech import QUIET, Json, notice, picture_file, save, say, say_json, width, working
from tacit.errors import BudgetExceeded, EngineError, InvalidInput, LedgerError, TacitError, UnsupportedQuery
from tacit.numbers.exact import exact

HELP = """Differentially private answers about personal data, without clipping bounds.

\b
  tacit demo
  tacit schema orders.csv
  tacit ask orders.csv --person customer --epsilon 0.5 \\
        "SELECT SUM(amount) FROM orders"
  tacit plan --persons 10000 --statistic sum --epsilon 0.5
  tacit check orders.csv --person customer
  tacit audit threshold_scan

Exit codes: 0 fine; 1 a check found something; 2 a mistake in the question, 3 budget refused (nothing was spent); 4 the
engine or the ledger failed, 130 interrupted (the message says what was spent)."""

ASK = """Ask one question; without a ledger the spending is not recorded.

\b
Examples:
  tacit ask orders.parquet --person customer --epsilon 0.5 \\
        "SELECT SUM(amount) FROM orders"
  tacit ask orders.csv --person customer --epsilon 1 --keys EU,US \\
        "SELECT region, COUNT(*) FROM orders GROUP BY region"
  tacit ask postgresql:///shop --table orders --person customer \\
        --ledger ledger.db --epsilon 0.5 "SELECT AVG(amount) FROM orders\""""

PLAN = """What accuracy to expect, from public facts only.

\b
Examples:
  tacit plan --persons 10000 --statistic sum --epsilon 0.5
  tacit plan --persons 10000 --statistic mean --error 1% --plot plan.png"""

app = typer.Typer(name="tacit", no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)

CODES: list[tuple[type[TacitError], int]] = [
    (BudgetExceeded, 3),
    (InvalidInput, 2),
    (UnsupportedQuery, 2),
    (EngineError, 4),
    (LedgerError, 4),
]


ANYWHERE = ("--debug", "--quiet")
"""Options that mean the same wherever they stand."""
INTERRUPTED = 130
UNCHARGED = "interrupted; nothing was charged."


class Interrupted(Exception):
    """Ctrl-C while a question was asked; the message says what the budget says."""


def run(arguments: Sequence[str]) -> int:
    """Run one command and turn what happens into an exit code."""
    try:
        rest = [argument for argument in arguments if argument not in ANYWHERE]
        QUIET.set("--quiet" in arguments)
        result = app(rest, standalone_mode=False, prog_name="tacit", terminal_width=width() - 2)
        sys.stdout.flush()  # a closed pipe shows here, not when the interpreter is gone
    except (BrokenPipeError, SystemExit):  # whoever reads has seen enough; typer leaves by SystemExit then
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Exception, KeyboardInterrupt) as error:
        if "--debug" in arguments:
            traceback.print_exc()
        sentence, code = _said(error)
        if sentence.startswith("Usage: "):  # a command without arguments: its help, as it is
            print(sentence, file=sys.stderr)
        elif sentence:
            print(f"tacit: {sentence}", file=sys.stderr)
        return code
    if result == INTERRUPTED:  # typer's own way to say so
        print(f"tacit: {UNCHARGED}", file=sys.stderr)
    return int(result or 0) if isinstance(result, int) else 0


def _said(error: BaseException) -> tuple[str, int]:
    """One sentence about an error, and its exit code."""
    if isinstance(error, TacitError):
        return error.told("command line"), next((code for kind, code in CODES if isinstance(error, kind)), 2)
    if isinstance(error, Interrupted):
        return str(error), INTERRUPTED
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return UNCHARGED, INTERRUPTED
    if callable(words := getattr(error, "format_message", None)):  # a usage error of the command line itself
        context, message = getattr(error, "ctx", None), words().rstrip(".")
        if message.startswith("Usage: "):
            return message, 2
        return message and f"{message}; see {context.command_path if context else 'tacit'} --help.", 2
    return f"{type(error).__name__} inside Tacit, which is a bug; add --debug to see where.", 4


def _version(wanted: bool) -> None:
    if wanted:
        print(f"tacit {__version__}")
        raise typer.Exit()


@app.callback(help=HELP)
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print no notices and no progress; may stand anywhere in the command.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error comes from; may stand anywhere in the command.")
    ] = False,
) -> None:
    """Options of every command."""


@app.command()
def demo(
    picture: Annotated[Path, typer.Option(metavar="FILE", help="Where the picture goes (.png, .svg or .pdf).")] = Path(
        "tacit-demo.png"
    ),
    as_json: Annotated[bool, Json] = False,
) -> None:
    """A complete tour on bundled data, with a picture.

    Example: tacit demo --picture tour.svg
    """
    from tacit.cli.demo import tour

    picture_file(picture)
    tour(picture, as_json)


@app.command()
def schema(
    source: Annotated[str, typer.Argument(help="A Parquet, CSV, JSON or DuckDB file, or a connection string.")],
    table: Annotated[str | None, typer.Option(help="The table inside a database.")] = None,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """The public facts as read, to be confirmed or corrected.

    Example: tacit schema orders.csv
    """
    import tacit

    with working("reading names and types"):
        found = tacit.schema(source, table=table)
    if as_json:
        say_json({name: str(kind) for name, kind in found.columns})
        return
    width = max(len(name) for name in found)
    for name, kind in found.columns:
        print(f"{name:<{width}}  {kind}")


@app.command(help=ASK)
def ask(
    source: Annotated[str, typer.Argument(help="A Parquet, CSV, JSON or DuckDB file, or a connection string.")],
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
    as_json: Annotated[bool, Json] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Comma-separated output.")] = False,
) -> None:
    """Ask one question; without a ledger the spending is not recorded."""
    import tacit
    from tacit.tables.face.declarations import default_name
    from tacit.tables.sql.privacy_clause import price

    cost = price(query, epsilon, delta, rho).cost
    if table is None and not (stem := default_name(source)).isidentifier():
        notice(f'the table is "{stem}" in SQL, with its quotes; --table gives it another name.')
    if ledger is None:
        notice("no ledger, so this spending is not recorded.")
        asked = tacit.read(source, person=person, budget=cost, table=table)
    else:
        asked = tacit.read(
            source, person=person, table=table, ledger=ledger, name=name or table or default_name(source)
        )
    try:
        with working("asking"):
            answer = asked.sql(query, keys=_keys(keys), epsilon=epsilon, delta=delta, rho=rho)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; the budget says: {asked.budget!r}.") from None
    if as_json:
        say_json(answer.to_dict())
    elif as_csv:
        print(_csv(answer), end="")
    else:
        say(str(answer))


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

    from tacit.answers import Answer
    from tacit.answers.results import alone

    table = (alone(answer) if isinstance(answer, Answer) else answer).to_arrow()
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(table.column_names)
    writer.writerows(zip(*table.to_pydict().values(), strict=True))
    return out.getvalue()


@app.command(help=PLAN)
def plan(
    statistic: Annotated[str, typer.Option(help="persons, count, sum, mean, median, nunique or ratio.")],
    persons: Annotated[int, typer.Option(help="About how many persons there are.")],
    epsilon: Annotated[str | None, typer.Option(help="What the answer may cost.")] = None,
    error: Annotated[str | None, typer.Option(help="Which ε gives this error? 1% or 0.01.")] = None,
    shape: Annotated[str, typer.Option(help="equal, uniform, lognormal or pareto.")] = "lognormal",
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="A picture (.png, .svg or .pdf).")] = None,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """What accuracy to expect, from public facts only."""
    import tacit

    if plot is not None:
        picture_file(plot)
    share = None if error is None else _share(error)
    with working("asking made-up data"):
        found = tacit.plan(statistic, persons=persons, epsilon=epsilon, error=share, shape=shape)
    if plot is not None:
        from tacit.plots import accuracy

        save(accuracy(found), plot)
    if as_json:
        say_json(found.to_dict())
    else:
        say(str(found))


def _share(text: str) -> Fraction:
    """0.01 or 1%."""
    number = exact(text.strip().removesuffix("%").strip(), "error")
    return number / 100 if text.strip().endswith("%") else number


app.command(help=CHECK)(check)
app.command()(audit)
app.command(help=SERVE)(serve)
app.add_typer(book, name="ledger")
