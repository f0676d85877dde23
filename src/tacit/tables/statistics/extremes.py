"""Minimum, maximum and k-th largest or smallest by shifted inverse sensitivity.

With one row of numbers for each person, D_j is the (j+1)-th largest person maximum: what the maximum becomes when the j
persons with the largest values leave. The k-th largest row falls to y without the fewest persons that leave fewer than
k rows above y; of a person k rows matter at most, and of persons as many as may leave and k more. The upward threshold
scan on the loss of this profile returns a value that only a few persons exceed. A minimum is minus the maximum of the
negated values. The answer errs on the inner side by construction: a maximum is an underestimate, up to the grid's
rounding. Extremes of groups are found by shared weight (`ways.ends`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, cast

from tacit.answers import Answer, Answers
from tacit.answers.order import Inner, InnerOfGroup, Levels
from tacit.curves import DownProfile
from tacit.engines.requests import LARGEST_ANSWER, Extremes, Incidence, Ordered, TopRows
from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.guarantees import Pure
from tacit.language.types import FLOAT
from tacit.mechanisms.inverse.shifted_inverse import shifted_inverse
from tacit.mechanisms.law import Law
from tacit.numbers.exact import whole
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry
from tacit.tables.statistics.base import Methods, Operand, Per, Statistic, check_method, per_of
from tacit.tables.statistics.ways.each import Each
from tacit.tables.statistics.ways.ends import CONFIDENCES, MISS, End, window
from tacit.tables.statistics.ways.groups import Groups
from tacit.tables.statistics.ways.scales import Scale

if TYPE_CHECKING:
    import numpy.typing as npt

    from tacit.flows.incidences import Incidences

MOST = 40
"""The largest k of a k-th largest: for more, ask for a quantile."""

PRECISION = 3
"""Significant digits of a released minimum or maximum."""

METHODS: Methods = {
    "scan": "upward, past values that few persons exceed",
    "scan_down": "downward, from the largest value of the grid",
    "exponential": "the exponential mechanism",
    "permute_and_flip": "permute-and-flip",
    "binary_search": "noisy comparisons that halve the grid",
}
"""The pure methods of `tacit.mechanisms.inverse.shifted_inverse`."""


def depth(epsilon: Fraction) -> int:
    """How many person values are looked at: beyond that number of removals a loss cannot matter any more."""
    return min(9000, ceil(250 / epsilon) + 20)


def reach(grid: Grid, epsilon: Fraction, method: str = "scan") -> int:
    """How many removals matter where each is dear: those that the law's own accuracy counts, and one more."""
    beyond = window(shifted_inverse(DownProfile([]), grid, epsilon, method=method, beta=MISS), 1 - MISS)
    return depth(epsilon) if beyond is None else min(depth(epsilon), beyond + 1)


def extreme_law(
    values: tuple[Fraction, ...], scale: Scale, largest: bool, epsilon: Fraction, method: str = "scan"
) -> Law[Any]:
    """The law of a maximum of ``values`` (descending), or of minus the minimum (``values`` ascending)."""
    sign, grid = 1 if largest else -1, scale.outward(largest)
    profile = DownProfile([scale.clamped(sign * v, grid) for v in values])
    return shifted_inverse(profile, grid, epsilon, method=method, beta=MISS)


@dataclass(frozen=True)
class Extremum(Statistic, tag="Extremum", sampled="itself"):
    """The largest or smallest value."""

    value: Ordered
    name: str
    largest: bool
    per: Per = "row"
    method: str = "scan"
    rank: int = 1
    """k for the k-th largest or smallest; per person, of the persons' own extremes."""
    several = True

    def __post_init__(self) -> None:
        check_method(self.method, METHODS)
        object.__setattr__(self, "rank", whole(self.rank, "k"))
        if not 1 <= self.rank <= MOST:
            raise InvalidInput(f"k must lie between 1 and {MOST}; for more, ask for a quantile.")

    @classmethod
    def of(cls, column: Operand, largest: bool, *, per: str = "row", method: str = "scan", rank: int = 1) -> Extremum:
        """Of rows, or of the persons' own extremes."""
        return cls(column.ordered, column.name, largest, per_of(per), method, rank)

    def suits(self, several: bool) -> None:
        """A person's own extremes are the rows' extremes, but for k-th ones of rows that concern several."""
        if self.rank > 1:
            super().suits(several)

    @property
    def key(self) -> str:
        """A k-th largest is recorded as a maximum, a k-th smallest as a minimum."""
        return "max" if self.largest else "min"

    @property
    def words(self) -> str:
        """Without its rank where that is the first."""
        if self.rank == 1:
            return f"{'maximum' if self.largest else 'minimum'} of {self.name}"
        return f"{ordinal(self.rank)} {'largest' if self.largest else 'smallest'} {self.name}"

    def release(self, room: Room) -> Answer:
        """The K largest person maxima, a scan, and one value."""
        epsilon = room.allowance.epsilon
        scale = Scale(self.value.expression.type, PRECISION)
        law = extreme_law(self._profile(room, epsilon), scale, self.largest, epsilon, self.method)
        found = room.draw(law)
        beyond = tuple((level, None if n is None else n + self.rank - 1) for level, n in windows(law))
        return self.answer(room, self.words, scale, found, beyond, Inner)

    def answer(self, room: Room, words: str, scale: Scale, found: Any, beyond: Levels, spread: type[Inner]) -> Answer:
        """The answer for a value of the grid."""
        grid, sign = scale.outward(self.largest), 1 if self.largest else -1
        place = grid.index(found)
        assert place is not None  # a law draws from its grid
        assert grid.first is not None
        unknown = place < grid.first + scale.meaningless
        # Values are rounded up to the grid, so the extreme itself lies above the grid value before the answer.
        inner = None if unknown else scale.value(sign * scale.next_above(grid.value(place - 1)))
        return room.answer(
            words,
            None if unknown else scale.value(sign * found, upward=not self.largest),
            mechanism=f"shifted inverse sensitivity by {self.method}",
            spread=spread(self.largest, beyond, inner),
            per=self.per,
            notes=("Too few persons to name a value.",) if unknown else (),
        )

    def grouped(self, groups: Groups) -> Statistic:
        """The extreme of each group, by shared weight."""
        return super().grouped(groups) if self.method != "scan" else GroupedExtremes(self, groups, self.per)

    def _profile(self, room: Room, epsilon: Fraction) -> tuple[Fraction, ...]:
        """What the extreme becomes when 0, 1, 2, … persons leave."""
        if room.several:
            return self._joint(room, epsilon)
        if self.rank == 1 or self.per == "person":
            (values,) = room.ask(Extremes(self.value, depth(epsilon) + self.rank - 1, self.largest))
            assert isinstance(values, tuple)
            return values[self.rank - 1 :]
        import numpy as np

        from tacit.flows.incidences import Incidences

        removals = min(self._reach(epsilon), LARGEST_ANSWER // (2 * self.rank) - self.rank)
        (found,) = room.ask(TopRows(self.value, removals + self.rank, self.rank, self.largest))
        heights = sorted({height for _, height in found})
        places = {height: place for place, height in enumerate(heights)}
        rows = Incidences.from_columns(np.ones(len(found), dtype=np.int64), [[person for person, _ in found]])
        return self._ranked(rows, heights, [places[height] for _, height in found], removals)

    def _joint(self, room: Room, epsilon: Fraction) -> tuple[Fraction, ...]:
        """The same where a row may concern several persons."""
        import numpy as np

        from tacit.tables.statistics.ways.shared_rows import rows_of

        touches = room.touches(Incidence(heights=self.value, largest=self.largest, every=self.rank > 1))
        assert touches.heights is not None
        distinct, places = np.unique(touches.heights, return_inverse=True)
        kind = self.value.expression.type
        heights = [Fraction(height) / (1 if kind == FLOAT else 10**kind.scale) for height in distinct.tolist()]
        return self._ranked(rows_of(touches), heights, places, self._reach(epsilon))

    def _reach(self, epsilon: Fraction) -> int:
        return reach(Scale(self.value.expression.type, PRECISION).outward(self.largest), epsilon, self.method)

    def _ranked(
        self, rows: Incidences, heights: list[Fraction], places: npt.ArrayLike, removals: int
    ) -> tuple[Fraction, ...]:
        """The profile of rows whose heights are given by their places among the different ones, ascending."""
        import numpy as np

        from tacit.flows.largest import largest_profile

        sign = 1 if self.largest else -1
        found = largest_profile(rows, sign * np.asarray(places, dtype=np.int64), removals, self.rank)
        return tuple(heights[sign * place] for place in found if place is not None)


@dataclass(frozen=True)
class GroupedExtremes(Each, tag="GroupedExtremes"):
    """An extreme of each group."""

    def release(self, room: Room) -> Answers:
        """The rows at the end of each group, and a scan of all groups together."""
        asked, groups = cast(Extremum, self.statistic), self.groups
        scale = Scale(asked.value.expression.type, PRECISION)
        end = End(
            asked.value, scale, asked.largest, room.allowance.epsilon, groups, asked.rank, rows=asked.per == "row"
        )
        drawn, beyond = end.draw(room, room.weigh(end.request())), end.beyond()
        answers = {}
        for label, found in zip(groups.labels, drawn, strict=True):
            words = f"{asked.words} where {groups.name} is {label}"
            answers[label] = asked.answer(room, words, scale, found, beyond, InnerOfGroup)
        return Answers(answers, room.cost, groups.name)


def windows(law: Law[Any]) -> tuple[tuple[Fraction, int | None], ...]:
    """How many persons may lie beyond, for each confidence that the law promises at all: a public fact."""
    return tuple((level, window(law, level)) for level in CONFIDENCES)


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, …"""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _entry(
    key: str, words: str, name: str, *asked: int, largest: bool, sql: str = "", recorded: str = "", **more: str
) -> Entry:
    """What is known about one of the family, audited with these arguments, in networks too if there are no more."""

    def ask(table: Any, **cost: Any) -> Any:
        return getattr(table, key)("value", *asked, **more, **cost)

    audited = [Audited(name, Pure(4), ask)]
    if key == "max":
        audited.append(Audited("maximum by group", Pure(4), lambda t, **c: ask(t.group_by("group", ["x", "y"]), **c)))
    if not more:
        audited.append(Audited(f"network: {name}", Pure(4), ask, network=True))
    forms = {sql: lambda call: Extremum.of(call.column, largest)} if sql else {}
    return Entry(Extremum, words, key, recorded, forms, methods=METHODS, audited=tuple(audited))


class AsksExtremes(Asking[AnswerT]):
    """Minimum, maximum, k-th largest and k-th smallest."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        _entry("min", "smallest value", "minimum", largest=False, sql="Min"),
        _entry("max", "largest value", "maximum", largest=True, sql="Max"),
        _entry("largest", "k-th largest value", "second largest", 2, largest=True, recorded="max"),
        _entry(
            "smallest", "k-th smallest value", "second smallest per person", 2, largest=False, recorded="min",
            per="person",
        ),
    )  # fmt: skip

    def min(
        self, column: str, *, per: Per = "row", method: str = "scan",
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """The smallest value, overestimated by construction.

        Args:
            column: a column, or a SQL expression of columns.
            per: "row", or "person" to count each person once.
            method: how the value is chosen: "scan" (default), "scan_down", "exponential", "permute_and_flip" or
                "binary_search".
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.min("amount", epsilon=4)
        Answer(minimum of amount: ..., Pure(4))
        """
        asked = Extremum.of(self._operand(column), False, per=per, method=method)
        return self._one(asked, epsilon, delta, rho, fresh)

    def max(
        self, column: str, *, per: Per = "row", method: str = "scan",
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """The largest value, underestimated by construction.

        Args:
            column, per, method, epsilon, delta, rho, fresh: as for `min`.

        >>> orders.max("amount", epsilon=4)
        Answer(maximum of amount: ..., Pure(4))
        """
        asked = Extremum.of(self._operand(column), True, per=per, method=method)
        return self._one(asked, epsilon, delta, rho, fresh)

    def largest(
        self, column: str, k: int, *, per: Per = "row", method: str = "scan",
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """The k-th largest value of all rows, or of the persons' largest ones; underestimated by construction.

        Args:
            column, method: as for `min`.
            k: its rank, at most 40; for more, ask for a quantile.
            per: "row", or "person" for the k-th of the persons' largest values.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.largest("amount", 3, epsilon=4)
        Answer(3rd largest amount: ..., Pure(4))
        """
        asked = Extremum.of(self._operand(column), True, per=per, method=method, rank=k)
        return self._one(asked, epsilon, delta, rho, fresh)

    def smallest(
        self, column: str, k: int, *, per: Per = "row", method: str = "scan",
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """The k-th smallest value of all rows, or of the persons' smallest ones; overestimated by construction.

        Args:
            column, k, per, method, epsilon, delta, rho, fresh: as for `largest`.

        >>> orders.smallest("amount", 3, epsilon=4)
        Answer(3rd smallest amount: ..., Pure(4))
        """
        asked = Extremum.of(self._operand(column), False, per=per, method=method, rank=k)
        return self._one(asked, epsilon, delta, rho, fresh)
