"""The weighted distribution of rows around quantiles.

Rows are first weighed in coarse cells; only the cells that hold a threshold are then sorted value by value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tacit.engines.dialect import LARGEST_DOUBLE, Dialect
from tacit.engines.requests.operands import Ordered
from tacit.engines.requests.request import AnswerRow, Arm, Request
from tacit.engines.script import ALL_ROWS, PERSONS, Fragment, Reading, fill, fragment
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.engines.snapshots import Statement

WEIGHT = 2**32
"""The weight of one whole person, or of one whole row, in `RankSteps`."""

LARGEST_REACH = 6000
"""How many thresholds on one side of all quantiles together `RankSteps` may look at: six numbers each in its answer."""

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
        quotient, n = statement.dialect.quotient, statement.aggregate(f"COUNT({x})")
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
        dialect = statement.dialect
        smallest = statement.aggregate(f"MIN({x})")
        cell = _cell(x, fragment(f"(SELECT MIN({smallest}) FROM ", PERSONS, ")"), dialect)

        def weighed(*condition: str | Reading) -> Fragment:
            return fragment(
                f"(SELECT {x} AS v, ",
                cell,
                " AS cell, w FROM ",
                ALL_ROWS,
                " INNER JOIN ",
                shares,
                f" ON rows.person = {shares.name}.person WHERE {x} ",
                *condition,
                ") AS weighed",
            )

        cells = statement.table(
            "cells",
            f"SELECT cell, MIN(v) AS lo, MAX(v) AS hi, {dialect.total('w')} AS w FROM ",
            weighed("IS NOT NULL"),
            " GROUP BY cell",
        )
        needed = statement.table(
            "needed",
            "SELECT DISTINCT cell, lo, hi, upto - w AS below FROM ",
            windows,
            ", (",
            dialect.running(cells, "cell", dialect.quotient("cell", str(_BLOCK), short=True)),
            f") AS sums WHERE {self._crossed(dialect)}",
        )
        kept = f"{needed.name}.cell, lo, hi, below"
        return statement.table(
            "values",
            f"SELECT v, {kept}, {dialect.total('w')} AS w FROM ",
            weighed("BETWEEN (SELECT MIN(lo) FROM ", needed, ") AND (SELECT MAX(hi) FROM ", needed, ")"),
            " INNER JOIN ",
            needed,
            f" ON weighed.cell = {needed.name}.cell GROUP BY v, {kept}",
        )

    def read(self, rows: Sequence[AnswerRow]) -> Ranks:
        """The row without a quantile has the weight."""
        steps: list[list[Step]] = [[] for _ in self.quantiles]
        weight = 0
        for row in rows:
            if row[5] is None:
                weight = int(row[2])
            else:
                steps[int(row[5])].append(Step(self.value.exact(row), int(row[2]), int(row[3])))
        return Ranks(weight, tuple(tuple(sorted(near, key=lambda step: step.value)) for near in steps))


def _cell(x: str, least: Fragment, dialect: Dialect) -> Fragment:
    """A whole number that never falls as x rises, about 0.4 % of x's distance from the least value wide.

    Every operation is monotone under IEEE rounding, which a logarithm need not be; six roots turn 600 decades into 10.
    """
    far = LARGEST_DOUBLE / 4  # no two values kept within ±far have a distance beyond the finite range
    low, high = dialect.double(-far), dialect.double(far)
    near = f"LEAST(GREATEST(CAST({{}} AS {dialect.float64}), {low}), {high})"
    root = f"({near} - {near})"
    for _ in range(6):
        root = f"SQRT({root})"
    return fill(dialect.rounded(f"{root} * 16384"), x, least)
