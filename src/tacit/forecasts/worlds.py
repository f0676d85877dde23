"""Worlds of made-up persons: a table of a shape, and the very questions of the library asked of it, over and over."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from tacit.answers import Answer, Answers
from tacit.engines.remembering import Remembering
from tacit.errors import InvalidInput
from tacit.guarantees import Approx, Guarantee, Pure, RenyiCurve
from tacit.randomness import seeded_not_private
from tacit.tables.face.declarations import Private
from tacit.tables.face.session import Session
from tacit.tables.releasing.room import Room
from tacit.tables.statistics.asking import Entry
from tacit.tables.statistics.ways.centres import joint
from tacit.tables.statistics.ways.groups import given

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    from numpy.typing import NDArray

    from tacit.forecasts.rows import MadeUpRows
    from tacit.mechanisms.law import Law
    from tacit.tables.face.table import Table

T = TypeVar("T")
SHAPES = {
    "equal": "everybody alike",
    "uniform": "evenly from 0 to twice the mean",
    "lognormal": "skewed like incomes: one in a hundred has ten times the median",
    "pareto": "a heavy tail like orders: one in a hundred has 7 times the median, one in 10,000 has 70 times",
}
"""Shapes of a person's value, or of their number of rows for a count."""

SEED = 20220612
MEAN_ROWS = 10
"""Rows of a person on average, for a count."""
OF_GROUPS = 60
"""The most, of all groups together, but that each group is asked for four times: a preview must not take long."""


@dataclass(frozen=True)
class ForecastPoint:
    """How far answers lie off at one ε, as shares of the truth."""

    epsilon: Fraction
    """What one answer costs."""
    typical: float
    """Half of the answers are closer than this."""
    nearly_all: float
    """19 of 20 answers are closer than this."""


class _MadeUp(Room):
    """A room over rows that never change: what is made of them is made once."""

    known: dict[Any, Any]

    def once(self, what: Hashable, make: Callable[[], T]) -> T:
        """Made the first time."""
        if what not in self.known:
            self.known[what] = make()
        return cast(T, self.known[what])

    def beside(self, draw: Callable[[], T]) -> None:
        """Left out: the truth says how far off answers lie."""

    def draw(self, law: Law[T], part: str = "") -> T:
        """One draw, of which no certificate is made."""
        self._spent.setdefault(part, []).append(law.guarantee)
        return law._draw(self._source)


class World:
    """Made-up persons of one shape, in some groups, and the statistic asked about them."""

    def __init__(self, entry: Entry, persons: int, shape: str, groups: int = 1) -> None:
        import duckdb

        from tacit.forecasts.rows import Answering

        made = entry.made
        assert made is not None
        self._connection = duckdb.connect()
        columns = _settle(self._connection, persons, shape, made.several_rows, groups)
        truths = f"SELECT part, {made.truth} FROM people GROUP BY part ORDER BY part"
        self._truths = [float(truth) for _, truth in self._connection.execute(truths).fetchall()]
        self._known = dict[Any, Any]()
        self._errors = dict[Guarantee, list[float]]()
        self._draws = made.draws if groups == 1 else max(4, min(made.draws, OF_GROUPS) // groups)
        self._session = Session({"people": Private(self._connection, "person", table="people")}, budget=Pure(1))
        people = self._session["people"]
        self._relation = people._relation
        self._statistic = made.statistic(people._operand)
        engine = self._session._tables.engine
        alone = not made.several_rows
        self._engine = Answering(engine, self._relation, _rows(people, columns)) if alone else Remembering(engine)
        if groups > 1:
            by = (people._operand("part").expression,)
            self._statistic = self._statistic.grouped(given(by, ("part",), range(groups)))

    def lines(self, cost: Pure | Approx) -> tuple[ForecastPoint, ...]:
        """The accuracy at a cost and with the values of ε around its own, no larger where ε is larger.

        Each looks at as many answers, so that a line is the same whichever ε was asked about.
        """
        around = [cost.epsilon * Fraction(2) ** k for k in (-2, -1, 0, 1, 2)]
        errors = [self.errors(replace(cost, epsilon=each)) for each in around]  # the same, whoever is asked
        half, nearly = falling(errors, _half), falling(errors, _nearly_all)
        return tuple(ForecastPoint(*line) for line in zip(around, map(min, half, nearly), nearly, strict=True))

    def accuracy(self, cost: Guarantee) -> ForecastPoint:
        """How far off answers are at this cost."""
        errors = self.errors(cost)
        epsilon = cost.epsilon if isinstance(cost, Pure) else Fraction(0)
        return ForecastPoint(epsilon, _half(errors), _nearly_all(errors))

    def errors(self, cost: Guarantee) -> list[float]:
        """The errors of some answers at this cost, ascending; they are drawn the first time."""
        if cost not in self._errors:
            self._errors[cost] = self._drawn(cost)
        return self._errors[cost]

    def _drawn(self, cost: Guarantee) -> list[float]:
        """The errors of some answers at this cost."""
        source, errors = seeded_not_private(SEED), list[float]()
        for _ in range(self._draws):
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the made-up data."""
        self._session.close()
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
) -> dict[str, NDArray[np.int64]]:
    """The table of people: values, a flag that half of them have, a code that ten of them share, and their group.

    The columns of values come back.
    """
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
    return {"value": values, "other": other}


def _rows(people: Table, columns: Mapping[str, NDArray[np.int64]]) -> MadeUpRows:
    """The columns as they are called in requests, alone and beside each other, which is the same without NULL."""
    from tacit.forecasts.rows import MadeUpRows

    named = {people._operand(name).expression: column for name, column in columns.items()}
    for pair in permutations(named):
        named |= zip(joint(pair), map(named.__getitem__, pair), strict=True)
    return MadeUpRows(named)


def _shaped(shape: str, at: NDArray[np.float64]) -> NDArray[np.float64]:
    """The quantiles of a shape; the scale does not matter."""
    import numpy as np

    if shape == "equal":
        return np.ones_like(at)
    if shape == "uniform":
        return 2 * at
    if shape == "pareto":
        return np.power(1 - at, -0.5)
    below = np.fromiter(map(NormalDist().inv_cdf, at[: (len(at) + 1) // 2]), np.float64)  # SciPy takes longer to load
    return cast("NDArray[np.float64]", np.exp(np.concatenate([below, -below[: len(at) // 2][::-1]])))
