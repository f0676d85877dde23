"""A capped statistic where a row may touch several persons: a cap chosen, the value there, charged together.

L(λ) is a statistic with every person capped at λ, in whole units: concave up to that rounding, and adding a person
raises it by something in [0, λ] (`tacit.flows` makes such curves). Over a public list of levels X:

1. the loss k(X) = ⌊R·(L(2X) − L(X))/X⌋, at most a public limit: about how many persons still gain from a larger cap,
   in parts of 1/R;
2. choose X with probability in proportion to π(X)·e^{-κ·k(X)/R}, π a public prior that falls with X;
3. release X and L(X) + Z, where Z falls like e^{-up·z/X} above 0 and e^{-down·|z|/X} below.

PROMISE  One draw is Pure(ε) with up = ε − 3κ and down = ε − (2 + 1/R)·κ, if down ≥ κ. Charged apart, the choice alone
would cost 3κ on either side.

PROOF  Add a person. At the chosen level let L(X) rise by a ∈ [0, X] and L(2X) by b ∈ [0, 2X]. R·(b − a)/X lies in
[−R, 2R] at every level, so k moves by a whole d ∈ [−R, 2R], and d < R·(b − a)/X + 1 ≤ 2R − R·a/X + 1; a public limit
only brings d nearer to 0. The sum of all weights moves by a factor in [e^{-2κ}, e^κ].
- With the person, against without: the weight moves by e^{-κd/R}, its share by at most e^{κ(2 − d/R)} ≤ e^{3κ}, and the
  noise by at most e^{up·a/X} ≤ e^{up}: in all 3κ + up = ε.
- Without, against with: the share moves by at most e^{κ(1 + d/R)}, the noise by at most e^{down·a/X}. As d/R is at most
  2 − a/X + 1/R, that is κ(3 + 1/R) + (down − κ)·a/X, largest at a = X: (2 + 1/R)κ + down = ε.

ERROR  Z does not depend on the data, so L at the cap lies within `tails` of the value. How much the cap takes away
cannot be known.

ACCURACY  Measured in benchmarks/joins.py against the best cap that knows the data. Some sixty persons/ε suffice at any
scale. A threshold scan for the cap can be charged together with the release in the same way: it was tried, and is as
good in the middle, better in the far tail and much worse for few persons.

COST  Levels are evaluated from the largest down, until the loss passes its limit: those below have it too, since the
average slope of a concave curve only rises towards 0, and rounding moves k by at most R + 1 either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from tacit.curves import StepLoss
from tacit.enclosures import BITS, Enclosure
from tacit.errors import InvalidInput
from tacit.exact import Number, between, positive
from tacit.grids import integers
from tacit.guarantees import Pure
from tacit.mechanisms.capped_noise import Lopsided
from tacit.mechanisms.exponential import ExponentialLaw, exponential
from tacit.mechanisms.law import Law
from tacit.mechanisms.noise_tails import log_ceil
from tacit.mechanisms.priors import Decaying
from tacit.randomness import asymmetric_laplace
from tacit.randomness.source import Source

LISTED = 16
"""Laws of at most so many levels list their outputs."""


def octaves(limit: int) -> tuple[int, ...]:
    """1, 2, 3, 4, 6, 8, 12, …, up to ``limit``: with a level its double is there too, so L is asked once for both."""
    found = {part << i for part in (2, 3) for i in range(limit.bit_length()) if part << i <= limit}
    return tuple(sorted(found | {1}))


LEVELS = octaves(2**61)
"""Caps for sums in any unit."""


@dataclass(frozen=True)
class FlowDesign:
    """The public parameters."""

    choice: Fraction = Fraction(4, 25)
    """κ as a share of ε."""
    ratio: Fraction = Fraction(9, 20)
    """How the prior falls from level to level: about λ^-2.3."""
    parts: int = 16
    """R, the parts of a person in which the loss is counted."""
    least: int = 2**30
    """Levels of the largest loss weigh at most one over this, whatever the data."""

    @property
    def up(self) -> Fraction:
        """The rate of the noise above 0, times the cap, as a share of ε."""
        return 1 - 3 * self.choice

    @property
    def down(self) -> Fraction:
        """The rate of the noise below 0, times the cap, as a share of ε."""
        return 1 - (2 + Fraction(1, self.parts)) * self.choice

    def noise(self, cap: int, epsilon: Fraction) -> Lopsided:
        """The noise at a cap."""
        return Lopsided(self.up * epsilon / cap, self.down * epsilon / cap)

    def limit(self, levels: int, rate: Fraction) -> int:
        """The largest loss: at this rate for a person it outweighs a prior that falls over so many levels."""
        return log_ceil(self.parts / rate, self.least / self.ratio**levels)


DESIGN = FlowDesign()


@dataclass(frozen=True)
class CappedFlow:
    """What was released: a cap, and the statistic with every person capped there, with noise."""

    cap: int
    value: int
    epsilon: Fraction
    design: FlowDesign = DESIGN

    @property
    def noise(self) -> Lopsided:
        """The noise of the value."""
        return self.design.noise(self.cap, self.epsilon)

    def tails(self, confidence: Number = "0.95") -> tuple[int, int]:
        """Integers (down, up), not negative: with this confidence L(cap) lies in [value − up, value + down]."""
        beta = (1 - between(confidence, "confidence", 0, 1)) / 2
        return self.noise.mirrored.reach(beta), self.noise.reach(beta)

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        return self.noise.variance

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise."""
        return sqrt(self.variance)


def slopes(
    at: Callable[[int], int], rate: Fraction, levels: tuple[int, ...] = LEVELS, design: FlowDesign = DESIGN
) -> StepLoss:
    """k over the levels, at most what outweighs the prior when a person weighs e^-rate."""
    parts, limit = design.parts, design.limit(len(levels), rate)
    losses = [limit] * len(levels)
    for i, level in reversed(list(enumerate(levels))):
        loss = parts * (at(2 * level) - at(level)) // level
        losses[i] = min(loss, limit)
        if loss > limit + 2 * (parts + 1):  # so every loss below is at least at the limit
            break
    return StepLoss.from_losses(integers(0, len(levels) - 1), losses)


def chosen(loss: StepLoss, epsilon: Fraction, design: FlowDesign = DESIGN) -> ExponentialLaw:
    """The law of the index of a level, on its own Pure(ε): a person weighs e^{-ε/3}."""
    return exponential(loss, epsilon, Decaying(1, design.ratio), change=(design.parts, 2 * design.parts))


class CappedFlowLaw(Law[CappedFlow]):
    """The law of `capped_flow`."""

    name = "capped flow"

    def __init__(
        self, at: Callable[[int], int], epsilon: Fraction, levels: tuple[int, ...], design: FlowDesign
    ) -> None:
        self.levels, self.design, self.guarantee = levels, design, Pure(epsilon)
        self._at, self._epsilon = at, epsilon
        self._places = {level: i for i, level in enumerate(levels)}
        self._choice = self._chosen(slopes(at, design.choice * epsilon, levels, design))

    def _chosen(self, loss: StepLoss) -> ExponentialLaw:
        return chosen(loss, 3 * self.design.choice * self._epsilon, self.design)

    def _draw(self, source: Source) -> CappedFlow:
        cap = self.levels[self._choice._draw_index(source)]
        noise = self.design.noise(cap, self._epsilon)
        value = self._at(cap) + asymmetric_laplace(noise.up, noise.down, source=source)
        return CappedFlow(cap, int(value), self._epsilon, self.design)

    def pmf(self, y: CappedFlow, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y]."""
        i = self._places.get(y.cap)
        if i is None or (y.epsilon, y.design) != (self._epsilon, self.design):
            return Enclosure.of(0, bits)
        return self._choice._pmf_at(i, bits) * y.noise.mass(y.value - self._at(y.cap), bits)

    def outcomes(self) -> Iterable[CappedFlow]:
        """The noiseless value at every level and those beside it: there the noise shows both its rates."""
        if len(self.levels) > LISTED:
            raise InvalidInput(f"the capped flow law is listed for at most {LISTED} levels; verify it on so many.")
        for cap in self._places:
            for step in (-1, 0, 1):
                yield CappedFlow(cap, self._at(cap) + step, self._epsilon, self.design)


def capped_flow(
    at: Callable[[int], int],
    epsilon: Number,
    *,
    levels: tuple[int, ...] = LEVELS,
    design: FlowDesign = DESIGN,
) -> CappedFlowLaw:
    """The law of a capped statistic with a privately chosen cap, Pure(ε), no bound given.

    ``at(λ)`` is L(λ) in whole units, for whole λ: concave up to its rounding to whole units, and raised by something in
    [0, λ] when a person is added.
    """
    total = positive(epsilon, "epsilon")
    if design.up <= 0 or design.down < design.choice or design.parts < 1:
        raise InvalidInput("design must leave more of ε to the noise; lower its choice.")
    known: dict[int, int] = {}

    def once(cap: int) -> int:
        if cap not in known:
            known[cap] = at(cap)
        return known[cap]

    return CappedFlowLaw(once, total, levels, design)
