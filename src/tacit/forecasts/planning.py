"""What accuracy to expect, from public facts alone: how many persons, which ε, and an assumed shape of the data.

PROMISE. No private data is read. A table of made-up persons with the assumed shape is asked the very question, by the
library's own statistics and laws, some times over for each ε, with a fixed seed; the errors seen are the forecast. So
a forecast is the same every time, costs no budget, and is as good as the assumption: real data with a heavier tail
give larger errors. Where chance among the answers would make a larger ε look worse, those of neighbouring values of
ε are taken together (`falling`), so forecasts never rise with ε. Person number i of n gets the shape's quantile at
(i − 1/2)/n, so the made-up data have the shape as closely as n values can.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

from tacit.answers.values import rough_percent, show
from tacit.budgets import Advice, Question, advise
from tacit.errors import InvalidInput
from tacit.forecasts.worlds import SCALE, SHAPES, ForecastPoint, World
from tacit.guarantees import Approx, Guarantee, Pure, RenyiCurve
from tacit.numbers.exact import Number, check_listed, exact, positive, whole
from tacit.tables.releasing.room import cost_of
from tacit.tables.statistics.asking import Entry, Made
from tacit.tables.statistics.catalogue import made_up
from tacit.tables.statistics.local_quantiles import ordinal
from tacit.tables.statistics.quantiles import Quantiles

MOST = 1_000_000
"""The most persons that are made up; more of them only make errors smaller."""


@dataclass(frozen=True)
class Forecast:
    """Expected accuracy of one statistic for some values of ε, as `tacit.plan` returns it.

    >>> forecast = tacit.plan("persons", persons=1000, epsilon=0.5)
    >>> forecast.persons, forecast.epsilon, forecast.error < 0.02
    (1000, Fraction(1, 2), True)
    """

    statistic: str
    persons: int
    shape: str
    epsilon: Fraction
    """The ε that was asked about, or found."""
    error: float
    """19 of 20 answers at that ε are closer to the truth than this share of it."""
    lines: tuple[ForecastPoint, ...]
    runs: RenyiCurve | None = None
    """The mechanisms that would be run at that ε, where public facts tell."""
    words: str = ""
    """What is answered, where that is a part of a query."""

    def best_kind(self, total: Approx, times: int = 1) -> Advice:
        """Which kind of budget within (ε, δ) could answer this statistic, or so many like it, most often.

        Args:
            total: the (ε, δ) that every kind is held to.
            times: how many such questions are asked at a time.

        >>> forecast = tacit.plan("median", persons=100, epsilon="0.25")
        >>> forecast.best_kind(Approx(1, "1e-6")).best
        'Approx(1, 1e-06), composition="advanced"'
        """
        charge = (Pure(self.epsilon), Question(self.statistic, runs=self.runs))
        return advise(total, [charge] * whole(times, "times", 1))

    def __str__(self) -> str:
        rows = [("  ε", "half within", "19 of 20 within")]  # with its numbers no wider than 40 columns
        for line in self.lines:
            mark = "> " if line.epsilon == self.epsilon else "  "
            half, nearly = (_percent(error).replace("less than", "<") for error in (line.typical, line.nearly_all))
            rows.append((mark + _short(line.epsilon), half, nearly))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        table = [f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}" for row in rows]
        return "\n".join([self.headline, "", *table, "", self.assumption])

    @property
    def headline(self) -> str:
        """The forecast in one sentence."""
        within = _percent(self.error).removeprefix("less than ")
        return (
            f"At ε = {_short(self.epsilon)}, with about {show(self.persons)} persons, the "
            f"{self.words or _named(self.statistic).words} lies within {within} of the truth in 19 of 20 "
            "answers."
        )

    @property
    def assumption(self) -> str:
        """What the forecast rests on."""
        return (
            f"Assumed shape: {self.shape}, {SHAPES[self.shape]}. This was measured on made-up data of "
            "that shape; no private data was read. Real data with a heavier tail give larger errors."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON.

        >>> tacit.plan("persons", persons=1000, epsilon=0.5).to_dict()["shape"]
        'lognormal'
        """
        return {
            "statistic": self.statistic,
            "persons": self.persons,
            "shape": self.shape,
            "epsilon": float(self.epsilon),
            "error": self.error,
            "lines": [
                {"epsilon": float(x.epsilon), "typical": x.typical, "nearly_all": x.nearly_all} for x in self.lines
            ],
        }

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><td>{_short(x.epsilon)}</td><td>{_percent(x.typical)}</td><td>{_percent(x.nearly_all)}</td></tr>"
            for x in self.lines
        )
        top = "<tr><th>ε</th><th>half of all within</th><th>19 of 20 within</th></tr>"
        return f"<p>{html.escape(self.headline)}</p><table>{top}{cells}</table><p>{html.escape(self.assumption)}</p>"


def plan(
    statistic: str,
    *,
    persons: int,
    epsilon: Number | None = None,
    error: Number | None = None,
    shape: str = "lognormal",
) -> Forecast:
    """The accuracy to expect at some ε, or the ε that an accuracy needs, from public facts alone.

    Args:
        statistic: "persons", "count", "sum", "mean", "median", "p90" or another quantile, "max", "min", "std",
            "variance", "nunique", "ratio", or another that SQL can ask.
        persons: about how many persons the data are about.
        epsilon: the ε whose accuracy is wanted; or give ``error``.
        error: the error that 19 of 20 answers may have, as a share of the truth: 0.01 is 1 %.
        shape: the assumed shape of the persons' values: "equal", "uniform", "lognormal" or "pareto".

    >>> print(tacit.plan("persons", persons=1000, epsilon=0.5).headline)
    At ε = 0.5, with about 1,000 persons, the number of persons lies within ... % of the truth in 19 of 20 answers.
    >>> tacit.plan("persons", persons=1000, error="0.01").epsilon
    Fraction(...)
    """
    count = whole(persons, "persons", 1)
    entry = _named(statistic)
    check_listed(shape, "shape", SHAPES)
    if (epsilon is None) == (error is None):
        raise InvalidInput("give epsilon= to learn the accuracy, or error= (0.01 for 1 %) to learn the ε, not both.")
    if count > MOST:
        raise InvalidInput(
            f"persons must be at most {MOST:,}; more of them only make errors smaller, so plan with that."
        )
    wanted = None if error is None else positive(error, "error")
    given = None if epsilon is None else cast(Pure, cost_of(epsilon)).epsilon
    with World(entry, count, shape) as world:
        chosen = given or world.least(cast(Fraction, wanted))
        lines = world.lines(Pure(chosen))
        while wanted is not None and lines[2].nearly_all > wanted and chosen < SCALE[-1]:
            chosen = SCALE[SCALE.index(chosen) + 1]  # beside its neighbours it looked worse than alone
            lines = world.lines(Pure(chosen))
        runs = world.runs(chosen)
    return Forecast(statistic, count, shape, chosen, lines[2].nearly_all, lines, runs)


_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,6})?)")


def _named(statistic: str) -> Entry:
    """A statistic by its name, or a quantile such as p90."""
    known = made_up()
    found = _PERCENTILE.fullmatch("p90" if statistic == "quantile" else str(statistic))
    if found is None:
        check_listed(statistic, "statistic", [*known, "p90 or another quantile"])
        return known[statistic]
    q = exact(found[1], "statistic") / 100
    made = Made(f"QUANTILE_CONT(value, {float(q)})", lambda column: Quantiles.of(column("value"), q), 60)
    return replace(known["quantile"], words=ordinal(q), made=made)


MOST_GROUPS = 20
"""The most groups that are made up; of more, some are, with as many persons in each."""


@lru_cache(maxsize=1024)
def expect(statistic: str, cost: Guarantee, persons: int, groups: int = 1, shape: str = "lognormal") -> float | None:
    """The share of the truth within which 19 of 20 answers will lie, at one cost; None where that is not forecast.

    Args:
        statistic: its key in ledgers, such as "sum" or "max"; all that SQL can ask are known.
        cost: what all groups together cost.
        persons: about how many persons there are in all groups together, of whom each is in one.
        groups: how many groups there are.
        shape: the assumed shape of the persons' values.

    >>> from tacit.forecasts import expect
    >>> expect("persons", Pure(1), 1000) < 0.01
    True
    """
    entry = made_up().get(statistic)
    if entry is None or (groups > 1 and not entry.groupable):
        return None
    few = min(groups, MOST_GROUPS)
    with World(entry, max(few, min(MOST, persons) * few // groups), shape, few) as world:
        return world.accuracy(cost).nearly_all


def foresee(
    statistic: str, cost: Guarantee, persons: int, groups: int = 1, shape: str = "lognormal", words: str = ""
) -> Forecast | None:
    """What `expect` tells, at this ε and around it; None where that is not forecast, and at a cost without an ε.

    Args:
        statistic: its key in ledgers, such as "sum" or "max"; all that SQL can ask are known.
        cost: what all groups together cost.
        persons: about how many persons there are in all groups together, of whom each is in one.
        groups: how many groups there are.
        shape: the assumed shape of the persons' values.
        words: what is answered, for people.

    >>> from tacit.forecasts import foresee
    >>> [float(line.epsilon) for line in foresee("persons", Pure(1), 1000).lines]
    [0.25, 0.5, 1.0, 2.0, 4.0]
    """
    entry = made_up().get(statistic)
    if entry is None or (groups > 1 and not entry.groupable) or not isinstance(cost, Pure | Approx):
        return None
    few = min(groups, MOST_GROUPS)
    with World(entry, max(few, min(MOST, persons) * few // groups), shape, few) as world:
        lines = world.lines(cost)
    return Forecast(statistic, persons, shape, cost.epsilon, lines[2].nearly_all, lines, words=words)


def _short(number: Fraction) -> str:
    return f"{float(number):.4g}"


def _percent(share: float) -> str:
    if share < 1e-4:
        return "less than 0.01 %"
    return "over 1,000 %" if share >= 10 else rough_percent(share)
