"""Groups: what rows are grouped by, and which keys are public."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Unpack, cast

from tacit.answers import Answers
from tacit.engines.requests import check_by
from tacit.errors import InvalidInput
from tacit.language import build
from tacit.language.expressions import Expression, Literal
from tacit.language.types import INTEGER
from tacit.numbers.exact import Number, exact
from tacit.tables.releasing.costs import Cost
from tacit.tables.statistics.base import Per, Statistic
from tacit.tables.statistics.groups import GroupedTotals, Groups, counted, written
from tacit.tables.statistics.keys import FoundGroups
from tacit.tables.statistics.means import GroupedMeans

if TYPE_CHECKING:
    from tacit.tables.face.table import Table

MOST_KEYS = 5_000
"""The most groups one question may have, so that what comes back stays small."""


class GroupBy:
    """Statistics for each group of a table."""

    def __init__(
        self, table: Table, by: tuple[Expression, ...], names: tuple[str, ...], keys: Iterable[Any] | None
    ) -> None:
        self._table, self._by, self._names = table, by, names
        self._groups = None if keys is None else given(by, names, listed(keys, "keys"))

    def persons(self, **cost: Unpack[Cost]) -> Answers:
        """How many persons have at least one row in each group."""
        return self._ask(lambda groups: GroupedTotals(counted("person"), "number of persons", groups, "person"), cost)

    def count(self, *, per: Per = "row", **cost: Unpack[Cost]) -> Answers:
        """How many rows, or persons, each group has."""
        return self._ask(lambda groups: GroupedTotals(counted(per), "count", groups, per), cost)

    def sum(self, column: str, **cost: Unpack[Cost]) -> Answers:
        """The sum of a column in each group."""
        value = self._table._value(column)
        return self._ask(lambda groups: GroupedTotals(value, f"sum of {column}", groups), cost)

    def mean(self, column: str, **cost: Unpack[Cost]) -> Answers:
        """The mean of a column over the rows of each group."""
        value = self._table._value(column)
        return self._ask(lambda groups: GroupedMeans(value, f"mean of {column}", groups), cost)

    def _ask(self, plan: Any, cost: Cost) -> Answers:
        if self._groups is not None:
            return self._table._many(cast(Statistic, plan(self._groups)), cost)
        template = plan(Groups(self._by, (), (), ", ".join(self._names)))
        return self._table._many(FoundGroups(template), cost)

    def __repr__(self) -> str:
        keys = "keys found in the data" if self._groups is None else f"{len(self._groups.keys)} given keys"
        return f"<{', '.join(self._names)} of {self._table!r}: {keys}>"


def grouped_by(statistic: Statistic) -> tuple[Expression, ...]:
    """What a statistic is answered for each value of, or nothing."""
    inner = statistic.statistic if isinstance(statistic, FoundGroups) else statistic
    return inner.groups.by if isinstance(inner, GroupedTotals | GroupedMeans) else ()


def listed(values: Iterable[Any], name: str) -> list[Any]:
    """Several values as a list; a single text is not a list of its letters."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidInput(f"{name} must list values, such as ['red', 'blue'].")
    return list(values)


def given(by: tuple[Expression, ...], names: tuple[str, ...], keys: Sequence[Any]) -> Groups:
    """Groups with public keys; each key a value, or a tuple of values for several columns."""
    if not 1 <= len(keys) <= MOST_KEYS:
        raise InvalidInput(f"keys must list from 1 to {MOST_KEYS} groups.")
    check_by(by)
    literals = []
    for key in keys:
        parts = key if len(by) > 1 else (key,)
        if not isinstance(parts, tuple | list) or len(parts) != len(by):
            raise InvalidInput("keys must hold a tuple with one value for each column grouped by.")
        literals.append(
            tuple(
                cast(Literal, build.widen(build.literal(part, "keys"), expression.type, "keys"))
                for part, expression in zip(parts, by, strict=True)
            )
        )
    if len(set(literals)) < len(literals):
        raise InvalidInput("keys must not name a group twice.")
    labels = tuple(tuple(key) if isinstance(key, list) else key for key in keys)
    return Groups(by, tuple(literals), labels, ", ".join(names))


def candidates(expression: Expression, name: str, values: Iterable[Any]) -> Groups:
    """The given values of one column."""
    return given((expression,), (name,), listed(values, "candidates"))


def bins(expression: Expression, name: str, edges: Sequence[Number]) -> Groups:
    """Bins between ascending edges, as groups of a CASE expression; rows outside are in none."""
    edges = listed(edges, "edges")
    ends = [exact(edge, "edges") for edge in edges]
    if len(ends) < 2 or any(a >= b for a, b in pairwise(ends)):
        raise InvalidInput("edges must be at least two ascending numbers.")
    if len(ends) > MOST_KEYS:
        raise InvalidInput(f"edges must be at most {MOST_KEYS}.")
    literals = [
        build.literal(edge if isinstance(edge, int | float) else written(exact(edge, "edges")), "edges")
        for edge in edges
    ]
    branches, labels = [], []
    for i, (low, high) in enumerate(pairwise(literals)):
        last = i == len(literals) - 2
        inside = build.logic(
            "AND",
            (build.comparison(">=", expression, low), build.comparison("<=" if last else "<", expression, high)),
        )
        branches.append((inside, Literal(INTEGER, i)))
        labels.append(f"[{edges[i]}, {edges[i + 1]}{']' if last else ')'}")
    case = build.case(branches, None)
    keys = tuple((Literal(INTEGER, i),) for i in range(len(labels)))
    return Groups((case,), keys, tuple(labels), name)
