"""A capped statistic where a row may touch several persons: a cap chosen, the value there, charged together.

L(λ) is a statistic with every person capped at λ, in whole units: concave up to that rounding, and adding a person
raises it by something in [0, λ] (`tacit.flows` makes such curves). Over a public list of levels X the loss is
k(X) = ⌊R·(L(2X) − L(X))/X⌋, at most a public limit: about how many persons still gain from a larger cap, in parts of
1/R. A `Design` says how a level is found by it and where L is released with noise Z, which falls like e^{-up·z/λ}
above 0 and like e^{-down·|z|/λ} below:

- `Weighed`: X with probability in proportion to π(X)·e^{-κ·k(X)/R}, π a public prior that falls with X; L(X) + Z.
- `Scanned`, R = 1: the first X with k(X) ≤ c − ξ + ν, ξ ~ Geom(ε1) once, ν ~ Geom(ε2) at every level; L(2X) + Z.

PROMISE  One draw is Pure(ε). Weighed: up = ε − 3κ and down = ε − (2 + 1/R)·κ, if down ≥ κ. Scanned: up = ε − 2ε1 − 2ε2
and down = ε − ε1 − 3ε2, if up ≥ 2ε2. Alone the choice would cost 3κ, or 2ε1 + 3ε2, on either side.

PROOF  Add a person. At the chosen level let L(X) rise by a ∈ [0, X] and L(2X) by b ∈ [0, 2X]. R·(b − a)/X lies in
[−R, 2R] at every level, so k moves by a whole d ∈ [−R, 2R]; a public limit only brings d nearer to 0.

Weighed. The sum of all weights moves by a factor in [e^{-2κ}, e^κ]. As b ≤ 2X, d < 2R − R·a/X + 1.
- With the person, against without: the weight moves by e^{-κd/R}, its share by at most e^{κ(2 − d/R)} ≤ e^{3κ}, and the
  noise by at most e^{up·a/X} ≤ e^{up}: in all 3κ + up = ε.
- Without, against with: the share moves by at most e^{κ(1 + d/R)}, the noise by at most e^{down·a/X}. As d/R is at most
  2 − a/X + 1/R, that is κ(3 + 1/R) + (down − κ)·a/X, largest at a = X: (2 + 1/R)κ + down = ε.

Scanned. Where b ≥ a, d ≥ 0, for rounding and limiting are monotone.
- With the person, against without: shift ξ by 2 (e^{2ε1}); then every "go on" gains, the "stop" loses at most
  e^{ε2(2−d)} and the noise e^{up·b/2X}. If d ≥ 0 that is 2ε1 + 2ε2 + up = ε in all. If d = −1, then b < a ≤ X, so it is
  at most 2ε1 + 3ε2 + up/2 ≤ ε.
- Without, against with: shift ξ by 1 (e^{ε1}); the stop loses at most e^{ε2(1+d)}, the noise e^{down·b/2X}: in all at
  most ε1 + 3ε2 + down = ε.
A scan that never stops releases the last level, without a stop factor: less.

ERROR  Z does not depend on the data, so L at the cap lies within `reach` of the value. How much the cap takes away
cannot be known.

ACCURACY  Measured in benchmarks/joins.py against the best cap that knows the data. Weighing is better for small caps,
such as numbers of rows: some sixty persons/ε suffice. The scan takes about a hundred persons/ε at any scale, where
weights need ever more to reach a cap of many units, and its far tail is lighter.

COST  Levels are evaluated from the largest down, until the loss passes its limit: those below have it too, since the
average slope of a concave curve only rises towards 0, and rounding moves k by at most R + 1 either way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt
from typing import Protocol, Self

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.grids import integers
from tacit.guarantees import Pure
from tacit.mechanisms.choose.exponential import exponential
from tacit.mechanisms.choose.priors import Decaying
from tacit.mechanisms.grid_law import GridLaw
from tacit.mechanisms.law import Law
from tacit.mechanisms.noise.noise import beyond
from tacit.mechanisms.search.scan_rates import Rates
from tacit.mechanisms.search.threshold_scan import ScanLaw
from tacit.noises import Lopsided
from tacit.numbers.enclosures import BITS, Enclosure, log_ceiling
from tacit.numbers.exact import Number, positive
from tacit.randomness.source import Source


class Curve(Protocol):
    """L in whole units, at whole caps."""

    def at(self, cap: int, /) -> int:
        """L(cap): concave up to its rounding, and raised by something in [0, cap] when a person is added."""
        ...

    def above(self, cap: int, /) -> int:
        """At least L(cap), at little cost."""
        ...


LISTED = 16
"""Laws of at most so many levels list their outputs."""


def octaves(limit: int) -> tuple[int, ...]:
    """1, 2, 3, 4, 6, 8, 12, …, up to ``limit``: with a level its double is there too, so L is asked once for both."""
    found = {part << i for part in (2, 3) for i in range(limit.bit_length()) if part << i <= limit}
    return tuple(sorted(found | {1}))


LEVELS = octaves(2**61)
"""Levels for sums in any unit."""


@dataclass(frozen=True)
class Design(ABC):
    """The public parameters of a way to choose, as shares of ε."""

    @property
    @abstractmethod
    def share(self) -> Fraction:
        """What the choice would cost alone."""

    @property
    @abstractmethod
    def up(self) -> Fraction:
        """The rate of the noise above 0, times the cap."""

    @property
    @abstractmethod
    def down(self) -> Fraction:
        """The rate of the noise below 0, times the cap."""

    @property
    @abstractmethod
    def sound(self) -> bool:
        """Whether the promise's conditions hold."""

    @property
    @abstractmethod
    def factor(self) -> int:
        """The cap at which L is released, over the level that was chosen."""

    @abstractmethod
    def chosen(self, curve: Curve, cost: Fraction, levels: tuple[int, ...]) -> GridLaw:
        """The law of the index of a level, alone Pure(cost)."""

    def noise(self, cap: int, epsilon: Fraction) -> Lopsided:
        """The noise at a cap."""
        return Lopsided(self.up * epsilon / cap, self.down * epsilon / cap)


@dataclass(frozen=True)
class Weighed(Design):
    """A level in proportion to a prior and to how few persons gain beyond it; released at the level."""

    weight: Fraction = Fraction(4, 25)
    """κ."""
    ratio: Fraction = Fraction(9, 20)
    """How the prior falls from level to level: about λ^-2.3."""
    parts: int = 16
    """R, the parts of a person in which the loss is counted."""
    least: int = 2**30
    """Levels of the largest loss weigh at most one over this, whatever the data."""
    factor = 1

    @property
    def share(self) -> Fraction:
        """What the choice would cost alone."""
        return 3 * self.weight

    @property
    def up(self) -> Fraction:
        """The rate of the noise above 0, times the cap."""
        return 1 - 3 * self.weight

    @property
    def down(self) -> Fraction:
        """The rate of the noise below 0, times the cap."""
        return 1 - (2 + Fraction(1, self.parts)) * self.weight

    @property
    def sound(self) -> bool:
        """Whether the promise's conditions hold."""
        return self.up > 0 and self.down >= self.weight > 0 and self.parts >= 1

    def chosen(self, curve: Curve, cost: Fraction, levels: tuple[int, ...]) -> GridLaw:
        """The exponential mechanism; losses are limited where they outweigh a prior that falls over all levels."""
        limit = log_ceiling(3 * self.parts / cost, self.least / self.ratio ** len(levels))
        loss = slopes(curve, levels, self.parts, limit)
        return exponential(loss, cost, Decaying(1, self.ratio), change=(self.parts, 2 * self.parts))


@dataclass(frozen=True)
class Scanned(Design):
    """The first level that few persons gain beyond; released at twice the level."""

    threshold: Fraction = Fraction(4, 25)
    """ε1, the rate of the scan's threshold."""
    each: Fraction = Fraction(3, 50)
    """ε2, the rate of each of its comparisons."""
    offset: Fraction = Fraction(20)
    """c·ε."""
    limit: Fraction = Fraction(450)
    """Losses are limited to this over ε: e^{-25} is the chance to stop at a level of that loss."""
    factor = 2

    @property
    def share(self) -> Fraction:
        """What the choice would cost alone."""
        return 2 * self.threshold + 3 * self.each

    @property
    def up(self) -> Fraction:
        """The rate of the noise above 0, times the cap."""
        return 1 - 2 * self.threshold - 2 * self.each

    @property
    def down(self) -> Fraction:
        """The rate of the noise below 0, times the cap."""
        return 1 - self.threshold - 3 * self.each

    @property
    def sound(self) -> bool:
        """Whether the promise's conditions hold."""
        return self.up >= 2 * self.each > 0 and self.down > 0 and self.threshold > 0

    def chosen(self, curve: Curve, cost: Fraction, levels: tuple[int, ...]) -> GridLaw:
        """The upward threshold scan."""
        epsilon = cost / self.share
        loss = slopes(curve, levels, 1, ceil(self.limit / epsilon))
        return ScanLaw(
            loss, True, Rates(self.threshold * epsilon, self.each * epsilon), int(self.offset / epsilon), Pure(cost)
        )


WEIGHED, SCANNED = Weighed(), Scanned()


def slopes(curve: Curve, levels: tuple[int, ...], parts: int, limit: int) -> StepLoss:
    """k over the levels."""
    losses, enough = [limit] * len(levels), limit + 2 * (parts + 1)  # beyond that every loss below is at the limit
    for i, level in reversed(list(enumerate(levels))):
        if parts * (curve.at(2 * level) - curve.above(level)) // level > enough:
            break
        loss = parts * (curve.at(2 * level) - curve.at(level)) // level
        losses[i] = min(loss, limit)
        if loss > enough:
            break
    return StepLoss.from_losses(integers(0, len(levels) - 1), losses)


@dataclass(frozen=True)
class CappedFlow:
    """What was released: a cap, and the statistic with every person capped there, with noise."""

    cap: int
    value: int
    epsilon: Fraction
    design: Design

    @property
    def noise(self) -> Lopsided:
        """The noise of the value."""
        return self.design.noise(self.cap, self.epsilon)

    def reach(self, confidence: Number = "0.95") -> tuple[int, int]:
        """Integers (down, up), not negative: with this confidence L(cap) lies in [value − up, value + down]."""
        return self.noise.reach(confidence)

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        return self.noise.variance

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise."""
        return sqrt(self.variance)


class CappedFlowLaw(Law[CappedFlow]):
    """The law of `capped_flow`."""

    name = "capped flow"

    def __init__(self, curve: Curve, epsilon: Fraction, levels: tuple[int, ...], design: Design) -> None:
        self.levels, self.design, self.guarantee = levels, design, Pure(epsilon)
        self._curve, self._epsilon = curve, epsilon
        self._places = {design.factor * level: i for i, level in enumerate(levels)}
        self._choice = design.chosen(curve, design.share * epsilon, levels)

    def _draw(self, source: Source) -> CappedFlow:
        cap = self.design.factor * self.levels[self._choice._draw_index(source)]
        value = self._curve.at(cap) + self.design.noise(cap, self._epsilon).draw(source)
        return CappedFlow(cap, int(value), self._epsilon, self.design)

    def pmf(self, y: CappedFlow, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]."""
        i = self._places.get(y.cap)
        if i is None or (y.epsilon, y.design) != (self._epsilon, self.design):
            return Enclosure.of(0, bits)
        return self._choice._pmf_at(i, bits) * y.noise.mass(y.value - self._curve.at(y.cap), bits)

    def outcomes(self) -> Iterable[CappedFlow]:
        """The noiseless value at every level and those beside it: there the noise shows both its rates."""
        if len(self.levels) > LISTED:
            raise InvalidInput(f"the capped flow law is listed for at most {LISTED} levels; verify it on so many.")
        for cap in self._places:
            for step in (-1, 0, 1):
                yield CappedFlow(cap, self._curve.at(cap) + step, self._epsilon, self.design)

    def key(self) -> Hashable:
        """The choice, and the value at every cap."""
        return type(self), self.guarantee, self.design, self._choice.key(), tuple(self._values())

    def _values(self) -> list[int]:
        """The noiseless value at every cap."""
        return [self._curve.at(cap) for cap in self._places]

    def telling_points(self, laws: Sequence[Self]) -> list[CappedFlow]:
        """At every cap where some dataset's loss or value still changes, and at the last, values beyond all of them."""
        caps, values = list(self._places), [law._values() for law in laws]
        steps = {first for law in laws for first in law._choice.steps()}
        steps |= {i for own in values for i in range(1, len(caps)) if own[i] != own[i - 1]}
        places = sorted({0, len(caps) - 1} | steps | {i - 1 for i in steps if i})
        return [
            CappedFlow(caps[place], value, self._epsilon, self.design)
            for place in places
            for value in beyond([own[place] for own in values])
        ]

    def outcomes_to_follow(self) -> list[CappedFlow]:
        """The noiseless value at the lowest cap and at a low one."""
        caps = list(self._places)
        chosen = dict.fromkeys((caps[0], caps[min(3, len(caps) - 1)]))
        return [CappedFlow(cap, self._curve.at(cap), self._epsilon, self.design) for cap in chosen]


def capped_flow(
    curve: Curve, epsilon: Number, *, levels: tuple[int, ...] = LEVELS, design: Design = WEIGHED
) -> CappedFlowLaw:
    """The law of a capped statistic with a privately chosen cap, Pure(ε), no bound given."""
    total = positive(epsilon, "epsilon")
    if not design.sound:
        raise InvalidInput("design must leave more of ε to the noise; let its choice take less.")
    return CappedFlowLaw(curve, total, levels, design)
