"""What a Bayesian search believes, given the noisy answers it was given.

Everything here sees only released numbers, so nothing here can cost privacy, however it is rounded: plain
floating point serves. `Posterior` steers the looks: it takes the loss for a single jump, at position h, from above
the target to below it, and holds a weight for every h, constant on pieces. `best_position` makes the final choice
where one jump does not explain the answers: it takes the loss for a staircase that falls from 2τ + 1 through levels
in between to 0 (a hidden Markov chain along the positions, jumps to a lower level uniform in place and height) and
returns the position that most probably is good, of a loss of at most 2τ and with a loss above 0 just below it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from fractions import Fraction
from itertools import accumulate, pairwise
from math import exp
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEVELS = 9
"""Heights of the staircase: 2τ + 1, 0 and seven in between."""

TERMS = 14
"""Terms of the exponential series of the jumps in a gap; at most one jump is expected on the whole grid."""

WIDE = 10**300
"""A piece of more positions than a float can count gives none of them any weight."""

LEAST = 1e-290
"""No piece loses all its weight, so that no answers, however contradictory, leave nothing."""


class Median(NamedTuple):
    """The position at which half of the weight is reached."""

    position: int
    share: Fraction
    """Which share of its own weight that takes."""
    weight: float
    """Its own weight, all together being 1."""


class Looks(NamedTuple):
    """The looks at one position: how many, and the sum of what they saw."""

    number: int
    total: int


class Posterior:
    """Weights over positions 0..size−1 for a single jump, constant on pieces."""

    def __init__(self, size: int) -> None:
        self._lasts, self._masses = [size - 1], [1.0]

    def median(self) -> Median:
        """Where to look next, or what to answer."""
        sums = list(accumulate(self._masses))
        half = sums[-1] / 2
        piece = bisect_left(sums, half)
        before, low = (sums[piece - 1], self._lasts[piece - 1]) if piece else (0.0, -1)
        width = self._lasts[piece] - low
        reached = min(Fraction((half - before) / self._masses[piece]), Fraction(1)) * width
        position = min(int(reached), width - 1)
        return Median(low + 1 + position, reached - position, self._masses[piece] / sums[-1] / min(width, WIDE))

    def update(self, q: int, evidence: float) -> None:
        """Weigh the hypotheses above q by e^evidence and the others by e^-evidence, and scale to total 1."""
        piece = bisect_left(self._lasts, q)
        if self._lasts[piece] != q:
            low = self._lasts[piece - 1] if piece else -1
            part = self._masses[piece] * ((q - low) / (self._lasts[piece] - low))
            self._masses[piece : piece + 1] = [part, self._masses[piece] - part]
            self._lasts.insert(piece, q)
        factor = exp(-2 * abs(evidence))
        below, above = self._masses[: piece + 1], self._masses[piece + 1 :]
        if evidence > 0:
            below = [max(mass * factor, LEAST) for mass in below]
        else:
            above = [max(mass * factor, LEAST) for mass in above]
        total = sum(below) + sum(above)
        self._masses = [mass / total for mass in below + above]


def best_position(size: int, answers: Mapping[int, Looks], top: int, variance: float) -> int:
    """The position 0..size−1 that is most probably good, for a staircase from ``top`` at position −1 down to 0."""
    import numpy as np

    looked = sorted(answers)
    positions = [*looked, size - 1]  # the loss is 0 at the last position, which is never looked at
    widths = [b - a for a, b in pairwise([-1, *positions])]
    jumps = _jumps([width / size for width in widths])
    seen = np.zeros((len(positions), LEVELS))
    seen[-1, -1] = 1
    levels = np.linspace(top, 0, LEVELS)
    for i, q in enumerate(looked):
        number, total = answers[q]
        fit = (2 * levels * total - number * levels**2) / (2 * variance)
        seen[i] = np.exp(fit - fit.max())
    forward, backward = _passes(jumps, seen)
    joint = forward[:, :, None] * jumps * (seen * backward)[:, None, :]  # levels before each gap and at its end
    joint /= np.maximum(joint.sum(axis=(1, 2), keepdims=True), np.finfo(float).tiny)
    steps = np.array([float(min(width, WIDE)) for width in widths])
    # A level strictly between makes a position good. Else the jump must be exactly there: to 0, or from the top.
    at_end = joint[:, :, 1:-1].sum(axis=(1, 2)) + joint[:, :-1, -1].sum(axis=1) / steps
    at_start = joint[:, 1:-1, :].sum(axis=(1, 2)) + joint[:, 0, 1:].sum(axis=1) / steps
    end, start = int(at_end.argmax()), int(at_start.argmax())
    if at_end[end] >= at_start[start]:
        return positions[end]
    return positions[start] - widths[start] + 1


def _jumps(gaps: list[float]) -> NDArray[np.float64]:
    """For each gap, a share of the grid, the matrix of chances to fall from level to level in it."""
    import numpy as np

    rates = np.triu(1 / np.maximum(1, LEVELS - 1 - np.arange(LEVELS))[:, None] * np.ones(LEVELS), 1)
    rates -= np.diag(rates.sum(axis=1))
    terms = [np.eye(LEVELS)]
    for i in range(1, TERMS):
        terms.append(terms[-1] @ rates / i)
    powers = np.array(gaps)[:, None] ** np.arange(TERMS)
    return np.asarray(np.tensordot(powers, np.array(terms), 1), dtype=np.float64)


def _passes(jumps: NDArray[np.float64], seen: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Level weights before each gap given what was seen before it, and after each position given what comes later."""
    import numpy as np

    tiny = np.finfo(float).tiny
    forward, backward = np.zeros_like(seen), np.ones_like(seen)
    forward[0, 0] = 1
    for i in range(1, len(seen)):
        state = forward[i - 1] @ jumps[i - 1] * seen[i - 1]
        forward[i] = state / max(state.sum(), tiny)
    for i in range(len(seen) - 1, 0, -1):
        state = jumps[i] @ (seen[i] * backward[i])
        backward[i - 1] = state / max(state.sum(), tiny)
    return forward, backward
