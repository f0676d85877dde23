"""One noisy look of a Bayesian search, of which m compose to its promise; the search itself is not enumerated."""

from __future__ import annotations

from fractions import Fraction

from tacit.audit.exact import Dataset
from tacit.audit.registry import AuditCase
from tacit.audit.small import COUNT
from tacit.guarantees import Zcdp
from tacit.mechanisms.noise.noise import NoisyInteger
from tacit.mechanisms.search.bayesian_search import BayesianSearchLaw, bayesian_search
from tacit.noises import DiscreteGaussian

RHO = Fraction(16)
"""Large, so that the noise of one look is small enough to show on five persons."""
TARGET, VALUE = 2, 1


def _search(x: Dataset) -> BayesianSearchLaw:
    return bayesian_search(COUNT.loss(x), RHO, TARGET)


def _look(x: Dataset) -> NoisyInteger:
    return _search(x).look(VALUE)


def _half(x: Dataset) -> NoisyInteger:
    design = _search(x).design
    return NoisyInteger(COUNT.loss(x).at(VALUE), DiscreteGaussian(design.noise.squared_scale / 2), design.each)


CASES = (
    AuditCase(
        name="one look of a Bayesian search, count",
        covers="mechanisms.bayesian_search",
        mechanism=_look,
        datasets=COUNT.datasets,
        promised=Zcdp(RHO / _search(()).design.looks),
        twins={"half the variance": _half},
    ),
)
