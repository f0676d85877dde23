"""Whom rows concern: rows without a person, rows of each person, and identifiers that look like one another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tacit.answers.values import counted
from tacit.checks.report import Finding
from tacit.engines.inspection import Inspection
from tacit.engines.script import fragment
from tacit.language.types import Kind
from tacit.tables import Private


def count_rows(inspection: Inspection, table: str, facts: dict[str, Any]) -> Iterable[Finding]:
    """Count the rows, which is a fact and no finding."""
    ((facts["rows"],),) = inspection.rows("SELECT COUNT(*) FROM ", inspection.source(table, []))
    return []


def check_persons(inspection: Inspection, table: str, declared: Private, facts: dict[str, Any]) -> Iterator[Finding]:
    """Find rows without a person, and tell what each person column looks like."""
    count_rows(inspection, table, facts)
    keys = [inspection.key(table, person.column) for person in declared.persons]
    if keys and not declared.through:
        nobody = " AND ".join(f"{key} IS NULL" for key in keys)
        source = inspection.source(table, [person.column for person in declared.persons])
        ((count,),) = inspection.rows("SELECT COUNT(*) FROM ", source, f" WHERE {nobody}")
        if count:
            yield Finding(
                table,
                "rows without a person",
                f"every answer leaves out {counted(int(count), 'row')} without a person.",
                count=int(count),
            )
    for person in declared.persons:
        facts.setdefault("persons", {})[person.column] = _each(inspection, table, person.column)
        yield from _alike(inspection, table, person.column)


def _each(inspection: Inspection, table: str, column: str) -> dict[str, int]:
    """How many persons there are, and how many rows they have."""
    each = fragment(f"SELECT {inspection.key(table, column)} AS p FROM ", inspection.source(table, [column]))
    each = fragment("SELECT COUNT(*) AS n FROM (", each, ") AS k WHERE p IS NOT NULL GROUP BY p")
    sizes = sorted((int(n), int(c)) for n, c in inspection.rows("SELECT n, COUNT(*) FROM (", each, ") AS s GROUP BY n"))
    persons, median = sum(count for _, count in sizes), 0
    passed = 0
    for size, count in sizes:
        if 2 * passed < persons:
            median = size
        passed += count
    return {"persons": persons, "median_rows": median, "largest_rows": sizes[-1][0] if sizes else 0}


def _alike(inspection: Inspection, table: str, column: str) -> Iterator[Finding]:
    """Identifiers that differ only by spaces around them, or by case: one person's rows under two names."""
    if inspection.kind(table, column) is not Kind.TEXT:
        return
    text = inspection.value(table, column)
    named = fragment(f"SELECT {text} AS p FROM ", inspection.source(table, [column]))
    ((all_of_them, trimmed, lowered, spaced),) = inspection.rows(
        "SELECT COUNT(DISTINCT p), COUNT(DISTINCT TRIM(p)), COUNT(DISTINCT LOWER(TRIM(p))), "
        "SUM(CASE WHEN TRIM(p) <> p THEN 1 ELSE 0 END) FROM (",
        named,
        ") AS t",
    )
    if spaced:
        yield Finding(
            table,
            "stray spaces",
            f"{counted(int(spaced), 'row')} have spaces around {column}; without them "
            f"{counted(all_of_them - trimmed, 'identifier')} fewer would be left, each a person less.",
            column,
            int(spaced),
        )
    if trimmed > lowered:
        yield Finding(
            table,
            "only case differs",
            f"{counted(trimmed - lowered, 'identifier')} of {column} differ from another one only by case, and count "
            "as another person.",
            column,
            int(trimmed - lowered),
        )
