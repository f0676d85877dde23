"""Row-wise expressions: a closed list of frozen, typed, dialect-free values.

PROMISE. An expression means the same on every engine, row by row, and never fails. A row where a part of it
fails (integer or decimal beyond 64 bits, a double beyond the finite range, division by zero) has NULL there.
Logic is SQL's three-valued logic.

RULES. Integers and decimals are 64-bit counts of steps 10^-scale; + and − keep the finer scale, * adds scales,
/ always gives FLOAT. INTEGER ⊂ DECIMAL(s) ⊂ FLOAT and DATE ⊂ TIMESTAMP are the only conversions made silently; a
decimal becomes the double (steps as double) / 10^scale. LEAST and GREATEST ignore NULL.

The classes here trust what they are given. `tacit.language.build` and `tacit.language.functions` make them with types
checked and widened; `tacit.language.parsing` turns SQL text, or a parsed sqlglot node, into them. Old ledgers know
questions by the names of these classes and of their fields in their order, so both stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime
from fractions import Fraction
from functools import cached_property
from typing import Literal as Choice
from typing import TypeVar

from tacit.errors import InvalidInput, instead
from tacit.language.types import ColumnType, KeyType, Schema

T = TypeVar("T")

Scalar = int | float | bool | str | date | datetime | Fraction | None
"""A literal's value: a Fraction for decimals, a naive datetime in UTC for timestamps."""

LARGEST_EXPRESSION = 2000
"""The most nodes one expression may have."""

DEEPEST_EXPRESSION = 250
"""How deep nodes may be nested, as in a sum of that many columns: whatever walks over them does so by recursion."""


@dataclass(frozen=True)
class Expression:
    """A row-wise value of a known type."""

    type: ColumnType

    def children(self) -> Iterator[Expression]:
        """The expressions this one is made of."""
        for field in fields(self):
            yield from _expressions_in(getattr(self, field.name))

    def columns(self) -> frozenset[Column]:
        """Every column that occurs."""
        if isinstance(self, Column):
            return frozenset((self,))
        return frozenset().union(*(child.columns() for child in self.children()))

    @cached_property
    def extent(self) -> tuple[int, int]:
        """The number of nodes and how deep they are nested, counted once however often a part is shared.

        A derived column stands in many places at once: the nodes of what is written out may double at each step, while
        counting them takes one addition.
        """
        inner = [child.extent for child in self.children()]
        return 1 + sum(size for size, _ in inner), 1 + max((depth for _, depth in inner), default=0)


def _expressions_in(part: object) -> Iterator[Expression]:
    if isinstance(part, Expression):
        yield part
    elif isinstance(part, tuple):
        for item in part:
            yield from _expressions_in(item)


def expressions(part: object) -> list[Expression]:
    """Every expression in a frozen value, such as a relation or a statistic, but none inside another."""
    if isinstance(part, Expression):
        return [part]
    if isinstance(part, tuple):
        return [found for item in part for found in expressions(item)]
    if is_dataclass(part) and not isinstance(part, type):
        return [found for item in fields(part) for found in expressions(getattr(part, item.name))]
    return []


@dataclass(frozen=True)
class Column(Expression):
    """A column of a table, under the alias that table has in the relation."""

    table: str
    name: str


@dataclass(frozen=True)
class Literal(Expression):
    """A constant, or NULL."""

    value: Scalar

    @property
    def exact(self) -> Fraction:
        """The value of an exact number or a truth value that is not NULL."""
        assert isinstance(self.value, int | Fraction)
        return Fraction(self.value)


@dataclass(frozen=True)
class Unary(Expression):
    """Made of one other value."""

    operand: Expression


@dataclass(frozen=True)
class Binary(Expression):
    """``left op right``."""

    operator: str
    left: Expression
    right: Expression


class Arithmetic(Binary):
    """``left op right`` on numbers; operands of a FLOAT result are FLOAT."""

    operator: Choice["+", "-", "*", "/"]


class Comparison(Binary):
    """``left op right`` on two values of one kind."""

    operator: Choice["=", "<>", "<", "<=", ">", ">="]


@dataclass(frozen=True)
class DaysBetween(Expression):
    """``left − right`` on dates, in days."""

    left: Expression
    right: Expression


@dataclass(frozen=True)
class Logic(Expression):
    """AND or OR of at least one operand."""

    operator: Choice["AND", "OR"]
    operands: tuple[Expression, ...]


class Not(Unary):
    """The negation of a truth value."""


class IsNull(Unary):
    """Whether the operand is absent."""


class Cast(Unary):
    """A widening conversion: to a finer decimal, to FLOAT, from DATE to TIMESTAMP, from BOOLEAN to INTEGER."""


@dataclass(frozen=True)
class In(Unary):
    """Whether the operand equals one of some constants, none of them NULL."""

    items: tuple[Literal, ...]


@dataclass(frozen=True)
class Like(Unary):
    """Whether text matches a constant pattern of ``%``, ``_`` and ordinary characters; no escape character."""

    pattern: str


@dataclass(frozen=True)
class Case(Expression):
    """The value beside the first true condition, else the default."""

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression


@dataclass(frozen=True)
class Extract(Expression):
    """A part of a date or timestamp, as an integer; ``second`` without its fraction."""

    part: str
    operand: Expression


@dataclass(frozen=True)
class DateTrunc(Expression):
    """A date or timestamp cut down to the start of its year, quarter, month, week, day, hour, minute or second."""

    unit: str
    operand: Expression


class Call(Expression):
    """A function of its children; `tacit.language.functions` describes each."""

    @property
    def function(self) -> str:
        """The function's name."""
        raise NotImplementedError


class Absolute(Unary, Call):
    """The absolute value of a number."""

    @property
    def function(self) -> str:
        """As SQL names it."""
        return "ABS"


@dataclass(frozen=True)
class Coalesce(Call):
    """The first operand that is not NULL."""

    operands: tuple[Expression, ...]

    @property
    def function(self) -> str:
        """As SQL names it."""
        return "COALESCE"


@dataclass(frozen=True)
class Extreme(Call):
    """GREATEST (``largest``) or LEAST of the operands that are not NULL."""

    largest: bool
    operands: tuple[Expression, ...]

    @property
    def function(self) -> str:
        """As SQL names it."""
        return "GREATEST" if self.largest else "LEAST"


LINKS = {
    "POWER": 26, "LN": 13, "LOG2": 13, "LOG10": 13, "EXP": 10, "TRY_CAST": 12, "ADD_MONTHS": 7, "WIDTH_BUCKET": 7,
    **dict.fromkeys(("ROUND", "TRUNC", "FLOOR", "CEIL", "WHOLE_MONTHS", "MAKE_DATE"), 4),
    **dict.fromkeys(("DIV", "REPLACE"), 3),
}  # fmt: skip
"""Functions whose SQL takes more than two steps, each a query inside another, with the number of these steps."""


@dataclass(frozen=True)
class NamedCall(Call):
    """Any function that has no class of its own above, by its name."""

    name: str
    operands: tuple[Expression, ...]

    @cached_property
    def extent(self) -> tuple[int, int]:
        """As of any expression; a call counts for as much as its SQL."""
        size, depth = super().extent
        links = LINKS.get(self.name, 2)
        return size - 1 + links // 2, depth - 1 + (links + 1) // 2

    @property
    def function(self) -> str:
        """As SQL names it."""
        return self.name


def columns_of(expression: Expression) -> tuple[Column, Column] | None:
    """The two columns of a comparison for equality or its opposite, both bare; else None."""
    if not isinstance(expression, Comparison) or expression.operator not in ("=", "<>"):
        return None
    left, right = expression.left, expression.right
    return (left, right) if isinstance(left, Column) and isinstance(right, Column) else None


def compares_keys(left: Column, right: Column, tables: Mapping[str, T], key_type: Callable[[T, str], KeyType]) -> bool:
    """Whether an equality of two columns compares their very keys (`tacit.language.types`).

    ``tables`` says which table each alias stands for; a column of any other alias has no key.
    """
    if left.table not in tables or right.table not in tables:
        return False
    return key_type(tables[left.table], left.name).meets(key_type(tables[right.table], right.name))


PARTS = ("year", "quarter", "month", "week", "day", "dow", "isodow", "doy", "hour", "minute", "second")
"""What EXTRACT knows; ``week`` is the ISO week, ``dow`` counts from Sunday = 0, ``isodow`` from Monday = 1."""

UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
"""What DATE_TRUNC knows; a week starts on Monday."""


@dataclass(frozen=True)
class Scope:
    """The names an expression may use: for each table alias its columns, or what a derived column stands for."""

    tables: Mapping[str, Mapping[str, Expression]]

    @classmethod
    def of(cls, schema: Schema, alias: str) -> Scope:
        """The columns of one table."""
        return cls({alias: {name: Column(kind, alias, name) for name, kind in schema.columns}})

    def beside(self, other: Scope) -> Scope:
        """The columns of both, as after a join."""
        return Scope({**self.tables, **other.tables})

    def deriving(self, alias: str, columns: Mapping[str, Expression]) -> Scope:
        """The same names with some columns added or replaced, as after ``mutate``."""
        return Scope({**self.tables, alias: {**self.tables[alias], **columns}})

    def find(self, name: str, table: str | None = None, quoted: bool = False) -> Expression:
        """What a name stands for: spelled exactly, or in another case where it is not quoted and no two fit."""
        tables = [
            columns
            for alias, columns in self.tables.items()
            if table is None or alias == table or alias.lower() == table.lower()
        ]
        exact = [columns[name] for columns in tables if name in columns]
        loose = [] if quoted else [e for c in tables for known, e in c.items() if known.lower() == name.lower()]
        found = exact or loose
        if len(found) == 1:
            return found[0]
        if found:
            raise InvalidInput(f"column {name!r} is ambiguous; write the table before it, as in orders.amount.")
        if not tables:
            raise InvalidInput(f"column {name!r} does not exist; there is no table {table!r} here.")
        known = [column for columns in tables for column in columns]
        raise InvalidInput(f"column {name!r} does not exist; {instead(name, known)}")
