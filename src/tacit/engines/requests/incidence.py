"""Whom the rows of a join concern: one statement, which numbers persons and values in the engine.

PROMISE. Nothing but weights, bare numbers for persons and values, and the heights asked for leaves the engine. No
number follows from a person's name, and rows come in no particular order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.engines.dialect import Dialect
from tacit.engines.requests.group_vectors import check_keys, in_groups
from tacit.engines.requests.operands import Ordered, RowCount, Value
from tacit.engines.requests.relation import Relation
from tacit.engines.requests.request import Standalone, Withheld
from tacit.engines.script import ALL_ROWS, Fragment, Part, Reading, Script, fragment, join
from tacit.errors import InvalidInput
from tacit.language.expressions import Expression, Literal
from tacit.language.types import Kind

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from tacit.engines.rows import Rows

_LIMIT = 2**62
"""Where weights saturate."""
MAX_ROWS = 20_000_000
"""The most rows that may leave an engine for one question, unless said otherwise."""

_EVERY = RowCount()
_TUPLES = Reading("tuples")
_PAIRS, _HOLDERS, _EDGE = Reading("pairs"), Reading("holders"), Reading("edge")


@dataclass(frozen=True, repr=False, eq=False)
class Touches(Withheld):
    """Rows that concern several persons: a weight and, for each person column, a number for the person (0: none)."""

    weights: NDArray[np.int64]
    persons: tuple[NDArray[np.int64], ...]
    kinds: tuple[str, ...]
    values: NDArray[np.int64] | None = None
    """A number for each row's value, where values were asked for."""
    heights: NDArray[Any] | None = None
    """Each row's value in its own order, a double or a whole number of steps, where heights were asked for."""
    groups: NDArray[np.int64] | None = None
    """The place of each row's group among the keys, where groups were asked for."""
    common: int = 0
    """How many further values there are, where those that many persons have are only counted."""


@dataclass(frozen=True)
class Incidence(Standalone[Touches]):
    """Whom the rows concern, rows of the same persons (and value) made one, their weights added.

    With ``heights`` rows are ordered by a value: the highest (or, not ``largest``, the lowest) of rows of the same
    persons, of weight 1, or ``every`` one of them. With ``by`` only rows of the groups that ``keys`` name are listed,
    those of each group apart. The exception from the limit of 10,000 numbers: the list is as long as there are
    different combinations of persons (and values), at most ``limit``; a longer one is a failure of the engine. Weights
    saturate at ±2^62.

    With ``rare``, where a row concerns one person, values that many persons have are not listed but counted. Let H be
    the largest number such that more than H values have H persons or fewer; values of more than H persons are *common*.
    No set T of values that holds a common one has fewer persons than values: if it had, and m persons had the value
    that most have, then m < |T|, while T is among the values of m persons or fewer; so these are more than m, and
    m ≤ H. That is all a count of different values needs to know of common ones (`tacit.flows.sums`).
    """

    entry: Value | RowCount = _EVERY
    values: Expression | None = None
    heights: Ordered | None = None
    largest: bool = True
    every: bool = False
    limit: int = MAX_ROWS
    by: tuple[Expression, ...] = ()
    keys: tuple[tuple[Literal, ...], ...] = ()
    rare: bool = False

    def __post_init__(self) -> None:
        if self.rare and self.values is None:
            raise InvalidInput("common values are left out where values are asked for; name them.")
        if self.by:
            check_keys(self.by, self.keys)
            if self.heights is not None or self.values is not None:
                raise InvalidInput(
                    "rows are asked for by group with their weights alone; leave values and heights out."
                )
        if self.heights is not None and (self.values is not None or self.entry != _EVERY):
            raise InvalidInput("heights are asked for alone; leave values and entry out.")
        if self.values is not None and self.values.type.kind is Kind.OTHER:
            raise InvalidInput("distinct values need a column of a type that Tacit reads; use another column.")

    def script(self, rows: Rows) -> Script:
        """The statement whose columns are w, then p0, p1, … and, where asked for, the value's number or the height."""
        dialect, persons = rows.dialect, rows.persons
        value = [] if self.values is None else ["value"]
        # First, for they name the columns they need; their limit is theirs, for DuckDB 2.0 may hang on one above joins.
        asked = self._tuples(rows)
        further = _rare(asked) if self.rare else []
        listed = _RARE if self.rare else asked
        grouped = fragment("SELECT * FROM (", listed, ") AS grouped WHERE w IS NOT NULL")
        tuples = Part("tuples", fragment(grouped, f" LIMIT {self.limit + 1}"), kept=True)
        parts = [*rows.parts(), *further, tuples]
        numbers: dict[str, Reading] = {}
        by_kind: dict[str, list[str]] = {}
        for name, (kind, _) in zip(persons, rows.relation.persons, strict=True):
            by_kind.setdefault(kind, []).append(name)
        for columns in (*by_kind.values(), *([value] if value else [])):
            part = _numbered(f"ids{len(parts)}", columns, dialect)
            numbers |= {name: Reading(part.name, f"of_{name}") for name in columns}
            parts.append(part)
        joins = [fragment(" LEFT JOIN ", ids, f" ON {name} = {ids.alias}.p") for name, ids in numbers.items()]
        shown = [f"CAST(COALESCE(of_{name}.number, 0) AS {dialect.int64}) AS n_{name}" for name in (*persons, *value)]
        if self.heights is not None:
            shown.append(f"CAST(height AS {dialect.float64 if self.heights.double else dialect.int64}) AS height")
        if self.by:
            shown.append(f"CAST(g AS {dialect.int64}) AS g")
        clamped = f"CASE WHEN w > {_LIMIT} THEN {_LIMIT} WHEN w < -{_LIMIT} THEN -{_LIMIT} ELSE w END"
        body = fragment(
            f"SELECT CAST({clamped} AS {dialect.int64}) AS w, {', '.join(shown)} FROM ",
            _TUPLES,
            *joins,
        )
        return Script(tuple(parts), body)

    def _tuples(self, rows: Rows) -> Fragment:
        """The rows of the same persons, and the same value where one is asked for, made one."""
        persons = ", ".join(rows.persons)
        if self.heights is not None:
            height = self.heights.column(rows)
            if self.every:
                return _grouped(rows, f"{persons}, {height} AS height, COUNT(*)", f"{persons}, {height}", height)
            extreme = f"{'MAX' if self.largest else 'MIN'}({height})"
            return _grouped(rows, f"{persons}, {extreme} AS height, 1", persons, height)
        weight = self.entry.weight(rows)
        if self.by:
            asked = in_groups(rows, self.by, self.keys)
            shown = fragment(f"SELECT {persons}, g, {weight} AS w FROM ", ALL_ROWS)
            return fragment(shown, f"{asked} GROUP BY {persons}, g")
        if self.values is None:
            return _grouped(rows, f"{persons}, {weight}", persons)
        value = rows.distinct(self.values)
        return _grouped(rows, f"{persons}, {value} AS value, {weight}", f"{persons}, {value}", value)

    def schema(self, persons: int) -> pa.Schema | None:
        """The columns of the answer where heights may be doubles; without heights all are 64-bit integers."""
        if self.heights is None:
            return None
        import pyarrow as pa

        names = ["w", *(f"p{i}" for i in range(persons))]
        height = pa.float64() if self.heights.double else pa.int64()
        return pa.schema([*((name, pa.int64()) for name in names), ("height", height)])

    def read(self, relation: Relation, columns: Sequence[NDArray[Any]]) -> Touches:
        """The answer, from the columns of the statement."""
        kinds = tuple(kind for kind, _ in relation.persons)
        weights, *numbers = columns
        values = None if self.values is None else numbers[-1]
        heights = None if self.heights is None else numbers[-1]
        groups = numbers[-1] if self.by else None
        if self.rare and values is not None:
            listed = values > 0
            common = int(weights[~listed].sum())
            return Touches(weights[listed], (numbers[0][listed],), kinds, values[listed], common=common)
        return Touches(weights, tuple(numbers[: len(kinds)]), kinds, values, heights, groups)


def _numbered(name: str, columns: list[str], dialect: Dialect) -> Part:
    """A table that numbers the different values of some columns from 1."""
    every = join(" UNION ALL ", (fragment(f"SELECT {column} AS p FROM ", _TUPLES) for column in columns))
    numbered = fragment(
        f"SELECT p, {dialect.row_number} AS number FROM (SELECT DISTINCT p FROM (",
        every,
        ") AS every WHERE p IS NOT NULL) AS different",
    )
    return Part(name, numbered, kept=True)


_RARE = fragment(
    "SELECT person, value, w FROM ",
    _PAIRS,
    " WHERE value IN (SELECT value FROM ",
    _HOLDERS,
    " WHERE number <= (SELECT number FROM ",
    _EDGE,
    ")) UNION ALL SELECT NULL AS person, NULL AS value, COUNT(*) AS w FROM ",
    _HOLDERS,
    " WHERE number > (SELECT number FROM ",
    _EDGE,
    ")",
)
"""The pairs of persons and rare values, and the number of common values."""


def _rare(pairs: Fragment) -> list[Part]:
    """Every pair, how many persons each value has, and the most that a rare one has."""
    holders = fragment("SELECT value, COUNT(*) AS number FROM ", _PAIRS, " GROUP BY value")
    sizes = fragment("(SELECT number, COUNT(*) AS w FROM ", _HOLDERS, " GROUP BY number) AS sizes")
    upto = "SUM(w) OVER (ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    edge = fragment(
        f"SELECT COALESCE(MAX(number), 0) AS number FROM (SELECT number, {upto} AS upto FROM ",
        sizes,
        ") AS ranked WHERE upto > number",
    )
    return [
        Part("pairs", pairs, kept=True),
        Part("holders", holders, kept=True),
        Part("edge", edge, kept=True),
    ]


def _grouped(rows: Rows, shown: str, by: str, present: str = "") -> Fragment:
    """The rows where a column is present, grouped; the last column shown is the weight."""
    condition = f" WHERE {present} IS NOT NULL" if present else ""
    return fragment(f"SELECT {shown} AS w FROM ", ALL_ROWS, f"{condition} GROUP BY {by}")
