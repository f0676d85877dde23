"""The rule that turns whatever a function returns into a grid index.

A finite real number between the grid's ends becomes the nearest grid value, the lower one of two. Everything else is
the grid's bottom: an exception, a hang, NaN, an infinity, a number beyond the ends, a text, a truth value, nothing.
The rule knows the returned object alone, so the result is a function of the group the function saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import isfinite, isinf
from numbers import Rational
from typing import Any, SupportsIndex

from tacit.errors import InvalidInput
from tacit.grids import Grid

SPAN = 2**62
"""Indices are kept in 64 bits, counted from the bottom: a grid is cut after this many values."""

FAR = Fraction(10**10_000)
"""Stands for infinity where a function may not fall."""


def cut_grid(grid: Grid) -> Grid:
    """A grid that has a lowest value and at most 2^62 of them."""
    if not isinstance(grid, Grid):
        raise InvalidInput("grid must be a grid of tacit.grids, such as integers(0, 100) or multiples('0.1', 0, 10).")
    if grid.first is None:
        raise InvalidInput("grid must have a lowest value, which stands for failures; cut it with between(low, None).")
    last = grid.first + SPAN - 1
    return grid.sliced(grid.first, last if grid.last is None else min(last, grid.last))


def place(grid: Grid, value: Any) -> int:
    """The steps from the grid's bottom to a function's value; 0 for whatever is no number on it."""
    number, lowest = number_of(value), grid.lowest
    assert grid.first is not None
    assert lowest is not None
    # the highest value itself is not asked for: it may be a power too large to write down
    if number is None or number < lowest or grid.ceil(number) is None:
        return 0
    return grid.nearest(number) - grid.first


def place_below(grid: Grid, value: Any) -> int:
    """The steps from the grid's bottom to the largest value at or below a function's, for functions that are monotone.

    Numbers beyond the grid's ends count as its ends, infinite ones too; what is no number as its bottom.
    """
    number, last = number_of(value), grid.last
    number = endless(value) if number is None else number
    index = None if number is None else grid.floor(number)
    assert grid.first is not None
    return 0 if index is None else (index if last is None else min(index, last)) - grid.first


def places(grids: Sequence[Grid], value: Any, vector: bool, below: bool = False) -> list[int]:
    """A place for each coordinate; all 0 where there are not exactly as many."""
    if not vector:
        return [(place_below if below else place)(grids[0], value)]
    found = list(value)
    return [place(*pair) for pair in zip(grids, found, strict=True)]


def number_of(value: Any) -> Fraction | None:
    """The exact number, a float being the decimal it is written as; None where there is none."""
    if hasattr(value, "item") and not isinstance(value, int | float):
        value = value.item()  # numbers of array libraries
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return Fraction(float.__repr__(value)) if isfinite(value) else None
    if isinstance(value, int | Rational):
        return Fraction(value)
    if isinstance(value, Decimal):
        # an exponent beyond any grid would only fill the memory
        return Fraction(value) if value.is_finite() and abs(value.adjusted()) < 10_000 else None
    return Fraction(value.__index__()) if isinstance(value, SupportsIndex) else None


def endless(value: Any) -> Fraction | None:
    """A number beyond all others for one that is infinite, or too long to write down; None for whatever else.

    So a function that never falls does not seem to, where its values leave all bounds.
    """
    if hasattr(value, "item") and not isinstance(value, int | float):
        value = value.item()
    if isinstance(value, Decimal):
        if value.is_finite() and value.adjusted() <= -10_000:
            return Fraction(0)
        large = value.is_infinite() or (value.is_finite() and value.adjusted() >= 10_000)
    else:
        large = isinstance(value, float) and isinf(value)
    return None if not large else FAR if value > 0 else -FAR


def failures(grid: Grid) -> str:
    """The rule in a sentence."""
    assert grid.lowest is not None
    return f"Whatever is no number on the grid, a failure included, counts as its lowest value, {float(grid.lowest):g}."


def step_of(grid: Grid) -> str:
    """The grid's step in words."""
    step = getattr(grid, "step", None)
    return f"{float(step):g}" if isinstance(step, Fraction) else "the grid"
