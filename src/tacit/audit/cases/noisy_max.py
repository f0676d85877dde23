"""Report noisy max with each noise over max, sum, count and median."""

from __future__ import annotations

from functools import partial

from tacit.audit.cases.exponential import choice_cases
from tacit.mechanisms.noisy_max import noisy_max

CASES = tuple(
    case
    for noise in ("exponential", "laplace", "gumbel")
    for case in choice_cases(f"noisy max, {noise} noise", "mechanisms.noisy_max", partial(noisy_max, noise=noise))
)
