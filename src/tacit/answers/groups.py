"""Errors of groups: totals of capped vectors, and numbers of persons that are shown only above a threshold.

ERROR  A key is shown because its noisy number v = c + Z came out at T or more, so Z, given that, is not the noise that
was added: of many keys with few persons those shown have been lucky. What holds is an interval from the law *given that
the key is shown*: all c with P[V ≥ v | c, shown] > β/2 and P[V ≤ v | c, shown] > β/2. For every c either fails with
probability at most β/2 given that it is shown, so of the intervals shown at least 1 − β hold their c, on average,
whatever the data. Z is log-concave, and stays so when cut off from below, so the two chances rise and fall with c, and
these c are an interval.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import exp, isqrt, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.answers.spreads import SURE, Additive, Covers, Ends, Spread, noun
from tacit.answers.values import show
from tacit.noises import Coarser, DiscreteGaussian, TruncatedLaplace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.answers import Answer


def capped_vector(answer: Answer, where: str, euclidean: bool) -> tuple[str, str]:
    """What an interval is of where persons' vectors over groups are capped, and that the truth is something else."""
    where = "(the root of the sum of squares over all groups)" if euclidean else where
    return f"the {noun(answer)} with nobody counted beyond {show(answer.cap)} {where}", "the truth may be far from it"


@dataclass(frozen=True)
class Capped(Additive):
    """Noise around totals of capped vectors."""

    covers: Covers = "capped value"
    WHERE: ClassVar[str] = "over all groups"
    EACH: ClassVar[bool] = False
    """Whether each group has a cap of its own."""

    def meaning(self, answer: Answer, confidence: Fraction) -> tuple[str, str]:
        """The total as capped; with Gaussian noise it is the Euclidean norm of a person's groups that is."""
        noise = self.noise.noise if isinstance(self.noise, Coarser) else self.noise
        return capped_vector(answer, self.WHERE, isinstance(noise, DiscreteGaussian) and not self.EACH)


@dataclass(frozen=True)
class CappedGroup(Capped):
    """Noise around the capped total of one group."""

    WHERE: ClassVar[str] = "in a group"
    EACH: ClassVar[bool] = True


@dataclass(frozen=True)
class ShownCount(Spread):
    """The error of a number that is shown only if its noise takes it to a threshold."""

    noise: TruncatedLaplace | DiscreteGaussian
    threshold: int
    covers = "capped value"

    @property
    def std(self) -> float:
        """Of the noise, shown or not."""
        return sqrt(self.noise.variance)

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """All numbers for which what is shown lies in neither tail of its law, given that it is shown."""
        tail = (1 - float(confidence)) / 2 * (1 - 1e-9)  # rounded the safe way
        reach = self.noise.bound if isinstance(self.noise, TruncatedLaplace) else _reach(self.noise)
        possible = range(value - reach, value + reach + 1)
        low = bisect_left(possible, x=True, key=lambda c: self._at_least(value, c) > tail)
        high = bisect_left(possible, x=True, key=lambda c: 1 - self._at_least(value + 1, c) <= tail)
        return possible[low], possible[high - 1]

    def _at_least(self, value: int, count: int) -> float:
        """P[count + Z ≥ value | count + Z ≥ threshold]."""
        noise, shown = self.noise, self.threshold - count
        least = noise.log_at_least if isinstance(noise, TruncatedLaplace) else partial(_log_at_least, noise)
        return exp(least(max(value - count, shown)) - least(shown))

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """The interval, and that it is one of those shown."""
        yield from super().sentences(answer, level)
        yield (
            f"Groups are shown because their noisy number came to {self.threshold:,} or more, which favours lucky "
            "ones; the interval holds given that."
        )


def _reach(noise: DiscreteGaussian) -> int:
    """Twelve standard deviations, beyond which the noise lies once in 10^32."""
    return 12 * isqrt(int(noise.squared_scale)) + 12


@lru_cache(maxsize=8)
def _log_tails(noise: DiscreteGaussian) -> NDArray[np.float64]:
    """ln Σ_{k ≥ z} e^{−k²/(2v)} for z from −2·reach to 2·reach, added up from the far end, where terms are smallest."""
    import numpy as np

    reach, v = 2 * _reach(noise), float(noise.squared_scale)
    places = np.arange(reach, -reach - 1, -1, dtype=float)
    found: NDArray[np.float64] = np.logaddexp.accumulate(-places * places / (2 * v))[::-1]
    return found


def _log_at_least(noise: DiscreteGaussian, z: int) -> float:
    """ln P[Z ≥ z] up to a constant; beyond the far end what the last term alone would be."""
    tails = _log_tails(noise)
    place = z + len(tails) // 2
    if place >= len(tails):
        return -z * z / (2 * float(noise.squared_scale))
    return float(tails[max(place, 0)])
