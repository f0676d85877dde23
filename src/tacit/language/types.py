"""What a column may hold, as a public fact.

A `Schema` lists names and types and nothing else. It is fixed when a table is read, so that no later message,
plan or refusal depends on the rows. Every engine reads its own types into these few:

=========== ================================================================================================
INTEGER     64-bit integers; wider ones saturate on reading
DECIMAL(s)  exact decimals in steps of 10^-s, s ≤ 18, |value| < 2^63 steps; wider ones saturate on reading
FLOAT       finite doubles; NaN is read as NULL and ±inf as the largest finite double of that sign
BOOLEAN     true or false
DATE        days
TIMESTAMP   microseconds, UTC
TEXT        text under binary collation
OTHER       anything else: it can name persons, and nothing more
=========== ================================================================================================

VALUES AND KEYS. A *value* is what is counted, added, ordered and shown; it saturates as above. A *key* is what tells
two of them apart. Every column has one canonical key expression, and that very expression decides who is one person,
which rows a join or an equality between two columns matches, what is distinct, and what is hashed.

PROMISE. Two rows have equal keys exactly if their columns hold equal values before anything saturates; a value without
a key (NULL, NaN) equals none. −0.0 and 0.0 are one key, 1.0 and 1.00 too, ±inf and times beyond the years 1 to 9999
are keys of their own. A column that has no such key (`KeyType.exact` is false) can name no person and lead through no
foreign key, which is refused when a session opens. WHY IT MATTERS: two persons with one key would be protected as one,
and a condition that calls two person columns equal while their persons differ would hide one of the two.

Columns of one type, whatever their native types, share their keys; exact numbers of different scale do where all of
them fit 64 bits. Two columns whose keys do not meet (`KeyType.meets`) are compared by value, and never count as one.

GROUPS show what they are made of: exact numbers are grouped by key, shown up to 38 digits, where the rest saturates;
every other type by value, so that ±inf is in the group of the largest double and a time beyond the years 1 to 9999
in that of the first or last moment.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from tacit.errors import InvalidInput, instead

LARGEST_SCALE = 18
"""The finest DECIMAL: 10^18 steps still fit into 64 bits, and the product of two into 128."""


class Kind(Enum):
    """The eight kinds of column."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TEXT = "text"
    OTHER = "other"


@dataclass(frozen=True)
class ColumnType:
    """A kind, and for decimals the number of digits after the point."""

    kind: Kind
    scale: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.scale <= LARGEST_SCALE or (self.scale and self.kind is not Kind.DECIMAL):
            raise InvalidInput(f"a decimal's scale must lie between 0 and {LARGEST_SCALE}; read the column as float.")

    def __str__(self) -> str:
        return f"decimal({self.scale})" if self.kind is Kind.DECIMAL else self.kind.value

    @property
    def exact_number(self) -> bool:
        """Whether values are whole multiples of 10^-scale."""
        return self.kind in (Kind.INTEGER, Kind.DECIMAL)

    @property
    def number(self) -> bool:
        """Whether arithmetic is defined."""
        return self.exact_number or self.kind is Kind.FLOAT

    @property
    def ordered(self) -> bool:
        """Whether minimum, maximum and quantiles are defined."""
        return self.number or self.kind in (Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True)
class KeyType:
    """How a column's values are told apart: a public fact, from its declared and its native type."""

    domain: str
    """Keys of different domains are never compared."""
    scale: int = 0
    """Digits after the point of exact numbers."""
    narrow: bool = True
    """Whether no value exceeds 64 bits of its scale, so that the key is the value."""
    exact: bool = True
    """Whether different values always have different keys, and equal ones equal keys."""

    def meets(self, other: "KeyType") -> bool:
        """Whether keys of both are equal exactly where the values are."""
        comparable = self.scale == other.scale or (self.narrow and other.narrow)
        return self.domain == other.domain and comparable


def key_of_values(kind: ColumnType) -> KeyType:
    """How values of a kind are told apart where they were computed: by themselves."""
    return KeyType("number", kind.scale) if kind.exact_number else KeyType(kind.kind.value)


INTEGER = ColumnType(Kind.INTEGER)
FLOAT = ColumnType(Kind.FLOAT)
BOOLEAN = ColumnType(Kind.BOOLEAN)
DATE = ColumnType(Kind.DATE)
TIMESTAMP = ColumnType(Kind.TIMESTAMP)
TEXT = ColumnType(Kind.TEXT)
OTHER = ColumnType(Kind.OTHER)


def decimal(scale: int) -> ColumnType:
    """Exact decimals with ``scale`` digits after the point."""
    return ColumnType(Kind.DECIMAL, scale)


def column_type(text: "str | ColumnType") -> ColumnType:
    """The type a user names: 'integer', 'decimal(2)', 'float', 'boolean', 'date', 'timestamp' or 'text'."""
    if isinstance(text, ColumnType):
        return text
    match = re.fullmatch(r"\s*([a-z]+)\s*(?:\(\s*(?:\d+\s*,\s*)?(\d{1,4})\s*\))?\s*", str(text).lower())
    name = match.group(1) if match else ""
    scale = match.group(2) if match else None
    name = _SYNONYMS.get(name, name)
    if name == "decimal" and scale is not None:
        return decimal(int(scale))
    if name in {kind.value for kind in Kind} - {"decimal"} and scale is None:
        return ColumnType(Kind(name))
    raise InvalidInput(
        f"schema names a type {str(text)!r} that is not known; write integer, decimal(2), float, boolean, date, "
        "timestamp or text."
    )


_SYNONYMS = {
    "int": "integer",
    "bigint": "integer",
    "int64": "integer",
    "numeric": "decimal",
    "double": "float",
    "real": "float",
    "float64": "float",
    "bool": "boolean",
    "datetime": "timestamp",
    "varchar": "text",
    "string": "text",
    "str": "text",
}


@dataclass(frozen=True, repr=False)
class Schema(Mapping[str, ColumnType]):
    """Column names in order, each with its type."""

    columns: tuple[tuple[str, ColumnType], ...]

    @classmethod
    def of(cls, columns: "Mapping[str, str | ColumnType]") -> "Schema":
        """A schema from what a user writes: ``{"customer": "text", "amount": "decimal(2)"}``."""
        return cls(tuple((name, column_type(kind)) for name, kind in columns.items()))

    def __post_init__(self) -> None:
        names = [name for name, _ in self.columns]
        if not names or len(set(names)) < len(names) or not all(isinstance(name, str) and name for name in names):
            raise InvalidInput("schema must name at least one column, each name once and none of them empty.")

    def check_names(self, table: str, known: Collection[str]) -> None:
        """Refuse a declared column that the table does not have."""
        missing = next((name for name in self if name not in known), None)
        if missing is not None:
            raise InvalidInput(f"schema of {table!r} names the column {missing!r}; {instead(missing, known)}")

    def __getitem__(self, name: str) -> ColumnType:
        for known, kind in self.columns:
            if known == name:
                return kind
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, _ in self.columns])

    def __len__(self) -> int:
        return len(self.columns)

    def __str__(self) -> str:
        return ", ".join(f"{name} {kind}" for name, kind in self.columns)

    def __repr__(self) -> str:
        return f"<Schema: {self}>"
