"""A law: the exact distribution of what a mechanism would release on the data at hand.

A law is made on the trusted side. It knows the private data, so its repr shows none of it; `sample()` makes one exact
draw, and that draw is what may be released, once, for `guarantee`. `pmf` and `cdf` are for verification and study: they
are rigorous enclosures, never released.

A law also says what an audit needs to know: `key`, what it depends on; `telling_points`, where the laws of two datasets
differ most; `outcomes_to_follow`, after which outcomes further draws are looked at; `concentrated_loss`, its
distance to another law where a formula knows or bounds it. Each class states them beside its mathematics.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

from tacit.errors import InvalidInput
from tacit.numbers.enclosures import BITS, Enclosure, log
from tacit.numbers.exact import Number, whole
from tacit.randomness.source import SYSTEM, Randomness

if TYPE_CHECKING:
    from tacit.guarantees import Guarantee

T = TypeVar("T")

Named = Mapping[str, Any]
"""A law as certificates name it: "law", its name, and its public parameters; numbers are exact, as text."""


@dataclass(frozen=True)
class Accuracy:
    """What is promised about one draw with probability at least 1 − β, from public facts only."""

    beta: Fraction
    window: int | None
    """The largest output loss (persons) inside the promise; None where it is not counted in persons."""
    statement: str
    """The promise in words."""

    def __str__(self) -> str:
        return self.statement


def range_loss(law: Law[Any], other: Law[Any], bits: int = 64) -> Enclosure:
    """From 0 to r²/8, where the log ratios of two laws lie in an interval of length r: then D_α ≤ αr²/8, both ways.

    Their ratios must be largest and smallest at the telling points, or among all outcomes.
    """
    if law.key() == other.key():
        return Enclosure.of(0, bits)
    points = law.telling_points([law, other])
    ratios = [law.pmf(y, bits) / other.pmf(y, bits) for y in (law.outcomes() if points is None else points)]
    length = (max(ratio.high for ratio in ratios), min(ratio.low for ratio in ratios))
    range_ = log(length[0] / length[1], bits).high
    return Enclosure.between(0, range_ * range_ / 8, bits)


class Law(ABC, Generic[T]):
    """The exact output distribution of a mechanism on given data."""

    name: str = "law"
    guarantee: Guarantee

    @abstractmethod
    def _draw(self, source: Randomness) -> T:
        """One exact draw."""

    @abstractmethod
    def pmf(self, y: T, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output = y], with about ``bits`` significant bits."""

    def outcomes(self) -> Iterable[T]:
        """Outputs to enumerate when the law is verified.

        All of them where they are finitely many and few, otherwise a public window; the verifier takes what is left
        as one further outcome, so nothing is left out.
        """
        raise InvalidInput(f"the {self.name} law has too many outputs to enumerate; verify it on a smaller grid.")

    def key(self) -> Hashable:
        """All that the distribution depends on: laws of equal keys are one law. It knows the private data.

        A law that does not say is equal to itself alone.
        """
        return id(self)

    def telling_points(self, laws: Sequence[Self]) -> Sequence[T] | None:
        """The outputs to compare one by one where ``laws`` of one draw, on several datasets, list too many.

        Their ratios must be largest there; all other outputs count as one together. None means all that `outcomes`
        lists.
        """
        return None

    def outcomes_to_follow(self) -> Sequence[T]:
        """A few outcomes after each of which an audit looks at the next draw of a statistic."""
        return list(self.outcomes())[-1:]

    def named(self) -> Named | None:
        """Its name and public parameters, in the words of `tacit.checker`; None while that knows no such law.

        Nothing in it may depend on the data but through what was drawn, and paid for, before.
        """
        return None

    def concentrated_loss(self, other: Self) -> Enclosure | None:
        """The least ρ with D_α ≤ αρ between this law and another, both ways; None where no formula knows it.

        Where a formula gives a bound alone, that is the high end, and the low end is 0.
        """
        return None

    def cdf(self, y: T, bits: int = BITS) -> Enclosure:
        """A rigorous enclosure of P[output ≤ y]."""
        parts = [self.pmf(z, bits) for z in self.outcomes() if z <= y]  # type: ignore[operator]
        result = Enclosure(0, 0, 0, bits)
        for part in parts:
            result = result + part
        return result.clamp(0, 1)

    def accuracy(self, beta: Number) -> Accuracy:
        """What one draw is promised to satisfy with probability at least 1 − β."""
        raise InvalidInput(f"the {self.name} law states no accuracy of its own.")

    @overload
    def sample(self, size: None = None, *, source: Randomness = SYSTEM) -> T: ...
    @overload
    def sample(self, size: int, *, source: Randomness = SYSTEM) -> list[T]: ...
    def sample(self, size: int | None = None, *, source: Randomness = SYSTEM) -> T | list[T]:
        """One exact draw, which is what may be released, once; or ``size`` of them, for studies."""
        if size is None:
            one: T = self._mark(self._draw(source), source)
            return one
        return [self._mark(y, source) for y in self._draws(whole(size, "size", 0), source)]

    def _draws(self, size: int, source: Randomness) -> Iterable[T]:
        """``size`` draws; a law with a faster way for many overrides this."""
        return (self._draw(source) for _ in range(size))

    @staticmethod
    def _mark(value: T, source: Randomness) -> Any:
        return source.mark(value)

    def __repr__(self) -> str:
        return f"<{self.name} law, {self.guarantee!r} for one draw>"
