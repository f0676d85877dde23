"""Guarantees: what is promised to a person, as exact values that compose, convert and compare.

`Pure`, `Approx`, `Zcdp`, `ApproxZcdp`, `Renyi` and `Gdp` are the kinds a budget can have. `RenyiCurve` knows what
single mechanisms spend at every order, `LossDistribution` composes them exactly, `amplify` and `allowance` account for
sampling, `subsampling_plan` says what it costs in noise.
"""

from tacit.guarantees.approximate_zcdp import ApproxZcdp
from tacit.guarantees.base import Guarantee
from tacit.guarantees.gaussian import Gdp
from tacit.guarantees.kinds import Approx, Pure, Renyi, Zcdp
from tacit.guarantees.loss_distribution import LossDistribution
from tacit.guarantees.renyi_curves import RenyiCurve
from tacit.guarantees.subsampling import SubsamplingPlan, allowance, amplify, subsampling_plan

__all__ = [
    "Approx",
    "ApproxZcdp",
    "Gdp",
    "Guarantee",
    "LossDistribution",
    "Pure",
    "Renyi",
    "RenyiCurve",
    "SubsamplingPlan",
    "Zcdp",
    "allowance",
    "amplify",
    "subsampling_plan",
]
