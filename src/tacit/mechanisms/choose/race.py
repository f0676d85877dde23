"""Exact races: which run of equal loss holds the smallest key, and which of its points.

Report noisy max adds noise N_y to −γℓ(y) and returns the largest. The smallest e^{γℓ(y)}·e^{-N_y} wins as well, and
the m points of a run race as one: the smallest of m independent keys has a simple law, and its holder is uniform.

- exponential noise: e^{-N} is uniform, the smallest of m is V = 1 − U^{1/m} = 1 − e^{-E/m}, E exponential;
- Laplace noise: e^{-N} = 2V for V ≤ 1/2 and 1/(2(1 − V)) above, increasing in the uniform V, so the same V serves;
- Gumbel noise: e^{-N} is exponential, the smallest of m is E/m.

Keys are reals known to as many bits as were asked for; all are enclosed by integers over a common power of two, and
refined until one run's upper end lies below all other lower ends. V is first bounded by x − x²/2 ≤ V ≤ x, x = E/m,
which settles nearly all races without an exponential.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

from tacit.curves import StepLoss
from tacit.guarantees import Pure
from tacit.mechanisms.choose.exponential import rate
from tacit.mechanisms.grid_law import GridLaw, cdf_by_runs, finite_size, lengths
from tacit.mechanisms.law import Named
from tacit.numbers.enclosures import Enclosure, exp
from tacit.randomness import LazyExponential, LazyUniform, Randomness, uniform_below

Ends = tuple[int, int]
"""Integers (a, b) with a ≤ key·2^bits ≤ b."""
Key = Callable[[int, bool], Ends]
"""Ends at a number of bits; the flag asks for the sharp way rather than the quick one."""
FEW = 8
"""So many uniforms are drawn one by one."""


def smallest_uniform(length: int, source: Randomness) -> Key:
    """V, the smallest of m uniforms: one by one where they are few, otherwise 1 − e^{-E/m} with E exponential."""
    if length <= FEW:
        return _smallest_of_few([LazyUniform(source) for _ in range(length)])
    exponential = LazyExponential(source)

    def ends(bits: int, sharp: bool) -> Ends:
        one, known = 1 << bits, exponential.top(bits)
        x, y = known // length, -(-(known + 1) // length)  # x ≤ E/m·2^bits ≤ y
        if sharp:
            low, high = ((1 - exp(-Fraction(z, one), bits + 16)).fixed(bits) for z in (x, y))
            return max(0, low[0]), min(one, high[1])
        return max(0, x - (x * x >> (bits + 1)) - 1) if x < one else one >> 1, min(one, y)

    return ends


def _smallest_of_few(uniforms: list[LazyUniform]) -> Key:
    def ends(bits: int, sharp: bool) -> Ends:
        known = min(uniform.top(bits) for uniform in uniforms)
        return known, known + 1

    return ends


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


def smallest_exponential(length: int, source: Randomness) -> Key:
    """E/m, the smallest of m exponentials."""
    exponential = LazyExponential(source)

    def ends(bits: int, sharp: bool) -> Ends:
        known = exponential.top(bits)
        return known // length, -(-(known + 1) // length)

    return ends


class Race:
    """Runs racing with keys e^{exponent}·key, the exponents being known beforehand."""

    def __init__(self, exponents: Sequence[Fraction], points: int) -> None:
        """``points``, how many race in all, sets the precision a race begins with: the work, never the law."""
        self._start = 64 * (1 + points.bit_length() // 32)
        self._factors = lru_cache(maxsize=8)(lambda bits: [exp(x, bits + 32).fixed(bits) for x in exponents])

    def winner(self, keys: Sequence[Key]) -> int:
        """The position of the smallest; two keys are almost surely different."""
        bits, sharp, left = self._start, False, list(range(len(keys)))
        while True:
            factors, ends = self._factors(bits), []
            for i in left:
                (low, high), (below, above) = keys[i](bits, sharp), factors[i]
                ends.append((low * below, high * above))
            best = min(high for _, high in ends)
            left = [i for i, (low, _) in zip(left, ends, strict=True) if low <= best]
            if len(left) == 1:
                return left[0]
            bits, sharp = (2 * bits if sharp else bits), True


class RacedLaw(GridLaw):
    """The law of a race over a finite grid: the value with the smallest e^{γℓ(y)}·e^{-N_y}."""

    def __init__(self, loss: StepLoss, epsilon: Fraction) -> None:
        self.grid, self.guarantee = loss.grid, Pure(epsilon)
        self._loss, self._gamma, self._least = loss, rate(loss, epsilon), loss.minimum
        self._size, self._lengths = finite_size(loss.grid), lengths(loss)
        self._race = Race([self._gamma * (run.loss - self._least) for run in loss.runs], self._size)

    def named(self) -> Named:
        """The rate of the loss, how far it moves, and among what."""
        return self._chosen("noisy maximum", self._gamma, self._loss.moves)

    @staticmethod
    @abstractmethod
    def _key(length: int, source: Randomness) -> Key:
        """The smallest of ``length`` independent e^{-N}."""

    def _draw_index(self, source: Randomness) -> int:
        run = self._race.winner([self._key(length, source) for length in self._lengths])
        return (self._loss.runs[run].first or 0) + uniform_below(self._lengths[run], source=source)


class LevelLaw(RacedLaw):
    """A race whose exact probabilities are computed for each level of the loss."""

    def __init__(self, loss: StepLoss, epsilon: Fraction) -> None:
        super().__init__(loss, epsilon)
        self._level_pmf = lru_cache(maxsize=None)(self._compute_level)

    @abstractmethod
    def _compute_level(self, level: int, bits: int) -> Enclosure:
        """The probability of one value of this loss."""

    def _pmf_at(self, index: int, bits: int) -> Enclosure:
        return self._level_pmf(self._loss.at(index), bits)

    def _cdf_at(self, index: int, bits: int) -> Enclosure:
        return cdf_by_runs(self._loss, index, self._level_pmf, bits)
