"""Sums from which a mean or a variance over a public range follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tacit.engines.requests.operands import Value
from tacit.engines.requests.request import AnswerRow, Arm, Request
from tacit.engines.script import PERSONS, Fragment, fragment
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement

RESOLUTION = 2**20
"""The number of steps into which `Moments` divides the range."""


@dataclass(frozen=True)
class Moments(Request[tuple[int, ...]]):
    """Sums from which a mean (``degree`` 1) or a variance (2) over a public range follows.

    With S = `RESOLUTION`, a row x becomes t = (min(max(x, low), high) − low)·S // (high − low) and the vector
    (S−t, t), or (S(S−t), t(S−t), t²), whose entries add up to S, or S². Per row: a person's n rows are added, each
    entry then cut to entry·cap // n where n > cap; one person moves the answer by at most cap·S (or cap·S²) in ℓ1.
    Per person (``cap`` None): t is the person's mean ⌊Σt/n⌋ and counts once. ``low`` and ``high`` are in units.
    """

    value: Value
    low: int
    high: int
    degree: Literal[1, 2]
    cap: int | None = None

    def __post_init__(self) -> None:
        if not -(2**63) <= self.low < self.high < 2**63:
            raise InvalidInput("low must lie below high, both within 64 bits.")
        if self.cap is not None and not 1 <= self.cap < 2**31:
            raise InvalidInput("cap must lie between 1 and 2^31.")

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """The sums over persons of the entries of their vectors, in a, b and c."""
        t = statement.rows.scaled(self.value, self.low, self.high, RESOLUTION)
        n = statement.aggregate(f"COUNT({t})")
        first = statement.dialect.wide(statement.aggregate(f"SUM({t})"))
        if self.cap is None:
            source, entries = self._means(statement, n, first)
        else:
            source = fragment(PERSONS, f" WHERE {n} > 0")
            entries = self._capped(statement, t, n, first, self.cap)
        sums = [f"COALESCE(SUM({entry}), 0)" for entry in entries]
        return (Arm(source, **dict(zip("abc", sums, strict=False))),)

    def _means(self, statement: Statement, n: str, first: str) -> tuple[Fragment, list[str]]:
        """Per person: where their means t come from, and the entries of one."""
        S, mean = RESOLUTION, statement.dialect.quotient(first, n)
        source = fragment(f"(SELECT {mean} AS t FROM ", PERSONS, f" WHERE {n} > 0) AS means")
        return source, [f"{S} - t", "t"] if self.degree == 1 else [f"{S} * ({S} - t)", f"t * ({S} - t)", "t * t"]

    def _capped(self, statement: Statement, t: str, n: str, first: str, cap: int) -> list[str]:
        """Per row: the entries of a person's added vectors, cut to the cap."""
        S, dialect = RESOLUTION, statement.dialect
        second = dialect.wide(statement.aggregate(dialect.total(f"({t} * {t})"))) if self.degree == 2 else ""
        count = dialect.wide(n)
        whole = (
            [f"({count} * {S} - {first})", first]
            if self.degree == 1
            else [f"({S} * ({count} * {S} - {first}))", f"({S} * {first} - {second})", second]
        )
        return [f"CASE WHEN {n} > {cap} THEN {dialect.quotient(f'({p} * {cap})', n)} ELSE {p} END" for p in whole]

    def read(self, rows: Sequence[AnswerRow]) -> tuple[int, ...]:
        """The sums."""
        return tuple(int(number) for number in rows[0][1 : 2 + self.degree])
