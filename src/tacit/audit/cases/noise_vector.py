"""Noise vectors: totals of persons whose vectors have ℓ1 norm (Laplace) or ℓ2 norm (Gaussian) at most 2."""

from __future__ import annotations

from fractions import Fraction

from tacit.audit.exact import Dataset, datasets
from tacit.audit.registry import Case
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms.noise.noise_vector import gaussian_vector, laplace_vector

EPSILON, RHO = Fraction(6), Fraction(4)
VECTORS = ((2, 0), (1, 1), (0, -2))


def totals(x: Dataset) -> tuple[int, int]:
    """The sum of the persons' vectors."""
    return sum(v[0] for v in x), sum(v[1] for v in x)


CASES = (
    Case(
        name="Laplace noise on a vector",
        covers="mechanisms.laplace_vector",
        mechanism=lambda x: laplace_vector(totals(x), EPSILON, 2),
        datasets=datasets(VECTORS, 2),
        promised=Pure(EPSILON),
        twins={"noise for one part only": lambda x: laplace_vector(totals(x), EPSILON, 1)},
        sampled=(((2, 0), (1, 1)),),
    ),
    Case(
        name="Gaussian noise on a vector",
        covers="mechanisms.gaussian_vector",
        mechanism=lambda x: gaussian_vector(totals(x), RHO, 2),
        datasets=datasets(VECTORS, 1),
        promised=Zcdp(RHO),
        twins={"noise for one part only": lambda x: gaussian_vector(totals(x), RHO, 1)},
        sampled=(((2, 0),),),
    ),
)
