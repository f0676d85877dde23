"""Oracles of the black boxes, by brute force."""

import os
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest

from tacit.black_boxes import isolation

Function = Callable[[tuple[Any, ...]], int]


def subsets(x: tuple[Any, ...], fewest: int = 0) -> list[tuple[Any, ...]]:
    """All subsets with at least so many persons."""
    return [s for k in range(fewest, len(x) + 1) for s in combinations(x, k)]


def profile(f: Function, x: tuple[Any, ...], floor: int) -> list[int]:
    """D_0, D_1, … of g(z) = max{ f(s) : s ⊆ z, |s| ≥ floor }, from the definitions."""

    def g(z: tuple[Any, ...]) -> int:
        return max(f(s) for s in subsets(z, floor))

    return [min(g(z) for z in subsets(x, len(x) - j)) for j in range(len(x) - floor + 1)]


def extension(f: Function, x: tuple[Any, ...], c: int) -> int:
    """The filter's F, from the definition."""
    smaller = [extension(f, x[:i] + x[i + 1 :], c) for i in range(len(x))]
    if not smaller:
        return f(x)
    low, high = max(smaller) - c, min(smaller) + c
    assert low <= high
    return min(max(f(x), low), high)


CONFINED = os.environ.get("TACIT_REQUIRE_ALL") == "1" or isolation().available
"""Whether a function whose author nobody trusts can be called here; elsewhere tests say that they trust it."""

isolated = pytest.mark.skipif(not CONFINED, reason="not run: calls cannot be kept apart on this system")
"""For tests of functions that nobody may trust."""
