"""Report noisy max: Laplace noise over max, sum, count and median, the other noises over two of them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tacit.audit.cases.exponential import choice_cases
from tacit.audit.small import MAXIMUM, MEDIAN, SMALL
from tacit.mechanisms.choose.noisy_max import noisy_max

# With exponential noise the sampler is permute-and-flip's, which is compared with its law there.
CASES = tuple(
    replace(case, sampled=[]) if noise == "exponential" else case
    for noise, statistics in (("laplace", SMALL), ("exponential", (MAXIMUM, MEDIAN)), ("gumbel", (MAXIMUM, MEDIAN)))
    for case in choice_cases(
        f"noisy max, {noise} noise", "mechanisms.noisy_max", partial(noisy_max, noise=noise), statistics
    )
)
