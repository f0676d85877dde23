"""What is computed inside one person's rows: aggregates and windows, as frozen, typed, dialect-free values.

PROMISE. They mean the same on every engine, whatever the order of the rows, and never fail: a value beyond what its
type holds is NULL. The person is always among what rows are grouped or partitioned by, and is never written: no
aggregate and no window here can see rows of two persons.

The classes here trust what they are given, as those of `tacit.language.expressions` do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from tacit.language.expressions import Expression
from tacit.language.types import ColumnType


@dataclass(frozen=True)
class Ordering:
    """What rows are ordered by; ties are broken by all else that is known of a row, so that no order is left open."""

    by: Expression
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class Aggregate:
    """An aggregate of some rows of one person, such as SUM(amount) or COUNT(DISTINCT product)."""

    type: ColumnType
    function: str
    """Its name in lower case, such as "sum"; the list of them says what each means."""
    operands: tuple[Expression, ...] = ()
    """What it is computed from; none for COUNT(*)."""
    distinct: bool = False
    filter: Expression | None = None
    """Only rows where this is true count."""
    order: tuple[Ordering, ...] = ()
    """For string_agg, first, last and quantiles within a group."""


@dataclass(frozen=True)
class Frame:
    """Which rows around the present one a window covers: from ``start`` to ``end`` rows after it, None for no limit."""

    unit: Choice["rows", "range"]
    start: int | None
    end: int | None


@dataclass(frozen=True)
class Window:
    """A window over rows of one person: ROW_NUMBER, RANK, LAG, FIRST_VALUE, or an aggregate such as a running SUM."""

    type: ColumnType
    function: str
    operands: tuple[Expression, ...] = ()
    partition: tuple[Expression, ...] = ()
    """What rows are partitioned by besides the person."""
    order: tuple[Ordering, ...] = ()
    frame: Frame | None = None
    """None is SQL's own: all rows without an order, else those up to the present one and its equals."""
