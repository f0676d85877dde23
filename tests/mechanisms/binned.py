"""Comparing a sampler with its law on grids too large to list: by the cdf at a few marks."""

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any

from tacit.mechanisms import Law
from tests.support import agrees


def agrees_between(law: Law[Any], marks: Sequence[int], draws: int, bits: int = 128) -> bool:
    """Whether the shares of draws between neighbouring marks fit the law; false alarm 1e-7.

    The marks increase; what lies above the last is one more class.
    """
    below = [0.0, *(float(law.cdf(mark, bits)) for mark in marks), 1.0]
    chances: dict[Hashable, float] = {i: b - a for i, (a, b) in enumerate(pairwise(below))}
    return agrees((bisect_left(marks, y) for y in law.sample(draws)), chances)
