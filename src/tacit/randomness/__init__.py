"""Exact randomness: integers and rationals only, bits from the operating system.

Every draw takes `source=`, which is `SYSTEM` unless a test or a document asks for `seeded_not_private(seed)` by name;
what is drawn from that one is marked as not private. A float parameter means the decimal it is written as (`exact`).
"""

from tacit.randomness.basic import bernoulli, bernoulli_exp, shuffled, uniform_below
from tacit.randomness.categorical import Categorical, categorical
from tacit.randomness.continuous import rounded_gaussian, rounded_laplace, rounded_power, rounded_student
from tacit.randomness.discrete import (
    asymmetric_laplace,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    truncated_laplace,
)
from tacit.randomness.lazy import LazyExponential, LazyUniform
from tacit.randomness.runs import first_success
from tacit.randomness.source import SYSTEM, Randomness, seeded_not_private
from tacit.randomness.vectors import discrete_gaussians, discrete_laplaces, geometrics

__all__ = [
    "SYSTEM",
    "Categorical",
    "LazyExponential",
    "LazyUniform",
    "Randomness",
    "asymmetric_laplace",
    "bernoulli",
    "bernoulli_exp",
    "categorical",
    "discrete_gaussian",
    "discrete_gaussians",
    "discrete_laplace",
    "discrete_laplaces",
    "first_success",
    "geometric",
    "geometrics",
    "rounded_gaussian",
    "rounded_laplace",
    "rounded_power",
    "rounded_student",
    "seeded_not_private",
    "shuffled",
    "truncated_laplace",
    "uniform_below",
]
