"""Mechanisms on their own, on the trusted side: each function returns the exact law of what it would release.

A law knows the private data. `law.sample()` is what may be released, once, for `law.guarantee`; its probabilities are
for verification and study.
"""

from tacit.mechanisms.bayesian_search import bayesian_search
from tacit.mechanisms.binary_search import binary_search
from tacit.mechanisms.exponential import exponential
from tacit.mechanisms.interior_point import interior_point
from tacit.mechanisms.inverse_sensitivity import inverse_sensitivity
from tacit.mechanisms.law import Accuracy, Law
from tacit.mechanisms.noise import gaussian, laplace, randomised_response, truncated_laplace
from tacit.mechanisms.noise_vector import gaussian_vector, laplace_vector
from tacit.mechanisms.noisy_max import noisy_max
from tacit.mechanisms.permute_and_flip import permute_and_flip
from tacit.mechanisms.priors import Decaying, Prior, Uniform
from tacit.mechanisms.shifted_inverse import shifted_inverse
from tacit.mechanisms.stable_argmin import stable_argmin
from tacit.mechanisms.stable_keys import stable_keys
from tacit.mechanisms.threshold_scan import threshold_scan
from tacit.mechanisms.tree_descent import tree_descent

__all__ = [
    "Accuracy",
    "Decaying",
    "Law",
    "Prior",
    "Uniform",
    "bayesian_search",
    "binary_search",
    "exponential",
    "gaussian",
    "gaussian_vector",
    "interior_point",
    "inverse_sensitivity",
    "laplace",
    "laplace_vector",
    "noisy_max",
    "permute_and_flip",
    "randomised_response",
    "shifted_inverse",
    "stable_argmin",
    "stable_keys",
    "threshold_scan",
    "tree_descent",
    "truncated_laplace",
]
