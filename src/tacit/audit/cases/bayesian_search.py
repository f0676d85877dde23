"""One noisy look of a Bayesian search, of which m compose to its promise; the search itself is not enumerated."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from tacit.audit.exact import Mechanism
from tacit.audit.registry import Case
from tacit.audit.small import COUNT, Small
from tacit.curves import StepLoss
from tacit.guarantees import Zcdp
from tacit.mechanisms.bayesian_search import BayesianSearchLaw, bayesian_search
from tacit.mechanisms.noise import Gaussian

RHO = Fraction(16)
"""Large, so that the noise of one look is small enough to show on five persons."""
TARGET = 2


@cache
def _search(loss: StepLoss) -> BayesianSearchLaw:
    return bayesian_search(loss, RHO, TARGET)


def _look(small: Small, y: int) -> Mechanism:
    return lambda x: _search(small.loss(x)).look(y)


def _half(small: Small, y: int) -> Mechanism:
    def look(x: tuple[int, ...]) -> Gaussian:
        plan = _search(small.loss(x)).plan
        return Gaussian(small.loss(x).at(y), plan.noise.variance / 2, plan.each)

    return look


CASES = tuple(
    Case(
        name=f"one look of a Bayesian search, {small.name}",
        covers="mechanisms.bayesian_search",
        mechanism=_look(small, y),
        datasets=small.datasets,
        promised=Zcdp(RHO / _search(small.loss(())).plan.looks),
        twins={"half the variance": _half(small, y)},
    )
    for small, y in ((COUNT, 1),)
)
