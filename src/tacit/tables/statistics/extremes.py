"""Minimum and maximum by shifted inverse sensitivity.

With one row of numbers for each person, D_j is the (j+1)-th largest person maximum: what the maximum becomes when the j
persons with the largest values leave. The upward threshold scan on the loss of this profile returns a value that only a
few persons exceed. A minimum is minus the maximum of the negated values. The answer errs on the inner side by
construction: a maximum is an underestimate, up to the grid's rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, inf
from typing import Any

from tacit.answers import Answer, Value
from tacit.curves import DownProfile
from tacit.engines import build
from tacit.engines.expressions import Literal
from tacit.engines.requests import Extremes, Incidence, Ordered, value
from tacit.engines.types import INTEGER
from tacit.errors import InvalidInput, UnsupportedQuery
from tacit.mechanisms.law import Law
from tacit.mechanisms.shifted_inverse import shifted_inverse
from tacit.spreads import Covers
from tacit.tables.room import Room
from tacit.tables.statistics.base import Per, Statistic
from tacit.tables.statistics.scales import Scale

PRECISION = 3
"""Significant digits of a released minimum or maximum."""

MISS = Fraction(1, 1000)
"""How rarely a scan may miss its window. One that misses runs far beyond the data, which spoils a mean or a variance
over the range it gives; fifty times as rare costs half as many persons again beyond the answer."""

METHODS = ("scan", "scan_down", "exponential", "permute_and_flip", "binary_search")
"""The pure methods of `tacit.mechanisms.shifted_inverse`."""


def depth(epsilon: Fraction) -> int:
    """How many person values are looked at: beyond so many removals a loss cannot matter any more."""
    return min(9000, ceil(250 / epsilon) + 20)


def extreme_law(
    values: tuple[Fraction, ...], scale: Scale, largest: bool, epsilon: Fraction, method: str = "scan"
) -> Law[Any]:
    """The law of a maximum of ``values`` (descending), or of minus the minimum (``values`` ascending)."""
    sign, grid = 1 if largest else -1, scale.outward(largest)
    profile = DownProfile([scale.clamped(sign * v, grid) for v in values])
    return shifted_inverse(profile, grid, epsilon, method=method, beta=MISS)


@dataclass(frozen=True)
class Extremum(Statistic):
    """The largest or smallest value."""

    value: Ordered
    name: str
    largest: bool
    per: Per = "row"
    method: str = "scan"
    several = True

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InvalidInput(f"method must be one of {', '.join(METHODS)}.")

    @property
    def words(self) -> str:
        """What is asked."""
        return f"{'maximum' if self.largest else 'minimum'} of {self.name}"

    def release(self, room: Room) -> Answer:
        """The K largest person maxima, a scan, and one value."""
        epsilon = room.allowance.epsilon
        scale = Scale(self.value.expression.type, PRECISION)
        law = extreme_law(self._profile(room, epsilon), scale, self.largest, epsilon, self.method)
        found = room.draw(law)
        grid, sign = scale.outward(self.largest), 1 if self.largest else -1
        place = grid.index(found)
        assert place is not None  # a law draws from its grid
        unknown = place == grid.first
        # Values are rounded up to the grid, so the extreme itself lies above the grid value before the answer.
        inner = None if unknown else scale.value(sign * scale.next_above(grid.value(place - 1)))
        beyond = {level: _window(law, level) for level in _LEVELS}
        return room.answer(
            self.words,
            None if unknown else scale.value(sign * found, upward=not self.largest),
            mechanism=f"shifted inverse sensitivity by {self.method}",
            spread=Inner(self.largest, tuple(beyond.items()), inner),
            per=self.per,
            notes=("Too few persons to name a value.",) if unknown else (),
        )

    def _profile(self, room: Room, epsilon: Fraction) -> tuple[Fraction, ...]:
        """What the extreme becomes when 0, 1, 2, … persons leave."""
        if not room.several:
            (values,) = room.ask(Extremes(self.value, depth(epsilon), self.largest))
            assert isinstance(values, tuple)
            return values
        from tacit.flows.largest import largest_profile
        from tacit.tables.statistics.joint import rows_of

        if not self.value.expression.type.number:
            raise UnsupportedQuery(
                "the minimum or maximum of dates is not supported where rows concern several persons."
            )
        amount = value(self.value.expression)
        if not self.largest:
            amount = value(build.arithmetic("-", Literal(INTEGER, 0), self.value.expression))
        touches = room.touches(Incidence(amount, largest=True))
        heights, persons = touches.weights, rows_of(replace(touches, weights=touches.weights * 0 + 1))
        found = largest_profile(persons, heights, min(depth(epsilon), 400))
        sign = 1 if self.largest else -1
        return tuple(sign * amount.unit * height for height in found if height is not None)


_LEVELS = tuple(Fraction(n, 1000) for n in (500, 800, 900, 950, 980, 990, 995, 999))


def _window(law: Law[Any], level: Fraction) -> int | None:
    """How many persons may lie beyond, where the law promises that much confidence at all: a public fact."""
    try:
        return law.accuracy(1 - level).window
    except InvalidInput:
        return None


@dataclass(frozen=True)
class Inner:
    """A value inside the data: with stated confidence few persons lie beyond it and the true extreme does."""

    largest: bool
    beyond: tuple[tuple[Fraction, int | None], ...]
    inner: Value
    """With the same confidence the extreme is not inside of this: the answer before its rounding outward."""
    covers: Covers = "truth"
    std: None = None

    def interval(self, value: Any, confidence: Fraction) -> tuple[Any, Any]:
        """One-sided: nothing bounds an extreme from outside without an assumption."""
        if self.persons_above(confidence) is None:
            return -inf, inf
        return (self.inner, inf) if self.largest else (-inf, self.inner)

    def persons_above(self, confidence: Fraction) -> int | None:
        """At most so many persons lie beyond the value."""
        return next((window for level, window in self.beyond if level >= confidence and window is not None), None)

    def sentences(self, answer: Answer) -> Iterator[str]:
        """How many persons may lie beyond."""
        count = self.persons_above(Fraction(95, 100))
        if answer.value is not None and count is not None:
            side = "above" if self.largest else "below"
            yield f"With 95 % confidence at most {count} persons lie {side} it; the true one may be further out."
