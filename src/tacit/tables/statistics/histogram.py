"""Counts between public edges: the groups of a CASE expression, counted as `ways.vectors` says."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from tacit.answers import Answers
from tacit.engines.requests import Presence, RowCount
from tacit.errors import InvalidInput
from tacit.guarantees import Pure
from tacit.language import build
from tacit.language.expressions import Literal
from tacit.language.types import INTEGER
from tacit.numbers.exact import Number, exact
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry
from tacit.tables.statistics.base import Operand, Per, per_of
from tacit.tables.statistics.ways.groups import MOST_KEYS, Groups, listed, written
from tacit.tables.statistics.ways.vectors import GroupedTotals


def histogram_of(column: Operand, edges: Sequence[Number], *, per: str = "row") -> GroupedTotals:
    """Rows, or persons, in each bin."""
    entry = Presence() if per_of(per) == "person" else RowCount()
    return GroupedTotals(entry, "count", bins(column, edges), per_of(per), "histogram")


def bins(column: Operand, edges: Sequence[Number]) -> Groups:
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
            (
                build.comparison(">=", column.expression, low),
                build.comparison("<=" if last else "<", column.expression, high),
            ),
        )
        branches.append((inside, Literal(INTEGER, i)))
        labels.append(f"[{edges[i]}, {edges[i + 1]}{']' if last else ')'}")
    case = build.case(branches, None)
    keys = tuple((Literal(INTEGER, i),) for i in range(len(labels)))
    return Groups((case,), keys, tuple(labels), column.name)


class AsksHistogram(Asking[AnswerT]):
    """Counts in bins."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            GroupedTotals,
            "counts in bins",
            "histogram",
            audited=(Audited("histogram", Pure(4), lambda t, **c: t.histogram("value", [-10, 0, 10], **c)),),
        ),
    )

    def histogram(
        self, column: str, edges: Sequence[Number], *, per: Per = "row",
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> Answers:  # fmt: skip
        """Counts in the bins [e0, e1), [e1, e2), …, the last one closed.

        Args:
            column: a column, or a SQL expression of columns.
            edges: at least two ascending numbers.
            per: "row", or "person" to count each person once in each of their bins.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.histogram("amount", [0, 50, 100], epsilon=1)
        Answers({'[0, 50)': ..., '[50, 100]': ...}, Pure(1))
        """
        return self._many(histogram_of(self._operand(column), edges, per=per), epsilon, delta, rho, fresh)
