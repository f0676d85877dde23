"""Errors of margins: numbers that were combined from several noisy ones so that they add up.

ERROR  The estimate is off by Σ h_j·Z_j, with public coefficients h_j and independent noises Z_j. For Laplace noise of
scale b_j, with a_j = |h_j|·b_j, E e^{θΣ} ≤ Π 1/(1 − θ²a_j²); the discrete noise has no larger one, because
(cosh(x) − 1)/x² grows with x. −ln(1 − θ²u) is convex in u and 0 at 0, so with V = Σ 2a_j² and m = max a_j the logarithm
is at most −V/(2m²)·ln(1 − θ²m²), and P[|Σ| ≥ t] ≤ 2·exp(−θt − V/(2m²)·ln(1 − θ²m²)) for every θ < 1/m. For Gaussian
noise it is at most 2·exp(−t²/2V), as for m → 0. The interval takes the best θ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log, log1p, sqrt
from typing import TYPE_CHECKING, Any

from tacit.answers.groups import capped_vector
from tacit.answers.spreads import SURE, Covers, Ends, Spread
from tacit.numbers.exact import WHOLE, Unit

if TYPE_CHECKING:
    from tacit.answers import Answer


@dataclass(frozen=True)
class Combined(Spread):
    """The error of an estimate that was combined from several noisy numbers, counted in steps of a unit."""

    estimate: float
    """Before it was rounded, and raised to 0 where that was asked."""
    variance: float
    largest: float
    """The largest scale of Laplace noise in it; 0 where the noise is Gaussian."""
    unit: Unit = WHOLE
    covers: Covers = "capped value"

    @property
    def std(self) -> float:
        """√V·step."""
        return sqrt(self.variance) * float(self.unit.step)

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """The estimate and what its noise may have moved it by, the shown value included."""
        reach = _reach(self.variance, self.largest, 1 - float(confidence))
        low, high = floor(self.estimate - reach), ceil(self.estimate + reach)
        return min(self.unit.value(low), value), max(self.unit.value(high), value)

    def meaning(self, answer: Answer, confidence: Fraction) -> tuple[str, str]:
        """The total as capped."""
        return capped_vector(answer, "over all groups", self.largest == 0)

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """The interval, and that margins add up."""
        yield from super().sentences(answer, level)
        yield "Groups and their margins were made to add up by least squares."


def _reach(variance: float, largest: float, beta: float) -> float:
    """How far the noise goes but with probability at most β."""
    need = log(2 / beta)
    gaussian = sqrt(2 * variance * need)
    if largest**2 <= variance * 1e-12:
        return gaussian
    weight = variance / (2 * largest**2)
    tilts = [i / 200 for i in range(1, 200)]
    return min((need - weight * log1p(-x * x)) * largest / x for x in tilts)
