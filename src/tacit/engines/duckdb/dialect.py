"""DuckDB's SQL, which is nearly the standard's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tacit.engines.dialect import Dialect, named
from tacit.engines.script import Fragment, fragment
from tacit.language.cases import settled
from tacit.language.patterns import BACKSLASH_Z, One, Pattern, Repeat, braced, write
from tacit.language.types import BOOLEAN, DATE, FLOAT, INTEGER, TEXT, TIMESTAMP, ColumnType

NARROW = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
WIDE = ("UBIGINT", "HUGEINT", "UHUGEINT")
"""Integers beyond 64 bits."""
ZONED = "TIMESTAMP WITH TIME ZONE"
COARSE = ("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
"""Times in other units than microseconds."""
_MANY = 32
"""How many boundaries are too many for a CASE."""
TIMES = ("TIMESTAMP", *COARSE, ZONED)


class DuckDialect(Dialect):
    """DuckDB 1.5 and later. Casts from double to integer round half to even; NaN is larger than any number."""

    int128 = "HUGEINT"
    counts_keys = True
    native_types = named(
        {
            INTEGER: (*NARROW, *WIDE, '"NULL"'),  # without any value: every sum over it is an ordinary zero
            FLOAT: ("FLOAT", "DOUBLE"),
            BOOLEAN: ("BOOLEAN",),
            DATE: ("DATE",),
            TIMESTAMP: TIMES,
            TEXT: ("VARCHAR", "JSON", "UUID"),
        }
    )

    looking_joins = True

    def inferred(self, native: str) -> ColumnType:
        """Enumerations are text."""
        return TEXT if native.startswith("ENUM(") else super().inferred(native)

    def quotient(self, left: str, right: str, *, short: bool = False) -> str:
        """``//`` truncates, in either width."""
        return f"({left} // {right})"

    def placed(self, source: Fragment, size: str, boundaries: Sequence[int], *shown: str) -> Fragment:
        """Of many buckets by a search in lists: to plan a CASE of hundreds of branches takes longer than to run it.

        Each step halves what is left, so its list has only the boundaries that it may compare with: the planner reads
        every number once, not in every step.
        """
        if len(boundaries) < _MANY:
            return super().placed(source, size, boundaries, *shown)
        step, listed = 1 << (len(boundaries).bit_length() - 1), ", ".join(dict.fromkeys((size, *shown)))
        padded = [*boundaries, *[2**126] * (2 * step - 1 - len(boundaries))]
        found = fragment(f"SELECT {listed}, 0 AS place FROM ", source)
        while step:
            numbers = ",".join(map(str, padded[step - 1 :: 2 * step]))
            further = f"CASE WHEN {size} > CAST(STRING_SPLIT('{numbers}', ',') AS HUGEINT[])[place // {2 * step} + 1]"
            found = fragment(
                f"SELECT {listed}, place + {further} THEN {step} ELSE 0 END AS place FROM (", found, ") AS s"
            )
            step //= 2
        return fragment(f"SELECT {', '.join([*shown, 'place'])} FROM (", found, ") AS s")

    def value_key(self, sql: str, kind: ColumnType) -> str:
        """Keys of moments are microseconds."""
        return self.microseconds(sql) if kind == TIMESTAMP else super().value_key(sql, kind)

    def microseconds(self, sql: str) -> str:
        """A function of its own."""
        return f"EPOCH_US({sql})"

    def moment_of(self, sql: str) -> str:
        """A function of its own."""
        return f"MAKE_TIMESTAMP({sql})"

    def octets(self, sql: str) -> str:
        """OCTET_LENGTH is for bytes."""
        return f"STRLEN({sql})"

    def cased(self, function: str, sql: str) -> str:
        """Its own function, which knows Unicode, for characters that no version treats otherwise; TRANSLATE is slow."""
        settled_ones = Repeat(0, 0, One(0, 0, settled(function == "UPPER"), False), 0, None)
        whole = f"REGEXP_FULL_MATCH({sql}, {self.text(write(settled_ones, braced, BACKSLASH_Z))})"
        return f"CASE WHEN {whole} THEN {function}({sql}) ELSE {super().cased(function, sql)} END"

    def compared(self, operator: str, left: str, right: str) -> str:
        """Of texts that are never NULL.

        The planner of DuckDB 2.0 fails on a comparison with a text that it finds to be NULL in every row, which it may
        know from the least and largest values of a column: CASE WHEN i > 10 THEN 'x' END = 'a'. Rows would decide
        whether a question is answered.
        """
        sides = f"COALESCE({left}, '') {operator} COALESCE({right}, '')"
        return f"CASE WHEN {left} IS NOT NULL AND {right} IS NOT NULL THEN {sides} END"

    def matches(self, sql: str, pattern: Pattern) -> str:
        """RE2."""
        return f"REGEXP_MATCHES({sql}, {self.text(write(pattern, braced, BACKSLASH_Z))})"

    def list_of(self, texts: Iterable[str]) -> str:
        """A list of text constants."""
        return f"[{', '.join(map(self.text, texts))}]"


DIALECT = DuckDialect()
