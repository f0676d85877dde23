"""Questions of before, found again: the whole answer as it was shown, and the call that asks the same.

A ledger keeps what was released, one entry for each release, with the text of the question and a key that says exactly
what was asked at which cost. It keeps neither the cost of the whole nor the groups' keys. Both are tried here until a
plan has a release of that very key; then the text, the keys and the cost are those of before, and everything it takes
is stored. So what is shown, and what a script asks, costs nothing.

PROMISE. Nothing is charged here, whatever is found: answers are made by a releaser whose account cannot be charged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NoReturn, cast

from tacit.answers import Answer, Answers
from tacit.budgets import Budget, Question, Stored
from tacit.errors import InvalidInput, TacitError
from tacit.guarantees import Guarantee
from tacit.ledger import texts
from tacit.serve.gateway import Gateway, NotHere
from tacit.serve.history import Line, line_of
from tacit.serve.tokens import Caller
from tacit.tables.releasing.releaser import Releaser
from tacit.tables.sql.plan import Release
from tacit.tables.sql.privacy_clause import Priced, price
from tacit.tables.sql.queries import Understood, understand
from tacit.tables.sql.query import Query


@dataclass(frozen=True)
class Past:
    """A question of before."""

    line: Line
    found: Answer | Answers | None
    """Its answer; of several aggregates all of them, where the question could be found again, else this one."""
    cost: Guarantee
    """What all of it cost."""
    repeats: bool = False
    """Whether `text`, `keys` and `cost` ask the same again, at no cost."""
    keys: tuple[Any, ...] | None = None

    @property
    def text(self) -> str:
        """As it was written."""
        return self.line.text

    @property
    def amounts(self) -> dict[str, str]:
        """The cost as it is named beside the text; nothing where the text names it."""
        try:
            price(self.text)
        except TacitError:
            return {name: str(number) for name, number in self.cost.keywords().items()}
        return {}


class _Unpaying:
    """An account that tells everything, of several answers to the same that of one request, and cannot be charged."""

    def __init__(self, account: Budget, then: Mapping[str, Stored]) -> None:
        self._account, self._then = account, then

    def recall(self, question: Question, cost: Guarantee) -> Stored | None:
        """What was answered then, where it was asked anew since."""
        last = self._account.recall(question, cost)
        return None if last is None else self._then.get(question.key(cost), last)

    def charge(self, *_: object, **__: object) -> NoReturn:
        """Refuse."""
        raise NotHere("this was not answered before, and looking back never asks; ask it on the page.")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._account, name)


def look_back(gateway: Gateway, caller: Caller, name: str, line: Line) -> Past:
    """A line of a caller's history as the question that it was."""
    alone = Past(line, gateway.find_answer(name, line.outcome), texts.guarantee(line.cost))
    entry = gateway.ledger.entry(name, line.number)
    key = "" if entry is None else entry.body.get("key", "")
    if not key or alone.found is None:
        return alone
    try:
        releaser = gateway.session(caller, name)._releaser
        releaser = replace(
            releaser, account=cast(Budget, _Unpaying(releaser.account, _then(gateway, caller, name, line)))
        )
        for keys, cost, query in _tried(releaser, line.text, alone):
            if key in keys_of(query) and query.preview(False).free:
                return Past(line, query.ask(False), cost, True, keys)
    except (TacitError, ValueError):
        pass  # the tables, or the prices, are others now
    return alone


def _then(gateway: Gateway, caller: Caller, name: str, line: Line) -> dict[str, Stored]:
    """What a line's request was answered, by the keys of what was asked."""
    found = {}
    together = [each for each in gateway.history(caller, name) if line.request and each.request == line.request]
    for each in together or [line]:
        charge, outcome = (gateway.ledger.entry(name, number or 0) for number in (each.number, each.outcome))
        if charge is not None and outcome is not None and "answer" in outcome.body:
            found[charge.body.get("key", "")] = Stored(outcome.body["answer"], outcome.at, texts.guarantee(each.cost))
    return found


def _tried(
    releaser: Releaser, text: str, alone: Past
) -> Iterator[tuple[tuple[Any, ...] | None, Guarantee, Understood]]:
    """Ways in which a text may have been asked: with and without keys, alone and with others that share its cost."""
    listed = tuple(alone.found) if isinstance(alone.found, Answers) else ()
    for keys in (None, listed)[: 1 + bool(listed)]:
        try:
            written = price(text)
        except InvalidInput:  # the cost stands beside the text
            written = None
        try:
            first = understand(releaser, written or _priced(text, alone.cost), keys)
            if written is not None:
                yield keys, written.cost, first
                continue
            for whole in dict.fromkeys(_wholes(alone.cost, releases_of(first))):
                yield keys, whole, understand(releaser, _priced(text, whole), keys)
        except TacitError:
            continue


def _priced(text: str, cost: Guarantee) -> Priced:
    return price(text, **cost.keywords())


def _wholes(cost: Guarantee, releases: list[Release]) -> Iterator[Guarantee]:
    """What all of it cost if this was the cost of one of the releases, whose shares the plan tells."""
    size = _size(cost)
    for release in releases:
        if share := _size(release.cost):
            yield cost * (size / share)


def _size(cost: Guarantee) -> Fraction:
    return Fraction(next(iter(cost.keywords().values())))


def releases_of(query: Understood) -> list[Release]:
    """All that a question releases, as far as that is known."""
    if isinstance(query, Query):
        return list(query.plan.releases)
    inside = query._turns(False) if hasattr(query, "_turns") else []
    return [release for each in inside if isinstance(each, Query) for release in each.plan.releases]


def keys_of(query: Understood) -> list[str]:
    """The keys under which a ledger knows what a question releases."""
    found = []
    for release in releases_of(query):
        question = query.releaser.question(release.relation, release.statistic, release.text, release.cost)
        found += [question.key(release.cost), question.anyones(release.cost)]
    return found


def lines_of(gateway: Gateway, name: str, wanted: list[tuple[int, int | None, str]]) -> list[Line]:
    """Lines of a history by the numbers of their charges and outcomes, with the times that it tells."""
    found = [(gateway.ledger.entry(name, number), outcome, at) for number, outcome, at in wanted]
    return [replace(line_of(charge), outcome=outcome, at=at) for charge, outcome, at in found if charge is not None]
