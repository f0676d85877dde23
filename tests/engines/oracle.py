"""What every expression and every request means, in plain Python over a list of rows: the tests' judge.

Nothing here is shared with the code under test but the values that describe a question.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from math import isfinite, isqrt
from typing import Any

from tacit.engines import requests as ask
from tacit.language import expressions as ast
from tacit.language.types import FLOAT, ColumnType, Kind
from tests.language.meanings import meaning

Row = Mapping[str, Any]
BIG = 1.7976931348623157e308


def read(value: Any, kind: ColumnType) -> Any:
    """A stored value as a column's declared type reads it; decimals as their number of steps."""
    if value is None or (isinstance(value, float) and value != value):
        return None
    match kind.kind:
        case Kind.INTEGER:
            return max(-(2**63), min(2**63 - 1, int(value)))
        case Kind.DECIMAL:
            return max(-(2**63), min(2**63 - 1, int(Fraction(value) * 10**kind.scale)))
        case Kind.FLOAT:
            return max(-BIG, min(BIG, float(value)))
    return value


def whole(value: Any, kind: ColumnType) -> Any:
    """A stored value as a key: nothing saturates."""
    if kind.exact_number and value is not None:
        return int(Fraction(value) * 10**kind.scale)
    return None if isinstance(value, float) and value != value else value


def narrow(value: int) -> int | None:
    return value if -(2**63) <= value < 2**63 else None


def evaluate(e: ast.Expression, row: Row) -> Any:
    """The value of an expression in a row; exact numbers as steps of their scale."""
    return _EVALUATE[type(e)](e, row)


def _literal(e: ast.Literal, row: Row) -> Any:
    if e.value is not None and e.type.exact_number:
        return narrow(int(Fraction(e.value) * 10**e.type.scale))  # type: ignore[arg-type]
    return e.value


def _arithmetic(e: ast.Arithmetic, row: Row) -> Any:
    a, b = evaluate(e.left, row), evaluate(e.right, row)
    if a is None or b is None:
        return None
    if e.type != FLOAT:
        return narrow({"+": a + b, "-": a - b, "*": a * b}[e.operator])
    if e.operator == "/" and not b:
        return None
    result = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[e.operator]()
    return result if isfinite(result) else None


def _comparable(e: ast.Expression, row: Row) -> Any:
    if e.type.exact_number and isinstance(e, ast.Literal) and e.value is not None:
        return Fraction(e.value)  # type: ignore[arg-type]
    value = evaluate(e, row)
    return Fraction(value, 10**e.type.scale) if value is not None and e.type.exact_number else value


def _comparison(e: ast.Comparison, row: Row) -> Any:
    a, b = _comparable(e.left, row), _comparable(e.right, row)
    if (pair := ast.columns_of(e)) is not None and pair[0].type.scale == pair[1].type.scale:
        a, b = (whole(row[column.name], column.type) for column in pair)
    if a is None or b is None:
        return None
    if isinstance(a, str):
        a, b = a.encode(), b.encode()
    return {"=": a == b, "<>": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[e.operator]


def _logic(e: ast.Logic, row: Row) -> Any:
    values = [evaluate(operand, row) for operand in e.operands]
    decisive = e.operator == "OR"
    if decisive in values:
        return decisive
    return None if None in values else not decisive


def _in(e: ast.In, row: Row) -> Any:
    value = _comparable(e.operand, row)
    return None if value is None else value in [_comparable(item, row) for item in e.items]


def _like(e: ast.Like, row: Row) -> Any:
    text = evaluate(e.operand, row)
    pattern = "".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in e.pattern)
    return None if text is None else re.fullmatch(pattern, text, re.DOTALL) is not None


def _case(e: ast.Case, row: Row) -> Any:
    for when, then in e.branches:
        if evaluate(when, row):
            return evaluate(then, row)
    return evaluate(e.default, row)


def _cast(e: ast.Cast, row: Row) -> Any:
    value, source = evaluate(e.operand, row), e.operand.type
    if value is None:
        return None
    match e.type.kind:
        case Kind.DECIMAL:
            return narrow(value * 10 ** (e.type.scale - source.scale))
        case Kind.FLOAT:
            return float(value) / 10.0**source.scale
        case Kind.TIMESTAMP:
            return datetime(value.year, value.month, value.day)
    return int(value)


def _extract(e: ast.Extract, row: Row) -> Any:
    v = evaluate(e.operand, row)
    if v is None:
        return None
    parts: dict[str, Callable[[], int]] = {
        "quarter": lambda: (v.month + 2) // 3,
        "week": lambda: v.isocalendar()[1],
        "dow": lambda: v.isoweekday() % 7,
        "isodow": lambda: v.isoweekday(),
        "doy": lambda: v.timetuple().tm_yday,
    }
    return parts[e.part]() if e.part in parts else getattr(v, e.part)


def _truncate(e: ast.DateTrunc, row: Row) -> Any:
    v = evaluate(e.operand, row)
    if v is None:
        return None
    if e.unit in ("hour", "minute", "second"):
        lower: dict[str, dict[str, Any]] = {
            "hour": {"minute": 0, "second": 0, "microsecond": 0},
            "minute": {"second": 0, "microsecond": 0},
            "second": {"microsecond": 0},
        }
        return v.replace(**lower[e.unit])
    day = date(v.year, v.month, v.day)
    start = {
        "year": day.replace(month=1, day=1),
        "quarter": day.replace(month=(v.month - 1) // 3 * 3 + 1, day=1),
        "month": day.replace(day=1),
        "week": day - timedelta(days=day.isoweekday() - 1),
        "day": day,
    }[e.unit]
    return datetime(start.year, start.month, start.day) if isinstance(v, datetime) else start


def _present(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def _days(e: ast.DaysBetween, row: Row) -> Any:
    a, b = evaluate(e.left, row), evaluate(e.right, row)
    return None if a is None or b is None else (a - b).days


def _not(e: ast.Not, row: Row) -> Any:
    value = evaluate(e.operand, row)
    return None if value is None else not value


def _absolute(e: ast.Absolute, row: Row) -> Any:
    value = evaluate(e.operand, row)
    return None if value is None else abs(value) if e.type == FLOAT else narrow(abs(value))


def _extreme(e: ast.Extreme, row: Row) -> Any:
    values = _present(evaluate(operand, row) for operand in e.operands)
    return (max if e.largest else min)(values) if values else None


_EVALUATE: dict[type, Callable[[Any, Row], Any]] = {
    ast.Column: lambda e, row: read(row[e.name], e.type),
    ast.Literal: _literal,
    ast.Arithmetic: _arithmetic,
    ast.DaysBetween: _days,
    ast.Comparison: _comparison,
    ast.Logic: _logic,
    ast.Not: _not,
    ast.In: _in,
    ast.IsNull: lambda e, row: evaluate(e.operand, row) is None,
    ast.Like: _like,
    ast.Case: _case,
    ast.Coalesce: lambda e, row: next(iter(_present(evaluate(o, row) for o in e.operands)), None),
    ast.Absolute: _absolute,
    ast.Extreme: _extreme,
    ast.Extract: _extract,
    ast.DateTrunc: _truncate,
    ast.Cast: _cast,
    ast.NamedCall: lambda e, row: meaning(e, [evaluate(operand, row) for operand in e.operands]),
}


# ---- rows to persons ---------------------------------------------------------------------------------------------


def persons(relation: ask.Relation, table: Sequence[Row]) -> list[list[Row]]:
    """The rows of each person present."""
    found: dict[Any, list[Row]] = defaultdict(list)
    for row in table:
        person = row[relation.person.name]
        absent = person is None or (isinstance(person, float) and person != person)
        if not absent and (relation.filter is None or evaluate(relation.filter, row)):
            found[person].append(row)
    return list(found.values())


def count_units(value: ask.Value, row: Row) -> int | None:
    """The conversion rule, in exact arithmetic but for the one IEEE operation it prescribes."""
    e = value.expression
    x: Any = evaluate(e, row)
    if x is None or e.type != FLOAT:
        return None if x is None else int(x)
    if abs(x) >= float(ask.SATURATION * value.unit):
        return ask.SATURATION if x > 0 else -ask.SATURATION
    units: float = x * float(1 / value.unit) if value.unit.numerator == 1 else x / float(value.unit)
    return round(units)


def in_order(value: ask.Ordered | ask.Value, row: Row) -> Fraction | None:
    if isinstance(value, ask.Value):
        units = count_units(value, row)
        return None if units is None else Fraction(units)
    x: Any = evaluate(value.expression, row)
    if x is None:
        return None
    if isinstance(x, datetime):
        return Fraction((x - datetime(1970, 1, 1)) // timedelta(microseconds=1))
    if isinstance(x, date):
        return Fraction((x - date(1970, 1, 1)).days)
    return Fraction(x) / Fraction(10**value.expression.type.scale)


def steps(asked: ask.Steps, row: Row) -> int | None:
    x = count_units(asked.value, row)
    if x is None:
        return None
    inside = min(max(x - asked.middle, -asked.radius), asked.radius)
    return inside * ask.HALF // asked.radius - asked.shift


def exact(asked: ask.Steps) -> bool:
    """Whether a step is a whole number of units, not too far, or a unit a whole number of steps."""
    return ask.HALF % asked.radius == 0 or (asked.radius % ask.HALF == 0 and asked.radius <= 2**30)


def distance(asked: ask.Steps, row: Row) -> Fraction | None:
    """As `steps`, not rounded."""
    x = count_units(asked.value, row)
    if x is None:
        return None
    return Fraction(min(max(x - asked.middle, -asked.radius), asked.radius) * ask.HALF, asked.radius) - asked.shift


def _mean(numbers: Sequence[Fraction | int]) -> int:
    return int(sum(numbers, Fraction(0)) / len(numbers))


def total(entry: Any, rows: Sequence[Row]) -> int:
    if isinstance(entry, ask.GroupSteps):
        (place,) = entry.places
        found = _present(steps(ask.Steps(entry.value, *place), row) for row in rows)
        power = 2 if entry.squared else 1
        return _mean(found) ** power if entry.mean and found else sum(one**power for one in found)
    if isinstance(entry, ask.Product):
        of = distance if exact(entry.left) and exact(entry.right) else steps
        pairs = [(of(entry.left, row), of(entry.right, row)) for row in rows]
        both = [(a, b) for a, b in pairs if a is not None and b is not None]
        if entry.mean and both:
            return _mean([a for a, _ in both]) * _mean([b for _, b in both])
        return int(sum((Fraction(a * b) for a, b in both), Fraction(0)))
    if isinstance(entry, ask.Presence):
        return 1
    if isinstance(entry, ask.HasValue):
        return int(any(evaluate(entry.expression, row) is not None for row in rows))
    if isinstance(entry, ask.Different):
        return len(_different(entry, rows))
    if isinstance(entry, ask.PersonMean):
        inner = entry.value if isinstance(entry.value, ask.Value) else entry.value.value
        values = _present(count_units(inner, row) for row in rows)
        return int(Fraction(entry.parts * total(entry.value, rows), len(values))) if values else 0
    if isinstance(entry, ask.Deviation):
        return sum(units - entry.centre for units in _present(count_units(entry.value, row) for row in rows))
    if isinstance(entry, ask.RowCount):
        return len(rows) if entry.expression is None else len(_present(evaluate(entry.expression, r) for r in rows))
    return sum(_present(count_units(entry, row) for row in rows))


def _different(entry: ask.Different, rows: Sequence[Row]) -> set[Any]:
    e = entry.expression
    return set(_present(whole(row[e.name], e.type) if isinstance(e, ast.Column) else evaluate(e, row) for row in rows))


def place(size: int, boundaries: Sequence[int]) -> int:
    return sum(size > boundary for boundary in boundaries)


def histogram(sizes: Iterable[int], boundaries: Sequence[int]) -> tuple[int, ...]:
    counts = [0] * (len(boundaries) + 1)
    for size in sizes:
        counts[place(size, boundaries)] += 1
    return tuple(counts)


# ---- requests ----------------------------------------------------------------------------------------------------


def answer(relation: ask.Relation, request: ask.Request[Any], table: Sequence[Row]) -> Any:
    """The answer by definition."""
    return _ANSWER[type(request)](request, persons(relation, table))


People = list[list[Row]]


def _buckets(request: ask.TotalBuckets, people: People) -> ask.Buckets:
    sides: list[list[list[int]]] = [[[0, 0] for _ in range(len(request.boundaries) + 1)] for _ in range(2)]
    for rows in people:
        s = total(request.total, rows)
        if s:
            cell = sides[s < 0][place(abs(s), request.boundaries)]
            cell[0] += 1
            cell[1] += abs(s)
    positive, negative = (tuple(ask.Bucket(*cell) for cell in side) for side in sides)
    return ask.Buckets(positive, negative)


def _extremes(request: ask.Extremes, people: People) -> tuple[Fraction, ...]:
    pick = max if request.largest else min
    values = [_present(in_order(request.value, row) for row in rows) for rows in people]
    return tuple(sorted((pick(v) for v in values if v), reverse=request.largest)[: request.k])


def _outer(request: ask.OuterTotals, people: People) -> ask.Outer:
    value = getattr(request.total, "value", request.total)  # a number without a value in any row is none
    number = value if isinstance(value, ask.Value) else None
    filled = [rows for rows in people if number is None or _present(count_units(number, row) for row in rows)]
    totals = sorted(total(request.total, rows) for rows in filled)
    signs = sum(t for t in totals if t > 0), sum(t for t in totals if t < 0)
    return ask.Outer(len(totals), *signs, tuple(totals[::-1][: request.k]), tuple(totals[: request.k]))


def _flags(request: ask.Flags, people: People) -> ask.FlagCounts:
    true = sum(any(evaluate(request.condition, row) for row in rows) for rows in people)
    return ask.FlagCounts(true, len(people) - true)


def _ranks(request: ask.RankSteps, people: People) -> ask.Ranks:
    weights: dict[Fraction, int] = defaultdict(int)
    for rows in people:
        values = _present(in_order(request.value, row) for row in rows)
        for v in values:
            share = Fraction(1 if request.cap is None else request.cap, len(values))
            weights[v] += int(ask.WEIGHT * min(Fraction(1), share))
    W, largest = sum(weights.values()), ask.WEIGHT * (request.cap or 1)
    steps: list[list[ask.Step]] = [[] for _ in request.quantiles]
    before = 0
    for v in sorted(weights):
        after = before + weights[v]
        for i, q in enumerate(request.quantiles):
            thresholds = [q * W + j * max(q, 1 - q) * largest for j in range(1 - request.reach, request.reach + 1)]
            if any(before < t <= after for t in thresholds):
                steps[i].append(ask.Step(v, before, after))
        before = after
    return ask.Ranks(W, tuple(map(tuple, steps)))


def _position(request: ask.Moments, row: Row) -> int | None:
    x = count_units(request.value, row)
    if x is None:
        return None
    return (min(max(x, request.low), request.high) - request.low) * ask.RESOLUTION // (request.high - request.low)


def _moments(request: ask.Moments, people: People) -> tuple[int, ...]:
    S = ask.RESOLUTION

    def vector(t: int) -> tuple[int, ...]:
        return (S - t, t) if request.degree == 1 else (S * (S - t), t * (S - t), t * t)

    sums = [0] * (request.degree + 1)
    for rows in people:
        ts = _present(_position(request, row) for row in rows)
        if not ts:
            continue
        n = len(ts)
        if request.cap is None:
            parts: Sequence[int] = vector(sum(ts) // n)
        else:
            parts = [sum(column) for column in zip(*map(vector, ts), strict=True)]
            parts = [part * request.cap // n if n > request.cap else part for part in parts]
        sums = [a + b for a, b in zip(sums, parts, strict=True)]
    return tuple(sums)


def _product_totals(request: ask.ProductTotals, people: People) -> tuple[int, ...]:
    size = len(request.columns)
    sums = [0] * request.number
    for rows in people:
        found = [[steps(column, row) for column in request.columns] for row in rows]
        kept: list[list[int]] = [[t for t in ts if t is not None] for ts in found if None not in ts]
        if not kept:
            continue
        if request.mean:
            kept = [[_mean(column) for column in zip(*kept, strict=True)]]
        products = [sum(ts[j] * ts[k] for ts in kept) for j in range(size) for k in range(j, size)]
        distances = [request.weights[1] * sum(column) for column in zip(*kept, strict=True)]
        vector = [request.weights[0] * len(kept), *distances, *products]
        scale = min(Fraction(1), Fraction(request.cap, sum(map(abs, vector))))
        sums = [a + int(b * scale) for a, b in zip(sums, vector, strict=True)]
    return tuple(sums)


def key_of(by: Sequence[ast.Expression], row: Row) -> tuple[Any, ...]:
    return tuple(
        Fraction(v, 10**e.type.scale) if v is not None and e.type.kind is Kind.DECIMAL else v
        for e, v in ((e, _group(e, row)) for e in by)
    )


def _group(e: ast.Expression, row: Row) -> Any:
    return whole(row[e.name], e.type) if isinstance(e, ast.Column) and e.type.exact_number else evaluate(e, row)


def _groups(request: Any, rows: Sequence[Row]) -> list[list[Row]]:
    keys = [tuple(part.value for part in key) for key in request.keys]
    return [[row for row in rows if key_of(request.by, row) == key] for key in keys]


def _entry(entry: ask.Entry, g: int) -> Any:
    """What one group adds up: distances from a centre of its own are plain ones there."""
    if not isinstance(entry, ask.GroupSteps):
        return entry
    return replace(entry, places=(entry.places[g],))


def _vector(request: ask.GroupNorms | ask.GroupTotals, rows: Sequence[Row]) -> list[int]:
    limit = ask.saturation(len(request.keys))
    entries = [_entry(request.entry, g) for g in range(len(request.keys))]
    totals = [total(entry, group) if group else 0 for entry, group in zip(entries, _groups(request, rows), strict=True)]
    return [max(-limit, min(limit, t)) for t in totals]


def _size(norm: ask.Norm, v: Sequence[int]) -> int:
    return {"l1": sum(map(abs, v)), "l2": sum(x * x for x in v), "max": max(map(abs, v))}[norm]


def _norms(request: ask.GroupNorms, people: People) -> tuple[int, ...]:
    sizes = [_size(request.norm, _vector(request, rows)) for rows in people]
    boundaries = [b * b if request.norm == "l2" else b for b in request.boundaries]
    return histogram([size for size in sizes if size], boundaries)


def shrunk(v: Sequence[int], norm: ask.Norm, cap: int, resolution: int) -> list[int]:
    """A vector scaled to a norm of at most cap, in steps of 1/resolution, rounded toward zero."""
    size, limit = _size(norm, v), cap * cap if norm == "l2" else cap
    if size <= limit:
        return [x * resolution for x in v]
    unit = 1
    if norm == "l2":
        unit = 2**30 if size < 2**64 else 1
        n = size * unit * unit
        size = isqrt(n - 1) + 1
    return [(1 if x > 0 else -1) * (abs(x) * cap * resolution * unit // size) for x in v]


def _group_totals(request: ask.GroupTotals, people: People) -> tuple[int, ...]:
    vectors = [shrunk(_vector(request, rows), request.norm, request.cap, request.resolution) for rows in people]
    return tuple(sum(v[g] for v in vectors) for g in range(len(request.keys)))


def _running_totals(request: ask.RunningTotals, people: People) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Rows count in the order of the keys until the cap is reached."""
    limit, totals, passing = 2**56, [0] * len(request.keys), [0] * len(request.keys)
    for rows in people:
        reached = 0
        for g, group in enumerate(_groups(request, rows)):
            v = max(-limit, min(limit, total(request.entry, group) if group else 0))
            counted = min(abs(v), max(0, request.cap - reached))
            totals[g] += counted if v > 0 else -counted
            passing[g] += reached <= request.cap < reached + abs(v)
            reached += abs(v)
    return tuple(totals), tuple(passing)


def _group_distinct(request: ask.GroupDistinct, people: People) -> tuple[int, ...]:
    brought: dict[tuple[int, Any], int] = defaultdict(int)
    for rows in people:
        pairs = [(g, v) for g, group in enumerate(_groups(request, rows)) for v in _different(request.value, group)]
        for pair in pairs:
            brought[pair] += ask.FINE * min(request.cap, len(pairs)) // len(pairs)
    return tuple(sum(min(ask.FINE, z) for (g, _), z in brought.items() if g == at) for at in range(len(request.keys)))


def _group_flags(request: ask.GroupFlags, people: People) -> tuple[int, ...]:
    found = [0] * (2 * len(request.keys))
    for rows in people:
        groups = {g: group for g, group in enumerate(_groups(request, rows)) if group}
        for g, group in groups.items():
            true = any(evaluate(request.condition, row) for row in group)
            found[g + len(request.keys) * true] += ask.FINE * min(request.cap, len(groups)) // len(groups)
    return tuple(found)


def _group_moments(request: ask.GroupMoments, people: People) -> tuple[tuple[int, ...], ...]:
    S, found = ask.RESOLUTION, [[0] * (1 + request.degree) for _ in request.keys]

    def vector(t: int) -> tuple[int, ...]:
        return (S - t, t) if request.degree == 1 else (S * (S - t), t * (S - t), t * t)

    for rows in people:
        placed: dict[int, list[int]] = {}
        for g, group in enumerate(_groups(request, rows)):
            low, high = request.ranges[g]
            at = ask.Moments(request.value, low, high, request.degree)
            if ts := _present(_position(at, row) for row in group):
                placed[g] = [sum(ts) // len(ts)] if request.per_person else ts
        size = sum(map(len, placed.values()))
        for g, ts in placed.items():
            parts = [sum(column) for column in zip(*map(vector, ts), strict=True)]
            cut = [part * request.cap // size if size > request.cap else part for part in parts]
            found[g] = [a + b for a, b in zip(found[g], cut, strict=True)]
    return tuple(map(tuple, found))


def weighed(relation: ask.Relation, request: ask.WeighedRows, table: Sequence[Row]) -> dict[Any, int]:
    """How many rows have each group, value and weight."""
    found: dict[Any, int] = defaultdict(int)
    for rows in persons(relation, table):
        groups = _groups(request, rows) if request.by else [rows]
        values = {g: sorted(_present(in_order(request.value, row) for row in group)) for g, group in enumerate(groups)}
        values = {g: present for g, present in values.items() if present}
        m, n = len(values), sum(map(len, values.values()))
        for g, present in values.items():
            for place, largest in enumerate(request.ends):
                top = present[::-1][: request.rank] if largest else present[: request.rank]
                for v in top:
                    found[g + place * max(1, len(request.keys)), v, request.unit // (m * len(top))] += 1
            if not request.ends:
                over = m if request.per_person else n
                weight = request.unit if over <= request.cap else request.unit * request.cap // over
                for v in present:
                    found[g, v, weight // len(present) if request.per_person else weight] += 1
    return _near(request, found) if request.ends else found


def _near(request: ask.WeighedRows, found: Mapping[Any, int]) -> dict[Any, int]:
    """Those beyond which less than the depth lies."""
    groups = max(1, len(request.keys))

    def beyond(g: int, v: Fraction) -> int:
        out = [(w, n) for (h, u, w), n in found.items() if h == g and (u > v if request.ends[g // groups] else u < v)]
        return sum(w * n for w, n in out)

    return {(g, v, w): n for (g, v, w), n in found.items() if w and beyond(g, v) < request.depth * request.unit}


_ANSWER: dict[type, Callable[[Any, People], Any]] = {
    ask.Persons: lambda _, people: len(people),
    ask.TotalBuckets: _buckets,
    ask.Extremes: _extremes,
    ask.OuterTotals: _outer,
    ask.Flags: _flags,
    ask.RankSteps: _ranks,
    ask.Moments: _moments,
    ask.ProductTotals: _product_totals,
    ask.GroupNorms: _norms,
    ask.GroupTotals: _group_totals,
    ask.RunningTotals: _running_totals,
    ask.GroupDistinct: _group_distinct,
    ask.GroupFlags: _group_flags,
    ask.GroupMoments: _group_moments,
    ask.KeysPerPerson: lambda r, people: histogram([len({key_of(r.by, x) for x in p}) for p in people], r.boundaries),
}
