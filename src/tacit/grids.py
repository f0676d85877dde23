"""Grids: the ordered sets of exact values an answer may take, addressed by integer index.

A mechanism chooses among the points of a grid that is fixed before the data are seen. Index and value convert both
ways exactly, in constant time, so a grid of 2^64 points, or one without end, costs no more than one of ten. Small
grids are worth more than clever algorithms: the price of choosing grows with the logarithm of the grid's size, and
64 bits of range are 2^64 integers but only about 8,000 numbers of two significant digits.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Self

from tacit.errors import InvalidInput
from tacit.numbers.exact import Number, exact, positive, whole

_EMPTY = "the grid must not be empty; give a low end that is at most the high end."


@dataclass(frozen=True)
class Grid(ABC):
    """An ordered set of exact values, strictly increasing in an integer index."""

    first: int | None
    """Index of the lowest value; None where the grid has no lowest."""
    last: int | None
    """Index of the highest value; None where the grid has no highest."""

    def __post_init__(self) -> None:
        if self.first is not None and self.last is not None and self.first > self.last:
            raise InvalidInput(_EMPTY)

    @abstractmethod
    def value(self, index: int) -> Fraction:
        """The exact value at ``index``."""

    @abstractmethod
    def _below(self, x: Fraction) -> int | None:
        """The largest index whose value is at most x, the grid's ends left aside; None where there is none."""

    def _above(self, x: Fraction) -> int | None:
        """The smallest index whose value is at least x, the grid's ends left aside; None where all are above x."""
        index = self._below(x)
        return index if index is None or self.value(index) == x else index + 1

    @property
    def size(self) -> int | float:
        """The number of values: an int, or `math.inf`."""
        return math.inf if self.first is None or self.last is None else self.last - self.first + 1

    @property
    def lowest(self) -> Fraction | None:
        """The lowest value, or None."""
        return None if self.first is None else self.value(self.first)

    @property
    def highest(self) -> Fraction | None:
        """The highest value, or None."""
        return None if self.last is None else self.value(self.last)

    def holds(self, index: int) -> bool:
        """Whether the grid has this index."""
        return (self.first is None or index >= self.first) and (self.last is None or index <= self.last)

    def floor(self, x: Number) -> int | None:
        """The index of the largest value that is at most x; None where every value is larger."""
        index = self._below(exact(x, "x"))
        if index is None or (self.first is not None and index < self.first):
            return None
        return index if self.last is None else min(index, self.last)

    def ceil(self, x: Number) -> int | None:
        """The index of the smallest value that is at least x; None where every value is smaller."""
        number = exact(x, "x")
        index = self._above(number)
        if index is None or (self.first is not None and index < self.first):
            return self.first
        return index if self.last is None or index <= self.last else None

    def nearest(self, x: Number) -> int:
        """The index of the value closest to x, the lower one of two equally close."""
        number = exact(x, "x")
        low = self.floor(number)
        if low is None:
            index = self.ceil(number)
            assert index is not None  # a grid is never empty
            return index
        if low == self.last:
            return low
        return low if 2 * number <= self.value(low) + self.value(low + 1) else low + 1

    def index(self, x: Number) -> int | None:
        """The index of exactly x; None where x is not on the grid."""
        number = exact(x, "x")
        index = self.floor(number)
        return index if index is not None and self.value(index) == number else None

    def between(self, low: Number | None = None, high: Number | None = None) -> Self:
        """The part of the grid whose values lie in [low, high]; None leaves an end as it is."""
        first = self.first if low is None else self.ceil(low)
        last = self.last if high is None else self.floor(high)
        if (low is not None and first is None) or (high is not None and last is None):
            raise InvalidInput(_EMPTY)
        return self.sliced(first, last)

    def sliced(self, first: int | None, last: int | None) -> Self:
        """The part of the grid from index ``first`` to index ``last``, both included."""
        return replace(self, first=first, last=last)

    def answer(self, index: int) -> int | Fraction:
        """The value as an answer: an int on a grid of whole numbers, otherwise a Fraction."""
        value = self.value(index)
        return value.numerator if self._whole else value

    @abstractmethod
    def _named(self) -> dict[str, str]:
        """What kind of grid it is, and its own numbers."""

    def named(self) -> dict[str, str | None]:
        """The grid as certificates name it."""
        first, last = (None if end is None else str(end) for end in (self.first, self.last))
        return {**self._named(), "first": first, "last": last}

    @property
    @abstractmethod
    def _whole(self) -> bool:
        """Whether every value is a whole number."""

    def _shown(self, index: int) -> str:
        return str(self.value(index))

    def _ends(self) -> str:
        low, high = ("…" if end is None else self._shown(end) for end in (self.first, self.last))
        return f"{low} to {high}"


@dataclass(frozen=True, repr=False)
class _Multiples(Grid):
    step: Fraction

    def value(self, index: int) -> Fraction:
        return index * self.step

    def _below(self, x: Fraction) -> int:
        return x // self.step

    def _above(self, x: Fraction) -> int:
        return -(-x // self.step)

    @property
    def _whole(self) -> bool:
        return self.step.denominator == 1

    def _named(self) -> dict[str, str]:
        return {"grid": "multiples", "step": str(self.step)}

    def __repr__(self) -> str:
        kind = "integers" if self.step == 1 else f"multiples of {self.step}"
        return f"<{kind}, {self._ends()}>"


@dataclass(frozen=True, repr=False)
class _Powers(Grid):
    base: Fraction

    def value(self, index: int) -> Fraction:
        return self.base**index

    def _below(self, x: Fraction) -> int | None:
        if x <= 0:
            return None
        # Floats only give a first guess, which exact comparisons correct.
        size = math.log2(x.numerator) - math.log2(x.denominator)
        index = math.floor(size * math.log(2) / math.log1p(self.base - 1))
        while self.value(index) > x:
            index -= 1
        while self.value(index + 1) <= x:
            index += 1
        return index

    @property
    def _whole(self) -> bool:
        return self.base.denominator == 1 and self.first is not None and self.first >= 0

    def _named(self) -> dict[str, str]:
        return {"grid": "powers", "base": str(self.base)}

    def __repr__(self) -> str:
        return f"<powers of {self.base}, {self._ends()}>"

    def _shown(self, index: int) -> str:
        return f"({self.base})^{index}"


def _reaches(top: int, bottom: int, decade: int) -> bool:
    """Whether top/bottom is at least 10^decade."""
    return bool(top >= bottom * 10**decade if decade >= 0 else top * 10**-decade >= bottom)


@dataclass(frozen=True, repr=False)
class _Digits(Grid):
    count: int
    """Significant digits."""
    smallest: int
    """Decade of the smallest positive value, 10^smallest."""

    @property
    def _decade(self) -> int:
        return 9 * self._least  # values in one decade

    @property
    def _least(self) -> int:
        return _ten(self.count - 1).numerator  # the smallest whole number with that many digits

    def _parts(self, index: int) -> tuple[int, int]:
        """Whole digits d and exponent e of the value d·10^e at a positive index."""
        decade, rest = divmod(index - 1, self._decade)
        return self._least + rest, self.smallest + decade - self.count + 1

    def value(self, index: int) -> Fraction:
        if index == 0:
            return Fraction(0)
        whole_digits, exponent = self._parts(abs(index))
        size = whole_digits * _ten(exponent)
        return size if index > 0 else -size

    def _shown(self, index: int) -> str:
        if index == 0:
            return "0"
        whole_digits, exponent = self._parts(abs(index))
        return f"{'-' if index < 0 else ''}{whole_digits}e{exponent}"

    def _below(self, x: Fraction) -> int:
        if x >= 0:
            return self._magnitude(x)[0]
        index, on_grid = self._magnitude(-x)
        return -index if on_grid else -index - 1

    def nearest(self, x: Number) -> int:
        """The same from one division: beside a value d·10^e is (d + 1)·10^e, also where a decade ends."""
        number = exact(x, "x")
        if number < _ten(self.smallest):
            return super().nearest(number)
        index, rest, unit = self._place(number)
        if self.last is not None and index >= self.last:
            return self.last
        if self.first is not None and index < self.first:
            return self.first
        return index + (2 * rest > unit)

    def _magnitude(self, x: Fraction) -> tuple[int, bool]:
        """The largest index whose value is at most x ≥ 0, and whether that value is x."""
        if x < _ten(self.smallest):
            return 0, x == 0
        index, rest, _ = self._place(x)
        return index, rest == 0

    def _place(self, x: Fraction) -> tuple[int, int, int]:
        """The largest index whose value is at most an x from the smallest on; what is left, and its digits' unit."""
        top, bottom = x.numerator, x.denominator
        decade = (top.bit_length() - bottom.bit_length()) * 30103 // 100000  # log10(2) = 0.30103: a first guess,
        while not _reaches(top, bottom, decade):  # corrected by exact comparisons
            decade -= 1
        while _reaches(top, bottom, decade + 1):
            decade += 1
        exponent = decade - self.count + 1
        top, bottom = (top, bottom * 10**exponent) if exponent >= 0 else (top * 10**-exponent, bottom)
        digits, rest = divmod(top, bottom)
        return (decade - self.smallest) * self._decade + digits - self._least + 1, rest, bottom

    @property
    def _whole(self) -> bool:
        return self.smallest >= self.count - 1

    def _named(self) -> dict[str, str]:
        return {"grid": "digits", "count": str(self.count), "smallest": str(self.smallest)}

    def __repr__(self) -> str:
        digits = "digit" if self.count == 1 else "digits"
        return f"<numbers of {self.count} significant {digits}, {self._ends()}>"


@cache
def _ten(power: int) -> Fraction:
    return Fraction(10**power) if power >= 0 else Fraction(1, 10**-power)


def integers(low: int | None = None, high: int | None = None) -> Grid:
    """The whole numbers from ``low`` to ``high``, either end open when None; the index is the value.

    >>> from tacit.grids import integers
    >>> integers(0, 9).size
    10
    """
    first = None if low is None else math.ceil(exact(low, "low"))
    return _Multiples(first, None if high is None else math.floor(exact(high, "high")), Fraction(1))


def multiples(step: Number, low: Number | None = None, high: Number | None = None) -> Grid:
    """The multiples of ``step`` that lie in [low, high], either end open when None; the index is value/step.

    >>> from tacit.grids import multiples
    >>> multiples("0.5", 0, 2).size
    5
    """
    return _Multiples(None, None, positive(step, "step")).between(low, high)


def powers(base: Number, low: int = 0, high: int | None = None) -> Grid:
    """The powers base^low, base^(low+1), … up to base^high, or without end; the index is the exponent.

    >>> from tacit.grids import powers
    >>> powers(2, 0, 10).value(10)
    Fraction(1024, 1)
    """
    number = exact(base, "base")
    if number <= 1:
        raise InvalidInput("base must be above 1; give a ratio between neighbouring scales such as 2 or '1.5'.")
    return _Powers(whole(low, "low"), None if high is None else whole(high, "high"), number)


def digits(n: int, low: int = -12, high: int | None = 38) -> Grid:
    """0 and the numbers ±d·10^e of ``n`` significant decimal digits, from ±10^low to just below ±10^(high+1).

    The default decades reach from a millionth of a millionth to beyond any sum of 64-bit integers over 10^19 rows;
    high=None leaves both ends open. Index 0 is the value 0 and index −i is minus the value of i.

    >>> from tacit.grids import digits
    >>> digits(2, 0, 3).nearest(1234) == digits(2, 0, 3).index(1200)
    True
    """
    count, smallest = whole(n, "n", 1), whole(low, "low")
    if high is None:
        return _Digits(None, None, count, smallest)
    last = (whole(high, "high", smallest) - smallest + 1) * 9 * 10 ** (count - 1)
    return _Digits(-last, last, count, smallest)
