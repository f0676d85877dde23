"""How each request is put into a statement, and its answer read back: one function for each."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from tacit.engines.dialect import LARGEST_DOUBLE
from tacit.engines.requests import (
    RESOLUTION,
    WEIGHT,
    Bucket,
    Buckets,
    Extremes,
    FlagCounts,
    Flags,
    Moments,
    Ordered,
    Persons,
    Ranks,
    RankSteps,
    Request,
    Step,
    TotalBuckets,
)
from tacit.engines.statement import AnswerRow, Arm, Decoder, Statement, bucket, exact_value
from tacit.language.types import FLOAT

_BLOCK = 2**16
"""How many cells, or parts of a cell, are summed in one block by engines that sum in blocks."""


@singledispatch
def answer(request: Request[Any], statement: Statement, index: int) -> Decoder:
    """Add a request to a statement and return the reading of its answer."""
    raise TypeError(type(request).__name__)


@answer.register
def _(request: Persons, statement: Statement, index: int) -> Decoder:
    statement.need_persons = True
    statement.arms.append((index, Arm("persons", a="COUNT(*)")))
    return lambda rows: int(rows[0][1])


@answer.register
def _(request: TotalBuckets, statement: Statement, index: int) -> Decoder:
    total, fence = statement.total(request.total), statement.dialect.fence
    inner = (
        f"SELECT {bucket('size', request.boundaries)} AS place, size, negative FROM "
        f"(SELECT ABS({total}) AS size, {total} < 0 AS negative FROM persons WHERE {total} <> 0{fence}) AS sizes"
    )
    source = f"({inner}) AS places GROUP BY place, negative"
    arm = Arm(source, a="CASE WHEN negative THEN -1 - place ELSE place END", b="COUNT(*)", c="SUM(size)")
    statement.arms.append((index, arm))

    def decode(rows: list[AnswerRow]) -> Buckets:
        found = {int(row[1]): Bucket(int(row[2]), int(row[3])) for row in rows}
        places = range(len(request.boundaries) + 1)
        empty = Bucket(0, 0)
        return Buckets(tuple(found.get(i, empty) for i in places), tuple(found.get(-1 - i, empty) for i in places))

    return decode


@answer.register
def _(request: Extremes, statement: Statement, index: int) -> Decoder:
    column = statement.ordering(request.value)
    extreme = statement.aggregate(f"{'MAX' if request.largest else 'MIN'}({column})")
    order = "DESC" if request.largest else "ASC"
    source = (
        f"(SELECT {extreme} AS v FROM persons WHERE {extreme} IS NOT NULL ORDER BY v {order} LIMIT {request.k}) AS top"
    )
    double = isinstance(request.value, Ordered) and request.value.expression.type == FLOAT
    statement.arms.append((index, Arm(source, x="v") if double else Arm(source, a="v")))

    def decode(rows: list[AnswerRow]) -> tuple[Any, ...]:
        return tuple(sorted((exact_value(request.value, row) for row in rows), reverse=request.largest))

    return decode


@answer.register
def _(request: Flags, statement: Statement, index: int) -> Decoder:
    condition = statement.rows.plain(request.condition)
    true = statement.aggregate(f"MAX(CASE WHEN {condition} THEN 1 ELSE 0 END)")
    statement.arms.append((index, Arm("persons", a="COUNT(*)", b=f"COALESCE(SUM({true}), 0)")))
    return lambda rows: FlagCounts(true=int(rows[0][2]), false=int(rows[0][1]) - int(rows[0][2]))


@answer.register
def _(request: Moments, statement: Statement, index: int) -> Decoder:
    quotient, wide = statement.dialect.quotient, statement.dialect.wide
    t = statement.rows.scaled(request.value, request.low, request.high, RESOLUTION)
    n = statement.aggregate(f"COUNT({t})")
    first = wide(statement.aggregate(f"SUM({t})"))
    S = RESOLUTION
    if request.cap is None:
        mean = quotient(first, n)
        source = f"(SELECT {mean} AS t FROM persons WHERE {n} > 0) AS means"
        parts = [f"{S} - t", "t"] if request.degree == 1 else [f"{S} * ({S} - t)", f"t * ({S} - t)", "t * t"]
    else:
        second = wide(statement.aggregate(statement.dialect.total(f"({t} * {t})"))) if request.degree == 2 else ""
        count = wide(n)
        whole = (
            [f"({count} * {S} - {first})", first]
            if request.degree == 1
            else [f"({S} * ({count} * {S} - {first}))", f"({S} * {first} - {second})", second]
        )
        source = f"persons WHERE {n} > 0"
        parts = [
            f"CASE WHEN {n} > {request.cap} THEN {quotient(f'({p} * {request.cap})', n)} ELSE {p} END" for p in whole
        ]
    sums = [f"COALESCE(SUM({part}), 0)" for part in parts]
    statement.arms.append((index, Arm(source, **dict(zip("abc", sums, strict=False)))))
    return lambda rows: tuple(int(number) for number in rows[0][1 : 1 + len(parts)])


@answer.register
def _(request: RankSteps, statement: Statement, index: int) -> Decoder:
    """Rows are first weighed in coarse cells; only the cells that hold a threshold are then sorted value by value."""
    statement.keep_person = True
    quotient, wide = statement.dialect.quotient, statement.dialect.wide
    x = statement.rows.ordered(request.value)
    n = statement.aggregate(f"COUNT({x})")
    weight = quotient(str(WEIGHT), n, short=True)
    if request.cap is not None:
        part = quotient(str(WEIGHT * request.cap), n, short=True)
        weight = f"CASE WHEN {n} <= {request.cap} THEN {WEIGHT} ELSE {part} END"
    shares = statement.table("shares", f"SELECT person, {n} AS n, {weight} AS w FROM persons WHERE {n} > 0")
    totals = statement.table("totals", f"SELECT COALESCE(SUM({wide('n')} * w), 0) AS total FROM {shares}")
    windows, crossed = _windows(request, totals, statement)

    dialect = statement.dialect
    cell = _cell(x, f"(SELECT MIN({statement.aggregate(f'MIN({x})')}) FROM persons)", statement)
    weighed = (
        f"(SELECT {x} AS v, {cell} AS cell, w FROM rows INNER JOIN {shares} ON rows.person = {shares}.person "
        f"WHERE {x} {{}}) AS weighed"
    )
    whole = weighed.format("IS NOT NULL")
    cells = statement.table(
        "cells", f"SELECT cell, MIN(v) AS lo, MAX(v) AS hi, {dialect.total('w')} AS w FROM {whole} GROUP BY cell"
    )
    sums = dialect.running(cells, "cell", quotient("cell", str(_BLOCK), short=True))
    needed = statement.table(
        "needed", f"SELECT DISTINCT cell, lo, hi, upto - w AS below FROM {windows}, ({sums}) AS sums WHERE {crossed}"
    )
    kept = f"{needed}.cell, lo, hi, below"
    near = weighed.format(f"BETWEEN (SELECT MIN(lo) FROM {needed}) AND (SELECT MAX(hi) FROM {needed})")
    values = statement.table(
        "values",
        f"SELECT v, {kept}, {dialect.total('w')} AS w FROM {near} INNER JOIN {needed} "
        f"ON weighed.cell = {needed}.cell GROUP BY v, {kept}",
    )
    far, wide_cell = (f"CAST({high} AS {dialect.float64}) - CAST(lo AS {dialect.float64})" for high in ("v", "hi"))
    block = dialect.rounded(f"COALESCE(({far}) / NULLIF({wide_cell}, 0), 0) * {_BLOCK}")
    ranked = dialect.running(values, "v", block, within="cell")
    found = (
        f"(SELECT i, v, w, upto FROM {windows}, (SELECT v, w, below + upto AS upto FROM ({ranked}) AS ranked) AS steps "
        f"WHERE {crossed}) AS found"
    )
    place = {"x": "v"} if request.value.expression.type == FLOAT else {"a": "v"}
    statement.arms.append((index, Arm(totals, b="total")))
    statement.arms.append((index, Arm(found, b="upto - w", c="upto", keys=["i"], **place)))
    return lambda rows: _ranks(request, rows)


def _cell(x: str, least: str, statement: Statement) -> str:
    """A whole number that never falls as x rises, about 0.4 % of x's distance from the least value wide.

    Every operation is monotone under IEEE rounding, which a logarithm need not be; six roots turn 600 decades into 10.
    """
    double = statement.dialect.float64
    far = LARGEST_DOUBLE / 4  # no two values kept within ±far have a distance beyond the finite range
    near = "LEAST(GREATEST(CAST({} AS {}), {}), {})".format
    low, high = statement.dialect.double(-far), statement.dialect.double(far)
    root = f"({near(x, double, low, high)} - {near(least, double, low, high)})"
    for _ in range(6):
        root = f"SQRT({root})"
    return statement.dialect.rounded(f"{root} * 16384")


def _windows(request: RankSteps, totals: str, statement: Statement) -> tuple[str, str]:
    """Where the thresholds of every quantile lie, and the condition that one lies in (upto − w, upto].

    Thresholds are q·W + j·g with g = max(p, d−p)·Λ/d, all multiplied by d; k·d·g is added so that only positive numbers
    are divided.
    """
    quotient, wide = statement.dialect.quotient, statement.dialect.wide
    largest, reach = WEIGHT * (request.cap or 1), request.reach
    asked = ", ".join(
        f"({i}, {wide(str(q.numerator))}, {wide(str(q.denominator))}, "
        f"{wide(str(max(q.numerator, q.denominator - q.numerator) * largest))})"
        for i, q in enumerate(request.quantiles)
    )
    above = f"({quotient('total', str(largest))} + 1)"
    windows = statement.table(
        "windows",
        f"SELECT i, d, g, {above} AS k, p * total AS target FROM (VALUES {asked}) AS asked(i, p, d, g), {totals}",
    )
    reached = [quotient(f"(d * {weight} - target + k * g)", "g") for weight in ("(upto - w)", "upto")]
    crossed = (
        f"d * upto >= target - {reach} * g AND d * (upto - w) <= target + {reach} * g AND "
        f"GREATEST({reached[0]} - k, {-reach}) < LEAST({reached[1]} - k, {reach})"
    )
    return windows, crossed


def _ranks(request: RankSteps, rows: list[AnswerRow]) -> Ranks:
    steps: list[list[Step]] = [[] for _ in request.quantiles]
    weight = 0
    for row in rows:
        if row[5] is None:
            weight = int(row[2])
        else:
            steps[int(row[5])].append(Step(exact_value(request.value, row), int(row[2]), int(row[3])))
    return Ranks(weight, tuple(tuple(sorted(found, key=lambda step: step.value)) for found in steps))
