"""`bounded`: a function with a private measurement from which a bound on its local sensitivity follows.

PROMISE  Approx(ε, δ): a share of ε pays for the measurement, the rest for noise of the scale that it allows
(`tacit.mechanisms.local.private_bound`, which has the proof).

WHAT IT RESTS ON  That the measurement is private at the ε it is given, and that on every dataset the bound is at least
the local sensitivity except with probability δ. If either is wrong the promise is void. The measurement is a law of the
library, so its own promise is proved; what it is made of is believed.

The range is a public fact; the bound is cut at its width, values of f beyond it count as its ends, and a failure of f
as its low end. A bound that fails is the width of the range.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from tacit.answers import Answer
from tacit.answers.spreads import Additive
from tacit.errors import InvalidInput
from tacit.functions.function import Function, OwnFunction, callable_or_refused, called, named, released
from tacit.functions.local import COARSE
from tacit.guarantees import Approx, Guarantee, Pure
from tacit.mechanisms.law import Law
from tacit.mechanisms.local.private_bound import BoundedLaw, private_bound, round_to, steps
from tacit.mechanisms.noise.noise import laplace
from tacit.mechanisms.person_values import span
from tacit.noises import DiscreteLaplace
from tacit.numbers.exact import Number, Unit, between, positive
from tacit.tables.releasing.room import Desk

MEASURE_SHARE = Fraction(1, 4)
"""What the measurement takes of ε unless another share is given."""

Measure = Callable[[list[Any], Fraction], Law[Any]]
"""From the records and an ε to a law of that price."""
Bound = Callable[[Any, Fraction, Fraction], Any]
"""From what was drawn, the measurement's ε and δ to a bound on the local sensitivity."""


@dataclass(frozen=True, repr=False)
class Bounded(OwnFunction):
    """A function whose local sensitivity is bounded by what is measured privately."""

    f: Function
    measure: Measure
    bound: Bound
    name: str
    range: tuple[Fraction, Fraction]
    share: Fraction
    lattice: Fraction
    rests_on = "but with probability δ the bound is at least the local sensitivity, on every dataset"
    needs_delta = True

    def check(self, cost: Guarantee) -> None:
        """A δ is needed, and a measurement whose price is the ε it is given."""
        if not isinstance(cost, Approx):
            raise InvalidInput("a private bound needs delta= beside epsilon=.")
        first, _ = self._parts(cost)
        try:
            law = self.measure([], first)
        except Exception:
            law = None
        if not isinstance(law, Law) or law.guarantee != Pure(first):
            raise InvalidInput(
                "measure(records, epsilon) must return a law of tacit.mechanisms that is Pure(epsilon), of no records "
                "too, such as laplace(len(records), epsilon); nothing was spent."
            )

    def _parts(self, cost: Approx) -> tuple[Fraction, Fraction]:
        return cost.epsilon * self.share, cost.epsilon * (1 - self.share)

    def value(self, records: list[Any]) -> Fraction:
        """The function, in its range."""
        low, high = self.range
        found = called(self.f, list(records))
        return low if found is None else min(max(found, low), high)

    def limit(self, drawn: Any, cost: Approx) -> Fraction:
        """The bound that follows from a measurement, at most the width of the range."""
        width = self.range[1] - self.range[0]
        found = called(self.bound, drawn, self._parts(cost)[0], cost.delta)
        return width if found is None else min(found, width)

    def _measured(self, records: list[Any], cost: Approx) -> Law[Any]:
        """The measurement; of what cannot be measured, that of nobody."""
        first, _ = self._parts(cost)
        try:
            law = self.measure(list(records), first)
        except KeyboardInterrupt:
            raise
        except BaseException:  # what it says may show records
            law = None
        usable = isinstance(law, Law) and law.guarantee == Pure(first)
        return law if usable and law is not None else self.measure([], first)

    def _law(self, records: list[Any], cost: Guarantee) -> BoundedLaw:
        assert isinstance(cost, Approx)

        measured, rule = self._measured(records, cost), _rule(self, cost)
        return private_bound(self.value(records), measured, rule, self._parts(cost)[1], cost.delta, self.lattice)

    def release(self, records: list[Any], desk: Desk, cost: Guarantee) -> Answer:
        """The measurement, then the function with noise for the bound that follows."""
        assert isinstance(cost, Approx)
        bound = self.limit(desk.draw(self._measured(records, cost)), cost)
        moved, second = steps(bound, self.lattice), self._parts(cost)[1]
        drawn = desk.draw(laplace(round_to(self.value(records), self.lattice), second, moved)) * self.lattice
        unit = Unit(self.lattice, "integer" if self.lattice.denominator == 1 else "float")
        return desk.answer(
            self.name,
            released(drawn),
            mechanism="Laplace noise for a private bound on the local sensitivity",
            per="person",
            unit=unit,
            spread=Additive(DiscreteLaplace.for_pure(second, moved), unit),
            notes=(
                f"Its noise was made for a bound of {float(moved * self.lattice):g} on what one person moves.",
                f"The promise rests on this: {self.rests_on}.",
            ),
        )

    def coarse(self) -> Bounded:
        """On a lattice of few steps."""
        low, high = self.range
        return replace(self, lattice=max(self.lattice, (high - low) / COARSE))


@lru_cache(maxsize=16)
def _rule(function: Bounded, cost: Approx) -> Callable[[Any], Fraction]:
    """The bound as a rule of what was drawn, one for all datasets, each bound found once."""
    return lru_cache(maxsize=2**16)(lambda drawn: function.limit(drawn, cost))


def bounded(
    f: Function,
    measure: Measure,
    bound: Bound,
    *,
    range: tuple[Number, Number],
    share: Number = MEASURE_SHARE,
    lattice: Number | None = None,
    name: str | None = None,
) -> OwnFunction:
    """A function with a private measurement from which a bound on its local sensitivity follows.

    Args:
        f: the function of a list with one record for each person.
        measure: a law that is Pure(ε), of the records and that ε, such as a noisy count.
        bound: of what it drew, its ε and δ, a number that is below the local sensitivity with probability at most δ,
            whatever the data.
        range: the ends of the public range in which the function lies.
        share: the share of ε that pays for the measurement.
        lattice: the step of the possible answers, a public number; by default 1, or a 2^-20th of the range.
        name: what it is called in answers.

    >>> from tacit.mechanisms import laplace
    >>> def bound(noisy, epsilon, delta):  # one person moves a mean of n numbers from 0 to 100 by 100/n at most
    ...     fewest = noisy - laplace(0, epsilon).reach(delta)
    ...     return 100 / max(1, fewest)
    >>> mean = tacit.functions.bounded(
    ...     lambda x: sum(x) / len(x) if x else 50, lambda x, epsilon: laplace(len(x), epsilon), bound, range=(0, 100)
    ... )
    >>> mean.ask(list(range(100)) * 20, epsilon=1, delta="1e-6", budget=Approx(1, "1e-6"))
    Answer(<lambda>: ..., Approx(1, 1e-06))
    """
    for function, what in ((f, "f"), (measure, "measure"), (bound, "bound")):
        callable_or_refused(function, what)
    ends = span(*range)
    step = min(Fraction(1), (ends[1] - ends[0]) / 2**20) if lattice is None else positive(lattice, "lattice")
    return Bounded(f, measure, bound, named(f, name), ends, between(share, "share", 0, 1), step)
