"""Noisy binary searches over max, sum, count and median; charging log2|Y| instead of ⌈log2|Y|⌉ is caught."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache, partial

from tacit.audit.exact import Mechanism
from tacit.audit.registry import AuditCase
from tacit.audit.small import COUNT, MAXIMUM, SMALL, Small
from tacit.curves import StepLoss
from tacit.guarantees import Pure, Zcdp
from tacit.mechanisms.search.binary_search import BinarySearchLaw, binary_search
from tacit.noises import DiscreteGaussian, DiscreteLaplace, IntegerNoise

EPSILON = Fraction(1)
RHO = Fraction(1, 2)
TARGET = 0

_LOG2_OF_6 = Fraction("2.5849625")
"""|Y| = 6 needs three comparisons."""


def _laplace(small: Small) -> Mechanism:
    cached = lru_cache(maxsize=None)(lambda loss: binary_search(loss, TARGET, epsilon=EPSILON))
    return lambda x: cached(small.loss(x))


def _gaussian(small: Small) -> Mechanism:
    cached = lru_cache(maxsize=None)(lambda loss: binary_search(loss, TARGET, rho=RHO))
    return lambda x: cached(small.loss(x))


def _twin(small: Small, noise: IntegerNoise) -> Mechanism:
    @cache
    def law(loss: StepLoss) -> BinarySearchLaw:
        return BinarySearchLaw(loss, noise, TARGET, Pure(EPSILON))

    return lambda x: law(small.loss(x))


_case = partial(AuditCase, covers="mechanisms.binary_search")

CASES = (
    *(
        _case(
            name=f"binary search with Laplace noise, {small.name}",
            mechanism=_laplace(small),
            datasets=small.datasets,
            promised=Pure(EPSILON),
            twins={"log2|Y| comparisons charged": _twin(small, DiscreteLaplace(EPSILON / _LOG2_OF_6))}
            if small is COUNT
            else {},
            sampled=[(0, 1, 3)] if small is MAXIMUM else [],
        )
        for small in SMALL
    ),
    *(
        _case(
            name=f"binary search with Gaussian noise, {small.name}",
            mechanism=_gaussian(small),
            datasets=small.datasets,
            promised=Zcdp(RHO),
            twins={"one comparison charged": _twin(small, DiscreteGaussian(1 / (2 * RHO)))},
        )
        for small in (COUNT, MAXIMUM)
    ),
)
