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
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tacit.answers import Answer, Answers
from tacit.answers.values import rough_percent, show
from tacit.budgets import Advice, Question, advise
from tacit.engines import Source, open_engine
from tacit.engines.remembering import Remembering
from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, RenyiCurve
from tacit.numbers.exact import Number, check_listed, positive, whole
from tacit.randomness import seeded_not_private
from tacit.tables.face.declarations import Private
from tacit.tables.face.session import Session
from tacit.tables.releasing.room import Room, cost_of
from tacit.tables.statistics.asking import Entry
from tacit.tables.statistics.catalogue import forecastable, made_up
from tacit.tables.statistics.ways.groups import given

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
SHAPES = {
    "equal": "everybody alike",
    "uniform": "evenly from 0 to twice the mean",
    "lognormal": "skewed like incomes: one in a hundred has ten times the median",
    "pareto": "a heavy tail like orders: one in a hundred has 7 times the median, one in 10,000 has 70 times",
}
"""Shapes of a person's value, or of their number of rows for a count."""

MOST = 1_000_000
"""The most persons that are made up; more of them only make errors smaller."""
SEED = 20220612
MEAN_ROWS = 10
"""Rows of a person on average, for a count."""


@dataclass(frozen=True)
class ForecastPoint:
    """How far answers lie off at one ε, as shares of the truth."""

    epsilon: Fraction
    """What one answer costs."""
    typical: float
    """Half of the answers are closer than this."""
    nearly_all: float
    """19 of 20 answers are closer than this."""


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
        rows = [("  ε", "half of all within", "19 of 20 within")]
        for line in self.lines:
            mark = "> " if line.epsilon == self.epsilon else "  "
            rows.append((mark + _short(line.epsilon), _percent(line.typical), _percent(line.nearly_all)))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        table = [f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}" for row in rows]
        return "\n".join([self.headline, "", *table, "", self.assumption])

    @property
    def headline(self) -> str:
        """The forecast in one sentence."""
        within = _percent(self.error).removeprefix("less than ")
        return (
            f"At ε = {_short(self.epsilon)}, with about {show(self.persons)} persons, the "
            f"{forecastable()[self.statistic].words} lies within {within} of the truth in 19 of 20 "
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
        statistic: "persons", "count", "sum", "mean", "median", "nunique" or "ratio".
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
    known = forecastable()
    check_listed(statistic, "statistic", known)
    check_listed(shape, "shape", SHAPES)
    if (epsilon is None) == (error is None):
        raise InvalidInput("give epsilon= to learn the accuracy, or error= (0.01 for 1 %) to learn the ε, not both.")
    if count > MOST:
        raise InvalidInput(
            f"persons must be at most {MOST:,}; more of them only make errors smaller, so plan with that."
        )
    wanted = None if error is None else positive(error, "error")
    given = None if epsilon is None else cast(Pure, cost_of(epsilon)).epsilon
    world = _World(known[statistic], count, shape)
    try:
        chosen = given or world.least(cast(Fraction, wanted))
        lines = world.lines(chosen)
        while wanted is not None and lines[2].nearly_all > wanted and chosen < SCALE[-1]:
            chosen = SCALE[SCALE.index(chosen) + 1]  # beside its neighbours it looked worse than alone
            lines = world.lines(chosen)
        runs = world.runs(chosen)
    finally:
        world.close()
    return Forecast(statistic, count, shape, chosen, lines[2].nearly_all, lines, runs)


MOST_GROUPS = 20
"""The most groups that are made up; of more, some are, with as many persons in each."""
ANSWERS = 20
"""About how many answers are looked at where one error is wanted, so that a preview need not wait long."""


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
    world = _World(entry, max(few, min(MOST, persons) * few // groups), shape, few)
    try:
        return world.accuracy(cost, max(4, ANSWERS // few)).nearly_all
    finally:
        world.close()


class _MadeUp(Room):
    """A room over rows that never change: what is made of them is made once."""

    known: dict[Any, Any]

    def once(self, what: Hashable, make: Callable[[], T]) -> T:
        """Made the first time."""
        if what not in self.known:
            self.known[what] = make()
        return cast(T, self.known[what])


class _World:
    """Made-up persons of one shape, in some groups, and the statistic asked about them."""

    def __init__(self, entry: Entry, persons: int, shape: str, groups: int = 1) -> None:
        import duckdb

        made = entry.made
        assert made is not None
        self._connection = duckdb.connect()
        _settle(self._connection, persons, shape, made.several_rows, groups)
        truths = f"SELECT part, {made.truth} FROM people GROUP BY part ORDER BY part"
        self._truths = [float(truth) for _, truth in self._connection.execute(truths).fetchall()]
        self._draws, self._known = made.draws, dict[Any, Any]()
        self._session = Session({"people": Private(self._connection, "person", table="people")}, budget=Pure(1))
        self._engine = Remembering(open_engine({"people": Source(self._connection, table="people")}))
        people = self._session["people"]
        self._relation = people._relation
        self._statistic = made.statistic(people._operand)
        if groups > 1:
            by = (people._operand("part").expression,)
            self._statistic = self._statistic.grouped(given(by, ("part",), range(groups)))

    def lines(self, epsilon: Fraction) -> tuple[ForecastPoint, ...]:
        """The accuracy at an ε and at those around it, no larger where ε is larger."""
        around = [epsilon * Fraction(2) ** k for k in (-2, -1, 0, 1, 2)]
        errors = [self.errors(Pure(each)) for each in around]
        half, nearly = falling(errors, _half), falling(errors, _nearly_all)
        return tuple(ForecastPoint(*line) for line in zip(around, map(min, half, nearly), nearly, strict=True))

    def accuracy(self, cost: Guarantee, draws: int | None = None) -> ForecastPoint:
        """How far off answers are at this cost."""
        errors = self.errors(cost, draws)
        epsilon = cost.epsilon if isinstance(cost, Pure) else Fraction(0)
        return ForecastPoint(epsilon, _half(errors), _nearly_all(errors))

    def errors(self, cost: Guarantee, draws: int | None = None) -> list[float]:
        """The errors of some answers at this cost, ascending."""
        source, errors = seeded_not_private(SEED), list[float]()
        for _ in range(draws or self._draws):
            with self._engine.snapshot() as snapshot:
                room = _MadeUp(self._engine, snapshot, self._relation, source, cost, "nobody: made-up data")
                room.known = self._known
                found = self._statistic.release(room)
            answers = list(found.values()) if isinstance(found, Answers) else [found]
            errors += map(_share, answers, self._truths)
        return sorted(errors)

    def runs(self, epsilon: Fraction) -> RenyiCurve | None:
        """The mechanisms that are run at this ε."""
        return self._statistic.runs(Pure(epsilon))

    def least(self, error: Fraction) -> Fraction:
        """The smallest ε of a fine scale at which 19 of 20 answers are that close."""
        low, high = 0, len(SCALE) - 1
        if self.accuracy(Pure(SCALE[high])).nearly_all > error:
            raise InvalidInput(
                f"no ε up to {SCALE[high]} reaches that error with so few persons of that shape; allow a larger error "
                "or plan for more persons."
            )
        while low < high:
            middle = (low + high) // 2
            if self.accuracy(Pure(SCALE[middle])).nearly_all <= error:
                high = middle
            else:
                low = middle + 1
        return SCALE[low]

    def close(self) -> None:
        """Close the made-up data."""
        self._session.close()
        self._engine.close()
        self._connection.close()


def falling(errors: Sequence[Sequence[float]], told: Callable[[Sequence[float]], float]) -> list[float]:
    """What is told of the errors at rising values of ε, never rising: neighbours that would rise are taken together.

    More ε never makes a law worse, so a rise is chance among a few answers; those of both are then looked at as one.

    >>> from tacit.forecasts import falling
    >>> falling([[5.0], [1.0], [3.0], [0.5]], max)
    [5.0, 3.0, 3.0, 0.5]
    """
    blocks: list[tuple[list[float], int]] = []
    for each in errors:
        pooled, count = sorted(each), 1
        while blocks and told(blocks[-1][0]) < told(pooled):
            before, more = blocks.pop()
            pooled, count = sorted([*before, *pooled]), count + more
        blocks.append((pooled, count))
    return [told(pooled) for pooled, count in blocks for _ in range(count)]


def _half(errors: Sequence[float]) -> float:
    return errors[max(0, len(errors) // 2 - 1)]


def _nearly_all(errors: Sequence[float]) -> float:
    return errors[max(0, len(errors) * 19 // 20 - 1)]


SCALE = (*(Fraction(digits, 10**power) for power in (4, 3, 2, 1) for digits in range(10, 100, 2)), Fraction(10))
"""The values of ε among which one is sought: two digits, from 0.001 to 10."""


def _share(answer: Answer, truth: float) -> float:
    """How far an answer lies off, as a share of the truth."""
    return 1.0 if answer.value is None else abs(float(answer) / truth - 1) if truth else abs(float(answer))


def _settle(
    connection: duckdb.DuckDBPyConnection, persons: int, shape: str, several_rows: bool, groups: int = 1
) -> None:
    """The table of people: values, a flag that half of them have, a code that ten of them share, and their group."""
    import numpy as np

    number = np.arange(persons)
    values = np.rint(1000 * _shaped(shape, (number + 0.5) / persons)).astype(np.int64)
    rows = (
        np.maximum(1, np.rint(MEAN_ROWS * values / values.mean())).astype(np.int64) if several_rows else number * 0 + 1
    )
    other = values + np.roll(values, persons // 2)
    connection.register("made", {"person": number, "value": values, "other": other, "rows": rows})
    connection.execute(
        "CREATE TABLE people AS SELECT person, value, other, person % 2 = 0 AS flag, person // 10 AS code, "
        f"person % {groups:d} AS part "
        "FROM (SELECT *, UNNEST(range(rows)) FROM made)"
    )
    connection.unregister("made")


def _shaped(shape: str, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """The quantiles of a shape; the scale does not matter."""
    import numpy as np

    if shape == "equal":
        return np.ones_like(at)
    if shape == "uniform":
        return 2 * at
    if shape == "pareto":
        return np.power(1 - at, -0.5)
    from scipy.special import ndtri

    return cast("NDArray[np.float64]", np.exp(ndtri(at)))


def _short(number: Fraction) -> str:
    return f"{float(number):.4g}"


def _percent(share: float) -> str:
    if share < 1e-4:
        return "less than 0.01 %"
    return "over 1,000 %" if share >= 10 else rough_percent(share)
