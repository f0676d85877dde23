"""The commands of `tacit`.

Exit codes: 0 fine; 2 user error and 3 budget refused (nothing spent); 4 engine or ledger failure, 130 interrupted
(the message says what was spent). Errors are one sentence on stderr; a traceback only with --debug.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from tacit import Pure, Zcdp, __version__
from tacit.errors import BudgetExceeded, EngineError, InvalidInput, LedgerError, TacitError, UnsupportedQuery
from tacit.guarantees import Approx, Guarantee

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


def run(arguments: Sequence[str]) -> int:
    """Run one command and turn what happens into an exit code."""
    debug = "--debug" in arguments
    try:
        result = app([a for a in arguments if a != "--debug"], standalone_mode=False)
    except TacitError as error:
        if debug:
            raise
        print(f"tacit: {error}", file=sys.stderr)
        return next((code for kind, code in CODES if isinstance(error, kind)), 2)
    except (KeyboardInterrupt, typer.Abort):
        print("tacit: interrupted; a question that was already charged stays charged.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as error:
        show = getattr(error, "show", None)  # a usage error of the command line itself
        if debug or show is None:
            raise
        show()
        return 2
    return int(result or 0) if isinstance(result, int) else 0


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
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Ask one question; without a ledger the spending is not recorded."""
    import tacit
    from tacit.tables.costs import cost_of

    budget = _budget(cost_of(epsilon, delta, rho))
    print("tacit: no ledger, so this spending is not recorded.", file=sys.stderr)
    asked = tacit.read(source, person=person, budget=budget, table=table)
    given = {k: v for k, v in {"epsilon": epsilon, "delta": delta, "rho": rho}.items() if v is not None}
    answer = asked.sql(query, keys=None if keys is None else keys.split(","), **given)  # type: ignore[arg-type]
    print(json.dumps(_plain(answer), indent=2) if as_json else answer)


def _plain(answer: Any) -> Any:
    return answer.to_dict()


def _budget(cost: Guarantee) -> Guarantee:
    """A one-shot budget that holds just this cost."""
    if isinstance(cost, Pure | Zcdp | Approx):
        return cost
    raise InvalidInput("a question costs epsilon, rho, or epsilon with delta.")
