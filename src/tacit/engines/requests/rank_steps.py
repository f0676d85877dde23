"""The weighted distribution of rows around quantiles.

Rows are first weighed in coarse cells; only the cells that hold a threshold are then sorted value by value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tacit.engines.dialect import LARGEST_DOUBLE, Dialect
from tacit.engines.requests.operands import Ordered, RowCount
from tacit.engines.requests.request import AnswerRow, Arm, Request
from tacit.engines.script import ALL_ROWS, PERSONS, Fragment, Reading, fill, fragment, join
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement

WEIGHT = 2**32
"""The weight of one whole person, or of one whole row, in `RankSteps`."""

LARGEST_REACH = 6000
"""How many thresholds on one side of all quantiles together `RankSteps` may look at: six numbers each in its answer."""

_CELLS, _FINE_CELLS = 2**16, 2**20
"""Into how many cells values are divided at first, and doubles, of which nearly all may differ."""

_NEAREST = 1e-200
"""The shortest distance between the least and the largest value that cells tell apart."""

_BLOCK = 2**16
"""How many cells, or parts of a cell, are summed in one block by engines that sum in blocks."""


class Step(NamedTuple):
    """A value, with the weight of all smaller values and of all values up to and with it."""

    value: Fraction
    before: int
    after: int


@dataclass(frozen=True)
class Ranks:
    """The total weight, and for each quantile the steps of the cumulative weight near it, ascending."""

    weight: int
    steps: tuple[tuple[Step, ...], ...]


@dataclass(frozen=True)
class RankSteps(Request[Ranks]):
    """The weighted distribution of rows around quantiles.

    A row with a value weighs ⌊2^32/n⌋ where its person has n of them (``cap`` None, per person), or
    ⌊2^32·min(1, cap/n)⌋ (per row), so a person weighs at most Λ = 2^32, or 2^32·cap. W is the total. The thresholds of
    quantile q are t_j = qW + j·max(q, 1−q)·Λ for −reach < j ≤ reach, and a value is a step of q when one of them lies
    in its interval (before, after]. So for every y it is known which of them W(≤y) reaches.
    """

    value: Ordered
    quantiles: tuple[Fraction, ...]
    reach: int
    cap: int | None = None

    def __post_init__(self) -> None:
        if not self.quantiles or any(not 0 <= q <= 1 or q.denominator > 10**9 for q in self.quantiles):
            raise InvalidInput("quantiles must lie between 0 and 1, with at most nine decimals, and be at least one.")
        if self.reach < 1 or (self.cap is not None and not 1 <= self.cap < 2**31):
            raise InvalidInput("reach must be at least 1 and cap between 1 and 2^31.")
        if len(self.quantiles) * self.reach > LARGEST_REACH:
            raise InvalidInput(f"reach is too large for one answer, at most {LARGEST_REACH}; use a smaller one.")

    def write(self, statement: Statement) -> tuple[Arm, ...]:
        """One arm for the total weight, and one for the steps, with the number of their quantile."""
        statement.keep_person = True
        dialect, x = statement.dialect, self.value.column(statement.rows)
        shares = self._shares(statement, x)
        totals = statement.table("totals", f"SELECT COALESCE(SUM({dialect.wide('n')} * w), 0) AS total FROM ", shares)
        windows = self._windows(statement, totals)
        values = self._values(statement, x, shares, windows)

        far, wide_cell = (f"CAST({high} AS {dialect.float64}) - CAST(lo AS {dialect.float64})" for high in ("v", "hi"))
        block = dialect.rounded(f"COALESCE(({far}) / NULLIF({wide_cell}, 0), 0) * {_BLOCK}")
        steps = fragment(
            "(SELECT i, v, w, upto FROM ",
            windows,
            ", (SELECT v, w, below + upto AS upto FROM (",
            dialect.running(values, "v", block, within="cell"),
            f") AS ranked) AS steps WHERE {self._crossed(dialect)}) AS found",
        )
        return (
            Arm(fragment(totals), b="total"),
            Arm(steps, b="upto - w", c="upto", keys=["i"], **self.value.shown("v")),
        )

    def _shares(self, statement: Statement, x: str) -> Reading:
        """A table of each person's number of values n and the weight w of one of them."""
        quotient, n = statement.dialect.quotient, RowCount(self.value.expression).of_person(statement)
        weight = quotient(str(WEIGHT), n, short=True)
        if self.cap is not None:
            fewer = quotient(str(WEIGHT * self.cap), n, short=True)
            weight = f"CASE WHEN {n} <= {self.cap} THEN {WEIGHT} ELSE {fewer} END"
        return statement.table("shares", f"SELECT person, {n} AS n, {weight} AS w FROM ", PERSONS, f" WHERE {n} > 0")

    def _windows(self, statement: Statement, totals: Reading) -> Reading:
        """A table of where the thresholds of every quantile lie.

        Thresholds are q·W + j·g with g = max(p, d−p)·Λ/d, all multiplied by d; k·d·g is added so that only positive
        numbers are divided.
        """
        quotient, wide = statement.dialect.quotient, statement.dialect.wide
        largest = WEIGHT * (self.cap or 1)
        asked = ", ".join(
            f"({i}, {wide(str(q.numerator))}, {wide(str(q.denominator))}, "
            f"{wide(str(max(q.numerator, q.denominator - q.numerator) * largest))})"
            for i, q in enumerate(self.quantiles)
        )
        above = f"({quotient('total', str(largest))} + 1)"
        return statement.table(
            "windows",
            f"SELECT i, d, g, {above} AS k, p * total AS target FROM (VALUES {asked}) AS asked(i, p, d, g), ",
            totals,
        )

    def _crossed(self, dialect: Dialect) -> str:
        """The condition that one of a window's thresholds lies in (upto − w, upto]."""
        reach = self.reach
        before, after = (dialect.quotient(f"(d * {weight} - target + k * g)", "g") for weight in ("(upto - w)", "upto"))
        return (
            f"d * upto >= target - {reach} * g AND d * (upto - w) <= target + {reach} * g AND "
            f"GREATEST({before} - k, {-reach}) < LEAST({after} - k, {reach})"
        )

    def _values(self, statement: Statement, x: str, shares: Reading, windows: Reading) -> Reading:
        """A table of the different values in those cells that hold a threshold, with their weights."""
        dialect, ends = statement.dialect, statement.table("ends", _ends(x, self.value.double, statement.dialect))
        weighed = self._weighed(statement, x, shares)

        def placed(source: _Weighed) -> Fragment:
            cell = _cell(source.x, self.value.double, ends, dialect)
            shown = fragment(f"(SELECT {source.x} AS v, ", cell, f" AS cell{source.shown} FROM ", source.rows)
            return fragment(shown, f" WHERE {source.x} IS NOT NULL) AS placed")

        cells = statement.table(
            "cells",
            "SELECT cell, MIN(lo) AS lo, MAX(hi) AS hi, SUM(w) AS w FROM (",
            join(
                " UNION ALL ",
                (
                    fragment(
                        f"SELECT cell, MIN(v) AS lo, MAX(v) AS hi, {source.weight} AS w FROM ",
                        placed(source),
                        " GROUP BY cell",
                    )
                    for source in weighed
                ),
            ),
            ") AS weighed GROUP BY cell",
        )
        needed = statement.table(
            "needed",
            "SELECT DISTINCT cell, lo, hi, upto - w AS below FROM ",
            windows,
            ", (",
            dialect.running(cells, "cell", dialect.quotient("cell", str(_BLOCK), short=True)),
            f") AS sums WHERE {self._crossed(dialect)}",
        )
        near = (" BETWEEN (SELECT MIN(lo) FROM ", needed, ") AND (SELECT MAX(hi) FROM ", needed, ")")
        few = (
            fragment(f"SELECT {source.x} AS v, {source.weight} AS w FROM ", source.rows, f" WHERE {source.x}", *near)
            for source in weighed
        )
        summed = fragment(
            "(SELECT v, SUM(w) AS w FROM (",
            join(
                " UNION ALL ",
                (fragment(one, f" GROUP BY {source.x}") for one, source in zip(few, weighed, strict=True)),
            ),
            ") AS weighed GROUP BY v) AS summed",
        )
        placed_values = fragment(
            "(SELECT v, w, ", _cell("v", self.value.double, ends, dialect), " AS cell FROM ", summed
        )
        return statement.table(
            "values",
            f"SELECT v, {needed.name}.cell, lo, hi, below, w FROM ",
            placed_values,
            ") AS placed INNER JOIN ",
            needed,
            f" ON placed.cell = {needed.name}.cell",
        )

    def _weighed(self, statement: Statement, x: str, shares: Reading) -> list[_Weighed]:
        """The rows with their weights; per row all of them whole, and then what those of persons above the cap lack."""
        total = statement.dialect.total("w")
        beside = fragment(ALL_ROWS, " INNER JOIN ", shares, f" ON rows.person = {shares.name}.person")
        if self.cap is None:
            return [_Weighed(beside, x, ", w", total)]
        heavy = f" WHERE n > {self.cap} AND {x} IS NOT NULL"
        less = statement.table("heavy", f"SELECT {x} AS v, w - {WEIGHT} AS w FROM ", beside, heavy)
        whole = f"{statement.dialect.wide('COUNT(*)')} * {WEIGHT}"
        return [_Weighed(fragment(ALL_ROWS), x, "", whole), _Weighed(fragment(less), "v", ", w", total)]

    def read(self, rows: Sequence[AnswerRow]) -> Ranks:
        """The row without a quantile has the weight."""
        steps: list[list[Step]] = [[] for _ in self.quantiles]
        weight = sum(int(row[2]) for row in rows if row[5] is None)
        for row in sorted((row for row in rows if row[5] is not None), key=self.value.order):
            steps[int(row[5])].append(Step(self.value.exact(row), int(row[2]), int(row[3])))
        return Ranks(weight, tuple(map(tuple, steps)))


@dataclass(frozen=True)
class _Weighed:
    """Rows whose values are weighed: where they are, their value, what else is shown of them, and their weight."""

    rows: Fragment
    x: str
    shown: str
    weight: str


def _ends(x: str, double: bool, dialect: Dialect) -> Fragment:
    """The least value, and by what the fourth root of a distance from it is multiplied to find its cell.

    A scan of its own costs less than two more aggregates of each person.
    """
    low, high = (_near(f"{word}({x})", double, dialect) for word in ("MIN", "MAX"))
    cells = float(_FINE_CELLS if double else _CELLS)
    root = f"SQRT(SQRT(GREATEST({high} - {low}, {dialect.double(_NEAREST)})))"
    return fragment(f"SELECT {low} AS low, {dialect.double(cells)} / {root} AS steep FROM ", ALL_ROWS)


def _near(x: str, double: bool, dialect: Dialect) -> str:
    """A value as a double, within limits between which no distance is beyond the finite range."""
    if not double:
        return f"CAST({x} AS {dialect.float64})"
    return f"LEAST(GREATEST({x}, {dialect.double(-LARGEST_DOUBLE / 4)}), {dialect.double(LARGEST_DOUBLE / 4)})"


def _cell(x: str, double: bool, ends: Reading, dialect: Dialect) -> Fragment:
    """A whole number that never falls as x rises: the fourth root of its distance from the least value, in cells.

    Every operation is monotone under IEEE rounding, which a logarithm need not be, and none leaves the range of
    doubles, which some engines take for an error. By the root a cell near the least value is narrow, though a few
    values lie far away. No distance is negative, but an engine that computed before it filtered must not fail either.
    """
    distance = f"ABS({_near(x, double, dialect)} - (SELECT low FROM {{}}))"
    return fill(dialect.rounded(f"SQRT(SQRT({distance})) * (SELECT steep FROM {{}})"), ends, ends)
