"""The stable mode over votes, a threshold that is too low, and noise that is never negative."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

from tacit.audit.exact import Dataset, datasets
from tacit.audit.registry import AuditCase
from tacit.guarantees import Approx
from tacit.mechanisms.choose.stable_mode import StableModeLaw, lead, stable_mode
from tacit.numbers.enclosures import BITS, Enclosure, exp

EPSILON, DELTA = Fraction(1), Fraction(1, 10)


class _LowThreshold(StableModeLaw):
    """The threshold one lower than the proof asks."""

    def __init__(self, x: Dataset) -> None:
        super().__init__(*lead(x), EPSILON, DELTA)
        self.threshold -= 1


class _OneSided(StableModeLaw):
    """Noise that is never negative, P[Z ≥ k] = e^{-εk}, with its own threshold."""

    def __init__(self, x: Dataset) -> None:
        super().__init__(*lead(x), EPSILON, DELTA)
        self.threshold = next(t for t in range(1, 1000) if exp(-EPSILON * t).high <= DELTA)

    def pmf(self, y: Hashable | None, bits: int = BITS) -> Enclosure:
        """P[output = y] with one-sided noise."""
        released = exp(-EPSILON * max(0, self.threshold - self._lead + 1), bits)
        released = Enclosure.of(0, bits) if self._mode is None else released
        if y is None:
            return (1 - released).clamp(0, 1)
        return released if y == self._mode else Enclosure.of(0, bits)


CASES = (
    AuditCase(
        name="stable mode, votes",
        covers="mechanisms.stable_mode",
        mechanism=lambda x: stable_mode(x, EPSILON, DELTA),
        datasets=datasets("abc", 8),
        promised=Approx(EPSILON, DELTA),
        twins={"a threshold one too low": _LowThreshold, "one-sided noise": _OneSided},
        sampled=[("a",) * 4],
    ),
)
