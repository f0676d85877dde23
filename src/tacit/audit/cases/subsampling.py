"""Poisson subsampling: the parity of up to three persons on a sample of a third, amplified exactly as promised."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import comb

from tacit.audit.exact import Dataset, datasets
from tacit.audit.registry import AuditCase
from tacit.guarantees import Pure, allowance
from tacit.mechanisms.law import Law
from tacit.mechanisms.noise.noise import RandomisedResponse, randomised_response
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.randomness import Randomness, bernoulli

SHARE = Fraction(1, 3)
PROMISED = Pure(1)
INSIDE = allowance(PROMISED, SHARE)


class Subsampled(Law[int]):
    """The law of a mechanism on a sample: whether the number of sampled persons is odd, by randomised response."""

    name = "subsampled"

    def __init__(self, persons: int, share: Fraction, epsilon: Fraction) -> None:
        self._persons, self._share, self._epsilon, self.guarantee = persons, share, epsilon, PROMISED

    def _on(self, sampled: int) -> RandomisedResponse:
        return randomised_response(sampled % 2, 2, self._epsilon)

    def _draw(self, source: Randomness) -> int:
        return self._on(sum(bernoulli(self._share, source=source) for _ in range(self._persons)))._draw(source)

    def pmf(self, y: int, bits: int = BITS) -> Enclosure:
        """The mixture over the size of the sample."""
        result = Enclosure.of(0, bits)
        for size in range(self._persons + 1):
            weight = comb(self._persons, size) * self._share**size * (1 - self._share) ** (self._persons - size)
            result = result + self._on(size).pmf(y, bits) * weight
        return result

    def outcomes(self) -> Iterable[int]:
        """Even or odd."""
        return (0, 1)


def subsampled(x: Dataset, share: Fraction = SHARE, epsilon: Fraction = INSIDE.epsilon) -> Subsampled:
    """Every person is sampled with the same probability."""
    return Subsampled(len(x), share, epsilon)


CASES = (
    AuditCase(
        name="Poisson subsampling of a parity",
        covers="guarantees.allowance",
        mechanism=subsampled,
        datasets=datasets((1,), 3),
        promised=PROMISED,
        twins={
            "the noise of ε/p": lambda x: subsampled(x, epsilon=PROMISED.epsilon / SHARE),
            "a sample of rows, two to a person": lambda x: subsampled(x, 1 - (1 - SHARE) ** 2),
            "a sample that is not secret": lambda x: subsampled(x, Fraction(1)),
        },
        sampled=((1, 1),),
    ),
)
