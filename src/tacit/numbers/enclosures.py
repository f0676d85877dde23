"""Rigorous arithmetic: an `Enclosure` is an interval with dyadic ends that surely contains the number meant.

Promise: if x ∈ X and y ∈ Y then x∘y ∈ X∘Y for every operation below, and exp(x) ∈ X.exp(), log(x) ∈ X.log().
Why it holds: ends are integers times a common power of two; every result is rounded outward (low end down, high
end up) to ``bits`` significant bits. exp and log are truncated series in integer fixed point whose rounding and
remainder are bounded term by term and added to the high end. No floating-point number takes part.

An enclosure carries its working precision; an operation uses the larger of its operands'. Ask for more bits
where a result is too wide to decide something: all functions are cheap to call again.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Union

BITS = 128
"""Default number of significant bits."""

Operand = Union["Enclosure", Fraction, int]


class Enclosure:
    """A closed interval [low, high] of reals that contains the number meant."""

    __slots__ = ("_exponent", "_high", "_low", "bits")

    def __init__(self, low: int, high: int, exponent: int = 0, bits: int = BITS) -> None:
        """The interval [low·2^exponent, high·2^exponent], rounded outward to ``bits`` bits."""
        longer, other = high.bit_length(), low.bit_length()  # without max: exact laws spend their time here
        excess = (longer if longer >= other else other) - bits
        if excess > 0:
            low >>= excess
            high = -(-high >> excess)
            exponent += excess
        self._low, self._high, self._exponent, self.bits = low, high, exponent, bits

    @classmethod
    def of(cls, value: Operand, bits: int = BITS) -> Enclosure:
        """The tightest enclosure of an exact number at this precision (an enclosure passes through)."""
        if isinstance(value, Enclosure):
            return value
        if isinstance(value, int):
            return cls(value, value, 0, bits)
        n, d = value.numerator, value.denominator
        shift = max(0, bits + d.bit_length() - n.bit_length() + 1)
        low, rest = divmod(n << shift, d)
        return cls(low, low + (rest != 0), -shift, bits)

    @classmethod
    def between(cls, low: Operand, high: Operand, bits: int = BITS) -> Enclosure:
        """The smallest enclosure that contains both."""
        a, b = cls.of(low, bits), cls.of(high, bits)
        e = min(a._exponent, b._exponent)
        return cls(a._low << (a._exponent - e), b._high << (b._exponent - e), e, max(a.bits, b.bits))

    @property
    def low(self) -> Fraction:
        """The low end, exactly."""
        return _dyadic(self._low, self._exponent)

    @property
    def high(self) -> Fraction:
        """The high end, exactly."""
        return _dyadic(self._high, self._exponent)

    @property
    def width(self) -> Fraction:
        """high − low."""
        return _dyadic(self._high - self._low, self._exponent)

    @property
    def positive(self) -> bool:
        """Whether every number inside is above 0."""
        return self._low > 0

    @property
    def zero(self) -> bool:
        """Whether nothing above 0 is inside."""
        return self._high <= 0

    def fixed(self, bits: int) -> tuple[int, int]:
        """Integers (a, b) with a ≤ x·2^bits ≤ b for every x inside."""
        shift = self._exponent + bits
        if shift >= 0:
            return self._low << shift, self._high << shift
        return self._low >> -shift, -(-self._high >> -shift)

    def __contains__(self, value: Fraction | int) -> bool:
        return self.low <= value <= self.high

    def __float__(self) -> float:
        return float((self.low + self.high) / 2)

    def __repr__(self) -> str:
        return f"Enclosure({float(self.low)!r}, {float(self.high)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Enclosure):
            return NotImplemented
        return self.low == other.low and self.high == other.high

    def __hash__(self) -> int:
        return hash((self.low, self.high))

    def below(self, other: Operand) -> bool:
        """Whether every number inside is surely smaller than every number in ``other``."""
        return self.high < (other.low if isinstance(other, Enclosure) else other)

    def above(self, other: Operand) -> bool:
        """Whether every number inside is surely larger than every number in ``other``."""
        return self.low > (other.high if isinstance(other, Enclosure) else other)

    def __neg__(self) -> Enclosure:
        return Enclosure(-self._high, -self._low, self._exponent, self.bits)

    def __add__(self, other: Operand) -> Enclosure:
        b = other if isinstance(other, Enclosure) else Enclosure.of(other, self.bits)
        bits = self.bits if self.bits >= b.bits else b.bits
        if not (self._low or self._high):  # exact zero has no scale: its exponent must not coarsen the other
            return Enclosure(b._low, b._high, b._exponent, bits)
        if not (b._low or b._high):
            return Enclosure(self._low, self._high, self._exponent, bits)
        i = self._exponent - b._exponent
        if i < 0:
            return b + self
        if i > 4 * bits:  # far apart: move the small one outward to a coarser power of two first
            b, i = b._coarser(self._exponent - 2 * bits), 2 * bits
        return Enclosure((self._low << i) + b._low, (self._high << i) + b._high, b._exponent, bits)

    def _coarser(self, exponent: int) -> Enclosure:
        shift = exponent - self._exponent
        return Enclosure(self._low >> shift, -(-self._high >> shift), exponent, self.bits)

    def __sub__(self, other: Operand) -> Enclosure:
        return self + (-Enclosure.of(other, self.bits))

    def __mul__(self, other: Operand) -> Enclosure:
        b = other if isinstance(other, Enclosure) else Enclosure.of(other, self.bits)
        e, bits = self._exponent + b._exponent, self.bits if self.bits >= b.bits else b.bits
        if self._low >= 0 and b._low >= 0:
            return Enclosure(self._low * b._low, self._high * b._high, e, bits)
        ends = [x * y for x in (self._low, self._high) for y in (b._low, b._high)]
        return Enclosure(min(ends), max(ends), e, bits)

    def __truediv__(self, other: Operand) -> Enclosure:
        b = Enclosure.of(other, self.bits)
        return self * b.reciprocal(max(self.bits, b.bits))

    def reciprocal(self, bits: int | None = None) -> Enclosure:
        """1/x; zero must not lie inside."""
        if self._low <= 0 <= self._high:
            raise ZeroDivisionError("the enclosure contains zero")
        bits = bits or self.bits
        shift = bits + 2 + max(self._low.bit_length(), self._high.bit_length())
        one = 1 << shift
        return Enclosure(one // self._high, -(-one // self._low), -shift - self._exponent, bits)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Operand) -> Enclosure:
        return -self + other

    def __rtruediv__(self, other: Operand) -> Enclosure:
        return self.reciprocal() * other

    def __pow__(self, power: int) -> Enclosure:
        """x^power for an integer power, by squaring with guard bits."""
        if power < 0:
            return self.reciprocal() ** -power
        bits = self.bits
        base = Enclosure(self._low, self._high, self._exponent, bits + 2 * power.bit_length() + 8)
        result = Enclosure(1, 1, 0, base.bits)
        while power:
            if power & 1:
                result = result * base
            power >>= 1
            if power:
                base = base._square()
        return Enclosure(result._low, result._high, result._exponent, bits)

    def _square(self) -> Enclosure:
        a, b = abs(self._low), abs(self._high)
        low = 0 if self._low < 0 < self._high else min(a, b) ** 2
        return Enclosure(low, max(a, b) ** 2, 2 * self._exponent, self.bits)

    def exp(self) -> Enclosure:
        """e^x."""
        if self._low == self._high:
            return exp(self.low, self.bits)
        return Enclosure.between(exp(self.low, self.bits), exp(self.high, self.bits), self.bits)

    def log(self) -> Enclosure:
        """Natural logarithm; the low end must be positive."""
        if self._low == self._high:
            return log(self.low, self.bits)
        return Enclosure.between(log(self.low, self.bits), log(self.high, self.bits), self.bits)

    def sqrt(self) -> Enclosure:
        """Square root; the low end must not be negative."""
        return Enclosure.between(sqrt(self.low, self.bits), sqrt(self.high, self.bits), self.bits)

    def larger(self, other: Enclosure) -> Enclosure:
        """The larger of the two numbers meant."""
        e = min(self._exponent, other._exponent)
        i, j = self._exponent - e, other._exponent - e
        low, high = max(self._low << i, other._low << j), max(self._high << i, other._high << j)
        return Enclosure(low, high, e, max(self.bits, other.bits))

    def clamp(self, low: int, high: int) -> Enclosure:
        """The part inside [low, high], for a number known to lie there (a probability, say)."""
        shift = -self._exponent
        if shift >= 0 and low << shift <= self._low and self._high <= high << shift:
            return self
        a = self.low if self.low > low else Fraction(low)
        b = self.high if self.high < high else Fraction(high)
        return self if (a, b) == (self.low, self.high) else Enclosure.between(min(a, b), max(a, b), self.bits)


def _dyadic(mantissa: int, exponent: int) -> Fraction:
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def total(parts: list[Enclosure], bits: int = BITS) -> Enclosure:
    """The sum of a list of enclosures."""
    result = Enclosure(0, 0, 0, bits)
    for part in parts:
        result = result + part
    return result


@lru_cache(maxsize=64)
def _ln2(bits: int) -> int:
    """floor(ln 2·2^bits), by the series 2·atanh(1/3)."""
    guard = 32
    while True:
        series, power, k = 0, (2 << (bits + guard)) // 3, 1
        while power:
            series += power // k
            power //= 9
            k += 2
        if series >> guard == (series + 2 * k) >> guard:  # each of k/2 terms is low by less than 3, the rest by 1
            return series >> guard
        guard *= 2


@lru_cache(maxsize=64)
def pi(bits: int = BITS) -> Enclosure:
    """An enclosure of π, by 16·arctan(1/5) − 4·arctan(1/239)."""
    work = bits + 32
    ends = []
    for inverse in (5, 239):
        series, power, k = 0, (1 << work) // inverse, 0
        while power:
            series += power // (2 * k + 1) * (-1) ** k
            power //= inverse * inverse
            k += 1
        ends.append((series - 2 * k, series + 2 * k))  # every term is off by less than 2, what is left out by less too
    (low_5, high_5), (low_239, high_239) = ends
    return Enclosure(16 * low_5 - 4 * high_239, 16 * high_5 - 4 * low_239, -work, bits)


@lru_cache(maxsize=8192)
def exp(x: Fraction | int, bits: int = BITS) -> Enclosure:
    """An enclosure of e^x with about ``bits`` significant bits, for exact x.

    x = k·ln 2 + r with 0 ≤ r < 1, e^r = (e^{r/2^s})^{2^s} by Taylor's series in fixed point.
    """
    x = Fraction(x)
    if x == 0:
        return Enclosure(1, 1, 0, bits)
    size = (abs(x.numerator) // x.denominator).bit_length()
    squarings = isqrt(bits) // 2 + 1
    work = bits + size + squarings + 24
    ln2 = _ln2(work)
    scaled = (x.numerator << work) // x.denominator  # scaled ≤ x·2^work < scaled + 1
    k = scaled // (ln2 + 1) if scaled >= 0 else -(-scaled // ln2) - 1
    ends = (scaled - k * ln2, scaled - k * (ln2 + 1))  # ln2 ≤ ln 2·2^work ≤ ln2 + 1
    low, high = max(min(ends), 0), max(ends) + 1
    term_low = term_high = 1 << work
    sum_low, sum_high, n = term_low, term_high, 0
    while term_high > 1:
        n += 1
        term_low = (term_low * low >> (work + squarings)) // n
        term_high = -((-term_high * high >> (work + squarings)) // n)
        sum_low += term_low
        sum_high += term_high
    sum_high += 2  # the remaining terms fall faster than a geometric series of ratio 1/2
    for _ in range(squarings):
        sum_low = sum_low * sum_low >> work
        sum_high = -(-sum_high * sum_high >> work)
    return Enclosure(sum_low, sum_high, k - work, bits)


@lru_cache(maxsize=8192)
def log(x: Fraction | int, bits: int = BITS) -> Enclosure:
    """An enclosure of ln x with about ``bits`` correct bits after the leading one, for exact x > 0.

    x = m·2^e with m in (2/3, 4/3], ln m = 2·atanh((m − 1)/(m + 1)) by its series in fixed point.
    """
    x = Fraction(x)
    if x <= 0:
        raise ValueError("the logarithm needs a positive number")
    if x == 1:
        return Enclosure(0, 0, 0, bits)
    n, d = x.numerator, x.denominator
    e = n.bit_length() - d.bit_length()
    if 3 * n << max(0, -e) > 4 * d << max(0, e):
        e += 1
    n, d = n << max(0, -e), d << max(0, e)
    top, bottom = abs(n - d), n + d
    cancelled = 0 if e else max(0, bottom.bit_length() - top.bit_length())
    work = bits + cancelled + abs(e).bit_length() + 16
    low = (top << work) // bottom  # t·2^work rounded down, t = |m − 1|/(m + 1) ≤ 1/5
    high = low + 1
    sum_low, sum_high, k = low, high, 1
    power_low, power_high = low, high
    square_low, square_high = low * low >> work, -(-high * high >> work)
    while power_high > 1:
        k += 2
        power_low = power_low * square_low >> work
        power_high = -(-power_high * square_high >> work)
        sum_low += power_low // k
        sum_high += -(-power_high // k)
    sum_high += 1  # the remaining terms fall by at least 25 each
    series = Enclosure(2 * sum_low, 2 * sum_high, -work, work)
    if n < d:
        series = -series
    if e:
        ln2 = _ln2(work)
        ends = (e * ln2, e * (ln2 + 1))
        series = series + Enclosure(min(ends), max(ends), -work, work)
    return Enclosure(series._low, series._high, series._exponent, bits)


def sqrt(x: Fraction | int, bits: int = BITS) -> Enclosure:
    """An enclosure of √x with about ``bits`` significant bits, for exact x ≥ 0."""
    x = Fraction(x)
    if x < 0:
        raise ValueError("the square root needs a number that is not negative")
    if x == 0:
        return Enclosure(0, 0, 0, bits)
    half = max(0, bits + (x.denominator.bit_length() - x.numerator.bit_length()) // 2 + 2)
    scaled, rest = divmod(x.numerator << 2 * half, x.denominator)
    root = isqrt(scaled)
    return Enclosure(root, root + (rest != 0 or root * root != scaled), -half, bits)


LEAST = 2**16
"""e^{-x} for a larger x is enclosed by [0, 2^-65536], as the digits of an exact end would fill the memory."""


def decay(x: Fraction, bits: int = BITS) -> Enclosure:
    """e^{-x} for x ≥ 0, with ``bits`` significant bits down to 2^-65536."""
    return exp(-x, bits) if x <= LEAST else Enclosure(0, 1, -LEAST, bits)


def ceiling(real: Callable[[int], Enclosure]) -> int:
    """⌈x⌉ of a number that is no integer, given by its enclosure for any number of bits, decided rigorously."""
    bits = 64
    while True:
        number = real(bits)
        low, high = (-(-end.numerator // end.denominator) for end in (number.low, number.high))
        if low == high:
            return low
        bits *= 2


def log_ceiling(scale: Fraction, argument: Fraction) -> int:
    """⌈scale·ln(argument)⌉ for positive rationals, decided rigorously."""
    return 0 if argument == 1 else ceiling(lambda bits: log(argument, bits) * scale)
