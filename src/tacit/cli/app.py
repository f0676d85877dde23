"""The commands of `tacit`.

Exit codes: 0 fine; 2 user error and 3 budget refused (nothing spent); 4 engine or ledger failure, 130 interrupted
(the message says what was spent). Errors are one sentence on stderr; a traceback only with --debug.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import traceback
from collections.abc import Sequence
from copy import copy
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit import __version__
from tacit.cli import completing
from tacit.cli.ask import HELP as ASK
from tacit.cli.ask import ask
from tacit.cli.asking import Interrupted
from tacit.cli.audit import audit
from tacit.cli.check import HELP as CHECK
from tacit.cli.check import check
from tacit.cli.custodian import custodian
from tacit.cli.describe import HELP as DESCRIBE
from tacit.cli.describe import describe
from tacit.cli.ledger import book
from tacit.cli.mcp import HELP as MCP
from tacit.cli.mcp import mcp
from tacit.cli.once import refuse_repeats
from tacit.cli.publish import HELP as PUBLISH
from tacit.cli.publish import publish
from tacit.cli.serve import HELP as SERVE
from tacit.cli.serve import serve
from tacit.cli.speech import QUIET, Json, number, picture_file, save, say, say_error, say_json, width, working
from tacit.cli.tables import SOURCES, Delimiter, Encoding, Format, ReaderOptions, read_options, reader_options
from tacit.cli.usage import in_plain_words, mistake
from tacit.cli.verify import HELP as VERIFY
from tacit.cli.verify import verify
from tacit.errors import BudgetExceeded, EngineError, InvalidInput, LedgerError, TacitError, UnsupportedQuery
from tacit.numbers.exact import exact
from tacit.progress import wanted

HELP = """Differentially private answers about personal data, without clipping bounds.

\b
  tacit demo
  tacit schema orders.csv
  tacit describe orders.csv --person customer --epsilon 1
  tacit ask orders.csv --person customer --epsilon 0.5 \\
        "SELECT SUM(amount) FROM orders"
  tacit ask shop.duckdb --private orders:customer --public nations \\
        --epsilon 0.5 "SELECT name, COUNT(*) FROM orders
        JOIN nations ON nation = code GROUP BY name"
  tacit plan --persons 10000 --statistic sum --epsilon 0.5
  tacit check orders.csv --person customer
  tacit audit threshold_scan
  tacit verify answer.json

Exit codes: 0 fine; 1 a check found something; 2 a mistake in the question, 3 budget refused (nothing was spent); 4 the
engine or the ledger failed, 130 interrupted (the message says what was spent)."""

PLAN = """What accuracy to expect, from public facts only.

\b
Examples:
  tacit plan --persons 10000 --statistic sum --epsilon 0.5
  tacit plan --persons 10000 --statistic mean --error 1% --plot plan.png

For a query of yours, with its groups and all its aggregates: tacit ask --dry-run --persons 10000 --plot errors.png."""

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


def run(arguments: Sequence[str]) -> int:
    """Run one command and turn what happens into an exit code."""
    try:
        rest = [argument for argument in arguments if argument not in ANYWHERE]
        QUIET.set("--quiet" in arguments)
        wanted.set("--quiet" not in arguments)
        result = _command(rest[0] if rest else "")(
            rest, standalone_mode=False, prog_name="tacit", terminal_width=width() - 2
        )
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
            say_error(sentence)
        return code
    if result == INTERRUPTED:  # typer's own way to say so
        say_error(UNCHARGED)
    return int(result or 0) if isinstance(result, int) else 0


@cache
def _command(first: str) -> Any:
    """The command that the first word names, or all where it names none or a group of them; made once."""
    asked = copy(app)
    alone = [each for each in app.registered_commands if first in (each.name, getattr(each.callback, "__name__", ""))]
    if alone:
        asked.registered_commands, asked.registered_groups = alone, []
    return in_plain_words(refuse_repeats(typer.main.get_command(asked)))


def _said(error: BaseException) -> tuple[str, int]:
    """One sentence about an error, and its exit code."""
    if isinstance(error, TacitError):
        return _READER.sub(_as_flag, error.told("command line")), next(
            (code for kind, code in CODES if isinstance(error, kind)), 2
        )
    if isinstance(error, Interrupted):
        return str(error), INTERRUPTED
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return UNCHARGED, INTERRUPTED
    if hasattr(error, "format_message"):  # a usage error of the command line itself
        return mistake(error), 2
    if isinstance(error, OSError):
        return (
            "a file could not be read or written; check that it may be, and that what is compressed is whole and of "
            "the kind its name says; add --debug to see which."
        ), 4
    return f"{type(error).__name__} inside Tacit, which is a bug; add --debug to see where.", 4


_READER = re.compile(r"(?<![\w.-])(encoding|delimiter|format)=(?:'([^']*)'|\"([^\"]*)\"|(?=\s))")
"""Options of the reader that have a flag of their own, as messages name them."""


def _as_flag(found: re.Match[str]) -> str:
    """delimiter=';' as a shell takes it."""
    value = found[2] or found[3]
    return f"--{found[1]} {shlex.quote(value)}" if value else f"--{found[1]}"


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

    picture_file(picture, needed=False)
    tour(picture, as_json)


@app.command()
def schema(
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE", help=SOURCES)],
    table: Annotated[str | None, typer.Option(help="One table of a database; all of them unless given.")] = None,
    encoding: Encoding = None,
    kind: Format = None,
    delimiter: Delimiter = None,
    option: ReaderOptions = None,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """The public facts as read, to be confirmed or corrected: names and types, of several files or a database for every
    table.

    Example: tacit schema orders.csv
    """
    from tacit.cli.schema import show

    show(sources, table, read_options(reader_options(option, encoding, kind, delimiter)), as_json)


@app.command(help=PLAN)
def plan(
    statistic: Annotated[
        str,
        typer.Option(
            help="persons, count, sum, mean, median, p90 or another quantile, min, max, std, nunique, ratio …",
            autocompletion=completing.statistics,
        ),
    ],
    persons: Annotated[int, typer.Option(help="About how many persons there are.")],
    epsilon: Annotated[str | None, typer.Option(callback=number, help="What the answer may cost.")] = None,
    error: Annotated[str | None, typer.Option(callback=number, help="Which ε gives this error? 1% or 0.01.")] = None,
    shape: Annotated[
        str, typer.Option(help="equal, uniform, lognormal or pareto.", autocompletion=completing.shapes)
    ] = "lognormal",
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
    share = exact(text.strip().removesuffix("%").strip(), "error")
    return share / 100 if text.strip().endswith("%") else share


app.command(help=ASK)(ask)
app.command(help=DESCRIBE)(describe)
app.command(help=CHECK)(check)
app.command()(audit)
app.command(help=PUBLISH)(publish)
app.command(help=VERIFY)(verify)
app.command(help=SERVE)(serve)
app.command(help=MCP)(mcp)
app.add_typer(book, name="ledger")
app.add_typer(custodian, name="custodian")
