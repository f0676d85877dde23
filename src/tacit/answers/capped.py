"""Errors of capped sums: the noise, who may lie above the cap, and what the truth is at least."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt
from typing import TYPE_CHECKING, Any

from tacit.answers.flows import CappedFlow
from tacit.answers.spreads import SURE, Additive, Covers, Ends, noun
from tacit.answers.totals import CappedTotal, SignedTotal
from tacit.answers.values import counted, percent, show, show_range
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

    def meaning(self, answer: Answer, confidence: Fraction) -> tuple[str, str]:
        """The sum as it counts persons above the cap, and what the truth is at least."""
        match self.drawn:
            case CappedTotal() as drawn:
                rule = f"each person above {self._shown(drawn.limit)} counted as {self._shown(drawn.counted)}"
                rule += "" if drawn.limit == drawn.cap else f" and any other as at most {self._shown(drawn.cap)}"
            case SignedTotal(positive, negative):
                rule = (
                    f"each person above {self._shown(positive.limit)} counted as {self._shown(positive.counted)} and "
                    f"each below {self._shown(-negative.limit)} as {self._shown(-negative.counted)}"
                )
                if positive.limit > positive.cap or negative.limit > negative.cap:
                    rule += f", and any other within {show_range(*map(self.unit.value, (-negative.cap, positive.cap)))}"
            case None:
                rule = self._beyond(answer)
        if (ends := self.truth(confidence)) is not None:
            truth = f"the truth lies between {show(ends[0])} and {show(ends[1])} ({percent(confidence)})"
        elif (least := self.at_least(answer.value, confidence)) is None:
            truth = "the truth may be far higher or lower"
        else:
            truth = f"the truth is at least {show(least)} ({percent(confidence)}) and may be far higher"
        return f"the {noun(answer)} with {rule}", truth

    def proviso(self, answer: Answer) -> str:
        """That persons surely lie above the cap, where they stand out of the noise."""
        fewest = self.fewest_above(SURE)
        return f", with at least {counted(fewest, 'person')} {self._outside} (95 %)" if fewest else ""

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """The interval of what, who may lie above the cap, and what that does to the value."""
        yield from super().sentences(answer, level)
        if self.drawn is not None:
            yield self.cut(level)
        if isinstance(self.drawn, SignedTotal):
            negative, positive = -self.drawn.negative.at_least(level), self.drawn.positive.at_least(level)
            yield (
                f"Positive totals add up to at least {self._shown(positive)} and negative ones to at most "
                f"{self._shown(negative)} (95 % each)."
            )
        if self.drawn is not None and self.drawn.wanted:
            yield f"There seem to be too few persons: this cost needs about {self.drawn.wanted:,}; or give more ε."

    def _shown(self, units: int) -> str:
        return show(self.unit.value(units))

    def _beyond(self, answer: Answer) -> str:
        """Beyond what nobody is counted: of both signs by two caps, the larger one of which the answer names.

        Flows know theirs; Gaussian noises are in proportion to them.
        """
        if isinstance(self.noise, Difference):
            sides = (self.noise.first, self.noise.second)
            largest = Fraction(answer.cap) / self.unit.step  # type: ignore[arg-type]
            ratio = 1 / max(sqrt(side.variance) for side in sides)
            above, below = (
                side.cap if isinstance(side, CappedFlow) else round(float(largest) * sqrt(side.variance) * ratio)
                for side in sides
            )
            if above != below:
                return f"nobody counted beyond {self._shown(above)} or {self._shown(-below)}"
        return f"nobody counted beyond {show(answer.cap)}"

    @property
    def _sides(self) -> list[tuple[int, CappedTotal]]:
        """The parts that were released, with the signs of their totals."""
        match self.drawn:
            case CappedTotal() as drawn:
                return [(1, drawn)]
            case SignedTotal(positive, negative):
                return [(1, positive), (-1, negative)]
        return []

    @property
    def _outside(self) -> str:
        """Where persons are whose number was released: beyond the limits, which are further out than the caps."""
        names = {1: "above", -1: "below"}
        return " or ".join(f"{names[sign]} {self._shown(sign * part.limit)}" for sign, part in self._sides)

    def cut(self, level: Fraction) -> str:
        """How many are beyond the limits, and that those between cap and limit are cut too and not among them."""
        above = self.persons_above(level)
        if above is None:
            return ""
        most = f"At most {counted(above, 'person')} {'is' if above == 1 else 'are'}" if above else "No person is"
        said = f"{most} {self._outside} (95 %)."
        limited = [(sign, part) for sign, part in self._sides if part.limit > part.cap]
        taken = "This may take the value above or below the truth."
        if not limited:
            return f"{said} {taken}"
        pairs = [(self._shown(sign * part.cap), self._shown(sign * part.limit)) for sign, part in limited]
        between = " or ".join(f"from {cap} to {limit}" for cap, limit in pairs)
        caps = " or ".join(cap for cap, _ in pairs)
        return f"{said} Others {between} count as {caps}, and how many they are is not known. {taken}"

    def truth(self, confidence: Fraction) -> Ends | None:
        """Where surely nobody is beyond a limit, the truth lies not far from what is capped."""
        ends = None if self.drawn is None else self.drawn.truth(confidence)
        return None if ends is None else (self.unit.value(ends[0]), self.unit.value(ends[1]))


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

    def meaning(self, answer: Answer, confidence: Fraction) -> tuple[str, str]:
        """The truth, or of both signs the capped value."""
        return super().meaning(answer, confidence) if self.signed else ("the truth", "")

    def proviso(self, answer: Answer) -> str:
        """That the cap may have taken far more than the noise."""
        where = "far higher or lower" if self.signed else "far higher"
        return f", with {self._beyond(answer)}; the truth may be {where}"

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """What the truth is at least, and the interval of the capped value as what it is."""
        if not self.signed:
            yield f"The truth is at least {show(answer.at_least())} (95 %)."
        ends = super().interval(answer.value, level)
        yield f"The noise alone, 95 %: so capped the value would be {show_range(*ends)}."
