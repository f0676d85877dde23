"""Many draws at once, for answers with many groups: the same laws as one by one, exactly, on arrays of random words.

Promise: `geometrics`, `discrete_laplaces` and `discrete_gaussians` return independent draws of the laws of `geometric`,
`discrete_laplace` and `discrete_gaussian`: int64, or Python integers (dtype object) where int64 might not hold them.

Why it holds: random words are compared with integer bounds of exact probabilities, and a word that falls between the
bounds is decided one by one with further bits (`Inversion.locate`).

- Geometric: the binary digits of Z are independent, digit k being 1 with odds e^{-ε2^k}, and Z // 2^K is geometric of
  rate ε2^K and independent of the K digits below; it comes from a table whose last category, Z // 2^K ≥ 64, adds 64 and
  draws again.
- Laplace and Gaussian: a magnitude with a fair sign; minus zero is drawn again. The Gaussian's magnitude: `blocks`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, cast

from tacit.numbers.exact import Number, positive, whole
from tacit.randomness.inversion import Inversion, Table, decay, shares
from tacit.randomness.source import SYSTEM, Randomness

if TYPE_CHECKING:
    from tacit.randomness.arrays import Integers

LEVELS = 64
"""Categories of the table of Z // 2^K before it draws again."""

LIMB = 32
"""Binary digits gathered in int64 before they become a Python integer."""


def geometrics(epsilon: Number, size: int, *, source: Randomness = SYSTEM) -> Integers:
    """``size`` integers Z ≥ 0 with P[Z ≥ a] = e^{-εa}."""
    law = _BinaryDigits.of(positive(epsilon, "epsilon"))
    return cast("Integers", source.mark(law.draws(whole(size, "size", 0), source)))


def discrete_laplaces(epsilon: Number, size: int, *, source: Randomness = SYSTEM) -> Integers:
    """``size`` integers with P[z] ∝ e^{-ε|z|}."""
    law = _BinaryDigits.of(positive(epsilon, "epsilon"))
    return cast("Integers", source.mark(_signed(law.draws, whole(size, "size", 0), source)))


def discrete_gaussians(variance: Number, size: int, *, source: Randomness = SYSTEM) -> Integers:
    """``size`` integers with P[z] ∝ e^{-z²/(2·variance)}."""
    from tacit.randomness.blocks import GaussianBlocks

    law = GaussianBlocks.of(positive(variance, "variance"))
    return cast("Integers", source.mark(_signed(law.draws, whole(size, "size", 0), source)))


def _signed(magnitudes: Callable[[int, Randomness], Integers], size: int, source: Randomness) -> Integers:
    """Magnitudes with fair signs, minus zero drawn again."""
    import numpy as np

    from tacit.randomness.arrays import coins, put_at

    result: Integers = np.zeros(size, dtype=np.int64)
    pending = np.arange(size)
    while pending.size:
        drawn, minus = magnitudes(pending.size, source), coins(pending.size, source)
        result = put_at(result, pending, np.where(minus, -drawn, drawn))
        pending = pending[minus & (drawn == 0)]
    return result


class _BinaryDigits:
    """The geometric law of rate ε: its binary digits below 2^K, and Z // 2^K of rate ε2^K ≥ 1/4."""

    def __init__(self, epsilon: Fraction) -> None:
        self._digits = []
        while 4 * epsilon < 1:
            self._digits.append(Inversion(partial(_odds, epsilon), 16))
            epsilon *= 2
        self._top = Inversion(partial(_tails, epsilon))

    @staticmethod
    @lru_cache(maxsize=64)
    def of(epsilon: Fraction) -> _BinaryDigits:
        """The law with its tables, which are public facts and kept."""
        return _BinaryDigits(epsilon)

    def draws(self, size: int, source: Randomness) -> Integers:
        """``size`` independent draws."""
        import numpy as np

        from tacit.randomness.arrays import categories, digits

        top = np.zeros(size, dtype=np.int64)
        pending = np.arange(size)
        while pending.size:
            level = categories(self._top, pending.size, source)
            top[pending] += level
            pending = pending[level == LEVELS]
        places = len(self._digits)
        fits = places + int(top.max(initial=0)).bit_length() <= 62
        result: Integers = top << places if fits else top.astype(object) * (1 << places)
        for start in range(0, places, LIMB):
            limb = np.zeros(size, dtype=np.int64)
            for place, law in enumerate(self._digits[start : start + LIMB]):
                limb |= digits(law, size, source).astype(np.int64) << place
            result += limb << start if fits else limb.astype(object) * (1 << start)
        return result


def _odds(rate: Fraction, bits: int) -> Table:
    """A coin of odds e^{-rate}."""
    one = 1 << (bits + 8)
    low, high = decay(rate, bits + 8)
    return shares([low, low + one], [high, high + one], bits)


def _tails(rate: Fraction, bits: int) -> Table:
    """The geometric law of this rate on 0, …, LEVELS − 1, and all beyond together."""
    one = 1 << bits
    tails = [decay(rate * j, bits) for j in range(1, LEVELS + 1)]
    return [one - high for _, high in tails] + [one], [one - low for low, _ in tails] + [one]
