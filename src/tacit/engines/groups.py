"""Requests about groups: vectors of a person's entries over given keys, and keys found in the data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction

from tacit.engines.answers import answer
from tacit.engines.group_requests import GroupNorms, GroupTotals, Key, KeyCounts, KeysPerPerson, Norm, saturation
from tacit.engines.requests import Entry, Lead, LeadingValue, RowCount, Value
from tacit.engines.statement import AnswerRow, Arm, Decoder, Statement, bucket
from tacit.language.expressions import Expression, Scalar
from tacit.language.types import ColumnType, Kind

_FINE = 30
"""ℓ2 norms below 2^32 are rounded up to a multiple of 2^-30."""


@answer.register
def _(request: GroupNorms, statement: Statement, index: int) -> Decoder:
    norms = _norms(request, statement)
    squared = request.norm == "l2"
    boundaries = [b * b if squared else b for b in request.boundaries]
    source = f"(SELECT {bucket('size', boundaries)} AS place FROM {norms} WHERE size > 0) AS places GROUP BY place"
    statement.arms.append((index, Arm(source, a="place", b="COUNT(*)")))
    return lambda rows: _counts(rows, len(boundaries) + 1)


@answer.register
def _(request: GroupTotals, statement: Statement, index: int) -> Decoder:
    quotient, wide = statement.dialect.quotient, statement.dialect.wide
    vectors, norms = _vectors(request, statement), _norms(request, statement)
    scale = wide(str(request.cap * request.resolution))
    cap, size = request.cap, "size"
    shrunk = quotient(f"(ABS(v) * {scale})", size)
    if request.norm == "l2":
        norms, cap = statement.table("roots", _roots(norms, statement)), min(request.cap**2, 2**126)
        shrunk = quotient(f"(ABS(v) * {scale} * CASE WHEN fine THEN {2**_FINE} ELSE 1 END)", "root")
    entry = (
        f"CASE WHEN size <= {cap} THEN v * {wide(str(request.resolution))} WHEN v < 0 THEN -{shrunk} ELSE {shrunk} END"
    )
    source = f"{vectors} INNER JOIN {norms} ON {vectors}.person = {norms}.person GROUP BY g"
    statement.arms.append((index, Arm(source, a="g", b=f"SUM({entry})")))
    return lambda rows: _counts(rows, len(request.keys))


@answer.register
def _(request: KeysPerPerson, statement: Statement, index: int) -> Decoder:
    pairs = _pairs(request.by, statement)
    inner = f"SELECT COUNT(*) AS size FROM {pairs} GROUP BY person"
    places = f"SELECT {bucket('size', request.boundaries)} AS place FROM ({inner}) AS sizes"
    statement.arms.append((index, Arm(f"({places}) AS places GROUP BY place", a="place", b="COUNT(*)")))
    return lambda rows: _counts(rows, len(request.boundaries) + 1)


@answer.register
def _(request: KeyCounts, statement: Statement, index: int) -> Decoder:
    """Only persons with too many keys are sorted: the others keep all they have. Dates are hashed as numbers, which
    every engine writes alike.
    """
    dialect = statement.dialect
    pairs = _pairs(request.by, statement)
    keys = [f"k{i}" for i in range(len(request.by))]
    listed = ", ".join(keys)
    sizes = statement.table("sizes", f"SELECT person, COUNT(*) AS keys FROM {pairs} GROUP BY person")
    joined = f"{pairs} INNER JOIN {sizes} ON {pairs}.person = {sizes}.person"
    encoded = [_encoded(name, kind.type, statement) for name, kind in zip(keys, request.by, strict=True)]
    texts = [f"CAST({sql} AS {dialect.text_type})" for sql in (f"{pairs}.person", *encoded)]
    order = f"ROW_NUMBER() OVER (PARTITION BY {pairs}.person ORDER BY {dialect.digest(texts, request.salt)})"
    all_kept = f"SELECT {listed} FROM {joined} WHERE keys <= {request.cap}"
    chosen = f"SELECT {listed}, {order} AS place FROM {joined} WHERE keys > {request.cap}"
    kept = f"{all_kept} UNION ALL SELECT {listed} FROM ({chosen}) AS chosen WHERE place <= {request.cap}"
    source = f"({kept}) AS kept GROUP BY {listed} HAVING COUNT(*) >= {request.least}"
    statement.arms.append((index, Arm(source, a="COUNT(*)", keys=encoded)))

    def decode(rows: list[AnswerRow]) -> tuple[tuple[Key, int], ...]:
        kinds = [expression.type for expression in request.by]
        found = [(tuple(map(_decoded, row[5 : 5 + len(kinds)], kinds)), int(row[1])) for row in rows]
        return tuple(sorted(found, key=lambda counted: [(part is not None, part) for part in counted[0]]))

    return decode


@answer.register
def _(request: LeadingValue, statement: Statement, index: int) -> Decoder:
    pairs = _pairs((request.value,), statement)
    counts = f"SELECT k0, COUNT(*) AS persons FROM {pairs} WHERE k0 IS NOT NULL GROUP BY k0"
    source = f"({counts} ORDER BY persons DESC LIMIT 2) AS most"
    statement.arms.append((index, Arm(source, a="persons", keys=[_encoded("k0", request.value.type, statement)])))

    def decode(rows: list[AnswerRow]) -> Lead:
        found = sorted(((int(row[1]), row[5]) for row in rows), key=lambda item: -item[0])
        ahead = found[0][0] - (found[1][0] if len(found) > 1 else 0) if found else 0
        return Lead(_decoded(found[0][1], request.value.type), ahead) if ahead else Lead(None, 0)

    return decode


def _counts(rows: list[AnswerRow], places: int) -> tuple[int, ...]:
    found = {int(row[1]): int(row[2]) for row in rows}
    return tuple(found.get(place, 0) for place in range(places))


def _matched(request: GroupNorms | GroupTotals, statement: Statement, aggregates: str) -> str:
    """Aggregates for every person and asked group."""
    columns = [statement.rows.group(expression) for expression in request.by]
    names = [f"k{i}" for i in range(len(columns))]
    constants = ", ".join(
        f"({g}, {', '.join(statement.dialect.group_key(part) for part in key)})" for g, key in enumerate(request.keys)
    )
    kinds = [expression.type for expression in request.by]
    matches = " AND ".join(map(statement.dialect.same, columns, names, kinds))
    return (
        f"SELECT person, g, {aggregates} FROM rows INNER JOIN (VALUES {constants}) AS asked(g, {', '.join(names)}) "
        f"ON {matches} GROUP BY person, g"
    )


def _vectors(request: GroupNorms | GroupTotals, statement: Statement) -> str:
    """A table of (person, group, entry), the entry saturated."""
    limit = saturation(len(request.keys))
    entry = statement.dialect.wide(_entry(request.entry, statement))
    return statement.table(
        "vectors",
        f"SELECT person, g, CASE WHEN v > {limit} THEN {limit} WHEN v < -{limit} THEN -{limit} ELSE v END AS v FROM "
        f"({_matched(request, statement, f'{entry} AS v')}) AS entries",
    )


def _entry(entry: Entry, statement: Statement) -> str:
    if isinstance(entry, Value):
        return f"COALESCE({statement.sum(entry)}, 0)"
    return statement.count(entry) if isinstance(entry, RowCount) else "1"


_NORMS: dict[Norm, str] = {"l1": "SUM(ABS(v))", "l2": "SUM(v * v)", "max": "MAX(ABS(v))"}


def _norms(request: GroupNorms | GroupTotals, statement: Statement) -> str:
    """A table of (person, size), the size being the norm, or for ℓ2 its square."""
    vectors = _vectors(request, statement)
    return statement.table("norms", f"SELECT person, {_NORMS[request.norm]} AS size FROM {vectors} GROUP BY person")


def _roots(norms: str, statement: Statement) -> str:
    """⌈√n⌉ exactly, n being the size, or size·2^60 where that is below 2^124 (``fine``).

    The double's root y0 is right to 2^-50, so one Newton step in integers gives y with √n − 1 < y ≤ √n + 2^-30.
    """
    quotient, wide = statement.dialect.quotient, statement.dialect.wide
    sizes = f"SELECT person, size, size < {2**64} AS fine FROM {norms}"
    scaled = f"SELECT *, CASE WHEN fine THEN size * {2 ** (2 * _FINE)} ELSE size END AS n FROM ({sizes}) AS sizes"
    guess = wide(statement.dialect.rounded(f"SQRT(CAST(n AS {statement.dialect.float64}))"))
    guessed = f"SELECT *, GREATEST({guess}, 1) AS y0 FROM ({scaled}) AS scaled"
    refined = f"SELECT *, {quotient('(y0 + ' + quotient('n', 'y0') + ')', '2')} AS y FROM ({guessed}) AS guessed"
    return f"SELECT person, size, fine, CASE WHEN y * y >= n THEN y ELSE y + 1 END AS root FROM ({refined}) AS refined"


def _pairs(by: Sequence[Expression], statement: Statement) -> str:
    """A table of every person's different keys."""
    columns = [f"{statement.rows.group(expression)} AS k{i}" for i, expression in enumerate(by)]
    return statement.table("pairs", f"SELECT DISTINCT person, {', '.join(columns)} FROM rows")


def _encoded(name: str, kind: ColumnType, statement: Statement) -> str:
    if kind.kind is Kind.DATE:
        return statement.dialect.days(name)
    if kind.kind is Kind.TIMESTAMP:
        return statement.dialect.microseconds(name)
    return f"CASE WHEN {name} THEN 1 WHEN NOT {name} THEN 0 END" if kind.kind is Kind.BOOLEAN else name


def _decoded(text: str | None, kind: ColumnType) -> Scalar:
    if text is None:
        return None
    match kind.kind:
        case Kind.INTEGER:
            return int(text)
        case Kind.DECIMAL:
            return Fraction(int(text), 10**kind.scale)
        case Kind.FLOAT:
            return float(text)
        case Kind.BOOLEAN:
            return text == "1"
        case Kind.DATE:
            return date(1970, 1, 1) + timedelta(days=int(text))
        case Kind.TIMESTAMP:
            return datetime(1970, 1, 1) + timedelta(microseconds=int(text))
    return text
