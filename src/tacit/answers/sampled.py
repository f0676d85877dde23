"""How far an answer about a sample may be off, when each person was in the sample with a known probability p.

What a sample says about everybody has two errors. The noise is known, as always. The sampling error of a total is
Σ_u x_u·(B_u/p − 1) with independent coins B_u of probability p, of variance (1−p)/p·Σ x_u²; Σ x_u² is private, so an
interval that contains it can be promised only where one person counts for one: there it comes from Bernstein's
inequality. Elsewhere an interval covers the value on the sample, and says so.

The number of persons n: X = Σ B_u satisfies |X − np| ≤ t with t² = 2L·(np(1−p) + t/3), each side but with probability
e^{-L}. Solved for n, with q = 1−p: n ≤ (X + b + √(b² + 2LqX))/p, b = L(q + 1/3), and n ≥ (X + c − √(c² + 2LqX))/p,
c = L(q − 1/3); also n ≥ X. The confidence's rest is halved between the noise, which bounds X, and the coins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, inf, log, nextafter, sqrt
from typing import TYPE_CHECKING, Any

from tacit.answers.spreads import SURE, Additive, Covers, Ends, Spread
from tacit.answers.values import show
from tacit.noises import Noise

if TYPE_CHECKING:
    from tacit.answers import Answer


def scaled(value: Any, probability: Fraction, towards: float = 0.0) -> Any:
    """A number over p, as the kind of number it is; rounded to nearest, or ``towards`` ±inf."""
    if not isinstance(value, int | float | Decimal) or value in (inf, -inf):
        return value
    amount = Fraction(value) / probability
    if isinstance(value, float):
        return nextafter(float(amount), towards) if towards else float(amount)
    rounded = round if not towards else floor if towards < 0 else ceil
    if isinstance(value, int):
        return rounded(amount)
    step = Decimal(1).scaleb(int(value.as_tuple().exponent))
    return Decimal(rounded(amount / Fraction(step))) * step


@dataclass(frozen=True)
class SampledValue(Spread):
    """The error of an answer about the sample; with ``scales`` it was divided by p to speak of everybody."""

    inside: Spread
    value: Any
    """What was released about the sample."""
    probability: Fraction
    scales: bool

    @property
    def covers(self) -> Covers:
        """The value on the sample, scaled as the answer is."""
        return "sampled, capped value" if self.inside.covers == "capped value" else "sampled value"

    def meaning(self, answer: Answer, confidence: Fraction) -> tuple[str, str]:
        """The value on the sample."""
        return f"the {self.covers}", "how far everybody's may differ is not in it"

    @property
    def std(self) -> float | None:
        """Of the noise alone."""
        std = self.inside.std
        return std if std is None or not self.scales else std / float(self.probability)

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """The sample's own interval."""
        low, high = self.inside.interval(self.value, confidence)
        if not self.scales:
            return low, high
        return scaled(low, self.probability, -inf), scaled(high, self.probability, inf)

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """The interval and the cap, what sampling does to the answer, and what it adds to the error."""
        if answer.cap is None:
            yield from self.inside.sentences(answer, level)
        else:
            yield from super().sentences(answer, level)
            yield f"No person of the sample counts for more than {show(answer.cap)}."
        if not self.scales:
            yield "The whole may differ from the sample; how far is not in the interval."
            return
        added = "√((1 − p)/p·Σx²) over the persons' totals x"
        if isinstance(answer.cap, int | float | Decimal):
            p = float(self.probability)
            most = sqrt((1 - p) / p * abs(float(answer.cap)) * abs(float(answer)))
            added += f", at most about {show(most)} where all have one sign"
        yield f"Sampling adds a standard deviation of {added}; it is not in the interval."


@dataclass(frozen=True)
class SampledCount(Spread):
    """The error of a number of persons estimated from a sample, sampling included."""

    noise: Noise
    value: int
    """The released number of persons in the sample."""
    probability: Fraction
    covers = "truth"

    @property
    def std(self) -> float:
        """Of the noise alone."""
        return sqrt(self.noise.variance) / float(self.probability)

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """Noise and sampling, each with half of what the confidence leaves."""
        level = float(confidence)
        down, up = self.noise.reach((1 + level) / 2)
        fewest, most = max(0, self.value - up), max(0, self.value + down)
        p, q = float(self.probability), float(1 - self.probability)
        rate = -log((1 - level) / 4 - 2**-53)
        b, c = rate * (q + 1 / 3), rate * (q - 1 / 3)
        high = (most + b + sqrt(b * b + 2 * rate * q * most)) / p
        low = (fewest + c - sqrt(c * c + 2 * rate * q * fewest)) / p
        return max(fewest, floor(low * (1 - 1e-12))), ceil(high * (1 + 1e-12))

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """The interval."""
        yield f"Interval of noise and sampling together, {answer.interval()}."


def sampled_spread(spread: Spread, value: Any, probability: Fraction, *, persons: bool, scales: bool) -> Spread:
    """The spread of an answer about a sample, from that of the value on the sample."""
    if persons and isinstance(spread, Additive) and isinstance(value, int):
        return SampledCount(spread.noise, value, probability)
    return SampledValue(spread, value, probability, scales)
