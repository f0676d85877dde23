"""`tacit ledger …`: durable budgets from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.speech import Json, number, picture_file, save, say, say_json, say_line
from tacit.errors import InvalidInput, LedgerError
from tacit.numbers.exact import check_listed

if TYPE_CHECKING:
    from tacit.budgets import Calendar

WHAT = "create, show, calendar, carry, history, verify, renew, accept, export"
book = typer.Typer(help=f"Durable budgets: {WHAT}.", no_args_is_help=True)

Where = Annotated[str, typer.Option("--ledger", envvar="TACIT_LEDGER", help="The ledger's file or connection string.")]
Name = Annotated[str, typer.Argument(help="The dataset's name.")]
AsJson = Annotated[bool, Json]


@book.command()
def create(
    name: Name,
    ledger: Where,
    epsilon: Annotated[str | None, typer.Option(callback=number, help="Total ε.")] = None,
    delta: Annotated[str | None, typer.Option(callback=number, help="Total δ, with --epsilon.")] = None,
    rho: Annotated[str | None, typer.Option(callback=number, help="Total ρ.")] = None,
    person: Annotated[
        list[str] | None,
        typer.Option(help="The column, or kind, of the persons it protects; repeat it, or separate several by commas."),
    ] = None,
    composition: Annotated[str, typer.Option(help="basic, advanced, tight or odometer.")] = "basic",
    every: Annotated[
        str | None,
        typer.Option(help="A budget for each day, week, month, quarter or year; --epsilon is then for a lifetime."),
    ] = None,
    each_epsilon: Annotated[str | None, typer.Option(callback=number, help="ε of each period.")] = None,
    each_delta: Annotated[str | None, typer.Option(callback=number, help="δ of each period.")] = None,
    each_rho: Annotated[str | None, typer.Option(callback=number, help="ρ of each period.")] = None,
    without_lifetime_bound: Annotated[
        bool,
        typer.Option(
            "--without-lifetime-bound",
            help="Refresh the budget in each period, and nothing adds them up: who has rows in k periods is protected "
            "by k times a period's budget only. Leave out --epsilon, --delta and --rho then.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Register a dataset and its budget, which may be one for each period.

    Example: tacit ledger create orders --ledger ledger.db --epsilon 2 --person customer

    By month: tacit ledger create visits --ledger ledger.db --epsilon 6 --every month --each-epsilon 1
    """
    from tacit.budgets import Calendar, Periods
    from tacit.ledger import open_ledger
    from tacit.tables.releasing.room import cost_of

    lifetime = None if without_lifetime_bound else cost_of(epsilon, delta, rho)
    if without_lifetime_bound and (epsilon or delta or rho or not every):
        raise InvalidInput("--without-lifetime-bound is for --every, with --each-epsilon or --each-rho alone.")
    if every is None and (each_epsilon or each_delta or each_rho):
        raise InvalidInput("what each period may cost needs --every, such as --every month.")
    periods = None
    if every is not None:
        periods = Periods(every, cost_of(each_epsilon, each_delta, each_rho), lifetime, without_lifetime_bound)
    total = lifetime if periods is None else periods.above
    assert total is not None
    kinds = tuple(kind for text in person or ["person"] for kind in text.split(","))
    opened = open_ledger(ledger)
    budget = opened.register(name, total, kinds=kinds, composition=composition)
    if periods is not None:
        _show_calendar(name, Calendar.open(budget, periods), as_json)
    elif as_json:
        facts = {"name": name, "total": repr(budget.total), "left": repr(budget.remaining)}
        say_json(facts | {"ledger_id": opened.identity})
    else:
        say(f"{name}: {budget.total!r}, of which nothing is spent.\nledger_id: {opened.identity}")
        if person is None:
            say(
                "Nothing says whom it protects, so they are of kind person: ask with --person person:COLUMN, or create "
                "it with --person COLUMN."
            )


@book.command()
def calendar(name: Name, ledger: Where, as_json: AsJson = False) -> None:
    """The periods of a dataset, what each has spent and left, and what holds for whom.

    Example: tacit ledger calendar orders --ledger ledger.db
    """
    _show_calendar(name, _calendar(name, ledger, read_only=True), as_json)


@book.command()
def carry(
    name: Name,
    older: Annotated[str, typer.Argument(help="The period that leaves something, such as 2026-10.")],
    newer: Annotated[str, typer.Argument(help="The later period that gets it.")],
    ledger: Where,
    as_json: AsJson = False,
) -> None:
    """Give what one period leaves to a later one; without this nothing is carried over.

    Example: tacit ledger carry orders 2026-10 2026-11 --ledger ledger.db
    """
    found = _calendar(name, ledger, read_only=False)
    found.carry(older, newer)
    _show_calendar(name, found, as_json)


def _calendar(name: str, ledger: str, *, read_only: bool) -> Calendar:
    from tacit.budgets import Calendar
    from tacit.ledger import open_ledger

    opened = open_ledger(ledger, read_only=read_only, create=False)
    found = Calendar.find(opened.budget(name))
    if found is None:
        raise InvalidInput(f"the dataset {name!r} has one budget for all times; register one with --every month.")
    return found


def _show_calendar(name: str, found: Calendar, as_json: bool) -> None:
    if as_json:
        lines = [
            {"period": line.name, "limit": repr(line.limit), "spent": repr(line.spent), "left": repr(line.left)}
            for line in found.lines
        ]
        lifetime = None if found.lifetime is None else repr(found.lifetime)
        facts = {"name": name, "every": found.every, "each": repr(found.each), "lifetime": lifetime}
        say_json(facts | {"spent": repr(found.spent), "periods": lines, "holds": found.holds})
        return
    say(f"{name}: {found.describe()}")
    for line in found.lines:
        say(f"  {line.name}: {line.limit!r}, spent {line.spent!r}, left {line.left!r}")
    for sentence in found.holds.values():
        say(sentence)


@book.command()
def show(ledger: Where, as_json: AsJson = False) -> None:
    """All datasets with what is spent and left."""
    from tacit import ledger as books

    opened = books.open_ledger(ledger, read_only=True)
    if not as_json:
        say(f"{books.show(opened)}\nledger_id: {opened.identity or 'none yet'}")
        return
    found = []
    for name in opened.names():
        root = opened.dataset(name).root
        spent, left = root.filter.spent(root.sums), root.left
        found.append({"name": name, "total": repr(root.filter.total), "spent": repr(spent), "left": repr(left)})
    say_json(found)


@book.command()
def history(
    name: Name,
    ledger: Where,
    as_json: AsJson = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A picture of the budget burning down (.png or .svg).")
    ] = None,
) -> None:
    """Everything that happened to a dataset's budget: a line for each question, in local time.

    With --json every entry of the ledger, whole, in UTC.

    Example: tacit ledger history orders --ledger ledger.db --plot budget.png
    """
    from tacit import ledger as books

    opened = books.open_ledger(ledger, read_only=True)
    if plot is not None:
        from tacit.plots import burn_down

        picture_file(plot)
        costs = [(charge.text, charge.guarantee) for charge in books.charges(opened, name)]
        save(burn_down(opened.dataset(name).root.filter.total, costs), plot)
    if as_json:
        say_json(json.loads(books.to_json(opened, name))["entries"])
    else:
        for line in books.history(opened, name):
            say_line(line)


@book.command()
def verify(name: Name, ledger: Where, as_json: AsJson = False) -> None:
    """Check the chain of entries and the sums; anything wrong ends with code 4."""
    from tacit import ledger as books

    found = books.verify(books.open_ledger(ledger, read_only=True), name)
    if as_json:
        facts: dict[str, Any] = {"dataset": found.dataset, "sound": found.sound, "entries": found.entries}
        say_json({**facts, "head": found.head, "problems": list(found.problems)})
    else:
        say(str(found))
    if not found.sound:
        raise LedgerError("the ledger does not verify; keep a copy of it and ask who can write to it.")


@book.command()
def renew(
    name: Name,
    analyst: Annotated[str, typer.Argument(help="The analyst's name.")],
    ledger: Where,
    as_json: AsJson = False,
) -> None:
    """Reset an analyst's allowance of failed questions.

    Example: tacit ledger renew orders ada --ledger ledger.db
    """
    from tacit.ledger import open_ledger

    accounts = open_ledger(ledger, create=False).accounts(name)
    found = {key: budget for key, budget in accounts.items() if key.rpartition("/")[2] == f"analyst:{analyst}"}
    if not found:
        raise InvalidInput(f"the dataset {name!r} has no analyst {analyst!r}; nothing was changed: check the names.")
    counts = {key: budget.unanswered for key, budget in found.items()}
    for budget in found.values():
        budget.renew()
    if as_json:
        say_json({"name": name, "renewed": counts})
    else:
        for key, count in counts.items():
            say(f"{name}, {key}: renewed; {count} questions had failed or were without an outcome.")


@book.command()
def accept(ledger: Where, as_json: AsJson = False) -> None:
    """Accept an older ledger file in place of the one used last.

    What was spent after that copy was made is forgotten, so do this only if no answer of that time was kept.
    """
    from tacit.ledger import open_ledger, show

    with open_ledger(ledger, create=False, accept=True) as opened:
        if as_json:
            say_json({"ledger_id": opened.identity, "datasets": opened.names()})
        else:
            say(f"{show(opened)}\nThis is what counts from now on.")


@book.command()
def export(
    name: Name,
    ledger: Where,
    form: Annotated[str, typer.Option("--format", help="csv, json or report.")] = "csv",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """A dataset's charges for spreadsheets and programs, or a report of one page.

    Example: tacit ledger export orders --ledger ledger.db --format report > report.md
    """
    from tacit import ledger as books

    forms = {"csv": books.to_csv, "json": books.to_json, "report": books.report}
    check_listed(form, "--format", forms)
    print(forms["json" if as_json else form](books.open_ledger(ledger, read_only=True), name))
