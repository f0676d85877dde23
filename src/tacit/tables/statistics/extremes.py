"""Minimum, maximum and k-th largest or smallest by shifted inverse sensitivity.

With one row of numbers for each person, D_j is the (j+1)-th largest person maximum: what the maximum becomes when the j
persons with the largest values leave. The k-th largest row falls to y without the fewest persons that leave fewer than
k rows above y; of a person k rows matter at most, and of persons as many as may leave and k more. The upward threshold
scan on the loss of this profile returns a value that only a few persons exceed; with ρ a Bayesian search on the same
loss finds it, and its own looks tell how far it may be trusted. A minimum is minus the maximum of the
negated values. The answer errs on the inner side by construction: a maximum is an underestimate, up to the grid's
rounding. Extremes of groups are found by shared weight (`ways.ends`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, cast

from tacit.answers import Answer, Answers
from tacit.answers.order import Inner, InnerOfGroup, Levels, persons_at
from tacit.answers.spreads import SURE
from tacit.answers.values import counted
from tacit.curves import DownProfile
from tacit.engines.requests import LARGEST_ANSWER, Extremes, Incidence, Ordered, TopRows
from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.language.types import FLOAT
from tacit.mechanisms.inverse.shifted_inverse import shifted_inverse
from tacit.mechanisms.law import Law
from tacit.mechanisms.search.bayesian_search import Searched, bayesian_search
from tacit.numbers.exact import whole
from tacit.tables.releasing.room import Allowance, Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry, Made
from tacit.tables.statistics.base import Methods, Operand, Per, Statistic, check_delta, check_method, per_of
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
    "binary_search": "noisy comparisons that halve the grid, with Gaussian noise for ρ",
    "bayesian_search": "many noisier comparisons, for ρ; its default",
    "interior_point": "a search over scales, for ε with δ: better on grids larger than any in use",
}
"""Methods of `tacit.mechanisms.inverse.shifted_inverse`."""

INTERIOR = "interior_point"
"""The method that needs δ; its exact law is known on small grids, as that of truth values."""

CURVED = ("exponential", "binary_search", "bayesian_search")
"""Those that ρ pays by a curve of their own."""


def depth(epsilon: Fraction) -> int:
    """How many person values are looked at: beyond that number of removals a loss cannot matter any more."""
    return min(9000, ceil(250 / epsilon) + 20)


def spending(allowance: Allowance, method: str = "scan", instead: str = "binary_search") -> dict[str, Any]:
    """How a shifted inverse is told its method and what it may spend; with ρ another search stands for a scan."""
    if not allowance.concentrated:
        return {"epsilon": allowance.amount, "method": method}
    method = instead if method == "scan" else method
    if method in CURVED:
        return {"rho": allowance.amount, "method": method}
    return {"epsilon": allowance.epsilon, "method": method}


def reach(
    grid: Grid,
    epsilon: Fraction | None = None,
    method: str = "scan",
    rho: Fraction | None = None,
    delta: Fraction | None = None,
) -> int:
    """How many removals matter where each is dear: those that the law's own accuracy counts, and one more."""
    most = 9000 if epsilon is None or method == INTERIOR else depth(epsilon)
    law = shifted_inverse(DownProfile([]), grid, epsilon, method, rho, delta=delta, beta=MISS)
    beyond = window(law, 1 - MISS)
    return most if beyond is None else min(most, beyond + 1)


def extreme_law(
    values: tuple[Fraction, ...],
    scale: Scale,
    largest: bool,
    epsilon: Fraction | None = None,
    method: str = "scan",
    rho: Fraction | None = None,
    delta: Fraction | None = None,
) -> Law[Any]:
    """The law of a maximum of ``values`` (descending), or of minus the minimum (``values`` ascending)."""
    grid = scale.outward(largest)
    return shifted_inverse(extreme_profile(values, scale, largest), grid, epsilon, method, rho, delta=delta, beta=MISS)


def too_few(beyond: Levels) -> str:
    """Why no value is named: beyond the answer lie as many persons as the search misses, and there are no more."""
    needed = persons_at(beyond, SURE)
    wanted = "" if needed is None else f": this cost needs more than {counted(needed, 'person')}; or spend more"
    return f"Too few persons to name a value{wanted}."


def extreme_profile(values: tuple[Fraction, ...], scale: Scale, largest: bool) -> DownProfile:
    """What a maximum of ``values``, or minus a minimum, falls to without 0, 1, 2, … persons."""
    sign, grid = 1 if largest else -1, scale.outward(largest)
    return DownProfile([scale.clamped(sign * v, grid) for v in values])


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

    def check(self, cost: Guarantee) -> None:
        """One method is for ρ alone, one for ε with δ."""
        super().check(cost)
        if self.method == INTERIOR:
            check_delta(cost, f"method {INTERIOR!r} needs", "leave method out")
        if self.method == "bayesian_search" and not Allowance.of(cost).concentrated:
            raise InvalidInput("method 'bayesian_search' needs rho=; leave method out for epsilon.")

    def release(self, room: Room) -> Answer:
        """The K largest person maxima, a scan or a search, and one value."""
        spent, scale = self._spending(room), self._scale
        values = self._profile(room, spent)
        if spent["method"] == "bayesian_search":
            loss = extreme_profile(values, scale, self.largest).loss(scale.outward(self.largest))
            searched = room.draw(bayesian_search(loss, spent["rho"], beta=MISS).with_looks())
            found, levels = searched.value, looked(searched)
        else:
            paid = spent.get("epsilon"), spent["method"], spent.get("rho"), spent.get("delta")
            law = room.once((self, paid), lambda: extreme_law(values, scale, self.largest, *paid))
            found, levels = room.draw(law), room.once((self, paid, "levels"), lambda: windows(law))
        beyond = tuple((level, None if n is None else n + self.rank - 1) for level, n in levels)
        return self.answer(room, self.words, scale, found, beyond, Inner)

    def _spending(self, room: Room) -> dict[str, Any]:
        match room.cost:
            case Approx(epsilon, delta) if self.method == INTERIOR:
                return {"epsilon": epsilon, "delta": delta, "method": self.method}
        return spending(room.allowance, self.method, "bayesian_search")

    @property
    def ranges(self) -> tuple[Fraction, ...]:
        """One choice, by the exponential mechanism."""
        return (Fraction(1),) if self.method == "exponential" else ()

    @property
    def _scale(self) -> Scale:
        return Scale(self.value.expression.type, PRECISION)

    def answer(
        self,
        room: Room,
        words: str,
        scale: Scale,
        found: Any,
        beyond: Levels,
        spread: type[Inner],
        searching: str = "bayesian_search",
    ) -> Answer:
        """The answer for a value of the grid; ``searching`` stands for a scan with ρ."""
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
            mechanism=f"shifted inverse sensitivity by {spending(room.allowance, self.method, searching)['method']}",
            spread=spread(self.largest, beyond, inner),
            per=self.per,
            notes=(too_few(beyond),) if unknown else (),
        )

    def grouped(self, groups: Groups) -> Statistic:
        """The extreme of each group, by shared weight."""
        return super().grouped(groups) if self.method != "scan" else GroupedExtremes(self, groups, self.per)

    def _profile(self, room: Room, spent: dict[str, Any]) -> tuple[Fraction, ...]:
        """What the extreme becomes when 0, 1, 2, … persons leave."""
        if room.several:
            return self._joint(room, spent)
        if self.rank == 1 or self.per == "person":
            removals = self._reach(spent) if {"rho", "delta"} & spent.keys() else depth(spent["epsilon"])
            (values,) = room.ask(Extremes(self.value, removals + self.rank - 1, self.largest))
            assert isinstance(values, tuple)
            return values[self.rank - 1 :]
        import numpy as np

        from tacit.flows.incidences import Incidences

        removals = min(self._reach(spent), LARGEST_ANSWER // (2 * self.rank) - self.rank)
        (found,) = room.ask(TopRows(self.value, removals + self.rank, self.rank, self.largest))
        heights = sorted({height for _, height in found})
        places = {height: place for place, height in enumerate(heights)}
        rows = Incidences.from_columns(np.ones(len(found), dtype=np.int64), [[person for person, _ in found]])
        return self._ranked(rows, heights, [places[height] for _, height in found], removals)

    def _joint(self, room: Room, spent: dict[str, Any]) -> tuple[Fraction, ...]:
        """The same where a row may concern several persons."""
        import numpy as np

        from tacit.tables.statistics.ways.shared_rows import rows_of

        touches = room.touches(Incidence(heights=self.value, largest=self.largest, every=self.rank > 1))
        assert touches.heights is not None
        distinct, places = np.unique(touches.heights, return_inverse=True)
        kind = self.value.expression.type
        heights = [Fraction(height) / (1 if kind == FLOAT else 10**kind.scale) for height in distinct.tolist()]
        return self._ranked(rows_of(touches), heights, places, self._reach(spent))

    def _reach(self, spent: dict[str, Any]) -> int:
        return reach(self._scale.outward(self.largest), **spent)

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
        end = End(asked.value, scale, asked.largest, room.allowance, groups, asked.rank, rows=asked.per == "row")
        drawn, beyond = end.draw(room, room.weigh(end.request())), end.beyond()
        answers = {}
        for label, found in zip(groups.labels, drawn, strict=True):
            words = f"{asked.words} where {groups.name} is {label}"
            answers[label] = asked.answer(room, words, scale, found, beyond, InnerOfGroup, "binary_search")
        return Answers(answers, room.cost, groups.name)


def windows(law: Law[Any]) -> tuple[tuple[Fraction, int | None], ...]:
    """How many persons may lie beyond, for each confidence that the law promises at all: a public fact."""
    return tuple((level, window(law, level)) for level in CONFIDENCES)


def looked(searched: Searched) -> Levels:
    """The same from what a search saw: half of what a confidence leaves for either side, None where it saw too little.

    The answer is not above the true extreme, and so many persons lie beyond it at most.
    """
    found = []
    for level in CONFIDENCES:
        bounds = searched.bounds(float(1 - level) / 2)
        inside = bounds.lowest_zero() >= searched.position
        found.append((level, bounds.most_at(searched.position, 2 * searched.design.target) if inside else None))
    return tuple(found)


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
        audited.append(
            Audited("maximum by interior point", Approx(4, "0.2"), lambda t, **c: t.max("flag", method=INTERIOR, **c))
        )
        audited.append(Audited("maximum by group", Pure(4), lambda t, **c: ask(t.group_by("group", ["x", "y"]), **c)))
    if not more:
        audited.append(Audited(f"network: {name}", Pure(4), ask, network=True))
    forms = {sql: lambda call: Extremum.of(call.column, largest)} if sql else {}
    made = Made(f"{sql.upper()}(value)", lambda column: Extremum.of(column("value"), largest), planned=False)
    return Entry(
        Extremum,
        words,
        key,
        recorded,
        forms,
        methods=METHODS,
        made=made if sql else None,
        audited=tuple(audited),
    )


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
                "binary_search"; with ρ a "bayesian_search", by default; with δ an "interior_point".
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
