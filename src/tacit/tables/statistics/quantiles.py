"""Quantiles by inverse sensitivity on a grid.

Let W(≤y) and W(<y) be the weight of the rows up to y and below y, W the total, and Λ the largest weight of one person.
With Δ = max(q, 1−q), g = ΔΛ and thresholds t_j = qW + jg the loss

    ℓ(y) = max( #{j ≤ 0 : t_j > W(≤y)}, #{j ≥ 1 : t_j ≤ W(<y)} )

counts lattice steps between the weight at y and the quantile. Adding a person with weight w ≤ Λ moves qW − W(≤y) by
an amount in [−(1−q)Λ, qΛ] and W(<y) − qW by one in [−qΛ, (1−q)Λ], at most one step each way, so ℓ has sensitivity 1
(not one-directional), and so has min(ℓ, K). The exponential mechanism with e^{−εℓ/2} is ε-DP. Several quantiles are
drawn one after the other, each for its part of the cost, and kept in order by restricting the grid to what earlier
draws left. Values are rounded to the nearest grid value before their weights are compared, row by row; without that no
value of the grid might have a small loss.

ERROR  A draw from a grid of |Y| values has a loss of at most (2/ε)·ln(|Y|/β) above the least one, but with probability
β: with both ends of a step, that is an error of E(β) in weight. Where an earlier quantile lies beyond this one's own
place, what is left of the grid begins there, where the weight is off by no more than the earlier one's own error. So
the d-th draw of a chain of neighbours is off by at most d·E(β/d), with probability 1 − β. Per row all this is about
weights: a person with n > Λ rows weighs Λ, each row Λ/n. It says nothing about ranks among all rows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log
from typing import Any

from tacit.answers import Answer, Answers
from tacit.answers.order import Ranked
from tacit.curves import Run, StepLoss
from tacit.engines.requests import LARGEST_ANSWER, WEIGHT, Buckets, Ordered, Ranks, RankSteps, RowCount, TotalBuckets
from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.mechanisms.inverse.inverse_sensitivity import inverse_sensitivity
from tacit.mechanisms.law import Law
from tacit.tables.releasing.costs import Allowance
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.base import Per, Statistic
from tacit.tables.statistics.caps import choose_cap, levels
from tacit.tables.statistics.scales import Scale

PRECISION = 4
"""Significant digits of a released quantile."""

CAP_SHARE = Fraction(1, 5)
"""What the cap on rows per person takes of the cost, per row."""

METHODS = {"exponential": "the exponential mechanism", "permute_and_flip": "permute-and-flip"}
"""How a value may be chosen by its loss; both keep the rank error that is stated."""

ROW_LEVELS = levels(2**30)
"""Caps on rows per person."""

REQUESTS = 10
"""Into at most so many requests of a round several quantiles are split, each with as many steps as it can have."""


def row_cap(room: Room, value: Ordered, allowance: Allowance) -> int:
    """A cap on the rows with a value that one person counts for; one round of the room."""
    (buckets,) = room.ask(TotalBuckets(RowCount(value.expression), ROW_LEVELS))
    assert isinstance(buckets, Buckets)
    return choose_cap(room, ROW_LEVELS, [bucket.count for bucket in buckets.positive], allowance)


def reach(epsilon: Fraction, size: float, quantiles: int) -> tuple[int, int]:
    """How many lattice steps around a quantile are looked at, and how many quantiles share a request.

    Beyond, all losses are the same; fewer than 2·ln|Y|/ε steps would leave most of the chance to values far away.
    """
    wanted = ceil(2 * (log(size) + 25) / epsilon)
    together = min(max(LARGEST_ANSWER // (6 * (wanted + 2)), ceil(quantiles / REQUESTS)), quantiles)
    return min(wanted, LARGEST_ANSWER // (6 * together) - 2), together


def quantile_loss(
    ranks: Ranks, which: int, q: Fraction, largest: int, scale: Scale, grid: Grid, limit: int
) -> StepLoss:
    """The loss above for one quantile, clamped at ``limit``, as runs over the grid."""
    step, target = max(q, 1 - q) * largest, q * ranks.weight

    def reached(weight: int) -> int:
        """How many thresholds t_j with −limit < j ≤ limit are at most this weight."""
        return min(max((weight - target) // step, -limit), limit) + limit

    assert grid.first is not None
    assert grid.last is not None
    steps = ranks.steps[which]
    counts = [reached(steps[0].before if steps else 0), *(reached(item.after) for item in steps)]
    # A value counts as the nearest of the whole grid: in W(≤y) from there on, in W(<y) from the next one on.
    whole = scale.grid
    up_to = [whole.nearest(item.value) for item in steps]
    below = [index + 1 for index in up_to]
    starts = sorted({grid.first, *(i for i in (*up_to, *below) if grid.first <= i <= grid.last)})
    runs = (
        Run(first, last, max(limit - counts[bisect_right(up_to, first)], counts[bisect_right(below, first)] - limit, 0))
        for first, last in zip(starts, [*(i - 1 for i in starts[1:]), grid.last], strict=True)
    )
    return StepLoss.joined(grid, runs)


@dataclass(frozen=True)
class Quantiles(Statistic):
    """One or several quantiles of a column."""

    value: Ordered
    name: str
    quantiles: tuple[Fraction, ...]
    per: Per = "row"
    single: bool = True
    method: str = "exponential"
    """How a value is chosen by its loss: a method of `tacit.mechanisms.inverse.inverse_sensitivity`."""

    def __post_init__(self) -> None:
        if not self.quantiles or len(set(self.quantiles)) < len(self.quantiles) or len(self.quantiles) > 100:
            raise InvalidInput("quantile takes from one to a hundred different numbers between 0 and 1.")
        RankSteps(self.value, self.quantiles, reach=1)  # refuses what the engine could not answer

    @property
    def key(self) -> str:
        """Its name for policies."""
        return "median" if self.quantiles == (Fraction(1, 2),) else "quantile"

    @property
    def words(self) -> str:
        """What is asked."""
        if self.single:
            return f"{ordinal(self.quantiles[0])} of {self.name}"
        return f"quantiles of {self.name}"

    def release(self, room: Room) -> Answer | Answers:
        """A cap on rows per person where rows count, then one draw for each quantile between its neighbours."""
        allowance, cap = room.allowance, None
        if self.per == "row":
            cap = row_cap(room, self.value, allowance.share(CAP_SHARE))
            allowance = allowance.share(1 - CAP_SHARE)
        each = allowance.share(Fraction(1, len(self.quantiles)))
        scale = Scale(self.value.expression.type, PRECISION)
        limit, together = reach(each.epsilon, scale.grid.size, len(self.quantiles))
        batches = (self.quantiles[i : i + together] for i in range(0, len(self.quantiles), together))
        parts = room.ask(*(RankSteps(self.value, batch, limit, cap) for batch in batches))
        ranks = Ranks(parts[0].weight, tuple(steps for part in parts for steps in part.steps))
        found = self._draw(room, ranks, cap, scale, limit, each)
        answers = {q: self._answer(room, q, *found[q], scale, each, cap) for q in self.quantiles}
        if self.single:
            return answers[self.quantiles[0]]
        return Answers({float(q): answer for q, answer in answers.items()}, room.cost, "quantile")

    def _draw(
        self, room: Room, ranks: Ranks, cap: int | None, scale: Scale, limit: int, each: Allowance
    ) -> dict[Fraction, tuple[Any, int]]:
        """For each quantile a value, and the how many-th it is in the chain of those it was drawn between."""
        order = sorted(range(len(self.quantiles)), key=lambda i: self.quantiles[i])
        found: dict[Fraction, tuple[Any, int]] = {}

        def fill(indices: Sequence[int], grid: Grid, place: int = 1) -> None:
            if not indices:
                return
            middle = len(indices) // 2
            q = self.quantiles[indices[middle]]
            y = room.draw(quantile_law(ranks, indices[middle], q, cap, scale, grid, limit, each.epsilon, self.method))
            found[q] = y, place
            fill(indices[:middle], grid.between(None, y), place + 1)
            fill(indices[middle + 1 :], grid.between(y, None), place + 1)

        fill(order, scale.grid)
        return found

    def _answer(
        self, room: Room, q: Fraction, y: Any, place: int, scale: Scale, each: Allowance, cap: int | None
    ) -> Answer:
        before = [q] if place == 1 else self.quantiles  # each has a step of its own
        steps = max(max(other, 1 - other) for other in before) * (cap or 1)
        return room.answer(
            f"{ordinal(q)} of {self.name}",
            scale.value(y),
            mechanism=f"inverse sensitivity by {METHODS[self.method]}",
            spread=Ranked(each.epsilon, scale.grid.size, float(steps), "rows" if cap else "persons", place),
            per=self.per,
            notes=(f"A person counts for at most {cap:,} rows, each of more for so much less.",) if cap else (),
        )


def quantile_law(
    ranks: Ranks,
    which: int,
    q: Fraction,
    cap: int | None,
    scale: Scale,
    grid: Grid,
    limit: int,
    epsilon: Fraction,
    method: str = "exponential",
) -> Law[Any]:
    """The law of one quantile on the grid."""
    loss = quantile_loss(ranks, which, q, WEIGHT * (cap or 1), scale, grid, limit)
    return inverse_sensitivity(loss, epsilon=epsilon, method=method)


def ordinal(q: Fraction) -> str:
    """A quantile in words."""
    return "median" if q == Fraction(1, 2) else f"{float(q):g} quantile"
