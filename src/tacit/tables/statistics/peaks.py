"""How many rows the most frequent value has, and how many the person with most rows: a graph's maximum degree.

Frequencies, and degrees where rows concern several persons, are flows (`tacit.flows.frequency`) released as in
`ways.shared_rows`. Where every row concerns one person the largest number of rows of one falls, when j persons leave,
to the (j+1)-th largest: the engine counts persons between public boundaries, and the upward scan of `extremes` finds
one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from tacit.answers import Answer
from tacit.answers.order import Inner
from tacit.curves import DownProfile
from tacit.engines.requests import Bucket, Incidence, RowCount, TotalBuckets
from tacit.errors import UnsupportedQuery
from tacit.grids import integers
from tacit.guarantees import Pure
from tacit.language.expressions import Expression
from tacit.mechanisms.inverse.shifted_inverse import shifted_inverse
from tacit.mechanisms.law import Law
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry
from tacit.tables.statistics.base import SHARED_ROWS, Operand, Per, Statistic, check_method, per_of
from tacit.tables.statistics.extremes import depth, reach, spending, windows
from tacit.tables.statistics.ways.ends import MISS
from tacit.tables.statistics.ways.values import OfValues

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.flows.curve import CappedStatistic
    from tacit.flows.incidences import Incidences


@dataclass(frozen=True)
class ModalCount(OfValues, tag="ModalCount", phrase="number of {per}s with the most frequent {name}"):
    """The number of rows, or of persons, that have the most frequent value."""

    expression: Expression
    name: str
    per: Per = "row"
    method: str | None = None
    key = "modal_count"

    @classmethod
    def of(cls, column: Operand, *, per: str = "row", method: str | None = None) -> ModalCount:
        """Of rows, or of persons."""
        return cls(column.expression, column.name, per_of(per), method)

    def capped(self, rows: Incidences, values: NDArray[np.int64], common: int) -> CappedStatistic:
        """The largest flow into one value."""
        from tacit.flows.frequency import capped_frequency

        return capped_frequency(rows.counted() if self.per == "person" else rows, values)


@dataclass(frozen=True)
class MaximumDegree(Statistic, tag="MaximumDegree", phrase="largest number of rows of one person"):
    """The largest number of rows that concern one person."""

    method: str | None = None
    several = True
    key = "max_degree"

    def __post_init__(self) -> None:
        check_method(self.method, SHARED_ROWS)

    def suits(self, several: bool) -> None:
        """Where rows concern one person, persons are counted and nothing is capped."""
        if self.method not in (None, "shifted_inverse") and not several:
            raise UnsupportedQuery("this method is for rows that concern several persons; leave it out here.")

    def release(self, room: Room) -> Answer:
        """A flow where rows concern several persons, else a scan over public boundaries."""
        if room.several:
            from tacit.flows.frequency import capped_degree
            from tacit.tables.statistics.ways.shared_rows import flow_answer, rows_of

            return flow_answer(room, self.words, capped_degree(rows_of(room.touches(Incidence()))), self.method)
        spent, steps = spending(room.allowance), boundaries()
        (buckets,) = room.ask(TotalBuckets(RowCount(), steps))
        law = degree_law(buckets.positive, **spent)
        place = int(room.draw(law))
        # Numbers are rounded up to a boundary, so the largest itself lies above the boundary before the answer.
        least = 0 if place == 0 else 1 if place == 1 else steps[place - 2] + 1
        return room.answer(
            self.words,
            steps[place - 1] if place else 0,
            mechanism=f"shifted inverse sensitivity by {spent['method']}",
            spread=Inner(True, windows(law), least),
        )


@cache
def boundaries() -> tuple[int, ...]:
    """1, 2, …, 200, and from there steps of 5 %, far beyond any table."""
    found = list(range(1, 201))
    while found[-1] < 2**60:
        found.append(found[-1] + found[-1] // 20)
    return tuple(found)


def degree_law(
    buckets: Sequence[Bucket], epsilon: Fraction | None = None, method: str = "scan", rho: Fraction | None = None
) -> Law[int | Fraction]:
    """The law of the place of a boundary, 0 for none, that few persons' numbers of rows exceed."""
    steps = boundaries()
    grid = integers(0, len(steps))
    most = reach(grid, None, method, rho) if epsilon is None else depth(epsilon)
    largest = (
        min(place + 1, len(steps))
        for place in range(len(buckets) - 1, -1, -1)
        for _ in range(min(buckets[place].count, most))
    )
    return shifted_inverse(DownProfile(list(islice(largest, most))), grid, epsilon, method, rho, beta=MISS)


class AsksPeaks(Asking[AnswerT]):
    """The rows of the most frequent value, and of the person with most."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            ModalCount,
            "frequency of the most frequent value",
            methods=SHARED_ROWS,
            audited=(
                Audited("modal count", Pure(4), lambda t, **c: t.modal_count("group", **c)),
                Audited("network: modal count", Pure(4), lambda t, **c: t.modal_count("group", **c), network=True),
            ),
        ),
        Entry(
            MaximumDegree,
            "largest number of rows of one person",
            methods=SHARED_ROWS,
            audited=(
                Audited("maximum degree", Pure(4), lambda t, **c: t.max_degree(**c)),
                Audited("network: maximum degree", Pure(4), lambda t, **c: t.max_degree(**c), network=True),
            ),
        ),
    )

    def modal_count(
        self, column: str, *, per: Per = "row", method: str | None = None,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """How many rows, or persons, have the most frequent value of a column.

        Args:
            column, per, method: as for `count`; by default, too, a cap chosen by "exponential" weights.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.modal_count("region", epsilon=4)
        Answer(number of rows with the most frequent region: ..., Pure(4))
        """
        asked = ModalCount.of(self._operand(column), per=per, method=method)
        return self._one(asked, epsilon, delta, rho, fresh)

    def max_degree(
        self, *, method: str | None = None,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """The largest number of rows that concern one person: of a table of edges, the maximum degree.

        Args:
            method: where rows concern several persons, "exponential" (default), "scan" or "shifted_inverse"; see
                `count`.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.max_degree(epsilon=4)
        Answer(largest number of rows of one person: ..., Pure(4))
        """
        return self._one(MaximumDegree(method), epsilon, delta, rho, fresh)
