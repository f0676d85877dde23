"""Counts that are not negative: what was released, moved to 0 where it lies below.

Noise may take a small count below 0. It is shown as released, because totals of such answers are right on average, and
those of clamped ones are too large. `nonnegative` clamps a released value and its interval; it looks at nothing but
what was released, so it costs nothing, and the ledger keeps the answer as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tacit.answers.spreads import SURE, Around, Ends

if TYPE_CHECKING:
    from tacit.answers.answer import Answer

BELOW = "A count below 0 is a small one with noise, shown as it was released"
_COUNTED = ("number of ", "count")
"""How the words of counts begin."""


def below_zero(answer: Answer) -> bool:
    """Whether an answer is a count that noise took below 0."""
    return is_count(answer) and isinstance(answer.value, int | float) and answer.value < 0


def is_count(answer: Answer) -> bool:
    """Whether the truth of an answer is a count, which cannot be negative."""
    return answer.statistic.startswith(_COUNTED)


def clamped(answer: Answer) -> Answer:
    """The same answer with 0 for what lies below; others than counts stay as they are."""
    if not is_count(answer) or isinstance(answer.spread, FromZero) or not isinstance(answer.value, int | float):
        return answer
    spread = None if answer.spread is None else FromZero(answer.spread, answer.value)
    if answer.value >= 0:
        return replace(answer, spread=spread)
    note = f"{answer.value:,} was released, and 0 is shown in its place."
    return replace(answer, value=0, spread=spread, notes=(*answer.notes, note))


@dataclass(frozen=True)
class FromZero(Around):
    """The error of a count that is not shown below 0."""

    released: Any
    """The value as it was released."""

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """The part from 0 on of the interval around what was released: the truth is not below."""
        low, high = self.inside.interval(self.released, confidence)
        return max(0, low), max(0, high)

    def meaning(self, answer: Answer, confidence: Fraction) -> tuple[str, str]:
        """As before."""
        return self.inside.meaning(answer, confidence)

    def persons_above(self, confidence: Fraction) -> int | None:
        """As before."""
        return self.inside.persons_above(confidence)

    def proviso(self, answer: Answer) -> str:
        """As before."""
        return self.inside.proviso(answer)

    def at_least(self, value: Any, confidence: Fraction) -> Any:
        """As before, from 0 on."""
        least = self.inside.at_least(self.released, confidence)
        return None if least is None else max(0, least)

    def truth(self, confidence: Fraction) -> Ends | None:
        """As before."""
        return self.inside.truth(confidence)

    def cut(self, level: Fraction) -> str:
        """As before."""
        return self.inside.cut(level)

    def brief(self, confidence: Fraction) -> str:
        """As before."""
        return self.inside.brief(confidence)

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """As before, with this interval."""
        yield from self.inside.sentences(answer, level)
