"""The first success in a long run of equal trials, without walking the run.

Promise: `first_success(gamma, trials)` has the law of the index of the first success among independent trials of
success probability e^{-γ}: P[index ≥ j] = (1 − e^{-γ})^j, exactly, whatever γ and the length of the run.

Why it holds: with λ = −ln(1 − e^{-γ}) and E exponential, P[floor(E/λ) ≥ j] = P[E ≥ λj] = (1 − e^{-γ})^j. Both E and λ
are enclosed as narrowly as the floor needs; for a run of m trials that failed it is enough that E ≥ λm.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import cast

from tacit.numbers.enclosures import Enclosure, exp
from tacit.numbers.exact import Number, non_negative, whole
from tacit.randomness.lazy import WORD, LazyExponential
from tacit.randomness.source import SYSTEM, Randomness


def first_success(gamma: Number, trials: int | None, *, source: Randomness = SYSTEM) -> int | None:
    """The 0-based index of the first success among ``trials`` (None: endless) trials of success probability e^{-γ}.

    None if no trial succeeds. An endless run ends with probability one; its index has about γ/ln 2 bits.
    """
    gamma = non_negative(gamma, "gamma")
    if trials is not None:
        trials = whole(trials, "trials", 0)
    return cast("int | None", source.mark(_first_success(gamma, trials, source)))


def _first_success(gamma: Fraction, trials: int | None, source: Randomness) -> int | None:
    if trials == 0:
        return None
    if gamma == 0:
        return 0
    exponential = LazyExponential(source)
    size = int(gamma * 10 // 7) + 1  # at least log2 of 1/λ, so that the index has about this many bits
    bits = WORD + (size if trials is None else min(size, trials.bit_length()))
    while True:
        known = exponential.top(bits)
        # γ ≥ (bits + 1 + log2 trials)·ln 2 makes λ·trials ≤ 2·e^{-γ}·trials ≤ 2^-bits ≤ E, if a known bit of E is set
        if trials is not None and known and 7 * (bits + 1 + trials.bit_length()) <= 10 * gamma:
            return None
        low, high = _rate(gamma, bits).fixed(bits + size)
        least = (known << size) // high
        if trials is not None and least >= trials:
            return None
        if ((known + 1) << size) <= (least + 1) * low:
            return least
        bits *= 2


@lru_cache(maxsize=1024)
def _rate(gamma: Fraction, bits: int) -> Enclosure:
    """λ = −ln(1 − e^{-γ}) with about ``bits`` significant bits."""
    if gamma < 8:
        work = bits + 16 + int(1 / gamma).bit_length()
        return -(1 - exp(-gamma, work)).log()
    success = exp(-gamma, bits + 16)
    t = success / (2 - success)  # λ = 2·atanh t, and t is small
    term, square, result, k = t, t * t, t, 1
    while not term.below(t.low / (1 << bits)):
        k += 2
        term = term * square
        result = result + term / k
    return 2 * (result + Enclosure.between(0, term, bits))
