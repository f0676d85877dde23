"""Quantiles by inverse sensitivity on a grid.

Let W(≤y) and W(<y) be the weight of the rows up to y and below y, W the total, and Λ the largest weight of one person.
With Δ = max(q, 1−q), g = ΔΛ and thresholds t_j = qW + jg the loss

    ℓ(y) = max( #{j ≤ 0 : t_j > W(≤y)}, #{j ≥ 1 : t_j ≤ W(<y)} )

counts lattice steps between the weight at y and the quantile. Adding a person with weight w ≤ Λ moves qW − W(≤y) by
an amount in [−(1−q)Λ, qΛ] and W(<y) − qW by one in [−qΛ, (1−q)Λ], at most one step each way, so ℓ has sensitivity 1
(not one-directional), and so has min(ℓ, K). The exponential mechanism with e^{−εℓ/2} is ε-DP. Values are rounded to the
nearest grid value before their weights are compared, row by row; without that no value of the grid might have a small
loss. Several quantiles, and those of groups, are drawn by levels (`ways.levels`). One quantile leaves an eighth of its
cost to an interval in the column's own unit (`ways.sides`), unless that is not wanted.

ERROR  A draw from a grid of |Y| values has a loss of at most (2/ε)·ln(|Y|/β) above the least one, but with probability
β: with both ends of a step, that is an error in weight. Per row all this is about weights: a person with n > Λ rows
weighs Λ, each row Λ/n. It says nothing about ranks among all rows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, log
from typing import Any, ClassVar, cast

from tacit.answers import Answer, Answers
from tacit.answers.order import Between, Ranked, What
from tacit.curves import Run, StepLoss
from tacit.engines.requests import LARGEST_ANSWER, LARGEST_REACH, WEIGHT, Ordered, Ranks, RankSteps, RowCount
from tacit.engines.requests.beside import OfPerson
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.guarantees import Approx, Pure
from tacit.mechanisms.inverse.inverse_sensitivity import inverse_sensitivity
from tacit.mechanisms.law import Law
from tacit.numbers.exact import Number, exact, whole
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.asking import Amount, AnswerT, Asking, Audited, Entry, Made
from tacit.tables.statistics.base import Call, Methods, Operand, Per, Statistic, check_method, per_of
from tacit.tables.statistics.local_quantiles import LocalQuantile, ordinal
from tacit.tables.statistics.ways import levels, local
from tacit.tables.statistics.ways.caps import CAP_SHARE, row_cap
from tacit.tables.statistics.ways.each import Each
from tacit.tables.statistics.ways.groups import Groups
from tacit.tables.statistics.ways.levels import draw_quantiles, weighing
from tacit.tables.statistics.ways.scales import Scale
from tacit.tables.statistics.ways.sides import SHARE, Sides

PRECISION = 4
"""Significant digits of a quantile that is asked alone."""

METHODS: Methods = {"exponential": "the exponential mechanism", "permute_and_flip": "permute-and-flip"}
"""How a value may be chosen by its loss; both keep the rank error that is stated."""

MOST = 1000
"""The most quantiles of one question."""


def reach(epsilon: Fraction, size: float) -> int:
    """How many lattice steps around a quantile are looked at.

    Beyond, all losses are the same; fewer than 2·ln|Y|/ε steps would leave most of the chance to values far away.
    """
    return min(ceil(2 * (log(size) + 25) / epsilon), LARGEST_ANSWER // 6 - 2)


def quantile_loss(ranks: Ranks, q: Fraction, largest: int, scale: Scale, limit: int) -> StepLoss:
    """The loss above, clamped at ``limit``, as runs over the grid."""
    whole, grid = q.denominator, scale.grid  # of which steps and the target are multiples of one part
    step, target = int(max(q, 1 - q) * whole) * largest, int(q * whole) * ranks.weight

    def reached(weight: int) -> int:
        """How many thresholds t_j with −limit < j ≤ limit are at most this weight."""
        return min(max((weight * whole - target) // step, -limit), limit) + limit

    assert grid.first is not None
    assert grid.last is not None
    (steps,) = ranks.steps
    counts = [reached(steps[0].before if steps else 0), *(reached(item.after) for item in steps)]
    # A value counts as the nearest of the grid: in W(≤y) from there on, in W(<y) from the next one on.
    up_to = [grid.nearest(item.value) for item in steps]
    below = [index + 1 for index in up_to]
    starts = sorted({grid.first, *(i for i in (*up_to, *below) if grid.first <= i <= grid.last)})
    runs = (
        Run(first, last, max(limit - counts[bisect_right(up_to, first)], counts[bisect_right(below, first)] - limit, 0))
        for first, last in zip(starts, [*(i - 1 for i in starts[1:]), grid.last], strict=True)
    )
    return StepLoss.joined(grid, runs)


@dataclass(frozen=True)
class Quantiles(Statistic, tag="Quantiles", sampled="itself"):
    """One or several quantiles of a column."""

    value: Ordered
    name: str
    quantiles: tuple[Fraction, ...]
    per: Per = "row"
    single: bool = True
    method: str = "exponential"
    """How a value is chosen by its loss: a method of `tacit.mechanisms.inverse.inverse_sensitivity`."""
    interval: bool = field(default=True, metadata={"later": True})
    """Whether one quantile leaves a part of its cost to an interval in the column's own unit."""

    def __post_init__(self) -> None:
        number = len(self.quantiles)
        if not number or len(set(self.quantiles)) < number or number > MOST:
            raise InvalidInput("quantile takes from one to a thousand different numbers between 0 and 1.")
        if number > 1 and self.method != "exponential":
            raise InvalidInput("several quantiles are drawn by levels, not by a method; leave method= out.")
        for q in self.quantiles:
            RankSteps(self.value, (q,), reach=1)  # refuses what the engine could not answer

    @property
    def of_single_rows(self) -> Statistic:
        """Each person counts once."""
        return replace(self, per="person")

    @classmethod
    def of(
        cls,
        column: Operand,
        q: Number | Sequence[Number],
        *,
        per: str = "row",
        method: str = "exponential",
        range: tuple[Number, Number] | None = None,
        interval: bool = True,
    ) -> Statistic:
        """One quantile, or several at once; by a method that adds noise to the quantile itself, one."""
        check_method(method, NAMES)
        numbers = (q,) if isinstance(q, str) or not isinstance(q, Iterable) else tuple(q)
        wanted = tuple(map(_quantile, numbers))
        if method in local.METHODS:
            return LocalQuantile.of(column, wanted, per=per, method=method, range=range)
        if range is not None:
            known = " and ".join(local.METHODS)
            raise InvalidInput(f"range goes with the methods {known}; leave it out, or choose one of them.")
        return cls(column.ordered, column.name, wanted, per_of(per), numbers == (q,), method, bool(interval))

    @property
    def key(self) -> str:
        """The median has a name of its own."""
        return "median" if self.quantiles == (Fraction(1, 2),) else "quantile"

    @property
    def rereads(self) -> bool:  # type: ignore[override]
        """A cap on rows is chosen first."""
        return self.per == "row"

    @property
    def totals(self) -> tuple[OfPerson, ...]:
        """How many values a person has."""
        return (RowCount(self.value.expression),)

    @property
    def words(self) -> str:
        """One by its number, several together."""
        if self.single:
            return f"{ordinal(self.quantiles[0])} of {self.name}"
        return f"quantiles of {self.name}"

    def grouped(self, groups: Groups) -> Statistic:
        """The quantiles of each group, by shared weight."""
        return super().grouped(groups) if self.method != "exponential" else GroupedQuantiles(self, groups, self.per)

    @property
    def ranges(self) -> tuple[Fraction, ...]:
        """A cap and a draw, or a cap and levels; permute-and-flip has no bounded range."""
        if self.method != "exponential":
            return ()
        if len(self.quantiles) > 1:
            return levels.ranges(len(self.quantiles), self.per == "row")
        rest = 1 - CAP_SHARE if self.per == "row" else Fraction(1)
        return (*((CAP_SHARE,) if self.per == "row" else ()), rest * (1 - SHARE) if self.interval else rest)

    @property
    def scans(self) -> tuple[Fraction, ...]:
        """The two ends of an interval."""
        if len(self.quantiles) > 1 or not self.interval:
            return ()
        return ((1 - CAP_SHARE if self.per == "row" else Fraction(1)) * SHARE / 2,) * 2

    @property
    def answer_keys(self) -> tuple[float, ...]:
        """One answer for each of several quantiles."""
        return () if self.single else tuple(map(float, self.quantiles))

    def release(self, room: Room) -> Answer | Answers:
        """One quantile by its own loss, several by levels."""
        if len(self.quantiles) == 1:
            answers = {self.quantiles[0]: self._alone(room, self.quantiles[0])}
        else:
            drawn = draw_quantiles(room, self.value, self.quantiles, self.per)
            answers = {q: drawn.answer(room, f"{ordinal(q)} of {self.name}", 0, q) for q in self.quantiles}
        if self.single:
            return answers[self.quantiles[0]]
        return Answers({float(q): answer for q, answer in answers.items()}, room.cost, "quantile")

    def _alone(self, room: Room, q: Fraction) -> Answer:
        """A cap on rows per person where rows count, then one draw, and then the ends of its interval."""
        allowance, cap = room.allowance, None
        if self.per == "row":
            cap = row_cap(room, self.value, allowance.share(CAP_SHARE))
            allowance = allowance.share(1 - CAP_SHARE)
        scale, largest = Scale(self.value.expression.type, PRECISION), WEIGHT * (cap or 1)
        sides = Sides.of(q, largest, scale, allowance.share(SHARE)) if self.interval else None
        point = allowance.share(1 - SHARE) if sides else allowance
        ranged = self.method == "exponential"  # permute-and-flip has no better curve than a pure step's
        epsilon, rho = point.epsilon, None
        if ranged:
            epsilon, rho = point.choosing, point.amount if point.concentrated else None
        limit = reach(epsilon, scale.grid.size)
        known = min(max(limit, sides.reach), LARGEST_REACH) if sides else limit
        (ranks,) = room.ask(RankSteps(self.value, (q,), known, cap))
        law = room.once(
            (self, q, cap, known, epsilon, rho),
            lambda: quantile_law(ranks, q, cap, scale, limit, epsilon, self.method, rho),
        )
        y = room.draw(law)
        step = float(max(q, 1 - q) * (cap or 1))
        what: What = "rows" if cap else "persons"
        spread = Ranked(epsilon, scale.grid.size, step, what)
        if sides is not None:
            low, high = room.beside(lambda: sides.draw(room, ranks, known, scale.grid.nearest(y))) or (None, None)
            spread = Between(epsilon, scale.grid.size, step, what, low=low, high=high)
        return room.answer(
            f"{ordinal(q)} of {self.name}",
            scale.value(y),
            mechanism=f"inverse sensitivity by {METHODS[self.method]}",
            spread=spread,
            per=self.per,
            notes=(weighing(cap, "row"),) if cap else (),
        )


@dataclass(frozen=True)
class GroupedQuantiles(Each, tag="GroupedQuantiles"):
    """Quantiles of each group."""

    @property
    def ranges(self) -> tuple[Fraction, ...]:
        """A cap and levels."""
        return levels.ranges(len(cast(Quantiles, self.statistic).quantiles), capped=True)

    def release(self, room: Room) -> Answers:
        """All groups together, level by level."""
        asked, groups = cast(Quantiles, self.statistic), self.groups
        drawn = draw_quantiles(room, asked.value, asked.quantiles, self.per, groups)
        answers = {}
        for group, label in enumerate(groups.labels):
            for q in asked.quantiles:
                words = f"{ordinal(q)} of {asked.name} where {groups.name} is {label}"
                parts = label if isinstance(label, tuple) else (label,)
                answers[label if asked.single else (*parts, float(q))] = drawn.answer(room, words, group, q)
        return Answers(answers, room.cost, groups.name if asked.single else f"{groups.name}, quantile")


def quantile_law(
    ranks: Ranks,
    q: Fraction,
    cap: int | None,
    scale: Scale,
    limit: int,
    epsilon: Fraction,
    method: str = "exponential",
    rho: Fraction | None = None,
) -> Law[Any]:
    """The law of one quantile on the grid; ``rho`` is charged for ε where it is given."""
    loss = quantile_loss(ranks, q, WEIGHT * (cap or 1), scale, limit)
    return inverse_sensitivity(loss, epsilon=None if rho else epsilon, rho=rho, method=method)


def _quantile(q: Number) -> Fraction:
    number = exact(q, "q")
    if not 0 <= number <= 1:
        raise InvalidInput("q must lie between 0 and 1.")
    return number


def _called(call: Call) -> Statistic:
    """What QUANTILE_CONT(x, 0.9) or QUANTILE_CONT(x, [0.1, 0.9]) asks."""
    if not call.numbers:
        raise UnsupportedQuery("a quantile needs a constant between 0 and 1, such as QUANTILE_CONT(x, 0.9).")
    return Quantiles.of(call.column, call.numbers[0] if len(call.numbers) == 1 else call.numbers)


NAMES: Methods = {**METHODS, **local.METHODS}
"""What ``method=`` may be."""


class AsksQuantiles(Asking[AnswerT]):
    """The median and other quantiles."""

    _entries: ClassVar[tuple[Entry, ...]] = (
        Entry(
            Quantiles,
            "median",
            "median",
            sql={"Median": lambda call: Quantiles.of(call.column, Fraction(1, 2))},
            methods=NAMES,
            made=Made("MEDIAN(value)", lambda column: Quantiles.of(column("value"), Fraction(1, 2)), draws=60),
            audited=(
                Audited("median", Pure(4), lambda t, **c: t.median("value", **c)),
                Audited(
                    "median by smooth sensitivity", Pure(4), lambda t, **c: t.median("value", method="smooth", **c)
                ),
                Audited(
                    "median by propose-test-release",
                    Approx(4, "0.2"),
                    lambda t, **c: t.median("value", per="person", method="propose_test_release", range=(-8, 8), **c),
                ),
            ),
        ),
        Entry(
            Quantiles,
            "quantile",
            "quantile",
            sql=dict.fromkeys(("Quantile", "PercentileCont", "PercentileDisc", "WithinGroup"), _called),
            written="QUANTILE_CONT({}, {quantile})",
            methods=NAMES,
            made=Made(
                "QUANTILE_CONT(value, 0.9)",
                lambda column: Quantiles.of(column("value"), Fraction(9, 10)),
                draws=60,
                planned=False,
            ),
            audited=(
                Audited("quantiles", Pure(4), lambda t, **c: t.quantile("value", ["0.25", "0.75"], **c)),
                Audited(
                    "medians by group",
                    Pure(4),
                    lambda t, **c: t.group_by("group", keys=["x", "y"]).median("value", **c),
                ),
            ),
        ),
        Entry(
            Quantiles,
            "distribution",
            "cdf",
            "quantile",
            audited=(Audited("distribution", Pure(4), lambda t, **c: t.cdf("value", points=2, per="person", **c)),),
        ),
    )

    def cdf(
        self, column: str, *, points: int = 100, per: Per = "row",
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> Answers:  # fmt: skip
        """The distribution of a column: quantiles at equal distances, for `tacit.plots.distribution` to draw.

        Args:
            column: a column, or a SQL expression of columns.
            points: how many quantiles, at most a thousand.
            per: "row", or "person" to count each person once.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> list(orders.cdf("amount", points=3, epsilon=4))
        [0.25, 0.5, 0.75]
        """
        number = min(max(whole(points, "points", 1), 1), MOST + 1) + 1
        wanted = [Fraction(i, number) for i in range(1, number)]
        return self._many(Quantiles.of(self._operand(column), wanted, per=per), epsilon, delta, rho, fresh)

    def median(
        self, column: str, *, per: Per = "row", method: str = "exponential",
        range: tuple[Number, Number] | None = None, interval: bool = True,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT:  # fmt: skip
        """The middle value.

        Args:
            column, per, method, range, interval, epsilon, delta, rho, fresh: as for `quantile`.

        >>> orders.median("amount", epsilon=4)
        Answer(median of amount: ..., Pure(4))
        """
        half = Fraction(1, 2)
        asked = Quantiles.of(self._operand(column), half, per=per, method=method, range=range, interval=interval)
        return self._one(asked, epsilon, delta, rho, fresh)

    def quantile(
        self, column: str, q: Number | Sequence[Number], *, per: Per = "row", method: str = "exponential",
        range: tuple[Number, Number] | None = None, interval: bool = True,
        epsilon: Amount = None, delta: Amount = None, rho: Amount = None, fresh: bool = False,
    ) -> AnswerT | Answers:  # fmt: skip
        """One quantile, or several at once in ascending order of their values.

        Args:
            column: a column, or a SQL expression of columns.
            q: a number between 0 and 1, or several.
            per: "row", or "person" to count each person once.
            method: "exponential" (default) or "permute_and_flip"; for one quantile of numbers "smooth" or, with δ,
                "propose_test_release", which add noise to the quantile itself.
            range: for the latter two, a public range of the values.
            interval: whether one quantile leaves an eighth of its cost to a 95 % interval in the column's own unit;
                False spends all on the value. Several quantiles state by how many ranks they may be off.
            epsilon, delta, rho: what the answer may cost: ε, or ε with δ, or ρ.
            fresh: ask and pay again even if the same was answered before.

        >>> orders.quantile("amount", "0.9", epsilon=4)
        Answer(0.9 quantile of amount: ..., Pure(4))
        >>> sorted(orders.quantile("amount", ["0.1", "0.9"], epsilon=4))
        [0.1, 0.9]
        """
        asked = Quantiles.of(self._operand(column), q, per=per, method=method, range=range, interval=interval)
        several = isinstance(asked, Quantiles) and not asked.single
        return (self._many if several else self._one)(asked, epsilon, delta, rho, fresh)
