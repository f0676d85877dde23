"""What noisy looks at a monotone loss say about it, wherever they were and however many: confidence without a shape.

A search looked at positions q_1, q_2, … of a loss that never rises along the grid, each chosen after the answers
before, and saw a_i = ℓ(q_i) + Z_i with discrete Gaussian noise of squared scale v.

STATEMENT  With probability at least 1 − β the loss is above 0 everywhere before `lowest_zero()`. With probability at
least 1 − β the loss is at most w from the position `last_above(w)` on. The looks are released: this costs nothing.

PROOF  E[e^{λZ}] ≤ e^{λ²v/2} for every real λ: by Poisson's formula the sum of e^{−(z−c)²/2v} over the integers z is
largest where c is one of them. Let b be the first position of loss 0, a fixed unknown. From b on every look sees noise
alone, so M_b = exp(Σ_{q_i ≥ b} (λ·a_i − λ²v/2)) is a supermartingale from 1, whatever decides where to look next, and
M_b ≥ 1/β has probability at most β (Ville); so has an average of such M over several λ > 0. Every p with M_p ≥ 1/β is
thus no candidate for b, and b is at least the first that is one. No union over positions is needed, for b is one
position. Likewise let a be the first position of loss at most w: the looks before it see at least w + 1, so
exp(Σ_{q_i < a} (λ·(w + 1 − a_i) − λ²v/2)) is such a martingale, and a is at most the last p that it does not exclude.

ACCURACY  n looks of mean μ are evidence of nμ²/(2v) at the best λ; five are tried, so ln 5 is lost. Looks further down
count with their larger losses, so the bound on the loss at an answer is nearer to 2τ than to the loss itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import exp, log, sqrt

from tacit.mechanisms.search.search_posterior import Looks

PARTS = (1, 2, 4, 8, 16)
"""λ is best for a noise of the m-th part of all looks."""


class LookBounds:
    """What looks say, each statement with probability at least 1 − β."""

    def __init__(self, looks: Iterable[tuple[int, Looks]], variance: float, number: int, beta: float) -> None:
        self._looks = sorted(looks)
        self._variance, self._least = variance, log(1 / beta) + 1e-9
        self._rates = [sqrt(2 * log(1 / beta) * part / (variance * max(1, number))) for part in PARTS]

    def _evidence(self, number: int, total: float) -> float:
        """ln of the average of exp(λ·total − number·λ²v/2) over all λ."""
        found = [rate * total - number * rate * rate * self._variance / 2 for rate in self._rates]
        top = max(found)
        return top + log(sum(exp(x - top) for x in found) / len(found))

    def lowest_zero(self) -> int:
        """The first position that may be the first of loss 0; before it the loss is above 0."""
        lowest = 0
        for (position, _), looks in zip(self._looks, reversed(_sums(reversed(self._looks))), strict=True):
            if self._evidence(*looks) < self._least:
                break
            lowest = position + 1
        return lowest

    def last_above(self, most: int) -> int | None:
        """The last position that may be the first of loss at most ``most``; None where none is excluded."""
        last: int | None = None
        for (position, _), (number, total) in zip(reversed(self._looks), reversed(_sums(self._looks)), strict=True):
            if self._evidence(number, (most + 1) * number - total) < self._least:
                return last
            last = position
        return last

    def most_at(self, position: int, limit: int) -> int | None:
        """The least w up to a limit that the loss at a position is at most; None where there is none."""
        low, high = -1, limit + 1
        while high - low > 1:
            middle = (low + high) // 2
            last = self.last_above(middle)
            low, high = (low, middle) if last is not None and last <= position else (middle, high)
        return None if high > limit else high


def _sums(looks: Iterable[tuple[int, Looks]]) -> Sequence[tuple[int, int]]:
    """The numbers and totals of all looks up to each."""
    found = [look for _, look in looks]
    return list(zip(accumulate(x.number for x in found), accumulate(x.total for x in found), strict=True))
