"""Exact races: which run of equal loss holds the smallest key, and which of its points.

Report noisy max adds noise N_y to −γℓ(y) and returns the largest. The smallest e^{γℓ(y)}·e^{-N_y} wins as well, and
the m points of a run race as one: the smallest of m independent keys has a simple law, and its holder is uniform.

- exponential noise: e^{-N} is uniform, the smallest of m is V = 1 − U^{1/m};
- Laplace noise: e^{-N} = 2V for V ≤ 1/2 and 1/(2(1 − V)) above, increasing in the uniform V, so the same V serves;
- Gumbel noise: e^{-N} is exponential, the smallest of m is E/m.

Keys are reals known to as many bits as were asked for; all are enclosed by integers over a common power of two, and
refined until one run's upper end lies below all other lower ends. V is first bounded by rational numbers,
(1 − U)/m ≤ V ≤ (1/U − 1)/m, which settles nearly all runs without a logarithm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

from tacit.enclosures import Enclosure, exp
from tacit.randomness import LazyExponential, LazyUniform, Source

Ends = tuple[int, int]
"""Integers (a, b) with a ≤ key·2^bits ≤ b."""
Key = Callable[[int, bool], Ends]
"""Ends at a number of bits; the flag asks for the sharp way rather than the quick one."""


def smallest_uniform(length: int, source: Source) -> Key:
    """V = 1 − U^{1/m}, the smallest of m uniforms."""
    uniform = LazyUniform(source)

    def ends(bits: int, sharp: bool) -> Ends:
        one, known = 1 << bits, uniform.top(bits)  # known ≤ U·2^bits < known + 1
        if length == 1:
            return one - known - 1, one - known
        if known == 0:
            return (one - 1) // length, one
        if sharp:
            return _one_minus_root(known + 1, bits, length)[0], _one_minus_root(known, bits, length)[1]
        inverse = -(-(one << bits) // known)
        return (one - known - 1) // length, min(one, -((one - inverse) // length))

    return ends


def _one_minus_root(known: int, bits: int, length: int) -> Ends:
    """Ends of 1 − u^{1/m} for u = known/2^bits."""
    power = Enclosure.of(Fraction(known, 1 << bits), bits + length.bit_length() + 16).log() / length
    return (1 - power.exp()).fixed(bits)


def folded(key: Key) -> Key:
    """The key of Laplace noise from the uniform key V: 2V up to one half, then 1/(2(1 − V))."""

    def ends(bits: int, sharp: bool) -> Ends:
        low, high = key(bits, sharp)
        if high >> bits:  # V is not yet separated from 1, where this key has no upper end
            low, high = ends(2 * bits, True)
            return low >> bits, -(-high >> bits)
        one, square = 1 << bits, 1 << (2 * bits)
        return (
            2 * low if 2 * low <= one else square // (2 * (one - low)),
            2 * high if 2 * high <= one else -(-square // (2 * (one - high))),
        )

    return ends


def smallest_exponential(length: int, source: Source) -> Key:
    """E/m, the smallest of m exponentials."""
    exponential = LazyExponential(source)

    def ends(bits: int, sharp: bool) -> Ends:
        known = exponential.top(bits)
        return known // length, -(-(known + 1) // length)

    return ends


@lru_cache(maxsize=8192)
def _factor(exponent: Fraction, bits: int) -> Ends:
    return exp(exponent, bits + 32).fixed(bits)


def winner(keys: Sequence[Key], exponents: Sequence[Fraction], start: int = 64) -> int:
    """The position with the smallest e^{exponent}·key; two keys are almost surely different."""
    bits, sharp, left = start, False, list(range(len(keys)))
    while True:
        ends: dict[int, Ends] = {}
        for i in left:
            low, high = keys[i](bits, sharp)
            below, above = _factor(exponents[i], bits)
            ends[i] = low * below, high * above
        best = min(high for _, high in ends.values())
        left = [i for i, (low, _) in ends.items() if low <= best]
        if len(left) == 1:
            return left[0]
        bits, sharp = (2 * bits if sharp else bits), True
