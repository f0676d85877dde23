"""Cap and release over every dataset of up to three persons with totals of 0, 1, 2 or 4, on three levels."""

from __future__ import annotations

from fractions import Fraction

from tacit.audit.exact import Dataset, Mechanism, datasets
from tacit.audit.registry import Case
from tacit.guarantees import Pure
from tacit.mechanisms.cap_and_release import CapAndRelease, cap_and_release

EPSILON, LEVELS = Fraction(4), (1, 2, 3)


def buckets(x: Dataset) -> tuple[list[int], list[int]]:
    """How many totals lie in (0, 1], (1, 2], (2, 3], (3, ∞), and their sums."""
    parts = [[t for t in x if low < t <= high] for low, high in ((0, 1), (1, 2), (2, 3), (3, 10))]
    return [len(part) for part in parts], [sum(part) for part in parts]


def _law(x: Dataset) -> CapAndRelease:
    return cap_and_release(*buckets(x), EPSILON, LEVELS)


class _EvenNoise(CapAndRelease):
    """All of ε for the noise on both sides, as if the choice of the cap were free."""

    def rates(self, place: int) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
        level = self.levels[place]
        return (self._epsilon, self._epsilon), (self._epsilon / level, self._epsilon / level)


class _Swapped(CapAndRelease):
    """The two rates the wrong way round."""

    def rates(self, place: int) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
        (a, b), (c, d) = super().rates(place)
        return (b, a), (d, c)


class _Narrow(CapAndRelease):
    """Noise for the level below the one chosen."""

    def rates(self, place: int) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
        return super().rates(max(place - 1, 0))


def _twin(kind: type[CapAndRelease]) -> Mechanism:
    def build(x: Dataset) -> CapAndRelease:
        law = _law(x)
        return kind(law._above, law._below, EPSILON, LEVELS)

    return build


CASES = (
    Case(
        name="cap and release, totals from 0 to 4",
        covers="mechanisms.cap_and_release",
        mechanism=_law,
        datasets=datasets((0, 1, 2, 4), 3),
        promised=Pure(EPSILON),
        twins={
            "choice of the cap not charged": _twin(_EvenNoise),
            "rates swapped": _twin(_Swapped),
            "noise for the level below": _twin(_Narrow),
        },
        sampled=((1, 2, 4),),
    ),
)
