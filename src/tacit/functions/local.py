"""`local`: a function with a bound on how far one person moves it, near the data at hand.

PROMISE  By "smooth": Pure(ε), Zcdp(ρ), or Approx(ε, δ), as `tacit.mechanisms.local.smooth_sensitivity` says. By
"propose_test_release": Approx(ε, δ), with a bound that a scan finds; the answer is a refusal where none passes.

WHAT IT RESTS ON  A bound U_k(x) for k = 0, 1, …, of which the promise needs two things: U_0(x) is at least what adding
or removing one person moves f by on x, and U_k(x) ≤ U_{k+1}(x') for neighbours x, x'. The local sensitivity at distance
k, the most that one person moves f on any dataset within k persons of x, has both. If the bound is too small the
promise is void. It is made not to fall with k, and cut at the width of the range, which keeps both.

The range is a public fact; values of f beyond it count as its ends, which makes no difference larger, and a failure as
its low end. A bound that fails is the width of the range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import Any

from tacit.answers import Answer
from tacit.answers.spreads import Additive
from tacit.errors import InvalidInput
from tacit.functions.function import Function, OwnFunction, callable_or_refused, called, named, released
from tacit.guarantees import Approx, Guarantee, Pure, Zcdp
from tacit.mechanisms.law import Law
from tacit.mechanisms.local.propose_test_release import TEST_SHARE, Release, propose_test_release
from tacit.mechanisms.local.sensitivities import LocalStatistic
from tacit.mechanisms.local.smooth_sensitivity import smooth_sensitivity
from tacit.mechanisms.person_values import span
from tacit.noises import DiscreteLaplace
from tacit.numbers.exact import Number, Unit, check_listed, positive
from tacit.tables.releasing.room import Allowance, Desk

METHODS = ("smooth", "propose_test_release")

COARSE = 8
"""Into so many steps a range is divided for verification."""

Growth = Callable[[list[Any], int], Any]
"""From the records and k to a bound on the local sensitivity at distance k."""


@dataclass(frozen=True)
class Claimed(LocalStatistic):
    """A function, its range and the bound that its author claims."""

    f: Function
    growing: Growth
    ends: tuple[Fraction, Fraction]
    called: str
    exact = False

    @property
    def name(self) -> str:
        """As its author calls it."""
        return self.called

    @property
    def window(self) -> tuple[Fraction, Fraction]:
        """The range."""
        return self.ends

    def value(self, data: Any) -> Fraction:
        """The function, in its range."""
        low, high = self.ends
        found = called(self.f, list(data))
        return low if found is None else min(max(found, low), high)

    def growth(self, data: Any) -> Iterator[Fraction]:
        """The bound, made not to fall and cut at the width of the range."""
        largest, width = Fraction(0), self.global_sensitivity
        for k in count():
            found = called(self.growing, list(data), k) if largest < width else width
            largest = max(largest, width if found is None else min(found, width))
            yield largest


@dataclass(frozen=True, repr=False)
class Local(OwnFunction):
    """A function with a bound on its local sensitivity."""

    statistic: LocalStatistic
    name: str
    method: str | None
    lattice: Fraction
    rests_on = (
        "the bound is at least the local sensitivity, and no larger than that of neighbours one person further on"
    )

    def chosen(self, cost: Guarantee) -> str:
        """The method: what was asked for, or propose-test-release where there is a δ for it."""
        return self.method or ("propose_test_release" if isinstance(cost, Approx) else "smooth")

    @property
    def needs_delta(self) -> bool:
        """Whether it cannot do without a δ."""
        return self.method == "propose_test_release"

    def check(self, cost: Guarantee) -> None:
        """Propose-test-release needs a δ."""
        Allowance.of(cost)
        if self.needs_delta and not isinstance(cost, Approx):
            raise InvalidInput("propose-test-release needs delta= beside epsilon=; or use method='smooth'.")

    def _law(self, records: list[Any], cost: Guarantee) -> Law[Any]:
        statistic, step = self.statistic, self.lattice
        match cost:
            case Approx(epsilon, delta) if self.chosen(cost) == "propose_test_release":
                return propose_test_release(statistic, records, epsilon, delta, lattice=step)
            case Approx(epsilon, delta):
                return smooth_sensitivity(statistic, records, epsilon, delta=delta, noise="laplace", lattice=step)
            case Zcdp(rho):
                return smooth_sensitivity(statistic, records, rho=rho, noise="laplace_log_normal", lattice=step)
        assert isinstance(cost, Pure)
        return smooth_sensitivity(statistic, records, cost.epsilon, lattice=step)

    def release(self, records: list[Any], desk: Desk, cost: Guarantee) -> Answer:
        """The function with noise of a local scale."""
        drawn = desk.draw(self._law(records, cost))
        spread: Additive | None = None
        notes: tuple[str, ...] = (f"The promise rests on this: {self.rests_on}.",)
        unit = Unit(self.lattice, "integer" if self.lattice.denominator == 1 else "float")
        if isinstance(drawn, Release):
            assert isinstance(cost, Approx)
            noise = DiscreteLaplace.for_pure((1 - TEST_SHARE) * cost.epsilon, drawn.bound / self.lattice)
            spread, value = Additive(noise, unit), drawn.value
            notes += (f"Its noise was made for a bound of {float(drawn.bound):g} on what one person moves.",)
        elif drawn is None:
            value = None
            notes += ("The test refused: few persons could move it far. The refusal is the answer.",)
        else:
            value = drawn
            notes += ("The scale of its noise depends on the data and is not released, so no interval is stated.",)
        return desk.answer(
            self.name,
            None if value is None else released(value),
            mechanism="smooth sensitivity"
            if self.chosen(cost) == "smooth"
            else "propose-test-release, bound by a scan",
            per="person",
            unit=unit,
            spread=spread,
            notes=notes,
        )

    def coarse(self) -> Local:
        """On a lattice of few steps."""
        low, high = self.statistic.window
        return replace(self, lattice=max(self.lattice, (high - low) / COARSE))


def local(
    f: Function | LocalStatistic,
    growth: Growth | None = None,
    *,
    range: tuple[Number, Number] | None = None,
    method: str | None = None,
    lattice: Number | None = None,
    name: str | None = None,
) -> OwnFunction:
    """A function with a bound on how far one person moves it where the data are within k persons of these.

    Args:
        f: the function of a list with one record for each person, or a `LocalStatistic`, which has its own bound.
        growth: the bound, of the records and k = 0, 1, …: the largest local sensitivity within k persons, or more.
        range: the ends of the public range in which the function lies.
        method: "smooth", or "propose_test_release", the default where there is a δ.
        lattice: the step of the possible answers, a public number; by default 1, or a 2^-20th of the range.
        name: what it is called in answers.

    >>> def moved(ages, k):  # a median moves at most to the value k + 1 ranks away, once k persons have come or gone
    ...     x, m = sorted([*[0] * (k + 2), *ages, *[120] * (k + 2)]), (len(ages) + 2 * k + 4) // 2
    ...     return max(x[m + k + 1] - x[m - k - 1], 1)
    >>> from statistics import median
    >>> age = tacit.functions.local(lambda ages: median(ages), moved, range=(0, 120), name="median age")
    >>> age.ask(list(range(20, 80)) * 20, epsilon=1, delta="1e-6", budget=Approx(1, "1e-6"))
    Answer(median age: ..., Approx(1, 1e-06))
    """
    if method is not None:
        check_listed(method, "method", METHODS)
    if isinstance(f, LocalStatistic):
        if growth is not None or range is not None:
            raise InvalidInput("a statistic has its own bound and range; give neither growth nor range=.")
        statistic, words = f, name or f.name
    else:
        callable_or_refused(f, "f")
        callable_or_refused(growth, "growth")
        if range is None:
            raise InvalidInput("give the public range of the function, such as range=(0, 100).")
        words = named(f, name)
        assert growth is not None
        statistic = Claimed(f, growth, span(*range), words)
    step = statistic.lattice if lattice is None else positive(lattice, "lattice")
    return Local(statistic, words, method, step)
