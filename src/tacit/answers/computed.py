"""Answers computed from other answers: ratios, shares, rounded numbers, comparisons.

ERROR  The intervals of the k parts are taken at 1 − (1 − confidence)/k each, so that all of them hold together with the
confidence asked for, whatever ties their noises to each other. While they do, the parts lie in a box, and the interval
holds every value that the formula takes there (`formulas.possible`). It covers the truth only where all parts' do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

from tacit.answers.answer import Answer
from tacit.answers.certificates import together
from tacit.answers.formulas import Constant, Formula, Part, evaluate, possible, replace_leaves, steps
from tacit.answers.quantities import ANYTHING, Possible, Quantity, Range, ends, read, write
from tacit.answers.spreads import SURE, SUREST, Covers, Ends, Spread
from tacit.answers.values import show

if TYPE_CHECKING:
    from tacit.guarantees import Guarantee

COMPUTED = "computed from released answers"
"""How such an answer was made."""


@dataclass(frozen=True)
class Computed(Spread):
    """The error of a formula over released answers."""

    formula: Formula
    parts: tuple[Answer, ...]

    def __post_init__(self) -> None:
        if parts_of(self.formula) != list(range(len(self.parts))):
            raise ValueError("a formula over other parts than these")

    @property
    def covers(self) -> Covers:
        """The truth where every part's interval does; else the value that caps and samples leave."""
        words = {part.spread.covers for part in self.parts if part.spread is not None}
        capped, sampled = (any(word in found for found in words) for word in ("capped", "sampled"))
        if sampled:
            return "sampled, capped value" if capped else "sampled value"
        return "capped value" if capped else "truth"

    def interval(self, value: Any, confidence: Fraction) -> Ends:
        """Whatever the formula gives on the box of the parts' intervals."""
        level = 1 - (1 - confidence) / max(1, len(self.parts))
        if level >= SUREST:
            return -inf, inf
        return ends(possible(self.formula, [_possible(part, level) for part in self.parts]), value)

    def sentences(self, answer: Answer, level: Fraction = SURE) -> Iterator[str]:
        """The interval, and what it was computed from."""
        yield from super().sentences(answer, level)
        *parts, last = [f"the {part.statistic} ({show(part.value)})" for part in self.parts]
        together = "; the interval holds where those of all of them hold together" if parts else ""
        yield f"Computed at no further cost from {', '.join(parts)}{' and ' if parts else ''}{last}{together}."


def _possible(part: Answer, level: Fraction) -> Possible:
    """What a released value may stand for."""
    if part.value is None:
        return frozenset({None})
    interval, point = part.interval(level), read(part.value)
    if not isinstance(point, Quantity):
        return ANYTHING
    low, high = read(interval.low), read(interval.high)  # what is unbounded reads as NULL
    return Range(
        low.exact if isinstance(low, Quantity) else -inf, high.exact if isinstance(high, Quantity) else inf, point.kind
    )


def parts_of(formula: Formula) -> list[int]:
    """The places that a formula has for released values."""
    return list(dict.fromkeys(step.number for step in steps(formula) if isinstance(step, Part)))


def compute(formula: Formula, parts: Sequence[Answer], statistic: str, guarantee: Guarantee) -> Answer:
    """The answer that a formula over at least one released answer gives.

    ``statistic`` says what it is, ``guarantee`` what the releases that it is made of cost together.
    """
    if isinstance(formula, Part):
        return parts[formula.number]
    used = parts_of(formula)
    placed = replace_leaves(formula, lambda leaf: Part(used.index(leaf.number)) if isinstance(leaf, Part) else leaf)
    held = tuple(parts[number] for number in used)
    first = held[0]
    return replace(
        first,
        statistic=statistic,
        value=write(evaluate(placed, [part.value for part in held])),
        guarantee=guarantee,
        mechanism=COMPUTED,
        per=first.per if all(part.per == first.per for part in held) else "row",
        unit="1",
        spread=Computed(placed, held),
        cap=None,
        notes=(),
        private=all(part.private for part in held),
        asked=max(part.asked for part in held),
        stored=all(part.stored for part in held),
        releases=together(part.releases for part in held),
    )


def constant_value(formula: Formula) -> Any:
    """The value of a formula without released answers in it."""
    return formula.value if isinstance(formula, Constant) else write(evaluate(formula, ()))
