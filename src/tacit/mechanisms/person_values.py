"""What the mechanisms that take plain Python data have in common: one number for each person.

Data are given as an iterable with one value for each person, or as a mapping from value to number of persons. No error
may depend on a value, so each is decided by itself: NaN, None and what is not a number are absent, ±inf saturates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from math import isnan
from typing import Any, TypeVar

from tacit.errors import InvalidInput
from tacit.grids import Grid
from tacit.numbers.exact import Number, exact

Values = Iterable[Any] | Mapping[Any, int]
"""One value for each person, or how many persons have each value."""

T = TypeVar("T")


def counted(values: Iterable[T] | Mapping[T, int]) -> Iterator[tuple[T, int]]:
    """Values with how many persons have them; a value may come several times."""
    if isinstance(values, Mapping):
        return ((value, max(0, persons)) for value, persons in values.items())
    return ((value, 1) for value in values)


def kept(values: Iterable[T] | Mapping[T, int]) -> list[T] | Mapping[T, int]:
    """The data as something that can be read more than once."""
    return values if isinstance(values, Mapping) else list(values)


def span(low: Number, high: Number) -> tuple[Fraction, Fraction]:
    """The ends of a public range."""
    a, b = exact(low, "low"), exact(high, "high")
    if a >= b:
        raise InvalidInput("low must be below high; give the ends of the range of possible values.")
    return a, b


def numbers(values: Values, low: Fraction, high: Fraction) -> list[Fraction]:
    """The present values, saturated at the ends of the range, in order."""
    found: list[Fraction] = []
    for value, persons in counted(values):
        number = _number(value)
        if number is not None:
            inside = low if number <= low else high if number >= high else number
            found += [Fraction(inside)] * persons
    return sorted(found)


def indices(values: Values, grid: Grid, absent: int | None = None) -> Counter[int]:
    """How many persons have each grid index, values rounded to the nearest; absent ones at ``absent``, or left out."""
    found: Counter[int] = Counter()
    for value, persons in counted(values):
        index = _index(_number(value), grid)
        index = absent if index is None else index
        if index is not None and persons:
            found[index] += persons
    return found


def _index(number: Fraction | float | None, grid: Grid) -> int | None:
    if isinstance(number, float):  # infinity has a place where the grid has an end
        return grid.last if number > 0 else grid.first
    return None if number is None else grid.nearest(number)


def _number(value: Any) -> Fraction | float | None:
    """The exact number, an infinite float, or None where the value is absent."""
    if isinstance(value, bool):
        return Fraction(int(value))
    try:
        return exact(value, "value")
    except InvalidInput:
        pass
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if isnan(found):
        return None
    try:
        return exact(found, "value")
    except InvalidInput:
        return found


def persons(values: Values) -> int:
    """How many persons there are, those with absent values included."""
    return sum(number for _, number in counted(values))
