"""Errors of capped sums: the noise, who may lie above the cap, and what the truth is at least."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

from tacit.answers.spreads import SURE, Additive, Covers, Ends
from tacit.answers.totals import CappedTotal, SignedTotal
from tacit.answers.values import show, show_range
from tacit.noises import Difference

if TYPE_CHECKING:
    from tacit.answers import Answer


@dataclass(frozen=True)
class CappedSum(Additive):
    """Noise around a capped sum, how many persons may lie above the cap, and what the truth is at least."""

    covers: Covers = "capped value"

    @property
    def drawn(self) -> CappedTotal | SignedTotal | None:
        """What `scan_and_release` released, where that made the sum."""
        match self.noise:
            case CappedTotal() as total:
                return total
            case Difference(CappedTotal() as positive, CappedTotal() as negative):
                return SignedTotal(positive, negative)
        return None

    def persons_above(self, confidence: Fraction) -> int | None:
        """From the released number of persons above the cap."""
        return None if self.drawn is None else self.drawn.persons_above_cap(confidence)

    def fewest_above(self, confidence: Fraction) -> int:
        """With this confidence no fewer persons than this lie above the cap; 0 where the noise hides them."""
        return 0 if self.drawn is None else self.drawn.fewest_above_cap(confidence)

    def at_least(self, value: Any, confidence: Fraction) -> Any:
        """Where persons above a cap count as the cap, what is capped is never above the truth; None of both signs."""
        match self.drawn:
            case CappedTotal() as drawn:
                return self.unit.value(drawn.at_least(confidence))
            case SignedTotal():
                return None
        return None if isinstance(self.noise, Difference) else self.interval(value, confidence)[0]

    def sentences(self, answer: Answer) -> Iterator[str]:
        """The interval, the cap, who may lie above it, and what that does to the value."""
        yield from super().sentences(answer)
        match self.drawn:
            case CappedTotal() as drawn:
                yield self._counted(
                    f"more than {self._shown(drawn.cap)} is counted as {self._shown(2 * drawn.cap)}", "above"
                )
            case SignedTotal(positive, negative):
                most, least = self._shown(2 * positive.cap), self._shown(-2 * negative.cap)
                yield self._counted(
                    f"more than {self._shown(positive.cap)} is counted as {most} and one with less than "
                    f"{self._shown(-negative.cap)} as {least}",
                    "above or below",
                )
                most, least = self._shown(-negative.at_least(SURE)), self._shown(positive.at_least(SURE))
                yield f"Positive totals add up to at least {least} and negative ones to at most {most} (95 % each)."
            case None:
                yield f"No person counts for more than {show(answer.cap)}."
        least = answer.at_least()
        if least is not None:
            yield f"The truth is at least {show(least)} (95 %)."

    def _shown(self, units: int) -> str:
        return show(self.unit.value(units))

    def _counted(self, rule: str, side: str) -> str:
        above = self.persons_above(SURE)
        most = "at most 1 person" if above == 1 else f"at most {above:,} persons" if above else "no person"
        return f"A person with {rule}, so the value may be {side} the truth; this concerns {most} (95 %)."


@dataclass(frozen=True)
class CappedBelow(CappedSum):
    """Noise around what a cap leaves of a statistic where a row may concern several persons.

    How much the cap takes away cannot be known, and of a graph with a hub it may be almost all: so what is stated of
    the truth has one side. Of a sum of both signs nothing can be; there the interval is that of the capped value.
    """

    covers: Covers = "truth"

    def __post_init__(self) -> None:
        if self.signed:
            object.__setattr__(self, "covers", "capped value")

    @property
    def signed(self) -> bool:
        """Whether it is the difference of two."""
        return isinstance(self.noise, Difference)

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """From what the capped value is at least, without an upper end."""
        low, high = super().interval(value, confidence)
        return (low, high) if self.signed else (low, inf)

    def proviso(self, answer: Answer) -> str:
        """That the cap may have taken far more than the noise."""
        where = "far higher or lower" if self.signed else "far higher"
        return f", no person counted for more than {show(answer.cap)}; the truth may be {where}"

    def sentences(self, answer: Answer) -> Iterator[str]:
        """What the truth is at least, and the interval of the capped value as what it is."""
        if not self.signed:
            yield f"The truth is at least {show(answer.at_least())} (95 %)."
        ends = super().interval(answer.value, SURE)
        yield f"The noise alone, 95 %: with that cap the value would be {show_range(*ends)}."
