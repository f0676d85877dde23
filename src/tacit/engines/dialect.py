"""The few places where SQL differs between engines, as DuckDB writes them.

Everything else of a statement is the same SQL everywhere. Another engine gives its own class with these methods; what
each must mean is said here, and the tests of the requests hold for all.
"""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

from tacit.engines.expressions import Literal
from tacit.engines.types import ColumnType, Kind

SMALLEST = -(2**63)
LARGEST = 2**63 - 1
LARGEST_DOUBLE = 1.7976931348623157e308

Scalar = int | float | bool | str | date | datetime | Fraction | None


class DuckDialect:
    """DuckDB's SQL. Casts from double to integer round half to even; NaN is larger than any number."""

    int64 = "BIGINT"
    int128 = "HUGEINT"
    float64 = "DOUBLE"
    text_type = "VARCHAR"

    def name(self, identifier: str) -> str:
        """A quoted identifier, whatever its characters."""
        return '"' + identifier.replace('"', '""') + '"'

    def text(self, value: str) -> str:
        """A text constant; there are no escapes but the doubled quote."""
        return "'" + value.replace("'", "''") + "'"

    def type(self, kind: ColumnType) -> str:
        """The type in which values of a kind are computed; decimals as their steps."""
        return {
            Kind.INTEGER: self.int64,
            Kind.DECIMAL: self.int64,
            Kind.FLOAT: self.float64,
            Kind.BOOLEAN: "BOOLEAN",
            Kind.DATE: "DATE",
            Kind.TIMESTAMP: "TIMESTAMP",
            Kind.TEXT: self.text_type,
        }[kind.kind]

    def double(self, value: float) -> str:
        """The very double, by its shortest decimal."""
        return f"CAST('{value!r}' AS {self.float64})"

    def constant(self, literal: Literal) -> str:
        """A typed constant; an exact number that does not fit 64 bits has failed, so it is NULL."""
        value, kind = literal.value, self.type(literal.type)
        if literal.type.exact_number and value is not None:
            steps = self.steps(literal, literal.type.scale)
            value = steps if SMALLEST <= steps <= LARGEST else None
        if value is None:
            return f"CAST(NULL AS {kind})"
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, float):
            return self.double(value)
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, date):
            return f"CAST('{value.isoformat(' ') if isinstance(value, datetime) else value.isoformat()}' AS {kind})"
        return f"CAST({value} AS {kind})"

    def steps(self, literal: Literal, scale: int) -> int:
        """An exact constant as a number of steps of 10^-scale."""
        return int(Fraction(literal.value) * 10**scale)  # type: ignore[arg-type]

    def wide(self, sql: str) -> str:
        """A 64-bit integer in 128 bits, where sums and products of two of them are exact."""
        return f"CAST({sql} AS {self.int128})"

    def narrow(self, name: str) -> str:
        """A 128-bit integer in 64 bits, or NULL where it does not fit; ``name`` is a column, being used thrice."""
        return f"CASE WHEN {name} BETWEEN {SMALLEST} AND {LARGEST} THEN CAST({name} AS {self.int64}) END"

    def finite(self, name: str) -> str:
        """A double, or NULL where it is infinite or NaN; ``name`` is a column, being used twice."""
        return f"CASE WHEN ABS({name}) <= {self.double(LARGEST_DOUBLE)} THEN {name} END"

    def is_nan(self, sql: str) -> str:
        """Whether a double is NaN."""
        return f"ISNAN({sql})"

    def quotient(self, left: str, right: str) -> str:
        """The integer quotient of two numbers of which the first is ≥ 0 and the second > 0."""
        return f"({left} // {right})"

    def extract(self, part: str, sql: str) -> str:
        """A part of a date or timestamp as a 64-bit integer; seconds without their fraction."""
        return f"CAST(EXTRACT({part} FROM {sql}) AS {self.int64})"

    def date_trunc(self, unit: str, sql: str, kind: ColumnType) -> str:
        """The start of the unit, in the operand's own type."""
        return f"CAST(DATE_TRUNC('{unit}', {sql}) AS {self.type(kind)})"

    def days(self, sql: str) -> str:
        """A date as days since 1970-01-01."""
        return f"CAST({sql} - DATE '1970-01-01' AS {self.int64})"

    def microseconds(self, sql: str) -> str:
        """A timestamp as microseconds since 1970-01-01 00:00:00."""
        return f"EPOCH_US({sql})"

    def digest(self, texts: list[str], salt: bytes) -> str:
        """A keyed hash of some texts, each preceded by its length so that no two lists look alike."""
        parts = [self.text(salt.hex()), *(f"COALESCE(LENGTH({t}) || ':' || {t}, '-')" for t in texts)]
        return f"MD5({' || '.join(parts)})"
