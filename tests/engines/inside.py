"""What derived tables mean, in plain Python over lists of rows: the judge of what is computed inside persons.

A row is a mapping from names to stored values, as in `tests.engines.oracle`; the columns of joined tables have
different names. A bare column passes its stored value on, so that its key stays what it was.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cmp_to_key
from math import sqrt
from typing import Any

from tacit.engines import requests as ask
from tacit.engines.requests.derived import Derived, Listed, PersonGroups, PersonRows, Union
from tacit.language import expressions as ast
from tacit.language.inside import Aggregate, Frame, Ordering, Window
from tacit.language.types import FLOAT, INTEGER, ColumnType
from tests.engines import oracle
from tests.engines.oracle import Row

Tables = Mapping[str, Sequence[Row]]


def value(e: ast.Expression, row: Row) -> Any:
    """An expression's value; zeros have no sign."""
    return _unsigned(oracle.read(row[e.name], e.type) if isinstance(e, ast.Column) else oracle.evaluate(e, row))


def key(e: ast.Expression, row: Row) -> Any:
    """What tells an expression's values apart."""
    return _unsigned(oracle.whole(row[e.name], e.type)) if isinstance(e, ast.Column) else value(e, row)


def _unsigned(found: Any) -> Any:
    return found + 0.0 if isinstance(found, float) else found


def stored(found: Any, kind: ColumnType) -> Any:
    """A computed value as a row stores it."""
    return Fraction(found, 10**kind.scale) if found is not None and kind.exact_number else found


def compare(a: Any, b: Any) -> int:
    """Two values of one kind, text by its bytes."""
    a, b = (x.encode() if isinstance(x, str) else x for x in (a, b))
    return int(a > b) - int(a < b)


def placed(a: Any, b: Any, descending: bool, nulls_first: bool) -> int:
    if a is None or b is None:
        return 0 if a is b else (-1 if (a is None) == nulls_first else 1)
    return -compare(a, b) if descending else compare(a, b)


def ordered(rows: Sequence[Row], order: Sequence[Ordering], then: Sequence[Callable[[Row], Any]] = ()) -> list[Row]:
    """Rows by what is written, then by further things, the least first and NULL last."""
    ways = [*((item.descending, item.nulls_first) for item in order), *((False, False) for _ in then)]

    def both(a: tuple[Any, ...], b: tuple[Any, ...]) -> int:
        pairs = zip(a[:-1], b[:-1], ways, strict=True)
        return next((found for x, y, way in pairs if x is not y and (found := placed(x, y, *way))), 0)

    read = [(*(value(item.by, row) for item in order), *(what(row) for what in then), row) for row in rows]
    return [found[-1] for found in sorted(read, key=cmp_to_key(both))]


# ---- tables ------------------------------------------------------------------------------------------------------


def rows_of(table: str | Derived, tables: Tables) -> list[Row]:
    """The rows of a table."""
    if isinstance(table, str):
        return list(tables[table])
    if isinstance(table, Listed):
        return [dict(zip(dict(table.heads), row, strict=True)) for row in table.rows]
    if isinstance(table, Union):
        return [row for part in table.parts for row in rows_of(part, tables)]
    assert isinstance(table, PersonGroups | PersonRows)
    people = defaultdict(list)
    for row in related(table.source, tables):
        people[key(table.source.person, row)].append(row)
    if isinstance(table, PersonGroups):
        return [made for rows in people.values() for made in _grouped(table, rows)]
    return [made for rows in people.values() for made in _shown(table, rows)]


def related(relation: ask.Relation, tables: Tables) -> list[Row]:
    """The rows of a relation that have a person and pass its filter."""
    rows = [_own(row, relation.alias) for row in rows_of(relation.table, tables)]
    for join in relation.joins:
        others = [_own(row, join.alias) for row in rows_of(join.table, tables)]
        rows = list(_joined(rows, others, join))
    rows = [row for row in rows if key(relation.person, row) is not None]
    return [row for row in rows if relation.filter is None or oracle.evaluate(relation.filter, row)]


def _own(row: Row, alias: str) -> Row:
    """A row whose person is also known by the table's alias, for several tables have one."""
    return {**row, **({f"{alias}.person": row["person"]} if "person" in row else {})}


def _joined(rows: Sequence[Row], others: Sequence[Row], join: ask.Join) -> Iterator[Row]:
    names, (left, right) = {name for other in others for name in other}, join.on[0]
    near = defaultdict(list)
    for other in others:
        near[_side(right, other)].append(other)
    for row in rows:
        matches = [other for other in near[_side(left, row)] if _match(row, other, join)]
        if join.kind in ("semi", "anti"):
            if bool(matches) == (join.kind == "semi"):
                yield row
        else:
            for other in matches or ([dict.fromkeys(names)] if join.kind == "left" else []):
                yield {**other, **row}


def _match(row: Row, other: Row, join: ask.Join) -> bool:
    for left, right in join.on:
        a, b = _side(left, row), _side(right, other)
        if a is None or a != b:
            return False
    return join.condition is None or oracle.evaluate(join.condition, {**other, **row}) is True


def _side(column: ast.Column, row: Row) -> Any:
    name = f"{column.table}.person" if column.name == "person" else column.name
    found = oracle.whole(row[name], column.type)
    return Fraction(found, 10**column.type.scale) if found is not None and column.type.exact_number else found


def _grouped(table: PersonGroups, rows: Sequence[Row]) -> Iterator[Row]:
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(key(e, row) for _, e in table.by)].append(row)
    for group in groups.values():
        yield {
            "person": group[0][table.source.person.name],
            **{name: _bare(e, group[0]) for name, e in table.by},
            **{name: stored(aggregated(a, group), a.type) for name, a in table.aggregates},
        }


def _bare(e: ast.Expression, row: Row) -> Any:
    return row[e.name] if isinstance(e, ast.Column) else stored(value(e, row), e.type)


def _shown(table: PersonRows, rows: Sequence[Row]) -> Iterator[Row]:
    found = [
        {"person": row[table.source.person.name], **{name: _bare(e, row) for name, e in table.shown}} for row in rows
    ]
    for name, window in table.windows:
        for row, got in zip(found, windowed(window, rows, table), strict=True):
            row[name] = stored(got, window.type)
    yield from found


# ---- aggregates --------------------------------------------------------------------------------------------------


def mean(total: int, number: int, scale: int) -> float:
    whole, rest = divmod(abs(total), number)
    found = (float(min(whole, 2**63 - 1)) + rest / number) * (-1 if total < 0 else 1)
    return found / 10.0**scale if scale else found


def units(e: ast.Expression, row: Row) -> int | None:
    return oracle.count_units(ask.value(e), row)


def scale_of(kind: ColumnType) -> int:
    return 6 if kind == FLOAT else kind.scale


def aggregated(a: Aggregate, rows: Sequence[Row]) -> Any:
    """An aggregate of some rows; exact numbers as steps."""
    rows = [row for row in rows if a.filter is None or oracle.evaluate(a.filter, row) is True]
    if not a.operands:
        return len(rows)
    e = a.operands[0]
    if a.function in ("first", "last"):
        return _first(a, rows)
    rows = [row for row in rows if value(e, row) is not None]
    if a.distinct:
        different: dict[Any, Row] = {}
        for row in ordered(rows, [Ordering(e)]):
            different.setdefault(key(e, row), row)
        rows = list(different.values())
    if a.function == "count":
        return len(rows)
    return _OF_VALUES[a.function](a, rows) if rows else None


def _first(a: Aggregate, rows: Sequence[Row]) -> Any:
    last, e = a.function == "last", a.operands[0]
    found = ordered(rows, [*a.order, Ordering(e)])
    return value(e, found[-1 if last else 0]) if found else None


def _values(a: Aggregate, rows: Sequence[Row]) -> list[Any]:
    return sorted((value(a.operands[0], row) for row in rows), key=cmp_to_key(compare))


def _extremal(a: Aggregate, rows: Sequence[Row]) -> Any:
    (item,) = a.order
    found = [row for row in rows if value(item.by, row) is not None]
    return value(a.operands[0], ordered(found, [item, Ordering(a.operands[0])])[0]) if found else None


def _mode(a: Aggregate, rows: Sequence[Row]) -> Any:
    times = Counter(key(a.operands[0], row) for row in rows)
    most = [row for row in rows if times[key(a.operands[0], row)] == max(times.values())]
    return _values(a, most)[0]


def _quantile_disc(a: Aggregate, rows: Sequence[Row]) -> Any:
    values, q = _values(a, rows), a.operands[1].exact  # type: ignore[attr-defined]
    values = values[::-1] if a.order and a.order[0].descending else values
    return values[max(1, -(-q * len(values) // 1)) - 1]


def _quantile_cont(a: Aggregate, rows: Sequence[Row]) -> Any:
    values, q, kind = _values(a, rows), a.operands[1].exact, a.operands[0].type  # type: ignore[attr-defined]
    values = values[::-1] if a.order and a.order[0].descending else values
    at = q * (len(values) - 1)
    low = at.numerator // at.denominator
    rest, d = int((at - low) * q.denominator), q.denominator
    lower, upper = values[low], values[low + 1 if rest else low]
    if kind != FLOAT:
        return mean(lower * (d - rest) + upper * rest, d, kind.scale)
    above = rest / float(d)
    return lower if lower == upper else lower * (1.0 - above) + upper * above


def _string_agg(a: Aggregate, rows: Sequence[Row]) -> str:
    found = ordered(rows, [*a.order, Ordering(a.operands[0])])[:1000]
    between = a.operands[1].value  # type: ignore[attr-defined]
    return str(between).join(value(a.operands[0], row)[:1000] for row in found)[:10_000]


def _sum(a: Aggregate, rows: Sequence[Row]) -> Any:
    return oracle.narrow(sum(units(a.operands[0], row) or 0 for row in rows))


def _avg(a: Aggregate, rows: Sequence[Row]) -> float:
    total = sum(units(a.operands[0], row) or 0 for row in rows)
    return mean(total, len(rows), scale_of(a.operands[0].type))


def _variance(a: Aggregate, rows: Sequence[Row]) -> Any:
    counts, sample = [units(a.operands[0], row) or 0 for row in rows], a.function.endswith("samp")
    n = len(counts)
    if n < 1 + sample:
        return None
    total = sum(counts)
    centre = abs(total) // n * (-1 if total < 0 else 1)
    far = [x - centre for x in counts]
    unit = next((2**b for b in (0, 8, 16) if max(map(abs, far)) < 2 ** (40 + b)), 2**24)
    away = [abs(d) // unit * (-1 if d < 0 else 1) for d in far]
    above, below = n * sum(d * d for d in away) - sum(away) ** 2, n * (n - sample)
    whole, rest = divmod(above, below)
    ratio = (float(whole // 2**40) * 2.0**40 + float(whole % 2**40)) + rest / below
    step = unit / 10.0 ** scale_of(a.operands[0].type)
    found = ratio * step * step
    return sqrt(found) if a.function.startswith("stddev") else found


_OF_VALUES: dict[str, Callable[[Aggregate, Sequence[Row]], Any]] = {
    "sum": _sum,
    "avg": _avg,
    "min": lambda a, rows: _values(a, rows)[0],
    "any_value": lambda a, rows: _values(a, rows)[0],
    "max": lambda a, rows: _values(a, rows)[-1],
    "bool_and": lambda a, rows: all(_values(a, rows)),
    "bool_or": lambda a, rows: any(_values(a, rows)),
    "mode": _mode,
    "arg_min": _extremal,
    "arg_max": _extremal,
    "quantile_disc": _quantile_disc,
    "quantile_cont": _quantile_cont,
    "string_agg": _string_agg,
    **dict.fromkeys(("var_pop", "var_samp", "stddev_pop", "stddev_samp"), _variance),
}


# ---- windows -----------------------------------------------------------------------------------------------------


def known(table: PersonRows) -> list[Callable[[Row], Any]]:
    """All that a table knows of a row."""
    every = [e for _, e in table.shown]
    for _, w in table.windows:
        every += [*w.partition, *(item.by for item in w.order), *w.operands]
    return [lambda row, e=e: key(e, row) for e in every if not isinstance(e, ast.Literal)]  # type: ignore[misc]


def windowed(w: Window, rows: Sequence[Row], table: PersonRows) -> list[Any]:
    """The value of a window in each row of one person."""
    parts = defaultdict(list)
    for row in rows:
        parts[tuple(key(e, row) for e in w.partition)].append(row)
    found: dict[int, Any] = {}
    for part in parts.values():
        placed_rows = ordered(part, w.order, known(table))
        by = [tuple(value(item.by, row) for item in w.order) for row in placed_rows]
        for place, row in enumerate(placed_rows):
            found[id(row)] = _window(w, placed_rows, by, place)
    return [found[id(row)] for row in rows]


def _frame(w: Window, rows: Sequence[Row], equals: Sequence[int], place: int) -> list[Row]:
    frame = w.frame or (Frame("range", None, 0) if w.order else Frame("rows", None, None))
    first, last = (equals[0], equals[-1]) if frame.unit == "range" else (place, place)
    low = 0 if frame.start is None else max(0, first + frame.start)
    high = len(rows) if frame.end is None else max(0, last + frame.end + 1)
    return list(rows[low:high])


def _window(w: Window, rows: Sequence[Row], by: Sequence[tuple[Any, ...]], place: int) -> Any:
    """The value of a window in one of some rows in order, given what each is ordered by."""
    equals, n = [i for i, mine in enumerate(by) if mine == by[place]], len(rows)
    literal = next((int(o.value) for o in w.operands if isinstance(o, ast.Literal) and o.type == INTEGER), 0)  # type: ignore[arg-type]
    match w.function:
        case "row_number":
            return place + 1
        case "rank":
            return equals[0] + 1
        case "dense_rank":
            return len(set(by[: equals[0]])) + 1
        case "percent_rank":
            return equals[0] / (n - 1) if n > 1 else 0.0
        case "cume_dist":
            return (equals[-1] + 1) / n
        case "ntile":
            large, size = n % literal, n // literal
            return 1 + (place // (size + 1) if place < large * (size + 1) else (place - large) // size)
        case "lag" | "lead":
            other = place + (literal if w.function == "lead" else -literal)
            return value(w.operands[0], rows[other]) if 0 <= other < n else value(w.operands[2], rows[place])
    framed = _frame(w, rows, equals, place)
    if w.function in ("first_value", "last_value", "nth_value"):
        at = {"first_value": 0, "last_value": -1, "nth_value": literal - 1}[w.function]
        return value(w.operands[0], framed[at]) if at < len(framed) and framed else None
    return aggregated(Aggregate(w.type, w.function, w.operands), framed)
