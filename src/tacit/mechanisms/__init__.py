"""Mechanisms on their own, on the trusted side: each function returns the exact law of what it would release.

A law knows the private data. `law.sample()` is what may be released, once, for `law.guarantee`; its probabilities are
for verification and study.
"""

from tacit.mechanisms.choose.exponential import exponential
from tacit.mechanisms.choose.noisy_max import noisy_max
from tacit.mechanisms.choose.permute_and_flip import permute_and_flip
from tacit.mechanisms.choose.priors import Decaying, Listed, Prior, Uniform
from tacit.mechanisms.choose.stable_argmin import stable_argmin
from tacit.mechanisms.choose.stable_keys import stable_keys, weighted_keys
from tacit.mechanisms.choose.stable_mode import stable_mode
from tacit.mechanisms.inverse.cuts import Levels, Stretch, Weights, cuts
from tacit.mechanisms.inverse.inverse_losses import count_loss, median_loss, mode_loss, quantile_loss, sum_loss
from tacit.mechanisms.inverse.inverse_search import searched_loss
from tacit.mechanisms.inverse.inverse_sensitivity import inverse_sensitivity
from tacit.mechanisms.inverse.shifted_inverse import shifted_inverse
from tacit.mechanisms.law import Accuracy, Law
from tacit.mechanisms.local.order_statistics import InterquartileRange, Maximum, Minimum, Quantile, TrimmedMean
from tacit.mechanisms.local.private_bound import Bounded, private_bound
from tacit.mechanisms.local.propose_test_release import Release, propose_test_release
from tacit.mechanisms.local.smooth_sensitivity import smooth_sensitivity
from tacit.mechanisms.local.subset_extension import subset_extension
from tacit.mechanisms.local.triangles import Triangles
from tacit.mechanisms.noise.noise import (
    gaussian,
    gaussian_vector,
    laplace,
    laplace_vector,
    randomised_response,
    truncated_laplace,
)
from tacit.mechanisms.repeat.absorb import absorb
from tacit.mechanisms.repeat.condition_on_success import condition_on_success
from tacit.mechanisms.repeat.repeat_and_select import repeat_and_select
from tacit.mechanisms.repeat.run_counts import NegativeBinomial, Poisson
from tacit.mechanisms.search.above_threshold import AboveThreshold, above_threshold
from tacit.mechanisms.search.bayesian_search import bayesian_search
from tacit.mechanisms.search.binary_search import binary_search
from tacit.mechanisms.search.interior_point import interior_point
from tacit.mechanisms.search.shared_scans import shared_scans, shared_searches
from tacit.mechanisms.search.threshold_scan import threshold_scan
from tacit.mechanisms.search.tree_descent import tree_descent
from tacit.mechanisms.totals.bounded_mean import TwoSums, bounded_mean
from tacit.mechanisms.totals.capped_flow import capped_flow
from tacit.mechanisms.totals.flow_cap import flow_cap
from tacit.mechanisms.totals.ratio import ratio
from tacit.mechanisms.totals.ratio_counts import Ratio
from tacit.mechanisms.totals.running_totals import running_totals
from tacit.mechanisms.totals.scan_and_release import scan_and_release, signed_scan_and_release
from tacit.mechanisms.totals.vector_cap import vector_cap

__all__ = [
    "AboveThreshold",
    "Accuracy",
    "Bounded",
    "Decaying",
    "InterquartileRange",
    "Law",
    "Levels",
    "Listed",
    "Maximum",
    "Minimum",
    "NegativeBinomial",
    "Poisson",
    "Prior",
    "Quantile",
    "Ratio",
    "Release",
    "Stretch",
    "Triangles",
    "TrimmedMean",
    "TwoSums",
    "Uniform",
    "Weights",
    "above_threshold",
    "absorb",
    "bayesian_search",
    "binary_search",
    "bounded_mean",
    "capped_flow",
    "condition_on_success",
    "count_loss",
    "cuts",
    "exponential",
    "flow_cap",
    "gaussian",
    "gaussian_vector",
    "interior_point",
    "inverse_sensitivity",
    "laplace",
    "laplace_vector",
    "median_loss",
    "mode_loss",
    "noisy_max",
    "permute_and_flip",
    "private_bound",
    "propose_test_release",
    "quantile_loss",
    "randomised_response",
    "ratio",
    "repeat_and_select",
    "running_totals",
    "scan_and_release",
    "searched_loss",
    "shared_scans",
    "shared_searches",
    "shifted_inverse",
    "signed_scan_and_release",
    "smooth_sensitivity",
    "stable_argmin",
    "stable_keys",
    "stable_mode",
    "subset_extension",
    "sum_loss",
    "threshold_scan",
    "tree_descent",
    "truncated_laplace",
    "vector_cap",
    "weighted_keys",
]
