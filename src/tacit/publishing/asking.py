"""`publish`: ask what an edition asks, once, and write it down.

PROMISE. All questions are paid for, or none is asked: what they cost is held against the budget before the first is
charged. Publishing the same edition again, whenever it was interrupted, charges nothing twice: an answer is found by
its question, cost, version and period, and a charge whose answer was lost pays for the next attempt
(`tacit.ledger.attempts`). Nothing is written before all answers are in the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from inspect import signature
from operator import add
from typing import Any

from tacit.answers import Answer, Answers
from tacit.answers.results import Result, Row, alone
from tacit.answers.series import Series
from tacit.budgets import Budget, Calendar, Question, Receipt
from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee
from tacit.ledger import open_ledger
from tacit.publishing.edition import Asked, Edition
from tacit.serve.sparks import connect_spark
from tacit.tables import Session
from tacit.tables.sql.report import Questions, plan_report
from tacit.tables.statistics.catalogue import Statistics

Charge = tuple[Guarantee, Question]


@dataclass(frozen=True)
class Published:
    """An edition with its answers, and what holds for whom."""

    edition: Edition
    results: dict[str, Answers]
    """The answers by the names of the questions."""
    costs: dict[str, Guarantee]
    """What each question alone was made for; what several share is in each of them."""
    protection: dict[str, str]
    kinds: tuple[str, ...]
    stored: bool
    """Whether all of it was answered before."""


def publish(edition: Edition, *, fresh: bool | list[str] = False) -> Published:
    """Answer an edition and write its folder.

    Args:
        edition: what is to be published.
        fresh: ask and pay again even if it was answered before; or the names of the questions to ask anew.
    """
    from tacit.publishing.writing import check_folder, write

    check_folder(edition.folder)
    with _opened(edition) as session:
        found = _answered(edition, session, fresh)
    write(found)
    return found


def preview(edition: Edition, *, fresh: bool | list[str] = False) -> tuple[Guarantee | None, bool]:
    """What publishing an edition would charge, None for nothing, and whether that is left; nothing is spent.

    Args:
        edition: what would be published.
        fresh: as for `publish`.
    """
    with _opened(edition) as session:
        _, charges = _planned_whole(edition, session, _anew(edition, fresh))
        costs = [cost for cost, _ in charges]
        return (reduce(add, costs) if costs else None), not charges or session.budget.fits_each(*charges)


@contextmanager
def _opened(edition: Edition) -> Iterator[Session]:
    """A session in which what was charged and not answered is continued."""
    with open_ledger(edition.ledger) as ledger:
        dataset = edition.dataset
        dated = dataset.periods is not None
        if not dated and dataset.name in ledger.names():
            dated = Calendar.find(ledger.budget(dataset.name)) is not None
        with Session(
            {name: connect_spark(table) for name, table in dataset.tables.items()},
            dataset.periods or dataset.budget,
            composition=dataset.composition,
            name=dataset.name,
            ledger=ledger,
            version=edition.version,
            period=edition.period if dated else None,
        ) as session:
            yield session._with(session._releaser.continuing())


@dataclass(frozen=True)
class _Plan:
    """What is asked: SELECTs together, and methods of tables, each at its cost."""

    together: Questions | None
    costs: dict[str, Guarantee]


def _anew(edition: Edition, fresh: bool | list[str]) -> set[str]:
    names = {asked.name for asked in edition.questions}
    anew = names if fresh is True else set(fresh or ())
    if unknown := anew - names:
        raise InvalidInput(f"fresh names {sorted(unknown)[0]!r}, which is no question of this publication.")
    return anew


def _planned_whole(edition: Edition, session: Session, anew: set[str]) -> tuple[_Plan, list[Charge]]:
    """The plan of all questions, and what would be charged for it; refuses what cannot be answered."""
    whole = sum((asked.weight for asked in edition.questions), Fraction(0))
    costs = {asked.name: edition.cost * (asked.weight / whole) for asked in edition.questions}
    selects = [asked for asked in edition.questions if asked.sql]
    together, charges = None, list[Charge]()
    if selects:
        share = sum((asked.weight for asked in selects), Fraction(0)) / whole
        together = plan_report(
            session._releaser,
            {asked.name: asked.sql for asked in selects},
            edition.cost if share == 1 else edition.cost * share,
            {asked.name: asked.keys for asked in selects if asked.keys is not None} or None,
            {asked.name: asked.weight for asked in selects if asked.weight != 1} or None,
        )
        together.plan.check()
        marked = together.anew([asked.name for asked in selects if asked.name in anew])
        charges += together.plan.charges(together.plan.unpaid(marked))
    for asked in edition.questions:
        if asked.call:
            charges += _planned(asked, session, costs[asked.name], asked.name in anew)
    return _Plan(together, costs), charges


def _answered(edition: Edition, session: Session, fresh: bool | list[str]) -> Published:
    anew = _anew(edition, fresh)
    plan, charges = _planned_whole(edition, session, anew)
    session.budget.check_each(*charges)
    results: dict[str, Any] = {}
    costs = dict(plan.costs)
    if plan.together is not None:
        report = plan.together.ask(plan.together.anew([name for name in plan.together.shown if name in anew]))
        results |= dict(report)
        costs |= {name: result.guarantee for name, result in report.items()}
    for asked in edition.questions:
        if asked.call:
            results[asked.name] = _call(asked, session, costs[asked.name], asked.name in anew)
    ordered = {asked.name: _several(results[asked.name]) for asked in edition.questions}
    stored = all(result.stored for result in ordered.values())
    ordered = {name: _released(result) for name, result in ordered.items()}
    return Published(edition, ordered, costs, session.protection(), session._tables.kinds, stored)


def _several(found: Answer | Answers) -> Answers:
    return alone(found) if isinstance(found, Answer) else found


def _released(found: Answers) -> Answers:
    """The same as when it was answered, so that it is published the same however often."""
    if isinstance(found, Result):
        rows = [
            Row(row.key, tuple(replace(c, stored=False) if isinstance(c, Answer) else c for c in row.cells))
            for row in found.rows
        ]
        return Result(found.columns, found.released, rows, found.by, found.guarantee, found.releases)
    if isinstance(found, Series):
        return Series(replace(found.told, stored=False), found.releases)
    answers = {key: replace(answer, stored=False) for key, answer in found.items()}
    return Answers(answers, found.guarantee, found.name, found.releases)


class _Noted(Exception):
    """What a method would charge."""


class _Noting(Budget):
    """A budget that pays nothing, and tells what would be charged."""

    def charge(self, cost: Guarantee, question: Question | None = None) -> Receipt:
        """Charge nothing."""
        raise _Noted(cost, question)


def _planned(asked: Asked, session: Session, cost: Guarantee, fresh: bool) -> list[Charge]:
    """What a method would charge first; nothing where it was answered, or is paid for."""
    releaser, budget = session._releaser, session.budget
    noting = _Noting(budget._book, budget._name)
    try:
        _call(asked, session._with(replace(releaser, account=noting)), cost, fresh)
    except _Noted as noted:
        found: Charge = (noted.args[0], noted.args[1])
        return [] if budget.begun(found[1], found[0]) or not any(found[0].numbers) else [found]
    return []


def _call(asked: Asked, session: Session, cost: Guarantee, fresh: bool) -> Answer | Answers:
    """A statistic's method, by its name."""
    known = asked.call == "series" or callable(getattr(Statistics, asked.call, None))
    if asked.call.startswith("_") or not known:
        raise InvalidInput(f'{asked.name}: there is no statistic {asked.call!r}; write call = "quantile" or another.')
    table: Any = session[asked.table]
    if asked.filter:
        table = table.filter(asked.filter)
    if asked.group_by:
        table = table.group_by(asked.group_by, keys=asked.keys)
    method, given = getattr(table, asked.call), {**asked.arguments, **cost.keywords(), "fresh": fresh}
    try:
        signature(method).bind(**given)
    except TypeError:
        raise InvalidInput(f"{asked.name}: {asked.call} does not take {', '.join(asked.arguments)}.") from None
    found: Answer | Answers = method(**given)
    return found
