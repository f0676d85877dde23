"""Independent noise on every part of a vector of integers.

PROMISE. `laplace_vector` is ε-DP for a vector whose ℓ1 distance between neighbours is at most ``sensitivity``;
`gaussian_vector` is ρ-zCDP for one whose ℓ2 distance is at most ``sensitivity``.

PROOF. Laplace: Π_i e^{−ε|y_i−v_i|/s} changes by at most e^{ε‖v−v'‖₁/s} ≤ e^ε. Gaussian: Rényi divergences of
independent parts add, Σ_i α(v_i−v'_i)²/(2σ²) ≤ αs²/(2σ²) = αρ with σ² = s²/(2ρ), and the discrete Gaussian's is at
most the continuous one's (`tacit.noises.discrete_gaussian`).

ACCURACY. Each part has the noise of `tacit.mechanisms.noise.noise`. COST. One draw for each part.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Self

from tacit.errors import InvalidInput
from tacit.guarantees import Guarantee, Pure, Zcdp
from tacit.mechanisms.law import Law
from tacit.mechanisms.noise.noise import NoisyInteger
from tacit.noises import DiscreteGaussian, DiscreteLaplace, IntegerNoise
from tacit.numbers.enclosures import BITS, Enclosure
from tacit.numbers.exact import Number, whole
from tacit.randomness.source import Randomness


class NoiseVector(Law[tuple[int, ...]]):
    """Integers with independent noise of one kind on each."""

    name = "noise vector"

    def __init__(self, values: Sequence[int], noise: IntegerNoise, guarantee: Guarantee) -> None:
        if not values:
            raise InvalidInput("values must list at least one number.")
        self.noise, self.guarantee = noise, guarantee
        self._parts = [NoisyInteger(value, noise, guarantee) for value in values]

    def _draw(self, source: Randomness) -> tuple[int, ...]:
        return tuple(part._draw(source) for part in self._parts)

    def pmf(self, y: tuple[int, ...], bits: int = BITS) -> Enclosure:
        """The product of the parts' probabilities."""
        result = Enclosure.of(1, bits)
        for part, value in zip(self._parts, y, strict=True):
            result = result * part.pmf(value, bits)
        return result

    def outcomes(self) -> Iterable[tuple[int, ...]]:
        """Every combination of the parts' windows."""
        return product(*(part.outcomes() for part in self._parts))

    def key(self) -> Hashable:
        """The parts'."""
        return type(self), self.guarantee, tuple(part.key() for part in self._parts)

    def telling_points(self, laws: Sequence[Self]) -> list[tuple[int, ...]] | None:
        """Every combination of the parts' telling points: there each part's ratio is largest."""
        columns = zip(*(law._parts for law in laws), strict=True)
        points = [column[0].telling_points(column) for column in columns]
        known = [outputs for outputs in points if outputs is not None]
        return list(product(*known)) if len(known) == len(points) else None

    def outcomes_to_follow(self) -> list[tuple[int, ...]]:
        """Every combination of the parts'."""
        return list(product(*(part.outcomes_to_follow() for part in self._parts)))

    def concentrated_loss(self, other: Self) -> Fraction | None:
        """The sum over the parts, which are independent."""
        losses = [a.concentrated_loss(b) for a, b in zip(self._parts, other._parts, strict=True)]
        known = [loss for loss in losses if loss is not None]
        return sum(known, Fraction(0)) if len(known) == len(losses) else None


def laplace_vector(values: Sequence[int], epsilon: Number, sensitivity: int = 1) -> NoiseVector:
    """The law of ``values`` with discrete Laplace noise of scale sensitivity/ε on each; ℓ1-sensitivity."""
    guarantee = Pure(epsilon)
    noise = DiscreteLaplace.for_pure(guarantee.epsilon, whole(sensitivity, "sensitivity", 1))
    return NoiseVector(values, noise, guarantee)


def gaussian_vector(values: Sequence[int], rho: Number, sensitivity: int = 1) -> NoiseVector:
    """The law of ``values`` with discrete Gaussian noise of variance sensitivity²/(2ρ) on each; ℓ2-sensitivity."""
    guarantee = Zcdp(rho)
    noise = DiscreteGaussian.for_zcdp(guarantee.rho, whole(sensitivity, "sensitivity", 1))
    return NoiseVector(values, noise, guarantee)
