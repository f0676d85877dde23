"""Whom the rows of a join concern, as one statement: persons and values numbered inside the engine."""

from __future__ import annotations

from tacit.engines.dialect import Dialect
from tacit.engines.requests import Incidence, RowCount
from tacit.engines.rows import Rows
from tacit.engines.script import Part, Script

_LIMIT = 2**62
"""Where weights saturate."""


def incidence(dialect: Dialect, rows: Rows, request: Incidence) -> Script:
    """The statement whose columns are w, then p0, p1, … and, where values are asked for, v."""
    persons = rows.persons()
    if isinstance(request.entry, RowCount):
        counted = "*" if request.entry.expression is None else rows.plain(request.entry.expression)
        weight = f"COUNT({counted})"
    else:
        weight = f"{'MAX' if request.largest else 'SUM'}({rows.value(request.entry)})"
    value = [] if request.values is None else [rows.plain(request.values)]
    keys = ", ".join([*persons, *value])
    named = "".join(f", {name} AS value" for name in value)
    chosen = f" WHERE {value[0]} IS NOT NULL" if value else ""
    tuples = f"SELECT {', '.join(persons)}{named}, {weight} AS w FROM rows{chosen} GROUP BY {keys}"
    parts = [*rows.parts(), Part("tuples", tuples, kept=True)]
    numbers: dict[str, str] = {}
    for kind in dict.fromkeys(kind for kind, _ in rows.relation.persons):
        mine = [name for name, (own, _) in zip(persons, rows.relation.persons, strict=True) if own == kind]
        numbers |= dict.fromkeys(mine, f"ids{len(parts)}")
        parts.append(_numbered(f"ids{len(parts)}", mine, dialect))
    if value:
        numbers["value"] = f"ids{len(parts)}"
        parts.append(_numbered(f"ids{len(parts)}", ["value"], dialect))
    joins = " ".join(f"LEFT JOIN {ids} AS of_{name} ON {name} = of_{name}.p" for name, ids in numbers.items())
    shown = [f"CAST(COALESCE(of_{name}.number, 0) AS {dialect.int64}) AS n_{name}" for name in numbers]
    clamped = f"CASE WHEN w > {_LIMIT} THEN {_LIMIT} WHEN w < -{_LIMIT} THEN -{_LIMIT} ELSE w END"
    body = (
        f"SELECT CAST({clamped} AS {dialect.int64}) AS w, {', '.join(shown)} "
        f"FROM tuples {joins} WHERE w IS NOT NULL LIMIT {request.limit + 1}"
    )
    return Script(tuple(parts), body)


def _numbered(name: str, columns: list[str], dialect: Dialect) -> Part:
    """A table that numbers the different values of some columns from 1."""
    every = " UNION ALL ".join(f"SELECT {column} AS p FROM tuples" for column in columns)
    different = f"SELECT DISTINCT p FROM ({every}) AS every WHERE p IS NOT NULL"
    return Part(name, f"SELECT p, {dialect.row_number} AS number FROM ({different}) AS different", kept=True)
