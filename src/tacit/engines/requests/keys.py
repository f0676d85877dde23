"""Keys of groups: what a request may group by, how a key is written into an answer, and how it is read back."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from fractions import Fraction

from tacit.engines.dialect import Dialect
from tacit.errors import InvalidInput
from tacit.language.expressions import Expression, Scalar
from tacit.language.types import ColumnType, Kind

Key = tuple[Scalar, ...]
"""One group: a value, or NULL, for each key expression; decimals as Fractions."""


def check_by(by: tuple[Expression, ...]) -> None:
    """Refuse to group by nothing, or by what cannot be read."""
    if not by or any(expression.type.kind is Kind.OTHER for expression in by):
        raise InvalidInput("group_by needs columns of a type that Tacit reads; name other columns.")


def encoded(name: str, kind: ColumnType, dialect: Dialect) -> str:
    """A column of keys so that all engines write it as the same text; dates and times are numbers."""
    if kind.kind is Kind.DATE:
        return dialect.days(name)
    if kind.kind is Kind.TIMESTAMP:
        return dialect.microseconds(name)
    return f"CASE WHEN {name} THEN 1 WHEN NOT {name} THEN 0 END" if kind.kind is Kind.BOOLEAN else name


def decoded(text: str | None, kind: ColumnType) -> Scalar:
    """The key behind a text of `encoded`."""
    if text is None:
        return None
    match kind.kind:
        case Kind.INTEGER:
            return int(text)
        case Kind.DECIMAL:
            return Fraction(int(text), 10**kind.scale)
        case Kind.FLOAT:
            return float(text)
        case Kind.BOOLEAN:
            return text == "1"
        case Kind.DATE:
            return date(1970, 1, 1) + timedelta(days=int(text))
        case Kind.TIMESTAMP:
            return datetime(1970, 1, 1) + timedelta(microseconds=int(text))
    return text
