"""Noise on integers and randomised response: sums of sensitivity two, and a true answer that moves anywhere."""

from fractions import Fraction

from tacit.audit.exact import Dataset, datasets
from tacit.audit.registry import AuditCase
from tacit.guarantees import Approx, Pure, Zcdp
from tacit.mechanisms.noise.noise import (
    NoisyInteger,
    RandomisedResponse,
    TruncatedInteger,
    gaussian,
    laplace,
    randomised_response,
    truncated_laplace,
)
from tacit.noises import DiscreteGaussian, DiscreteLaplace, TruncatedLaplace
from tacit.noises.truncated_laplace import least_bound
from tacit.numbers.enclosures import BITS, Enclosure, exp

PURE, ROUGH, SMOOTH = Pure(1), Approx(2, "0.001"), Zcdp("0.5")

SUMS = datasets((1, 2), 5)
"""Up to five persons with a value of 1 or 2: the sum has sensitivity two."""


class _OddsAgainstAll(RandomisedResponse):
    """The true answer with odds e^ε against all others together, as for two answers."""

    def pmf(self, y: int, bits: int = BITS) -> Enclosure:
        odds = exp(-self.epsilon, bits)
        return (Enclosure.of(1, bits) if y == self._index else odds / (self.size - 1)) / (1 + odds)


class _BitByBit(RandomisedResponse):
    """Both binary digits of the answer randomised, each for the whole ε."""

    def pmf(self, y: int, bits: int = BITS) -> Enclosure:
        odds = exp(-self.epsilon, bits)
        return odds ** (y ^ self._index).bit_count() / (1 + odds) ** 2


def _remainder(x: Dataset) -> int:
    return sum(x) % 4


def _truncated_at(x: Dataset, bound: int) -> TruncatedInteger:
    return TruncatedInteger(sum(x), TruncatedLaplace(ROUGH.epsilon / 2, bound), ROUGH)


CASES = (
    AuditCase(
        name="discrete Laplace noise on a sum",
        covers="mechanisms.laplace",
        mechanism=lambda x: laplace(sum(x), 1, sensitivity=2),
        datasets=SUMS,
        promised=PURE,
        twins={
            "sensitivity forgotten": lambda x: NoisyInteger(sum(x), DiscreteLaplace(Fraction(1)), PURE),
            "noise grows with the data": lambda x: NoisyInteger(sum(x), DiscreteLaplace(Fraction(1, 2 + len(x))), PURE),
        },
        sampled=((1, 2),),
    ),
    AuditCase(
        name="discrete Gaussian noise on a sum",
        covers="mechanisms.gaussian",
        mechanism=lambda x: gaussian(sum(x), "0.5", sensitivity=2),
        datasets=datasets((2,), 5),
        promised=SMOOTH,
        twins={
            "sensitivity not squared": lambda x: NoisyInteger(sum(x), DiscreteGaussian(Fraction(2)), SMOOTH),
            "noise shrinks with the data": lambda x: NoisyInteger(
                sum(x), DiscreteGaussian(Fraction(4, 1 + len(x))), SMOOTH
            ),
        },
        sampled=((2, 2),),
    ),
    AuditCase(
        name="truncated discrete Laplace noise on a sum",
        covers="mechanisms.truncated_laplace",
        mechanism=lambda x: truncated_laplace(sum(x), 2, "0.001", sensitivity=2),
        datasets=SUMS,
        promised=ROUGH,
        twins={
            "one step too short": lambda x: _truncated_at(x, least_bound(ROUGH.epsilon, ROUGH.delta, 2) - 1),
            "as long as for sensitivity one": lambda x: _truncated_at(x, least_bound(ROUGH.epsilon, ROUGH.delta, 1)),
        },
        sampled=((1, 2),),
    ),
    AuditCase(
        name="randomised response",
        covers="mechanisms.randomised_response",
        mechanism=lambda x: randomised_response(_remainder(x), 4, 1),
        datasets=SUMS,
        promised=PURE,
        twins={
            "odds against all others together": lambda x: _OddsAgainstAll(_remainder(x), 4, Fraction(1), PURE),
            "each binary digit for the whole epsilon": lambda x: _BitByBit(_remainder(x), 4, Fraction(1), PURE),
        },
        sampled=((1, 2),),
    ),
)
