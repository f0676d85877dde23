"""Noise vectors: totals of persons whose vectors have ℓ1 norm (Laplace) or ℓ2 norm (Gaussian) at most 2."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tacit.audit.exact import Dataset, datasets
from tacit.audit.registry import AuditCase
from tacit.guarantees import Guarantee, Pure, Zcdp
from tacit.mechanisms.noise.noise import NoiseVector, gaussian_vector, laplace_vector

EPSILON, RHO = Fraction(6), Fraction(4)
VECTORS = ((2, 0), (1, 1), (0, -2))


def totals(x: Dataset) -> tuple[int, int]:
    """The sum of the persons' vectors."""
    return sum(v[0] for v in x), sum(v[1] for v in x)


def _case(
    noise: str,
    law: Callable[[tuple[int, int], Fraction, int], NoiseVector],
    promised: Guarantee,
    data: list[Dataset],
    sampled: Dataset,
) -> AuditCase:
    (amount,) = promised.numbers
    return AuditCase(
        name=f"{noise} noise on a vector",
        covers=f"mechanisms.{law.__name__}",
        mechanism=lambda x: law(totals(x), amount, 2),
        datasets=data,
        promised=promised,
        twins={"noise for one part only": lambda x: law(totals(x), amount, 1)},
        sampled=(sampled,),
    )


CASES = (
    _case("Laplace", laplace_vector, Pure(EPSILON), datasets(VECTORS, 2), sampled=((2, 0), (1, 1))),
    _case("Gaussian", gaussian_vector, Zcdp(RHO), datasets(VECTORS, 1), sampled=((2, 0),)),
)
