"""Columns: types that are refused, rounded or saturated, and columns that may say more than is meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from tacit.answers.values import counted
from tacit.checks.report import Finding
from tacit.engines.inspection import Inspection
from tacit.engines.script import fragment
from tacit.language.types import Kind, Schema
from tacit.tables import Private, Public

SAMPLE = 1000
"""Values of a column that are looked at."""
MANY = 100
"""Different values from which on a column can look like an identifier."""
_LIMITS = (2**63 - 1, -(2**63))
_LARGEST_FLOAT = "9.2e12"
"""Doubles beyond this saturate in sums, in units of 10^-6."""
_PATTERNS = (
    ("e-mail addresses", re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")),
    ("telephone numbers", re.compile(r"(?=(?:\D*\d){7,15}\D*$)\+?\(?\d[\d\s()/.-]{6,}(?<=\d)")),
    ("names of people", re.compile(r"[A-ZÀ-Þ][a-zà-ÿ'’-]+,? (?:[A-ZÀ-Þ]\.? ?){0,2}[A-ZÀ-Þ][a-zà-ÿ'’-]+")),
)


def check_types(inspection: Inspection, table: str, schema: Schema) -> Iterator[Finding]:
    """Find values that are not read as they are."""
    for column in schema:
        if schema[column].kind is Kind.OTHER:
            text = f"{column} has a type that can only name persons; declare it with schema= or leave it out."
            yield Finding(table, "type", text, column)
    source, texts = inspection.source(table, schema), inspection.texts(table)
    if texts:
        names = [inspection.dialect.name(column) for column in schema]
        counts = ", ".join(f"COUNT({name})" for name in names)
        (before,), (after,) = (inspection.rows(f"SELECT {counts} FROM ", part) for part in (f"{texts} AS t", source))
        for column, lost in zip(schema, (b - a for b, a in zip(before, after, strict=True)), strict=True):
            if lost:
                text = f"{counted(lost, 'value')} of {column} are no {schema[column]} and are read as absent."
                yield Finding(table, "unconvertible values", text, column, lost)
    conditions = {column: _saturated(inspection, table, column, schema) for column in schema}
    asked = {column: condition for column, condition in conditions.items() if condition}
    if asked:
        sums = ", ".join(f"COALESCE(SUM(CASE WHEN {condition} THEN 1 ELSE 0 END), 0)" for condition in asked.values())
        (found,) = inspection.rows(f"SELECT {sums} FROM ", source)
        for column, count in zip(asked, found, strict=True):
            if count:
                text = f"{counted(int(count), 'value')} of {column} are too large for {schema[column]} and saturate."
                yield Finding(table, "saturated values", text, column, int(count))


def _saturated(inspection: Inspection, table: str, column: str, schema: Schema) -> str:
    kind = schema[column]
    value = inspection.value(table, column)
    if kind.exact_number:
        return f"{value} IN ({_LIMITS[0]}, {_LIMITS[1]})"
    return f"ABS({value}) > {_LARGEST_FLOAT}" if kind.kind is Kind.FLOAT else ""


def find_suspicious(
    inspection: Inspection, table: str, declared: Private | Public, schema: Schema
) -> Iterator[Finding]:
    """Columns that look like identifiers and are not declared as such, and texts that look like people's."""
    known = {person.column for person in declared.persons} if isinstance(declared, Private) else set()
    known |= {link.column for link in declared.through} if isinstance(declared, Private) else set()
    known |= {column for key in getattr(declared, "keys", ()) for column in key}
    wanted = [c for c in schema if c not in known and schema[c].kind in (Kind.TEXT, Kind.INTEGER)]
    if not wanted:
        return
    values = [inspection.value(table, column) for column in wanted]
    counts = ", ".join(f"COUNT({value}), COUNT(DISTINCT {value})" for value in values)
    (found,) = inspection.rows(f"SELECT {counts} FROM ", inspection.source(table, wanted))
    for i, column in enumerate(wanted):
        present, different = found[2 * i : 2 * i + 2]
        if present == different >= MANY and isinstance(declared, Private):
            text = f"all {present:,} values of {column} differ: it looks like an identifier that is not declared."
            yield Finding(table, "undeclared identifier", text, column, int(present))
        if schema[column].kind is Kind.TEXT and (kind := _people(inspection, table, column)):
            yield Finding(table, "personal text", f"most values of {column} look like {kind}.", column)


def _people(inspection: Inspection, table: str, column: str) -> str:
    """What most of the first values look like, if they look like a person's."""
    read = fragment(f"SELECT {inspection.value(table, column)} AS v FROM ", inspection.source(table, [column]))
    rows = inspection.rows("SELECT v FROM (", read, f") AS s WHERE v IS NOT NULL LIMIT {SAMPLE}")
    texts = [str(row[0]).strip() for row in rows]
    for words, pattern in _PATTERNS:
        if 2 * sum(pattern.fullmatch(text) is not None for text in texts) > len(texts) > 0:
            return words
    return ""


def list_shared_checks(
    inspection: Inspection, tables: Mapping[str, Private | Public], schemas: Mapping[str, Schema]
) -> Iterator[tuple[str, Callable[[], Iterable[Finding]]]]:
    """One check for each public table: whether it lists the persons of a private one."""
    persons = {(n, p.column) for n, t in tables.items() if isinstance(t, Private) for p in t.persons}
    for name, table in tables.items():
        if isinstance(table, Public):
            for other, column in sorted(persons):
                same = [c for c, kind in schemas[name].columns if kind == schemas[other][column]]
                words = f"{name}: persons of {other}"
                yield words, partial(_listed, inspection, name, same, other, column)


def _listed(inspection: Inspection, table: str, columns: list[str], other: str, person: str) -> Iterator[Finding]:
    persons = fragment(
        f"SELECT DISTINCT {inspection.key(other, person)} AS k FROM ", inspection.source(other, [person])
    )
    for column in columns:
        values = fragment(
            f"SELECT DISTINCT {inspection.key(table, column)} AS k FROM ", inspection.source(table, [column])
        )
        ((listed, known),) = inspection.rows(
            "SELECT COUNT(a.k), COUNT(b.k) FROM (", values, ") AS a LEFT JOIN (", persons, ") AS b ON a.k = b.k"
        )
        if (column.lower() == person.lower() and known) or (listed >= MANY and 10 * known >= 9 * listed):
            text = (
                f"{column} of this public table holds {counted(int(known), 'person')} of {other}.{person}; "
                "a public table must be about nobody."
            )
            yield Finding(table, "persons in a public table", text, column, int(known))
