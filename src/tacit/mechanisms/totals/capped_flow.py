"""A capped statistic where a row may touch several persons: a cap chosen, the value there, charged together.

L(λ) is a statistic with every person capped at λ, rounded to a step of λ: concave up to that rounding, and adding a
person raises it by something in [0, λ] (`tacit.flows` makes such curves). Over a public list of levels X the loss is
k(X) = ⌊R·(L(2X) − L(X))/X⌋, from 0 to a public limit: about how many persons still gain from a larger cap, in parts of
1/R. A `FlowDesign` says how a level is found by it and where L is released with noise Z, which falls like e^{-up·z/λ}
above 0 and like e^{-down·|z|/λ} below:

- `Weighed`: X with probability in proportion to π(X)·e^{-κ·k(X)/R}, π a public prior that falls with X; L(X) + Z.
- `Doubled`: X as by `Weighed`; L(2X) + Z.
- `Scanned`, R = 1: the first X with k(X) ≤ c − ξ + ν, ξ ~ Geom(ε1) once, ν ~ Geom(ε2) at every level; L(2X) + Z.

PROMISE  One draw is Pure(ε). Weighed: up = ε − 3κ and down = ε − (2 + 1/R)·κ, if down ≥ κ. Doubled: up = ε − 2κ and
down = ε − 3κ, if up ≥ 2κ. Scanned: up = ε − 2ε1 − 2ε2 and down = ε − ε1 − 3ε2, if up ≥ 2ε2. Alone the choice would cost
3κ, or 2ε1 + 3ε2, on either side.

PROOF  Add a person. At the chosen level let L(X) rise by a ∈ [0, X] and L(2X) by b ∈ [0, 2X]. R·(b − a)/X lies in
[−R, 2R] at every level, so k moves by a whole d ∈ [−R, 2R]; public limits, 0 among them, only bring d nearer to 0.

Weighed. The sum of all weights moves by a factor in [e^{-2κ}, e^κ]. As b ≤ 2X, d < 2R − R·a/X + 1.
- With the person, against without: the weight moves by e^{-κd/R}, its share by at most e^{κ(2 − d/R)} ≤ e^{3κ}, and the
  noise by at most e^{up·a/X} ≤ e^{up}: in all 3κ + up = ε.
- Without, against with: the share moves by at most e^{κ(1 + d/R)}, the noise by at most e^{down·a/X}. As d/R is at most
  2 − a/X + 1/R, that is κ(3 + 1/R) + (down − κ)·a/X, largest at a = X: (2 + 1/R)κ + down = ε.

Where b ≥ a, d ≥ 0, for rounding and limiting are monotone; so if d < 0, then b < a ≤ X. Doubled:
- With the person, against without: the share moves by at most e^{κ(2 − d/R)}, the noise by at most e^{up·b/2X}. If
  d ≥ 0 that is 2κ + up = ε in all, else at most 3κ + up/2 ≤ ε.
- Without, against with: the share moves by at most e^{κ(1 + d/R)} ≤ e^{3κ}, the noise by e^{down}: 3κ + down = ε.

Scanned.
- With the person, against without: shift ξ by 2 (e^{2ε1}); then every "go on" gains, the "stop" loses at most
  e^{ε2(2−d)} and the noise e^{up·b/2X}. If d ≥ 0 that is 2ε1 + 2ε2 + up = ε in all, if d = −1 at most
  2ε1 + 3ε2 + up/2 ≤ ε.
- Without, against with: shift ξ by 1 (e^{ε1}); the stop loses at most e^{ε2(1+d)}, the noise e^{down·b/2X}: in all at
  most ε1 + 3ε2 + down = ε.
A scan that never stops releases the last level, without a stop factor: less.

ERROR  Z does not depend on the data, so L at the cap lies within `reach` of the value. How much the cap takes away
cannot be known.

ACCURACY  Measured in benchmarks/joins.py against the best cap that knows the data. Weighing is better for small caps,
such as numbers of rows: some sixty persons/ε suffice. The scan takes about a hundred persons/ε at any scale, where
weights need ever more to reach a cap of many units, and its far tail is lighter. Doubled errs less where few persons
have most rows, and more where all have about the same. Simulated at ε = 0.8 over exact curves, times Weighed's error:
two-paths of two graphs 0.54, triangles 0.53, edges 0.70, rectangles of another 0.60, its edges 1.0, 99.9th percentiles
1.0 in the geometric mean; but a ring 1.5, joins of TPC-H through keys 1.5, and below two hundred persons/ε up to 3.

Tried and left: κ from 0.08 to 0.14, priors falling by 0.3 to 0.5 (less κ needs more persons, more κ errs more for
edges, a slower fall has a heavier far tail); slopes from X to 1.5X, released there (1.08 times Doubled) and to 3X, 4X
and 8X (about Doubled's, more at joins through keys); X and 2X among the weighed, each with a κ of its own (0.98 times
Weighed, where joins through keys are to stay as they are).

COST  Levels are evaluated from the largest down, and weights only as far as the draw needs them; time depends on how
entangled the rows are, and on the cap that was drawn, which is released.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from math import ceil
from typing import Any, Self

from tacit.answers.flows import WEIGHED, CappedFlow, Doubled, FlowDesign, Scanned, Weighed
from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee, Pure
from tacit.mechanisms.choose.exponential import factor, weigh
from tacit.mechanisms.grid_law import GridLaw
from tacit.mechanisms.law import Law, Named
from tacit.mechanisms.noise.noise import beyond
from tacit.mechanisms.search.scan_rates import Rates
from tacit.mechanisms.search.threshold_scan import ScanLaw, walk
from tacit.mechanisms.totals.flow_levels import Curve, Slopes, WeighedLaw
from tacit.numbers.enclosures import BITS, Enclosure, log_ceiling
from tacit.numbers.exact import Number, positive
from tacit.proofs import Argument, Proof
from tacit.proofs import rules as by
from tacit.proofs.terms import equal, implies
from tacit.randomness.source import Randomness

LISTED = 16
"""The most levels whose outcomes are listed."""


def octaves(limit: int) -> tuple[int, ...]:
    """1, 2, 3, 4, 6, 8, 12, …, up to ``limit``: with a level its double is there too, so L is asked once for both."""
    found = {part << i for part in (2, 3) for i in range(limit.bit_length()) if part << i <= limit}
    return tuple(sorted(found | {1}))


LEVELS = octaves(2**61)
"""Levels for sums in any unit."""


def choice(
    design: FlowDesign, curve: Curve, cost: Fraction, levels: tuple[int, ...], guarantee: Guarantee | None = None
) -> GridLaw:
    """The law of the index of a level, alone Pure(cost); by weights, of bounded range, also a ``guarantee`` of ρ."""
    match design:
        case Weighed():  # losses are limited where they outweigh a prior that falls over all levels
            parts = design.parts
            limit = log_ceiling(3 * parts / cost, design.least / design.ratio ** len(levels))
            return WeighedLaw(Slopes(curve, levels, parts, limit), cost, len(levels), design, guarantee)
        case Scanned():
            epsilon = cost / design.share
            loss = Slopes(curve, levels, 1, ceil(design.limit / epsilon)).all()
            rates = Rates(design.threshold * epsilon, design.each * epsilon)
            return ScanLaw(loss, True, rates, int(design.offset / epsilon), Pure(cost), (1, 2))
    raise InvalidInput("design must be Weighed or Scanned.")


class CappedFlowLaw(Law[CappedFlow]):
    """The law of `capped_flow`."""

    name = "capped flow"

    def __init__(self, curve: Curve, epsilon: Fraction, levels: tuple[int, ...], design: FlowDesign) -> None:
        self.levels, self.design, self.guarantee = levels, design, Pure(epsilon)
        self._curve, self._epsilon = curve, epsilon
        self._places = {design.factor * level: i for i, level in enumerate(levels)}
        self._choice = choice(design, curve, design.share * epsilon, levels)

    def named(self) -> Named:
        """The rates of the choice and of the noise, and the caps."""
        design, epsilon = self.design, self._epsilon
        known = {"up": design.up * epsilon, "down": design.down * epsilon}
        match design:
            case Weighed():
                known |= {"weight": design.weight * epsilon, "parts": Fraction(design.parts)}
            case Scanned():
                known |= {"threshold": design.threshold * epsilon, "each": design.each * epsilon}
        largest = self.levels[-1]
        caps = f"octaves {largest}" if self.levels == octaves(largest) else " ".join(map(str, self.levels))
        facts = {name: str(number) for name, number in known.items()}
        return {"law": "capped flow", **facts, "factor": str(design.factor), "levels": caps}

    def _draw(self, source: Randomness) -> CappedFlow:
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
            raise InvalidInput(f"the capped flow law is listed for at most {LISTED} levels; verify it on fewer.")
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
    curve: Curve, epsilon: Number, *, levels: tuple[int, ...] = LEVELS, design: FlowDesign = WEIGHED
) -> CappedFlowLaw:
    """The law of a capped statistic with a privately chosen cap, Pure(ε), no bound given.

    >>> from tacit.flows import Incidences, capped_sum
    >>> from tacit.mechanisms import capped_flow
    >>> edges = Incidences.from_columns([1, 1, 1], [[1, 1, 2], [2, 3, 3]])
    >>> capped_flow(capped_sum(edges), epsilon=1).guarantee
    Pure(1)
    """
    whole = positive(epsilon, "epsilon")
    if not design.sound:
        raise InvalidInput("design must leave more of ε to the noise; let its choice take less.")
    return CappedFlowLaw(curve, whole, levels, design)


def slope(p: Argument, parts: Any, persons: Any = 1, off: tuple[int, int] = (0, 0)) -> tuple[Any, Any, Any]:
    """The moves of k, of L(X)/X and of L(2X)/X at a level when a person is added: d, a and b.

    k = ⌊R·(L(2X) − L(X))/X⌋ within public limits; a is in [0, 1] and b in [0, 2], for each of ``persons`` taken apart.
    ``off`` is how far a curve may be off these ends.
    """
    a, b, d = p.within("a", off[0], persons + off[1]), p.within("b", off[0], 2 * persons + off[1]), p.whole("d")
    with p.lemma() as known:
        before, moved, low, high = p.whole("⌊t⌋"), p.whole("⌊t+u⌋ − ⌊t⌋"), p.whole("low"), p.whole("high")
        rest, u = p.real("t − ⌊t⌋", lambda x: x >= 0, lambda x: x < 1), p.real("u")
        p.assume(equal(u, parts * (b - a)), moved <= rest + u, rest + u < moved + 1)
        p.derive((u >= -persons * parts) & (u <= 2 * persons * parts) & (u <= 2 * persons * parts - parts * a))
        p.derive((moved < u + 1) & (moved > u - 1) & implies(b >= a, u >= 0))
        p.derive((moved >= -persons * parts) & (moved <= 2 * persons * parts) & implies(u >= 0, moved >= 0))
        p.assume(low <= high, equal(d, by.clamped(before + moved, low, high) - by.clamped(before, low, high)))
        p.derive(implies(moved >= 0, (d >= 0) & (d <= moved)) & implies(moved <= 0, (d <= 0) & (d >= moved)))
        known.append(p.derive((d >= -persons * parts) & (d <= 2 * persons * parts) & implies(b >= a, d >= 0)))
        known.append(p.derive(d <= 2 * persons * parts - parts * a + 1))
    return d, a, b


def _charge(p: Argument, noise: Any, cap: Any, move: Any) -> Any:
    """The price of the noise on L(cap), which moves by ``move`` caps."""
    up, down = p.real("up·cap"), p.real("down·cap")
    p.assume(equal(up, noise.up * cap), equal(down, noise.down * cap))
    return by.noise(p, move, up, down)


def argue_weighed(
    p: Argument,
    *,
    design: Any = lambda p: Weighed(p.positive("κ"), parts=p.count("R", 1)),
    off: tuple[int, int] = (0, 0),
) -> None:
    """A level by weights, and L there or at twice the level."""
    epsilon, made, level = p.positive("ε"), design(p), p.count("X", 1)
    p.assume(made.sound)
    parts, cap = made.parts, made.factor * level
    gamma = factor(made.share * epsilon, (parts, 2 * parts))
    d, a, b = slope(p, parts, off=off)
    move = b / 2 if made.factor == 2 else a
    noise = made.noise(cap, epsilon)
    for sign in (1, -1):
        with p.case("a person added" if sign > 0 else "a person removed"):
            low, high = (-parts, 2 * parts) if sign > 0 else (-2 * parts, parts)
            price = weigh(p, gamma, low, high, sign * d) + _charge(p, noise, cap, sign * move)
            p.promise(price, epsilon)


def argue_doubled(p: Argument) -> None:
    """A level by weights, and L at twice the level."""
    argue_weighed(p, design=lambda p: Doubled(p.positive("κ"), parts=p.count("R", 1)))


def argue_scanned(p: Argument, *, design: Any = lambda p: Scanned(p.positive("ε1"), p.positive("ε2"))) -> None:
    """A level by a scan, and L at twice the level."""
    epsilon, made, level = p.positive("ε"), design(p), p.count("X", 1)
    p.assume(made.sound)
    cap = made.factor * level
    pair = Rates(made.threshold * epsilon, made.each * epsilon)
    d, _, b = slope(p, 1)
    noise = made.noise(cap, epsilon)
    for sign in (1, -1):
        with p.case("a person added" if sign > 0 else "a person removed"):
            low, high = (-1, 2) if sign > 0 else (-2, 1)
            price = walk(p, pair, low, sign * d, visited=lambda a=low, b=high: p.steps("any move", a, b))
            p.promise(price + _charge(p, noise, cap, sign * b / 2), epsilon)


_GIVEN = "a person raises L(λ) by something in [0, λ] at every cap λ (`tacit.flows`), L rounded to steps that divide λ"

PROOFS = (
    Proof("capped flow, weighed", "mechanisms.capped_flow", "Pure(ε)", argue_weighed, _GIVEN),
    Proof("capped flow, doubled", "mechanisms.capped_flow", "Pure(ε)", argue_doubled, _GIVEN),
    Proof("capped flow, scanned", "mechanisms.capped_flow", "Pure(ε)", argue_scanned, _GIVEN),
)
