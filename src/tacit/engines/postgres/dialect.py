"""PostgreSQL's SQL.

Where it differs: an operation on doubles that leaves the range, upwards or to zero, is an error there, so every
operation is guarded by comparisons that tell beforehand what IEEE arithmetic gives; there are no 128-bit integers,
NUMERIC holds them; a query inside another is merged into it, which would repeat its expressions, unless it ends in
OFFSET 0.
"""

from __future__ import annotations

from hashlib import sha256

from tacit.engines.dialect import Dialect, digits, named
from tacit.language.cases import FEW, mapping
from tacit.language.expressions import Literal, Scalar
from tacit.language.patterns import Pattern, write
from tacit.language.types import BOOLEAN, DATE, FLOAT, INTEGER, TEXT, TIMESTAMP, ColumnType, Kind

INTEGERS = ("int2", "int4", "int8")
DOUBLES = ("float4", "float8")
TIMES = ("timestamp", "timestamptz")
_DAY = 86_400_000_000
_END = "\\Z"
_LONGEST_NAME = 63
_ZEROS: dict[Kind, Scalar] = {Kind.FLOAT: 0.0, Kind.BOOLEAN: False, Kind.TEXT: ""}


def _character(code: int) -> str:
    """A character by its number, in a regular expression."""
    return chr(code) if chr(code).isascii() and chr(code).isalnum() else f"\\U{code:08X}"


class PostgresDialect(Dialect):
    """PostgreSQL 14 and later. Casts from double to integer round half to even; NaN is larger than any number."""

    int32 = "INTEGER"
    int128 = "NUMERIC"
    float64 = "DOUBLE PRECISION"
    text_type = "TEXT"
    fence = " OFFSET 0"
    nested = True
    present = " HAVING person IS NOT NULL OR GROUPING(person) = 1"
    """GROUPING is 0 for every group; it keeps the planner from testing every row."""
    native_types = named(
        {
            INTEGER: INTEGERS,
            FLOAT: (*DOUBLES, "numeric"),  # without declared digits
            BOOLEAN: ("bool",),
            DATE: ("date",),
            TIMESTAMP: TIMES,
            TEXT: ("text", "uuid", "json", "jsonb"),
        }
    )
    native_decimal = "numeric"

    def name(self, identifier: str) -> str:
        """A quoted identifier; the server would cut a long one, and two could become the same."""
        if len(identifier.encode()) > _LONGEST_NAME:
            identifier = sha256(identifier.encode()).hexdigest()[:_LONGEST_NAME]
        return super().name(identifier)

    def text(self, value: str) -> str:
        """A constant in binary collation."""
        return f'({super().text(value)} COLLATE "C")'

    def quotient(self, left: str, right: str, *, short: bool = False) -> str:
        """64-bit division truncates; NUMERIC has a function for it."""
        return f"({left} / {right})" if short else f"DIV({left}, {right})"

    def finite(self, name: str) -> str:
        """`operation` has left nothing to do."""
        return name

    def is_nan(self, sql: str) -> str:
        """NaN equals itself."""
        return f"({sql} = {self.double(float('nan'))})"

    def truth(self, sql: str) -> str:
        """Through 32 bits, the only integers that truth values become."""
        return f"CAST(CAST({sql} AS INTEGER) AS {self.int64})"

    def same(self, left: str, right: str, kind: ColumnType) -> str:
        """IS NOT DISTINCT FROM would compare every row with every key."""
        if kind.kind in (Kind.DATE, Kind.TIMESTAMP):
            zero = f"CAST('1970-01-01' AS {self.type(kind)})"
        else:
            zero = self.constant(Literal(kind, _ZEROS.get(kind.kind, 0)))
        return f"({left} IS NULL) = ({right} IS NULL) AND COALESCE({left}, {zero}) = COALESCE({right}, {zero})"

    def value_key(self, sql: str, kind: ColumnType) -> str:
        """Keys of decimals are NUMERIC, whose products are exact."""
        if not kind.scale:
            return super().value_key(sql, kind)
        return f"({self.wide(sql)} * CAST('{digits(1, kind.scale)}' AS NUMERIC))"

    def extract(self, part: str, sql: str, kind: ColumnType) -> str:
        """Seconds have a fraction here, which a cast would round."""
        return f"CAST(TRUNC(EXTRACT({part} FROM {sql})) AS {self.int64})"

    def date_trunc(self, unit: str, sql: str, kind: ColumnType) -> str:
        """A date would become a timestamp with a time zone."""
        return super().date_trunc(unit, f"CAST({sql} AS TIMESTAMP)", kind)

    def microseconds(self, sql: str) -> str:
        """The epoch is exact: a NUMERIC with six decimals."""
        return f"CAST(EXTRACT(EPOCH FROM {sql}) * 1000000 AS {self.int64})"

    def moment_of(self, sql: str) -> str:
        """By days and seconds, each exact; microseconds times an interval would be rounded as a double."""
        days, rest = f"({sql}) / {_DAY}", f"({sql}) % {_DAY}"
        seconds = f"CAST({rest} AS {self.float64}) / 1000000"
        return f"(TIMESTAMP '1970-01-01' + MAKE_INTERVAL(days => CAST({days} AS INTEGER), secs => {seconds}))"

    # ---- texts --------------------------------------------------------------------------------------------------

    def text_of(self, sql: str) -> str:
        """Functions and casts give the database's collation."""
        return f'({sql} COLLATE "C")'

    def cased(self, function: str, sql: str) -> str:
        """TRANSLATE looks through its table for every character: most texts get a short one, ASCII is done before."""
        table = mapping(function == "UPPER")
        few = {one: other for one, other in table.items() if 127 < ord(one) <= FEW}
        latin = f"({sql} ~ {self.text(f'{chr(92)}A[{_character(1)}-{_character(FEW)}]*{_END}')})"
        short = self.translated(f"{function}({sql})", few)
        return f"CASE WHEN {latin} THEN {short} ELSE {self.translated(sql, table)} END"

    def trim(self, function: str, sql: str, characters: str) -> str:
        """TRIM has a name of its own where characters are given."""
        return super().trim("BTRIM" if function == "TRIM" else function, sql, characters)

    def matches(self, sql: str, pattern: Pattern) -> str:
        """Advanced regular expressions."""
        return f"({sql} ~ {self.text(write(pattern, _character, _END))})"

    def number(self, digest: str) -> str:
        """Hexadecimal digits are read as bits."""
        return f"CAST(CAST('x' || SUBSTR({digest}, 1, 15) AS BIT(60)) AS {self.int64})"

    # ---- doubles ------------------------------------------------------------------------------------------------

    def operation(self, operator: str, left: str, right: str) -> str:
        """The IEEE result, or NULL beyond the finite range; the guards below use scalings by powers of two, exact."""
        guarded = {"*": self._product, "/": self._quotient}.get(operator)
        return guarded(left, right) if guarded else self._sum(operator, left, right)

    def _power(self, exponent: int) -> str:
        return self.double(2.0**exponent)

    def _moderate(self, a: str, b: str) -> str:
        """Whether both lie where no product or quotient can leave the range."""
        low, high = self._power(-500), self._power(500)
        return f"ABS({a}) BETWEEN {low} AND {high} AND ABS({b}) BETWEEN {low} AND {high}"

    def _sum(self, operator: str, a: str, b: str) -> str:
        """Halves of two large numbers add up to 2^1023 or more exactly if the numbers' sum, rounded, is infinite."""
        result, half, large = f"{a} {operator} {b}", self.double(0.5), self._power(1022)
        small = " OR ".join(f"ABS({x}) < {self._power(900)}" for x in (a, b))
        return (
            f"CASE WHEN (ABS({a}) < {large} AND ABS({b}) < {large}) OR {small} THEN {result} "
            f"WHEN ABS({a} * {half} {operator} {b} * {half}) < {self._power(1023)} THEN {result} END"
        )

    def _product(self, a: str, b: str) -> str:
        """Two large factors: the product of both, scaled, is 1 or more exactly if their own product is infinite.

        Two small ones: with A = |a|·2^537 and B = |b|·2^538 the product rounds to zero if A·B ≤ 1. Where A·B itself
        rounds to 1, the error of that rounding decides; it is found by splitting A and B into halves of their digits,
        whose products are exact.
        """
        down = self._power(-512)
        x, y = f"(ABS({a}) * {self._power(537)})", f"(ABS({b}) * {self._power(538)})"
        (xh, xl), (yh, yl) = self._halves(x), self._halves(y)
        error = f"((({xh} * {yh} - 1) + {xh} * {yl}) + {xl} * {yh}) + {xl} * {yl}"
        zero = f"{self.double(0.0)} * {a} * {b}"
        return (
            f"CASE WHEN ({self._moderate(a, b)}) OR {a} = 0 OR {b} = 0 THEN {a} * {b} "
            f"WHEN ABS({a}) > 1 AND ABS({b}) > 1 THEN "
            f"CASE WHEN ABS(({a} * {down}) * ({b} * {down})) < 1 THEN {a} * {b} END "
            f"WHEN ABS({a}) > 1 OR ABS({b}) > 1 THEN {a} * {b} "
            f"WHEN {x} * {y} > 1 THEN {a} * {b} WHEN {x} * {y} < 1 THEN {zero} "
            f"WHEN {error} > 0 THEN {a} * {b} ELSE {zero} END"
        )

    def _halves(self, x: str) -> tuple[str, str]:
        """Two numbers of half the digits whose sum is x."""
        far = f"({x} * {self.double(2.0**27 + 1)})"
        high = f"({far} - ({far} - {x}))"
        return high, f"({x} - {high})"

    def _quotient(self, a: str, b: str) -> str:
        """A quotient rounds to zero if |a|·2^1075 ≤ |b|; it is infinite if after division by 2^1024 it is 1 or more."""
        zero = f"{self.double(0.0)} * {a} / {b}"
        scaled = f"ABS(({a} * {self._power(-576)}) / ({b} * {self._power(524)})) < {self._power(-76)}"
        return (
            f"CASE WHEN {b} = 0 THEN NULL WHEN ({self._moderate(a, b)}) OR {a} = 0 THEN {a} / {b} "
            f"WHEN ABS({b}) >= 2 AND ABS({a}) < 1 THEN "
            f"CASE WHEN ABS({a}) * {self._power(1000)} <= ABS({b}) * {self._power(-75)} THEN {zero} ELSE {a} / {b} END "
            f"WHEN ABS({b}) < 1 AND ABS({a}) > {self._power(-60)} THEN "
            f"CASE WHEN ABS({a}) * {self._power(-512)} < ABS({b}) * {self._power(510)} OR {scaled} THEN {a} / {b} END "
            f"ELSE {a} / {b} END"
        )


DIALECT = PostgresDialect()
