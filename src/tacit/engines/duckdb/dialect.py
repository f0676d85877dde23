"""DuckDB's SQL, which is nearly the standard's."""

from __future__ import annotations

from tacit.engines.dialect import Dialect


class DuckDialect(Dialect):
    """DuckDB 1.5 and later. Casts from double to integer round half to even; NaN is larger than any number."""

    int128 = "HUGEINT"

    def quotient(self, left: str, right: str, *, short: bool = False) -> str:
        """``//`` truncates, in either width."""
        return f"({left} // {right})"

    def microseconds(self, sql: str) -> str:
        """A function of its own."""
        return f"EPOCH_US({sql})"


DIALECT = DuckDialect()
