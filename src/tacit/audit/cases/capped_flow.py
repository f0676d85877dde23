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
from math import ceil

from tacit.answers.flows import Doubled, FlowDesign, Scanned, Weighed, rounded
from tacit.audit.exact import Dataset, Mechanism
from tacit.audit.networks import HUB, RING, Network, parts, rows
from tacit.audit.registry import AuditCase
from tacit.guarantees import Pure
from tacit.mechanisms.totals.capped_flow import capped_flow
from tacit.noises import Lopsided

EPSILON = Fraction(2)
LEVELS = (1, 2, 4)
WEIGHED = Weighed(weight=Fraction(1, 5), ratio=Fraction(1, 2), parts=2)
"""So that with a handful of persons the choice is in doubt, and rounding the loss is felt."""
DOUBLED = Doubled(weight=Fraction(1, 5), ratio=Fraction(1, 2), parts=2)
SCANNED = Scanned(threshold=Fraction(1, 5), each=Fraction(1, 10), offset=Fraction(6), limit=Fraction(12))
"""So that with a handful of persons threshold and comparisons are both in doubt."""


@dataclass(frozen=True)
class Values:
    """A curve given by its values."""

    known: dict[int, int]

    def at(self, cap: int, /) -> int:
        """The value."""
        return self.known[cap]

    above = at


@cache
def _curve(network: Network, x: Dataset) -> Values:
    from tacit.flows import capped_sum

    curve = capped_sum(rows(network, x)[0])
    return Values({cap: curve.at(cap) for level in LEVELS for cap in (level, 2 * level)})


FINE: Network = tuple((37 * weight, row) for weight, row in HUB)
"""The hub in a finer unit: its capped totals are no multiples of a cap's step."""
FINE_LEVELS = (64, 128)


def _as_it_is(value: Fraction, cap: int, x: Dataset) -> int:
    return rounded(value, cap)


def _by_thousands(value: Fraction, cap: int, x: Dataset) -> int:
    """Rounded up to a step that does not divide the cap."""
    return 1000 * ceil(value / 1000)


def _by_chance(value: Fraction, cap: int, x: Dataset) -> int:
    """One or the other of a solver's bounds, a cap apart."""
    return rounded(value + cap * (len(x) % 2), cap)


def _rounded(rule: Callable[[Fraction, int, Dataset], int]) -> Mechanism:
    """The mechanism on curves of exact values that are rounded by a rule."""

    @cache
    def curve(x: Dataset) -> Values:
        from tacit.flows import capped_sum

        exact = capped_sum(rows(FINE, x)[0])
        caps = (cap for level in FINE_LEVELS for cap in (level, 2 * level))
        return Values({cap: rule(exact.bounds(cap)[0], cap, x) for cap in caps})

    return lambda x: capped_flow(curve(x), EPSILON, levels=FINE_LEVELS, design=WEIGHED)


def _mechanism(network: Network, design: FlowDesign) -> Mechanism:
    return lambda x: capped_flow(_curve(network, x), EPSILON, levels=LEVELS, design=design)


FALLING = {8: 80, 16: 243, 32: 300, 64: 364}
"""Values at caps: some twenty persons gain from more than 8, two from more than 32."""
RISING = {8: 80, 16: 88, 32: 300, 64: 396, 128: 1000, 256: 1128}
"""Values at caps: one person gains from more than 8, so that passing it takes luck, and three from more than 32. No
network has such a curve, but the promise does not ask for one."""


def changed(base: dict[int, int], moves: Callable[[int], Sequence[int]]) -> list[Dataset]:
    """The curve itself, and with any person more."""
    return [
        tuple(value + change for value, change in zip(base.values(), part, strict=True))
        for part in product(*map(moves, base))
    ]


def changes(curves: Sequence[Dataset]) -> list[tuple[Dataset, Dataset]]:
    """The curves with a person more beside the curve."""
    return [(curve, curves[0]) for curve in curves[1:]]


def _of_values(base: dict[int, int], design: FlowDesign) -> Mechanism:
    caps = tuple(base)
    return lambda x: capped_flow(Values(dict(zip(caps, x, strict=True))), EPSILON, levels=caps[::2], design=design)


_ALL = (Fraction(1), Fraction(1))


class _Unaffordable(FlowDesign):
    """A design with noise that the choice does not leave room for, or of a fixed cap."""

    rates: tuple[Fraction, Fraction]
    fixed: int | None
    sound = True

    def noise(self, cap: int, epsilon: Fraction) -> Lopsided:
        """The wrong rates, or the noise of the fixed cap."""
        size = self.fixed or cap
        return Lopsided(self.rates[0] * epsilon / size, self.rates[1] * epsilon / size)


@dataclass(frozen=True)
class _WrongWeighed(_Unaffordable, Weighed):
    rates: tuple[Fraction, Fraction] = _ALL
    fixed: int | None = None


@dataclass(frozen=True)
class _WrongDoubled(_Unaffordable, Doubled):
    rates: tuple[Fraction, Fraction] = _ALL
    fixed: int | None = None


@dataclass(frozen=True)
class _WrongScanned(_Unaffordable, Scanned):
    rates: tuple[Fraction, Fraction] = _ALL
    fixed: int | None = None


class _OneWay(Weighed):
    """The choice made as if a person could only raise the loss, by one person at most: a rate three times too large."""

    @property
    def share(self) -> Fraction:
        """Three times what it costs."""
        return 3 * super().share


def _weighed(up: Fraction, down: Fraction, fixed: int | None = None) -> FlowDesign:
    return _WrongWeighed(**vars(WEIGHED), rates=(up, down), fixed=fixed)


def _doubled(up: Fraction, down: Fraction, fixed: int | None = None) -> FlowDesign:
    return _WrongDoubled(**vars(DOUBLED), rates=(up, down), fixed=fixed)


def _scanned(up: Fraction, down: Fraction, fixed: int | None = None, **others: Fraction) -> FlowDesign:
    return _WrongScanned(**{**vars(SCANNED), **others}, rates=(up, down), fixed=fixed)


_SURE = Fraction(8)
"""A rate at which the noise is 0 but with probability e^-16."""

WRONG_WEIGHTS = {
    "the choice not charged": _weighed(*_ALL),
    "the choice charged as for one person per row": _weighed(1 - WEIGHED.weight, 1 - WEIGHED.weight),
    "up and down exchanged": _weighed(WEIGHED.down, WEIGHED.up),
    "the rounding of the loss not charged": _weighed(WEIGHED.up, 1 - 2 * WEIGHED.weight),
    "noise of the smallest cap everywhere": _weighed(WEIGHED.up, WEIGHED.down, fixed=1),
    "a loss taken for one-directional": _OneWay(**vars(WEIGHED)),
}
WRONG_DOUBLES = {
    "charged as at the level": _doubled(WEIGHED.up, WEIGHED.down),
    "only the move of the chosen weight charged": _doubled(1 - DOUBLED.weight, 1 - 2 * DOUBLED.weight),
    "the sum of the weights charged on the other side": _doubled(DOUBLED.down, DOUBLED.up),
    "noise for the level instead of twice the level": _doubled(2 * DOUBLED.up, 2 * DOUBLED.down),
}
WRONG_SCANS = {
    "the scan not charged": _scanned(*_ALL),
    "the scan charged as for one person per row": _scanned(1 - SCANNED.threshold, 1 - SCANNED.each),
    "noise for the level instead of the cap": _scanned(2 * SCANNED.up, 2 * SCANNED.down),
    "no noise on the threshold": _scanned(SCANNED.up, SCANNED.down, threshold=_SURE),
    "no noise on the comparisons": _scanned(SCANNED.up, SCANNED.down, each=_SURE),
}

CASES = (
    AuditCase(
        name="capped flow by weights, every change of a curve",
        covers="mechanisms.capped_flow",
        mechanism=_of_values(FALLING, WEIGHED),
        datasets=changed(FALLING, lambda cap: (0, cap - 1, cap)),
        promised=Pure(EPSILON),
        twins={name: _of_values(FALLING, design) for name, design in WRONG_WEIGHTS.items()},
        pairs=changes,
    ),
    AuditCase(
        name="capped flow by weights at twice the level, every change of a curve",
        covers="mechanisms.capped_flow",
        mechanism=_of_values(RISING, DOUBLED),
        datasets=changed(RISING, lambda cap: (0, cap)),
        promised=Pure(EPSILON),
        twins={name: _of_values(RISING, design) for name, design in WRONG_DOUBLES.items()},
        pairs=changes,
    ),
    AuditCase(
        name="capped flow by a scan, every change of a curve",
        covers="mechanisms.capped_flow",
        mechanism=_of_values(RISING, SCANNED),
        datasets=changed(RISING, lambda cap: (0, cap)),
        promised=Pure(EPSILON),
        twins={name: _of_values(RISING, design) for name, design in WRONG_SCANS.items()},
        pairs=changes,
    ),
    AuditCase(
        name="capped flow by weights, rounded curves of a hub",
        covers="mechanisms.capped_flow",
        mechanism=_rounded(_as_it_is),
        datasets=parts(FINE),
        promised=Pure(EPSILON),
        twins={
            "a step that does not divide the cap": _rounded(_by_thousands),
            "one of two bounds that do not agree": _rounded(_by_chance),
        },
    ),
    *(
        AuditCase(
            name=f"capped flow by {how}, {what}",
            covers="mechanisms.capped_flow",
            mechanism=_mechanism(network, design),
            datasets=parts(network),
            promised=Pure(EPSILON),
            sampled=[("a", "b", "c")] if network is HUB else [],
        )
        for how, design in (("weights", WEIGHED), ("weights at twice the level", DOUBLED), ("a scan", SCANNED))
        for what, network in (("a hub", HUB), ("a triangle and a row of three", RING))
    ),
)
