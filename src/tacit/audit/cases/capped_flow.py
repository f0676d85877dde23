"""Capped flow over every change that one person may make of a curve, and over all parts of small networks.

The mechanism asks of a curve only that a person raises L(λ) by something in [0, λ]; all such changes of a curve with
one level that is likely and one that is not show the promise to be tight. Networks, where removing a person removes
every row that touches it, show it on curves as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

from tacit.audit.exact import Dataset, Mechanism
from tacit.audit.networks import HUB, RING, Network, parts, rows
from tacit.audit.registry import Case
from tacit.curves import StepLoss
from tacit.guarantees import Pure
from tacit.mechanisms.capped_flow import CappedFlowLaw, FlowDesign, capped_flow
from tacit.mechanisms.capped_noise import Lopsided
from tacit.mechanisms.exponential import ExponentialLaw, exponential
from tacit.mechanisms.priors import Decaying

EPSILON = Fraction(2)
LEVELS = (1, 2, 4)
SMALL = FlowDesign(choice=Fraction(1, 5), ratio=Fraction(1, 2), parts=2)
"""So that with a handful of persons the choice is in doubt, and rounding the loss is felt."""


@cache
def _values(network: Network, x: Dataset) -> dict[int, int]:
    from tacit.flows import capped_sum

    curve = capped_sum(rows(network, x)[0])
    return {cap: curve.at(cap) for level in LEVELS for cap in (level, 2 * level)}


def _curve(network: Network, x: Dataset) -> Callable[[int], int]:
    return _values(network, x).__getitem__


def _mechanism(network: Network, design: FlowDesign) -> Mechanism:
    return lambda x: capped_flow(_curve(network, x), EPSILON, levels=LEVELS, design=design)


CAPS = (8, 16, 32, 64)
BASE = (80, 243, 300, 364)
"""Values at the caps: some twenty persons gain from more than 8, two from more than 32."""
CHANGES: list[Dataset] = [
    tuple(value + change for value, change in zip(BASE, changes, strict=True))
    for changes in product(*((0, cap - 1, cap) for cap in CAPS))
]


def _changes(curves: Sequence[Dataset]) -> list[tuple[Dataset, Dataset]]:
    """The curve with one person more beside the curve."""
    return [(curve, BASE) for curve in curves if curve != BASE]


def _of_values(design: FlowDesign) -> Mechanism:
    return lambda x: capped_flow(dict(zip(CAPS, x, strict=True)).__getitem__, EPSILON, levels=CAPS[::2], design=design)


@dataclass(frozen=True)
class _Wrong(FlowDesign):
    """A design with noise that the choice does not leave room for."""

    rates: tuple[Fraction, Fraction] = (Fraction(1), Fraction(1))
    fixed: int | None = None

    def noise(self, cap: int, epsilon: Fraction) -> Lopsided:
        """The wrong rates, or the noise of a fixed cap."""
        size = self.fixed or cap
        return Lopsided(self.rates[0] * epsilon / size, self.rates[1] * epsilon / size)


def _wrong(up: Fraction, down: Fraction, fixed: int | None = None) -> FlowDesign:
    return _Wrong(**vars(SMALL), rates=(up, down), fixed=fixed)


class _OneWay(CappedFlowLaw):
    """The choice made as if a person could only raise the loss, by one person at most."""

    def _chosen(self, loss: StepLoss) -> ExponentialLaw:
        rate = 3 * self.design.choice * self._epsilon
        return exponential(loss, rate, Decaying(1, self.design.ratio), change=(0, self.design.parts))


CHARGES = {
    "the choice not charged": _wrong(Fraction(1), Fraction(1)),
    "the choice charged as for one person per row": _wrong(1 - SMALL.choice, 1 - SMALL.choice),
    "up and down exchanged": _wrong(SMALL.down, SMALL.up),
    "the rounding of the loss not charged": _wrong(SMALL.up, 1 - 2 * SMALL.choice),
    "noise of the smallest cap everywhere": _wrong(SMALL.up, SMALL.down, fixed=1),
}
_ONE_WAY: Mechanism = lambda x: _OneWay(dict(zip(CAPS, x, strict=True)).__getitem__, EPSILON, CAPS[::2], SMALL)  # noqa: E731

CASES = (
    Case(
        name="capped flow, every change of a curve",
        covers="mechanisms.capped_flow",
        mechanism=_of_values(SMALL),
        datasets=CHANGES,
        promised=Pure(EPSILON),
        twins={**{name: _of_values(design) for name, design in CHARGES.items()}, "one-directional": _ONE_WAY},
        pairs=_changes,
    ),
    Case(
        name="capped flow, a hub",
        covers="mechanisms.capped_flow",
        mechanism=_mechanism(HUB, SMALL),
        datasets=parts(HUB),
        promised=Pure(EPSILON),
        twins={name: _mechanism(HUB, CHARGES[name]) for name in ("the choice not charged",)},
        sampled=[("a", "b", "c")],
    ),
    Case(
        name="capped flow, a triangle and a row of three",
        covers="mechanisms.capped_flow",
        mechanism=_mechanism(RING, SMALL),
        datasets=parts(RING),
        promised=Pure(EPSILON),
    ),
)
