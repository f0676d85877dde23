"""Counts in bins: between public edges, or between edges that are found.

Bins are the groups of a CASE expression, counted as `ways.vectors` says. Without edges, `EDGES` of the cost pays for
quantiles by levels (`ways.levels`), from which the edges follow: bins of about equal probability, or of equal width
from somewhat below the quantile `TAIL` to somewhat above 1 − `TAIL`. Where persons are few, such outer quantiles may be
nowhere near the data; the quartiles, which take fewer persons, say how far out they may be (`REACH`). The first bin and
the last have no outer end, so nobody is left out, and no range is asked for. The rest of the cost pays for the counts.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, cast
from typing import Literal as OneOf

from tacit.answers import Answers
from tacit.engines.requests import Ordered, Presence, RowCount
from tacit.errors import InvalidInput
from tacit.guarantees import Pure
from tacit.language import build
from tacit.language.expressions import Expression, Literal
from tacit.language.types import FLOAT, INTEGER
from tacit.numbers.exact import Number, check_listed, exact, whole
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry
from tacit.tables.statistics.base import Operand, Per, Statistic, per_of
from tacit.tables.statistics.quantiles import MOST
from tacit.tables.statistics.ways.groups import MOST_KEYS, Groups, listed, written
from tacit.tables.statistics.ways.levels import draw_quantiles
from tacit.tables.statistics.ways.vectors import GroupedTotals

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)

EDGES = Fraction(1, 4)
"""What finding the edges takes of the cost."""

LARGEST = Fraction(sys.float_info.max)

TAIL = Fraction(1, 20)
"""Bins of equal width reach beyond this quantile, on both sides, by half of its distance from the median."""

REACH = 3
"""Bins of equal width begin and end no further from the quartiles than this many times the quartiles' distance."""

Spacing = OneOf["width", "probability"]


def histogram_of(
    column: Operand,
    edges: Sequence[Number] | None = None,
    *,
    bins: int = 20,
    spacing: str = "width",
    per: str = "row",
) -> Statistic:
    """Rows, or persons, in each bin."""
    if edges is None:
        return FoundHistogram.of(column, bins, spacing, per)
    return GroupedTotals(_entry(per_of(per)), "count", bins_between(column, edges), per_of(per), "histogram")


def _entry(per: Per) -> Presence | RowCount:
    return Presence() if per == "person" else RowCount()


def bins_between(column: Operand, edges: Sequence[Number]) -> Groups:
    """Bins between ascending edges, as groups of a CASE expression; rows outside are in none."""
    edges = listed(edges, "edges")
    ends = [exact(edge, "edges") for edge in edges]
    if len(ends) < 2 or any(a >= b for a, b in pairwise(ends)):
        raise InvalidInput("edges must be at least two ascending numbers.")
    if len(ends) > MOST_KEYS:
        raise InvalidInput(f"edges must be at most {MOST_KEYS}.")
    places = [(low, high, i == len(edges) - 2) for i, (low, high) in enumerate(pairwise(edges))]
    return _bins(column, [_Bin(low, high, last) for low, high, last in places])


@dataclass(frozen=True)
class _Bin:
    """What lies from one end up to another, which counts if it is ``closed``; None is no end."""

    low: Number | None
    high: Number | None
    closed: bool = False

    @property
    def label(self) -> str:
        """As people write it."""
        low = "(-∞" if self.low is None else f"[{self.low}"
        return f"{low}, ∞)" if self.high is None else f"{low}, {self.high}{']' if self.closed else ')'}"

    def holds(self, value: Expression) -> Expression:
        """The condition that a value lies in it."""
        tests = []
        if self.low is not None:
            tests.append(build.comparison(">=", value, _literal(self.low)))
        if self.high is not None:
            tests.append(build.comparison("<=" if self.closed else "<", value, _literal(self.high)))
        return tests[0] if len(tests) == 1 else build.logic("AND", tuple(tests))


def _literal(edge: Number) -> Expression:
    return build.literal(edge if isinstance(edge, int | float) else written(exact(edge, "edges")), "edges")


def _bins(column: Operand, places: Sequence[_Bin]) -> Groups:
    branches = [(place.holds(column.expression), Literal(INTEGER, i)) for i, place in enumerate(places)]
    keys = tuple((Literal(INTEGER, i),) for i in range(len(places)))
    return Groups((build.case(branches, None),), keys, tuple(place.label for place in places), column.name)


@dataclass(frozen=True)
class FoundHistogram(Statistic, tag="FoundHistogram", phrase="histogram of {name}", sampled="total"):
    """Counts in bins whose edges are found."""

    value: Ordered
    name: str
    bins: int
    spacing: Spacing = "width"
    per: Per = "row"
    key = "histogram"

    def __post_init__(self) -> None:
        object.__setattr__(self, "bins", whole(self.bins, "bins"))
        if not 3 <= self.bins <= MOST:
            raise InvalidInput(f"bins must lie between 3 and {MOST}.")
        if not self.value.expression.type.number:
            raise InvalidInput(
                f"a histogram needs numbers, not {self.value.expression.type}; group by DATE_TRUNC('month', …) instead."
            )

    @classmethod
    def of(cls, column: Operand, bins: int, spacing: str, per: str) -> FoundHistogram:
        """Of rows, or of persons."""
        check_listed(spacing, "spacing", SPACINGS)
        return cls(column.ordered, column.name, bins, cast(Spacing, spacing), per_of(per))

    def release(self, room: Room) -> Answers:
        """Quantiles for the edges, then the counts between them."""
        allowance, operand = room.allowance, Operand(self.value.expression, self.name)
        wanted = [TAIL, QUARTER, HALF, 1 - QUARTER, 1 - TAIL]
        if self.spacing == "probability":
            wanted = [Fraction(i, self.bins) for i in range(1, self.bins)]
        with room.second(allowance.share(EDGES).guarantee) as first:
            drawn = draw_quantiles(first, self.value, wanted, self.per)
        found = sorted(exact(value, "edges") for value in drawn.values[0].values())
        edges = found if self.spacing == "probability" else self._even(*_near(*found))
        ends = [None, *dict.fromkeys(map(self._shown, edges)), None]
        places = [_Bin(low, high) for low, high in pairwise(ends)]
        counts = GroupedTotals(_entry(self.per), "count", _bins(operand, places), self.per, self.key)
        with room.second(allowance.share(1 - EDGES).guarantee) as second:
            return counts.release(second)

    def _even(self, low: Fraction, middle: Fraction, high: Fraction) -> list[Fraction]:
        """At most bins − 1 edges at multiples of a round number; none below 0 where the low quantile is not.

        Of three bins the one in the middle may be several steps wide: 0 can lie inside it.
        """
        below = low - (middle - low) / 2
        low = max(below, Fraction(0)) if low >= 0 else below
        high += (high - middle) / 2
        step = _round((high - low) / (self.bins - 2))
        if self.value.expression.type.exact_number:
            step = max(step, Fraction(1, 10**self.value.expression.type.scale))
        while self.bins > 3 and -(-high // step) - low // step > self.bins - 2:
            step = _round(step * Fraction(3, 2))  # from two steps on 0 may be an edge, so this ends
        first, last = low // step, max(-(-high // step), low // step + 1)
        return [i * step for i in ((first, last) if self.bins == 3 else range(first, last + 1))]

    def _shown(self, edge: Fraction) -> Number:
        """An edge as the column can hold it."""
        kind = self.value.expression.type
        if kind == FLOAT:
            return float(min(max(edge, -LARGEST), LARGEST))
        most = Fraction(2**63 - 1, 10**kind.scale)
        inside = min(max(edge, -most), most)
        return int(inside) if inside.denominator == 1 else cast(Decimal, written(inside))


def _near(
    low: Fraction, quarter: Fraction, middle: Fraction, three: Fraction, high: Fraction
) -> tuple[Fraction, Fraction, Fraction]:
    """The outer quantiles and the median, those no further out than the quartiles make likely."""
    reach = REACH * (three - quarter)
    if low < quarter - reach:
        low = max(quarter - reach, Fraction(0)) if quarter >= 0 else quarter - reach
    return low, middle, min(high, three + reach)


SPACINGS = {"width": "all as wide as one another", "probability": "about as many rows in each"}
"""How found edges lie."""


def _round(x: Fraction) -> Fraction:
    """1, 2 or 5 times a power of ten, the least that is at least x; a tiny one for 0."""
    if x <= 0:
        return Fraction(1, 10**6)
    power = Fraction(10) ** (len(str(int(x))) - 1 if x >= 1 else -len(str(int(1 / x))))
    return next(power * times for times in (1, 2, 5, 10, 20) if power * times >= x)


class AsksHistogram(Asking[AnswerT]):
    """Counts in bins."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            GroupedTotals,
            "counts in bins",
            "histogram",
            audited=(
                Audited("histogram", Pure(4), lambda t, **c: t.histogram("value", [-10, 0, 10], **c)),
                Audited(
                    "histogram without edges", Pure(4), lambda t, **c: t.histogram("value", bins=3, **c), slow=True
                ),
            ),
        ),
    )

    def histogram(
        self, column: str, edges: Sequence[Number] | None = None, *, bins: int = 20, spacing: Spacing = "width",
        per: Per = "row",
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> Answers:  # fmt: skip
        """Counts in the bins [e0, e1), [e1, e2), …, the last one closed; without edges, in bins that are found.

        Found bins need no range: the first begins below everything and the last ends above everything.

        Args:
            column: a column, or a SQL expression of columns.
            edges: at least two ascending numbers; without them, a quarter of the cost finds some.
            bins: how many bins, at most, where edges are found.
            spacing: where edges are found, bins of equal "width" or of about equal "probability".
            per: "row", or "person" to count each person once in each of their bins.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.histogram("amount", [0, 50, 100], epsilon=1)
        Answers({'[0, 50)': ..., '[50, 100]': ...}, Pure(1))
        >>> len(orders.histogram("amount", bins=10, epsilon=4)) <= 10
        True
        """
        asked = histogram_of(self._operand(column), edges, bins=bins, spacing=spacing, per=per)
        return self._many(asked, epsilon, delta, rho, fresh)
