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

from fractions import Fraction
from functools import partial

from tacit.curves import StepLoss
from tacit.errors import InvalidInput
from tacit.mechanisms.choose import exponential as weights
from tacit.mechanisms.choose import permute_and_flip as race
from tacit.mechanisms.choose.exponential import ExponentialLaw
from tacit.mechanisms.choose.permute_and_flip import PermuteAndFlipLaw
from tacit.mechanisms.choose.priors import Uniform
from tacit.mechanisms.choose.race import Key, LevelLaw, RacedLaw, folded, smallest_exponential, smallest_uniform
from tacit.mechanisms.grid_law import excess_accuracy, level_counts
from tacit.mechanisms.law import Accuracy
from tacit.noises.base import first_where
from tacit.numbers.enclosures import Enclosure, exp
from tacit.numbers.exact import Number, between, positive
from tacit.proofs import Proof
from tacit.randomness import Randomness

LARGEST = 64
"""The largest grid whose exact probabilities are computed for Laplace noise; drawing has no such limit."""


class _LaplaceMax(LevelLaw):
    """With Laplace noise."""

    @staticmethod
    def _key(length: int, source: Randomness) -> Key:
        return folded(smallest_uniform(length, source))

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
        counts, least = level_counts(self._loss), self._least
        shift = self._gamma * (level - least)  # −a_y, the best level at 0
        others = [(self._gamma * (loss - least), count - (loss == level)) for loss, count in counts.items()]
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
        """The largest excess loss (over the best value's) with probability at least 1 − β."""
        failure = between(beta, "beta", 0, 1)
        return excess_accuracy(failure, first_where(lambda k: self._bound(k + 1).high <= failure))

    def _bound(self, t: int) -> Enclosure:
        s = self._gamma * t
        return exp(-s) * (Fraction(1, 2) + s / 4) * self._size


class _GumbelMax(RacedLaw):
    """With Gumbel noise: the law of the exponential mechanism."""

    _key = staticmethod(smallest_exponential)

    def __init__(self, loss: StepLoss, epsilon: Fraction) -> None:
        super().__init__(loss, epsilon)
        self._same = ExponentialLaw(loss, epsilon, Uniform())

    def _pmf_at(self, index: int, bits: int) -> Enclosure:
        return self._same._pmf_at(index, bits)

    def _cdf_at(self, index: int, bits: int) -> Enclosure:
        return self._same._cdf_at(index, bits)

    def accuracy(self, beta: Number) -> Accuracy:
        """The exponential mechanism's."""
        return self._same.accuracy(beta)


_LAWS: dict[str, type[RacedLaw]] = {"exponential": PermuteAndFlipLaw, "laplace": _LaplaceMax, "gumbel": _GumbelMax}


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


def noisy_max(loss: StepLoss, epsilon: Number, noise: str = "exponential") -> RacedLaw:
    """A grid value chosen by report noisy max with ``noise`` "exponential", "laplace" or "gumbel".

    >>> from tacit.curves import StepLoss
    >>> from tacit.grids import integers
    >>> from tacit.mechanisms import noisy_max
    >>> loss = StepLoss.from_losses(integers(0, 3), [3, 1, 0, 2])
    >>> noisy_max(loss, epsilon=1, noise="laplace").guarantee
    Pure(1)
    """
    if noise not in _LAWS:
        raise InvalidInput('noise must be "exponential", "laplace" or "gumbel".')
    law = _LAWS[noise](loss, positive(epsilon, "epsilon"))
    law.name = f"noisy max, {noise} noise,"
    return law


_GIVEN = "adding a person moves the loss of every value by something in [−r, s]"

PROOFS = (
    Proof("noisy max with Laplace noise", "mechanisms.noisy_max", "Pure(ε)", partial(race.argue, sides=2), _GIVEN),
    Proof("noisy max with exponential noise", "mechanisms.noisy_max", "Pure(ε)", race.argue, _GIVEN),
    Proof(
        "noisy max with Gumbel noise",
        "mechanisms.noisy_max",
        "Pure(ε)",
        weights.argue,
        f"{_GIVEN}; its law is that of the exponential mechanism",
    ),
)
