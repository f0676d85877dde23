"""Report noisy max: add independent noise to −γℓ(y) for every value y and return the largest.

PROMISE  Pure(ε) for one draw, with γ = ε/2, or γ = ε for a one-directional loss, and standard continuous noise N:
exponential (density e^{-n}, n ≥ 0), Laplace (½e^{-|n|}) or Gumbel (distribution function e^{-e^{-n}}).

PROOF  Exponential: see `permute_and_flip`, whose law this is. Gumbel: P[y wins] ∝ e^{-γℓ(y)}, since the largest of
N_z − γℓ(z) is Gumbel shifted by ln Σ e^{-γℓ(z)}; the law is the exponential mechanism's. Laplace: fix all noises but
that of y; y wins when N_y exceeds b = γℓ(y) + max_{z≠y}(N_z − γℓ(z)), which for neighbours moves by at most 2γ, by at
most γ if one-directional: by at most ε; and P[N > b + ε] ≥ e^{-ε}·P[N > b] for Laplace noise.

ACCURACY  With exponential or Gumbel noise as in `permute_and_flip` and `exponential`. With Laplace noise the
difference of two has the tail (½ + s/4)·e^{-s}, so P[ℓ(Y) − min ℓ ≥ t] ≤ |Y|·(½ + γt/4)·e^{-γt}.

COST  A draw is linear in the number of runs on any finite grid: a run of equal loss races as one (`race`), noise is
drawn bit by bit and ties are impossible. `pmf` with Laplace noise integrates P(y) = ∫ f(x − a_y)·Π_{z≠y} F(x − a_z)
dx, a_z = −γℓ(z), between neighbouring a_z, where it is a sum of powers of v = e^{-x}, on grids of at most 64 values.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.guarantees import Pure
from tacit.mechanisms.choose.exponential import ExponentialLaw, rate
from tacit.mechanisms.choose.permute_and_flip import PermuteAndFlipLaw
from tacit.mechanisms.choose.priors import Uniform
from tacit.mechanisms.choose.race import Key, Race, folded, smallest_exponential, smallest_uniform
from tacit.mechanisms.grid_law import GridLaw, cdf_by_runs, finite_size, lengths, level_counts
from tacit.mechanisms.law import Accuracy
from tacit.numbers.enclosures import Enclosure, exp
from tacit.numbers.exact import Number, between, positive
from tacit.randomness import Source, uniform_below

LARGEST = 64
"""The largest grid whose exact probabilities are computed for Laplace noise; drawing has no such limit."""

_KEYS: dict[str, Callable[[int, Source], Key]] = {
    "exponential": smallest_uniform,
    "laplace": lambda length, source: folded(smallest_uniform(length, source)),
    "gumbel": smallest_exponential,
}


class NoisyMaxLaw(GridLaw):
    """The law of report noisy max."""

    def __init__(self, loss: StepLoss, epsilon: Fraction, noise: str) -> None:
        self.grid, self._loss, self.guarantee, self.noise = loss.grid, loss, Pure(epsilon), noise
        self.name = f"noisy max, {noise} noise,"
        self._size, self._lengths = finite_size(loss.grid), lengths(loss)
        gamma, least = rate(loss, epsilon), loss.minimum
        self._firsts = [run.first or 0 for run in loss.runs]
        self._race = Race([gamma * (run.loss - least) for run in loss.runs], self._size)
        self._key = _KEYS[noise]
        self._exact: GridLaw | _LaplaceIntegral = (
            PermuteAndFlipLaw(loss, epsilon)
            if noise == "exponential"
            else ExponentialLaw(loss, epsilon, Uniform())
            if noise == "gumbel"
            else _LaplaceIntegral(loss, gamma, self._size)
        )

    def _draw_index(self, source: Source) -> int:
        run = self._race.winner([self._key(length, source) for length in self._lengths])
        return self._firsts[run] + uniform_below(self._lengths[run], source=source)

    def _pmf_at(self, index: int, bits: int) -> Enclosure:
        return self._exact._pmf_at(index, bits)

    def _cdf_at(self, index: int, bits: int) -> Enclosure:
        return self._exact._cdf_at(index, bits)

    def accuracy(self, beta: Number) -> Accuracy:
        """The largest excess loss (over the best value's) with probability at least 1 − β."""
        return self._exact.accuracy(beta)


class _LaplaceIntegral:
    """The exact probabilities with Laplace noise."""

    def __init__(self, loss: StepLoss, gamma: Fraction, size: int) -> None:
        self._loss, self._gamma, self._size = loss, gamma, size
        self._counts = list(level_counts(loss).items())
        self._level_pmf = lru_cache(maxsize=None)(self._compute_level)

    def _pmf_at(self, index: int, bits: int) -> Enclosure:
        return self._level_pmf(self._loss.at(index), bits)

    def _cdf_at(self, index: int, bits: int) -> Enclosure:
        return cdf_by_runs(self._loss, index, self._level_pmf, bits)

    def _compute_level(self, level: int, bits: int) -> Enclosure:
        if self._size > LARGEST:
            raise InvalidInput(
                f"noisy max with Laplace noise states probabilities on grids of at most {LARGEST} values."
            )
        work = bits + 3 * self._size + 64
        while True:
            value = self._integral(level, work)
            if value.low > 0 and value.width < value.low / (1 << bits):
                return Enclosure.between(value, value, bits).clamp(0, 1)
            work *= 2

    def _integral(self, level: int, work: int) -> Enclosure:
        """The sum of the integrals between neighbouring levels, from the worst level up, so that v = e^{-x} falls."""
        least = self._counts[0][0]
        shift = self._gamma * (level - least)  # −a_y, the best level at 0
        others = [(self._gamma * (loss - least), count - (loss == level)) for loss, count in self._counts]
        above = sum(count for _, count in others)
        scale = exp(sum((height * count for height, count in others), Fraction(0)), work) * Fraction(1, 2**above)
        polynomial, result = [Enclosure.of(1, work)], Enclosure.of(0, work)
        edge: Fraction | None = None  # ln of the largest v of the region; None is infinity
        for height, count in [*reversed(others), (None, 0)]:
            # Levels still above x contribute ½e^{x − a} each, those below 1 − ½e^{a − x}; `height` ends the region.
            below = edge is not None and edge <= shift
            outer = exp(-shift if below else shift, work) * Fraction(1, 2)
            power = -above + (1 if below else -1)
            parts = [c * _power_integral(power + j, height, edge, work) for j, c in enumerate(polynomial)]
            for part in parts:
                result = result + scale * outer * part
            if height is None:
                return result
            above -= count
            scale = scale * exp(-height * count, work) * 2**count
            for _ in range(count):
                polynomial = _times_linear(polynomial, exp(-height, work) * Fraction(-1, 2))
            edge = height
        raise AssertionError("the last region ends the loop")

    def accuracy(self, beta: Number) -> Accuracy:
        failure = between(beta, "beta", 0, 1)
        low, high = 0, 1  # the bound for an excess of `high` or more is at most β, that for `low` is not
        while self._bound(high).high > failure:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._bound(middle).high > failure else (low, middle)
        window = high - 1
        statement = f"the loss exceeds the smallest by at most {window}, with probability at least {1 - failure}"
        return Accuracy(failure, window, statement)

    def _bound(self, t: int) -> Enclosure:
        s = self._gamma * t
        return exp(-s) * (Fraction(1, 2) + s / 4) * self._size


def _power_integral(power: int, low: Fraction | None, high: Fraction | None, work: int) -> Enclosure:
    """∫ v^{power − 1} dv over v from e^low (0 where None) to e^high (infinity where None)."""
    if power == 0:
        assert low is not None
        assert high is not None
        return Enclosure.of(high - low, work)
    upper = Enclosure.of(0, work) if high is None else exp(power * high, work)
    lower = Enclosure.of(0, work) if low is None else exp(power * low, work)
    return (upper - lower) / power


def _times_linear(polynomial: list[Enclosure], slope: Enclosure) -> list[Enclosure]:
    """The polynomial times 1 + slope·v."""
    raised = [c * slope for c in polynomial]
    middle = [a + b for a, b in zip(polynomial[1:], raised[:-1], strict=True)]
    return [polynomial[0], *middle, raised[-1]]


def noisy_max(loss: StepLoss, epsilon: Number, noise: str = "exponential") -> NoisyMaxLaw:
    """A grid value chosen by report noisy max with ``noise`` "exponential", "laplace" or "gumbel"."""
    if noise not in _KEYS:
        raise InvalidInput('noise must be "exponential", "laplace" or "gumbel".')
    return NoisyMaxLaw(loss, positive(epsilon, "epsilon"), noise)
