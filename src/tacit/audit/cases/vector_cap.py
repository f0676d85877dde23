"""Caps of vectors, by weights for counts in few groups and else by a scan, around a target that some datasets reach.

A rough cap and the cap that follows it are verified as one: the law of both, pair by pair.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from functools import partial

from tacit.audit.exact import Dataset, Mechanism, datasets
from tacit.audit.registry import AuditCase
from tacit.curves import StepLoss
from tacit.grids import integers
from tacit.guarantees import Pure
from tacit.mechanisms.choose.exponential import ExponentialLaw, exponential
from tacit.mechanisms.choose.priors import Listed
from tacit.mechanisms.grid_law import GridLaw
from tacit.mechanisms.law import Law
from tacit.mechanisms.totals.vector_cap import FEW, POWER, ROUGH, rough_cap, vector_cap
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.randomness.source import Randomness

EPSILON = Fraction(2)
LEVELS = (1, 2, 4)
NORMS = (1, 2, 3, 9)
TARGET = 2


def _above(x: Dataset) -> list[int]:
    return [sum(norm > level for norm in x) for level in LEVELS]


def _cap(counts: bool, cost: Fraction = EPSILON, target: Callable[[Dataset], int] = lambda x: TARGET) -> Mechanism:
    return lambda x: vector_cap(_above(x), LEVELS, FEW, cost, target(x), counts=counts)


def _two_sided(x: Dataset) -> ExponentialLaw:
    """|N − T| instead of (N − T)⁺, which may fall when a person joins, at the price of a loss that may not."""
    losses = [abs(count - TARGET) for count in _above(x)]
    loss = StepLoss.from_losses(integers(0, len(LEVELS) - 1), losses, one_directional=True)
    return exponential(loss, EPSILON, Listed.powers(LEVELS, POWER))


WIDE = (1, 64, 512)
"""Levels of which the first lets sums scan again and the others have weights from there on."""

MUCH = Fraction(40)
"""The ε of both draws: so large that three persons are more than a rough cap has to spare."""


class RoughFirst(Law[tuple[int, int]]):
    """The law of a rough cap together with the cap that follows."""

    name = "a rough cap, then a cap"

    def __init__(self, norms: Dataset, counts: bool, rest: Fraction, noisy: bool = True) -> None:
        self._above, self._counts, self._rest = [sum(norm > level for norm in norms) for level in WIDE], counts, rest
        self._rough = rough_cap(self._above, WIDE, ROUGH * MUCH) if noisy else None
        self.guarantee = Pure(MUCH)

    def _then(self, rough: int) -> GridLaw:
        return vector_cap(self._above, WIDE, FEW + 1, self._rest, 1, counts=self._counts, rough=rough)

    def _first(self) -> int:
        """Where nobody is above: what an anchor without noise would be."""
        return next((place for place, count in enumerate(self._above) if not count), len(WIDE) - 1)

    def _draw(self, source: Randomness) -> tuple[int, int]:
        rough = self._first() if self._rough is None else int(self._rough._draw(source))
        return rough, int(self._then(rough)._draw(source))

    def pmf(self, y: tuple[int, int], bits: int = BITS) -> Enclosure:
        """The product of both probabilities."""
        if self._rough is None:
            return self._then(y[0]).pmf(y[1], bits) if y[0] == self._first() else Enclosure.of(0, bits)
        return self._rough.pmf(y[0], bits) * self._then(y[0]).pmf(y[1], bits)

    def outcomes(self) -> Iterable[tuple[int, int]]:
        """Every pair."""
        return [(rough, cap) for rough in range(len(WIDE)) for cap in range(len(WIDE))]

    def key(self) -> Hashable:
        """The numbers of persons above the levels."""
        return type(self), tuple(self._above), self._counts, self._rest, self._rough is None


def _both(counts: bool, rest: Fraction = (1 - ROUGH) * MUCH, noisy: bool = True) -> Mechanism:
    return lambda x: RoughFirst(x, counts, rest, noisy)


_case = partial(AuditCase, covers="mechanisms.vector_cap", datasets=datasets(NORMS, 4), promised=Pure(EPSILON))

CASES = (
    _case(
        name="cap of a vector of a few counts",
        mechanism=_cap(True),
        twins={
            "a loss that falls when a person joins": _two_sided,
            "a target that follows the persons": _cap(True, target=lambda x: max(0, 4 - 2 * len(x))),
            "twice the rate": _cap(True, 2 * EPSILON),
        },
        sampled=[(1, 2, 3, 9), (9, 9, 9)],
    ),
    _case(
        name="cap of a vector",
        mechanism=_cap(False),
        twins={
            "a target that follows the persons": _cap(False, target=lambda x: max(0, 4 - 2 * len(x))),
            "twice the rate": _cap(False, 2 * EPSILON),
        },
        sampled=[(1, 2, 3, 9)],
    ),
    *(
        _case(
            name=f"cap of a vector {'of counts' if counts else 'of sums'}, a rough one first",
            mechanism=_both(counts),
            datasets=datasets((1, 99, 999), 3),
            promised=Pure(MUCH),
            twins={
                "a rough cap for free": _both(counts, MUCH),
                "a rough cap without noise": _both(counts, noisy=False),
            },
            sampled=[(99, 999, 999)],
        )
        for counts in (True, False)
    ),
)
