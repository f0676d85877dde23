"""Rows that weigh their part of a person: how much weight each value has in each group.

PROMISE. Nothing but numbers of groups, values, weights and how many rows have them leaves the engine. What a row
weighs follows from the rows of its own person, and a person's rows weigh at most ``cap`` units over all groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.engines.requests.group_vectors import Keys, check_keys, in_groups
from tacit.engines.requests.operands import Ordered, Value
from tacit.engines.requests.request import Standalone, Withheld
from tacit.engines.script import ALL_ROWS, Fragment, Part, Reading, Script, fragment, join
from tacit.errors import InvalidInput
from tacit.language.expressions import Expression

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from tacit.engines.dialect import Dialect
    from tacit.engines.rows import Rows

UNIT = 2**32
"""What a whole row, or a whole person, weighs."""

_VALUED, _SIZES, _SPREAD = Reading("valued"), Reading("sizes"), Reading("spread")


@dataclass(frozen=True, repr=False, eq=False)
class WeighedValues(Withheld):
    """In no particular order: a group's number, a value, a weight, and how many rows there have both."""

    groups: NDArray[np.int64]
    values: NDArray[Any]
    """Doubles, or whole numbers of the type's steps; of a `Value`, of its units."""
    weights: NDArray[np.int64]
    numbers: NDArray[np.int64]


@dataclass(frozen=True)
class WeighedRows(Standalone[WeighedValues]):
    """Values of rows with their weights, by group; without ``by`` all rows are in group 0.

    Of a person count the rows that have a value and are in one of the groups: n in all, n_g in group g, m groups.

    - Without ``ends`` every row counts: it weighs ⌊unit·min(1, cap/n)⌋, or ``per_person``
      ⌊⌊unit·min(1, cap/m)⌋/n_g⌋.
    - With ``ends`` the ``rank`` largest (True) or smallest (False) rows of each person in each group count, c of them,
      each ⌊unit/(m·c)⌋. The groups of the second end are numbered on after those of the first. Only values beyond
      which less than ``depth`` units lie in their group come back.

    The exception from the limit of 10,000 numbers: there are as many rows as there are different values of a weight in
    a group. No number of them is a failure, for that would tell about rows.
    """

    value: Ordered | Value
    by: tuple[Expression, ...] = ()
    keys: Keys = ()
    cap: int = 1
    per_person: bool = False
    ends: tuple[bool, ...] = ()
    rank: int = 1
    depth: int = 1
    unit: int = UNIT

    def __post_init__(self) -> None:
        if self.by:
            check_keys(self.by, self.keys)
        if not 1 <= self.cap < 2**31 or not 1 <= self.unit <= UNIT or not 1 <= self.rank <= 2**10:
            raise InvalidInput("cap must lie between 1 and 2^31, unit between 1 and 2^32, rank between 1 and 1024.")
        if not 1 <= self.depth < 2**20:
            raise InvalidInput("depth must lie between 1 and 2^20.")

    def script(self, rows: Rows) -> Script:
        """The statement whose columns are g, v, w and n."""
        x = self.value.column(rows)
        places = in_groups(rows, self.by, self.keys) if self.by else ""
        valued = fragment(
            f"SELECT person, {'g' if self.by else '0 AS g'}, {x} AS v FROM ",
            ALL_ROWS,
            f"{places} WHERE {x} IS NOT NULL",
        )
        sizes = fragment("SELECT person, g, COUNT(*) AS n FROM ", _VALUED, " GROUP BY person, g")
        spread = fragment("SELECT person, COUNT(*) AS m, SUM(n) AS every FROM ", _SIZES, " GROUP BY person")
        parts = [
            *rows.parts(),
            Part("valued", valued, kept=True),
            Part("sizes", sizes, kept=True),
            Part("spread", spread, kept=True),
        ]
        return Script(tuple(parts), join(" UNION ALL ", self._listed(rows.dialect)))

    def _listed(self, dialect: Dialect) -> list[Fragment]:
        """The weighed rows, of each end where ends are asked for."""
        if self.ends:
            return [self._beyond(dialect, place, largest) for place, largest in enumerate(self.ends)]
        scaled = _capped(dialect, self.unit, self.cap, "m" if self.per_person else "every")
        weight = dialect.quotient(f"({scaled})", "n", short=True) if self.per_person else scaled
        mine = fragment(
            _VALUED,
            " INNER JOIN ",
            _SIZES,
            " ON valued.person = sizes.person AND valued.g = sizes.g INNER JOIN ",
            _SPREAD,
            " ON valued.person = spread.person",
        )
        weighed = fragment(f"(SELECT valued.g AS g, v, {weight} AS w FROM ", mine, ") AS weighed")
        return [_counted(dialect, self.value, "g", weighed)]

    def _beyond(self, dialect: Dialect, place: int, largest: bool) -> Fragment:
        """The rows at one end that few others lie beyond."""
        order, word = ("DESC", "MAX") if largest else ("ASC", "MIN")
        count = f"(CASE WHEN n < {self.rank} THEN n ELSE {self.rank} END)"
        if self.rank == 1:
            first = fragment(f"SELECT person, g, {word}(v) AS v FROM ", _VALUED, " GROUP BY person, g")
        else:
            numbered = f"ROW_NUMBER() OVER (PARTITION BY person, g ORDER BY v {order}) AS place"
            first = fragment(
                f"SELECT person, g, v FROM (SELECT person, g, v, {numbered} FROM ",
                _VALUED,
                f") AS placed WHERE place <= {self.rank}",
            )
        weight = dialect.quotient(str(self.unit), f"(m * {count})", short=True)
        weighed = fragment(
            f"(SELECT firsts.g AS g, v, {weight} AS w FROM (",
            first,
            ") AS firsts INNER JOIN ",
            _SIZES,
            " ON firsts.person = sizes.person AND firsts.g = sizes.g INNER JOIN ",
            _SPREAD,
            " ON firsts.person = spread.person) AS weighed",
        )
        counted = _counted(dialect, self.value, "g", weighed)
        sums = f"SUM(w * number) OVER (PARTITION BY g ORDER BY v {order} RANGE UNBOUNDED PRECEDING)"
        beyond = f"{sums} - SUM(w * number) OVER (PARTITION BY g, v)"
        number = f"CAST(g + {place * max(1, len(self.keys))} AS {dialect.int64})"
        return fragment(
            f"SELECT {number} AS g, v, w, number FROM (SELECT g, v, w, number, {beyond} AS beyond FROM (",
            counted,
            f") AS counted) AS summed WHERE beyond < {self.depth * self.unit}",
        )

    def schema(self) -> pa.Schema:
        """The columns of the answer."""
        import pyarrow as pa

        kinds = {"g": pa.int64(), "v": pa.float64() if _double(self.value) else pa.int64()}
        return pa.schema({**kinds, "w": pa.int64(), "n": pa.int64()})

    def read(self, columns: Sequence[NDArray[Any]]) -> WeighedValues:
        """The answer, from the columns of the statement."""
        return WeighedValues(*columns)


def _capped(dialect: Dialect, unit: int, cap: int, number: str) -> str:
    """⌊unit·min(1, cap/number)⌋."""
    count = f"CAST({number} AS {dialect.int64})"
    return f"CASE WHEN {number} <= {cap} THEN {unit} ELSE {dialect.quotient(str(unit * cap), count, short=True)} END"


def _double(value: Ordered | Value) -> bool:
    return isinstance(value, Ordered) and value.double


def _counted(dialect: Dialect, value: Ordered | Value, group: str, weighed: Fragment) -> Fragment:
    """How many rows have each weight and value."""
    kind = dialect.float64 if _double(value) else dialect.int64
    return fragment(
        f"SELECT CAST({group} AS {dialect.int64}) AS g, CAST(v AS {kind}) AS v, CAST(w AS {dialect.int64}) AS w, "
        f"CAST(COUNT(*) AS {dialect.int64}) AS number FROM ",
        weighed,
        " WHERE w > 0 GROUP BY g, v, w",
    )
