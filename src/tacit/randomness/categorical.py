"""One of finitely many categories, with weights that are never rounded.

Promise: `Categorical(weights, gamma)` draws i with probability exactly m_i·e^{-γk_i}/Σ_j m_j·e^{-γk_j}.

Why it holds: the draw is the category of one uniform real among the cumulative shares of the weights (`Inversion`),
which are enclosed by integers at whatever precision the draw needs, from one enclosure of e^{-γ} and its powers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import cast

from tacit.errors import InvalidInput
from tacit.numbers.enclosures import BITS, Enclosure, exp, total
from tacit.numbers.exact import Number, non_negative, whole
from tacit.randomness.inversion import Inversion, Powers, Table, shares
from tacit.randomness.source import SYSTEM, Randomness


class Categorical:
    """Category i with probability ∝ m_i·e^{-γk_i}, weights given as pairs (m_i, k_i) of integers, m_i ≥ 0."""

    def __init__(self, weights: Sequence[tuple[int, int]], gamma: Number, start_bits: int = 64) -> None:
        """``start_bits`` is the precision a draw begins with; it changes the work, never the law."""
        self._gamma = non_negative(gamma, "gamma")
        try:
            pairs = [(m, k) if type(m) is type(k) is int and m >= 0 else _pair(m, k) for m, k in weights]
        except (TypeError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput("weights must be pairs (m, k) of integers, one for each category.") from None
        self._places = [i for i, (m, _) in enumerate(pairs) if m]
        if not self._places:
            raise InvalidInput("weights must not all be zero; give at least one pair (m, k) with m above 0.")
        first = min(pairs[i][1] for i in self._places)
        self._weights = [(pairs[i][0], pairs[i][1] - first) for i in self._places]
        self._inversion = Inversion(self._tabulate, whole(start_bits, "start_bits", 1))
        self._totals: dict[int, Enclosure] = {}

    def draw(self, source: Randomness = SYSTEM) -> int:
        """The index of one category."""
        return cast(int, source.mark(self._places[self._inversion.draw(source)]))

    def pmf(self, index: int, bits: int = BITS) -> Enclosure:
        """An enclosure of the probability of one category, with about ``bits`` significant bits."""
        if index not in self._places:
            return Enclosure(0, 0, 0, bits)
        work = bits + 8 + len(self._weights).bit_length()
        if bits not in self._totals:
            self._totals[bits] = total([exp(-self._gamma * k, work) * m for m, k in self._weights], work)
        m, k = self._weights[self._places.index(index)]
        return (exp(-self._gamma * k, work) * m / self._totals[bits]).clamp(0, 1)

    @property
    def precisions(self) -> tuple[int, ...]:
        """The precisions (bits) tabulated so far: several where a draw had to be refined."""
        return self._inversion.precisions

    def __repr__(self) -> str:
        return f"<a categorical law, gamma={self._gamma}>"

    def _tabulate(self, bits: int) -> Table:
        largest = max(k for _, k in self._weights)
        work = bits + 32 + len(self._weights).bit_length() + 2 * largest.bit_length().bit_length()
        powers = Powers(self._gamma, largest, work)
        low = list(accumulate(m * powers.at(k) for m, k in self._weights))
        slack = accumulate(m * powers.error for m, k in self._weights)
        return shares(low, [a + b for a, b in zip(low, slack, strict=True)], bits)


def _pair(m: int, k: int) -> tuple[int, int]:
    return whole(m, "weights", 0), whole(k, "weights")


def categorical(weights: Sequence[tuple[int, int]], gamma: Number, *, source: Randomness = SYSTEM) -> int:
    """The index of one category, drawn with probability ∝ m·e^{-γk} for each pair (m, k)."""
    return Categorical(weights, gamma).draw(source)
